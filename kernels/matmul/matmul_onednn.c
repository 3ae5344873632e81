/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.f32 by oneDNN, one call a thread on its own rows of w. The library, of major version 2 or 3, is found at run
 * time, and dnnl_sgemm() is the same in both (dnnl.h). It computes in the thread that calls it where that is asked of
 * its OpenMP; builds for other threads cannot be kept to those of the harness. This plugin is its own shared object.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../kernel_library.h"
#include "matmul_variants.h"

enum { SEQUENTIAL = 1, OPENMP = 2 }; /* dnnl_version_t.cpu_runtime */

/* The beginning of dnnl_version_t. */
struct onednn_version {
	int major, minor, patch;
	const char *hash;
	unsigned cpu_runtime;
};

struct onednn {
	/* Row-major c[m][n] = a[m][k] · b; 'T': b is transposed. 0, or an error. */
	int (*sgemm)(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
		     int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
	void (*set_threads)(int n); /* of the calling thread; NULL: the library has none of its own */
	int failed;
};

#define REFUSE(why, ...) (snprintf((why)->text, sizeof((why)->text), __VA_ARGS__), -1)

/* A library that was found stays loaded, so that the many shapes of a suite pay for loading once. */
static int onednn_open(struct onednn *d, const struct assay_shape *shape, struct assay_reason *why)
{
	static const char *const files[] = { "libdnnl.so.3", "libdnnl.so.2", "libdnnl.so" };
	const uint32_t bits = shape->host->vector_bits;
	const struct onednn_version *(*version)(void), *v;
	int (*set_isa)(int isa);
	void *dl = NULL;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !dl; i++)
		dl = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
	if (!dl)
		return REFUSE(why, "libdnnl.so is missing, install libdnnl-dev (Debian, Ubuntu) or onednn");
	if (!kernel_library_find(dl, "dnnl_version", &version) || !kernel_library_find(dl, "dnnl_sgemm", &d->sgemm))
		return REFUSE(why, "libdnnl.so lacks dnnl_version() or dnnl_sgemm()");
	v = version();
	if (v->major != 2 && v->major != 3)
		return REFUSE(why, "libdnnl.so is oneDNN %d.%d.%d, expected version 2 or 3", v->major, v->minor,
			      v->patch);
	d->set_threads = NULL;
	if (v->cpu_runtime != SEQUENTIAL &&
	    (v->cpu_runtime != OPENMP || !kernel_library_find(dl, "omp_set_num_threads", &d->set_threads)))
		return REFUSE(why, "libdnnl.so starts threads of its own, expected a build with OpenMP or without any");
	/* SSE4.1 or AVX2, as dnnl_cpu_isa_t numbers them */
	if (bits && bits <= 256 && kernel_library_find(dl, "dnnl_set_max_cpu_isa", &set_isa))
		set_isa(bits <= 128 ? 0x1 : 0x7);
	return 0;
}

static int supports(const struct assay_shape *shape, struct assay_reason *why)
{
	struct onednn d;

	return onednn_open(&d, shape, why);
}

static int prepare(struct assay_job *job)
{
	struct onednn *d = calloc(1, sizeof(*d));
	struct assay_reason why = { "not enough memory" };

	if (!d || onednn_open(d, job->shape, &why)) {
		free(d);
		return job->host->fail(job, "%s", why.text);
	}
	job->state = d;
	return 0;
}

static void release(struct assay_job *job)
{
	free(job->state);
	job->state = NULL;
}

static void rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	struct onednn *d = job->state;
	struct matmul_f32 p = matmul_f32_of(job);
	int64_t first, end;

	matmul_rows(p.m, MATMUL_ROW_UNIT, tid, n_threads, &first, &end);
	if (first >= end)
		return;
	if (d->set_threads)
		d->set_threads(1);
	if (d->sgemm('N', 'T', p.n, end - first, p.k, 1, p.x, p.k, p.w + first * p.k, p.k, 0, p.y + first, p.m))
		__atomic_store_n(&d->failed, 1, __ATOMIC_RELAXED);
}

static int run(struct assay_job *job)
{
	matmul_run(job, rows);
	return ((struct onednn *)job->state)->failed ? job->host->fail(job, "dnnl_sgemm() fails") : 0;
}

static const struct assay_variant variants[] = {
	{ .op = "matmul.f32",
	  .name = "onednn",
	  .help = "dnnl_sgemm, one call a thread",
	  .supports = supports,
	  .prepare = prepare,
	  .run = run,
	  .release = release },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "matmul-onednn",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
