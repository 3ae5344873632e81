/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In the place of OpenBLAS, to see with which variables it would be loaded: they are written to the file $STANDIN_LOG.
 */
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void cblas_sgemm(void);
EXPORT void cblas_sgemv(void);
EXPORT void openblas_set_num_threads(int n);

void cblas_sgemm(void)
{
}

void cblas_sgemv(void)
{
}

void openblas_set_num_threads(int n)
{
}

__attribute__((constructor)) static void loaded(void)
{
	const char *log = getenv("STANDIN_LOG"), *core = getenv("OPENBLAS_CORETYPE"),
		   *threads = getenv("OPENBLAS_NUM_THREADS");
	FILE *f = log ? fopen(log, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "core %s, threads %s\n", core ? core : "free", threads ? threads : "free");
	fclose(f);
}
