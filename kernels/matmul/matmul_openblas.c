/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.f32 by OpenBLAS, one call a thread on its own rows of w. OpenBLAS is loaded when it is first needed: its own
 * threads, which nobody would pin, are then kept from existing by a variable that it reads while it loads, and where it
 * is missing the variant is skipped and everything else works. This plugin is its own shared object.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matmul_variants.h"

#define LIBRARY          "libopenblas.so.0"
#define THREADS_VARIABLE "OPENBLAS_NUM_THREADS"

/* From the C interface of BLAS (netlib CBLAS): row-major order, not transposed, transposed. */
enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };

typedef void (*sgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
			 const float *b, int ldb, float beta, float *c, int ldc);
typedef void (*sgemv_fn)(int order, int trans, int m, int n, float alpha, const float *a, int lda, const float *x,
			 int incx, float beta, float *y, int incy);
typedef void (*set_num_threads_fn)(int n);

struct openblas {
	void *dl;
	sgemm_fn sgemm;
	sgemv_fn sgemv;
	set_num_threads_fn set_num_threads;
};

/*
 * dlopen with the variable set; the caller's environment is as before when it returns. What is loaded already has read the variable:
 * setting it again would only let the C library allocate its environment anew.
 */
static void *load_without_threads(void)
{
	const char *old = getenv(THREADS_VARIABLE);
	void *dl = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	char *keep;

	if (dl)
		return dl;
	keep = old ? strdup(old) : NULL;
	if ((old && !keep) || setenv(THREADS_VARIABLE, "1", 1))
		goto out;
	dl = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (keep)
		setenv(THREADS_VARIABLE, keep, 1);
	else
		unsetenv(THREADS_VARIABLE);
out:
	free(keep);
	return dl;
}

/* POSIX lets a function travel as a pointer to data; C does not, so the bits are copied. */
static int find(void *dl, const char *name, void *function)
{
	void *symbol = dlsym(dl, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol ? 0 : -1;
}

static int openblas_open(struct openblas *b)
{
	b->dl = load_without_threads();
	if (!b->dl)
		return -1;
	if (find(b->dl, "cblas_sgemm", &b->sgemm) || find(b->dl, "cblas_sgemv", &b->sgemv) ||
	    find(b->dl, "openblas_set_num_threads", &b->set_num_threads)) {
		dlclose(b->dl);
		return -1;
	}
	return 0;
}

/* What was found stays loaded, so that the many shapes of a suite pay for loading once. */
static int supports(const struct assay_shape *shape, struct assay_reason *why)
{
	struct openblas b;

	(void)shape;
	if (!openblas_open(&b))
		return 0;
	snprintf(why->text, sizeof(why->text), "%s is missing, install libopenblas0 (Debian, Ubuntu) or openblas",
		 LIBRARY);
	return -1;
}

static int prepare(struct assay_job *job)
{
	struct openblas *b = calloc(1, sizeof(*b));

	if (!b)
		return job->host->fail(job, "not enough memory");
	if (openblas_open(b)) {
		free(b);
		return job->host->fail(job, "cannot load '%s', install libopenblas0", LIBRARY);
	}
	b->set_num_threads(1);
	job->state = b;
	return 0;
}

static void release(struct assay_job *job)
{
	struct openblas *b = job->state;

	dlclose(b->dl);
	free(b);
	job->state = NULL;
}

static void rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const struct openblas *b = job->state;
	struct matmul_f32 p = matmul_f32_of(job);
	int64_t first, end;
	int m, k = (int)p.k;

	matmul_rows(p.m, MATMUL_ROW_UNIT, tid, n_threads, &first, &end);
	m = (int)(end - first);
	if (m <= 0)
		return;
	if (p.n == 1)
		b->sgemv(ROW_MAJOR, NO_TRANS, m, k, 1, p.w + first * p.k, k, p.x, 1, 0, p.y + first, 1);
	else
		b->sgemm(ROW_MAJOR, NO_TRANS, TRANS, (int)p.n, m, k, 1, p.x, k, p.w + first * p.k, k, 0, p.y + first,
			 (int)p.m);
}

static int run(struct assay_job *job)
{
	return matmul_run(job, rows);
}

static const struct assay_variant variants[] = {
	{ .op = "matmul.f32",
	  .name = "openblas",
	  .help = "cblas_sgemm and cblas_sgemv, one call a thread",
	  .supports = supports,
	  .prepare = prepare,
	  .run = run,
	  .release = release },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "matmul-openblas",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
