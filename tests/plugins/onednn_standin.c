/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In the place of oneDNN. Its version and its threads are those of onednn_standin, and what it was asked for stands
 * there. Products are right.
 */
#include "onednn_standin.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT struct onednn_standin onednn_standin = { .version = { 3, 6, 2, "", 2 } };

EXPORT const void *dnnl_version(void);
EXPORT int dnnl_set_max_cpu_isa(int isa);
EXPORT void omp_set_num_threads(int n);
EXPORT int dnnl_sgemm(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
		      int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);

static __thread int threads;

const void *dnnl_version(void)
{
	return &onednn_standin.version;
}

int dnnl_set_max_cpu_isa(int isa)
{
	onednn_standin.isa = isa;
	return 0;
}

void omp_set_num_threads(int n)
{
	threads = n;
}

int dnnl_sgemm(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda,
	       const float *b, int64_t ldb, float beta, float *c, int64_t ldc)
{
	if (onednn_standin.fails || trans_a != 'N' || trans_b != 'T' || threads != 1)
		return 1;
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++) {
			float sum = 0;

			for (int64_t l = 0; l < k; l++)
				sum += a[i * lda + l] * b[j * ldb + l];
			c[i * ldc + j] = sum;
		}
	return 0;
}
