/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.f32 by OpenBLAS, one call a thread on its own rows of w. OpenBLAS is loaded when it is first needed: its own
 * threads, which nobody would pin, are then kept from existing by a variable that it reads while it loads; another
 * keeps it to the vectors of `--isa`. Where it is missing the variant is skipped and everything else works. This plugin
 * is its own shared object.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../kernel_library.h"
#include "matmul_variants.h"

#define LIBRARY "libopenblas.so.0"

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

/* A variable of the environment that OpenBLAS reads while it loads. */
struct variable {
	const char *name, *value; /* NULL: as it is */
	char *old;
	bool changed;
};

static int set_variable(struct variable *v)
{
	const char *old = v->value ? getenv(v->name) : NULL;

	v->old = old ? strdup(old) : NULL;
	if (old && !v->old)
		return -1;
	v->changed = v->value && !setenv(v->name, v->value, 1);
	return v->changed || !v->value ? 0 : -1;
}

static void restore_variable(struct variable *v)
{
	if (v->changed && v->old)
		setenv(v->name, v->old, 1);
	else if (v->changed)
		unsetenv(v->name);
	free(v->old);
}

/* The kernels of OpenBLAS that keep to vectors of @bits; NULL: those it chooses. */
static const char *core_of(uint32_t bits)
{
#if defined(__x86_64__)
	if (bits && bits <= 128)
		return "Nehalem";
	if (bits && bits <= 256 && __builtin_cpu_supports("avx2"))
		return "Haswell";
#endif
	(void)bits;
	return NULL;
}

/*
 * dlopen without threads and with vectors of at most @bits (0: any); the caller's environment is as before when it
 * returns. What is loaded already has read it: setting a variable again would only let the C library allocate its
 * environment anew.
 */
static void *load(uint32_t bits)
{
	struct variable threads = { .name = "OPENBLAS_NUM_THREADS", .value = "1" };
	struct variable core = { .name = "OPENBLAS_CORETYPE", .value = core_of(bits) };
	void *dl = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);

	if (dl)
		return dl;
	if (!set_variable(&threads) && !set_variable(&core))
		dl = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	restore_variable(&core);
	restore_variable(&threads);
	return dl;
}

static int openblas_open(struct openblas *b, const struct assay_shape *shape)
{
	b->dl = load(shape->host->vector_bits);
	if (!b->dl)
		return -1;
	if (!kernel_library_find(b->dl, "cblas_sgemm", &b->sgemm) ||
	    !kernel_library_find(b->dl, "cblas_sgemv", &b->sgemv) ||
	    !kernel_library_find(b->dl, "openblas_set_num_threads", &b->set_num_threads)) {
		dlclose(b->dl);
		return -1;
	}
	return 0;
}

/* A library that was found stays loaded, so that the many shapes of a suite pay for loading once. */
static int supports(const struct assay_shape *shape, struct assay_reason *why)
{
	struct openblas b;

	if (!openblas_open(&b, shape))
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
	if (openblas_open(b, job->shape)) {
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
