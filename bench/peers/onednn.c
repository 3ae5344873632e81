/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ternary products by oneDNN as products of 8-bit integers, whose weights the library repacks when a case is prepared
 * (dnnl.h, matmul). Each thread multiplies its own rows by a primitive of its own and scales the sums in a pass of
 * ours: with a scale for each token as a post-operation, oneDNN 2.6 takes its reference code. Built where oneDNN's
 * headers are, for the major version that they have.
 */
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>

#include "ternary_rows.h"

#if DNNL_VERSION_MAJOR == 2
#define LAYOUT(l)      (&(l))
#define free_layout(l) ((void)(l))
#define tagged         dnnl_memory_desc_init_by_tag
#define strided        dnnl_memory_desc_init_by_strides
#else
#define LAYOUT(l)      (l)
#define free_layout(l) dnnl_memory_desc_destroy(l)
#define tagged         dnnl_memory_desc_create_with_tag
#define strided        dnnl_memory_desc_create_with_strides
#endif
#define layout_of(pd, what) dnnl_primitive_desc_query_md(pd, what, 0)

/* Of the OpenMP that oneDNN may have been built with: for the calling thread. */
extern void omp_set_num_threads(int n) __attribute__((weak));

struct part {
	dnnl_primitive_t product;
	dnnl_stream_t stream;
	dnnl_memory_t x, w, y;
	void *packed;
	int32_t *sums; /* [n][end − first] */
	int64_t first, end;
};

struct state {
	dnnl_engine_t engine;
	int failed;
	struct part parts[];
};

static int supports(const struct assay_shape *shape, struct assay_reason *why)
{
	const dnnl_version_t *v = dnnl_version();

	if (v->major != DNNL_VERSION_MAJOR)
		snprintf(why->text, sizeof(why->text), "libdnnl.so is oneDNN %d, expected version %d", v->major,
			 DNNL_VERSION_MAJOR);
	else if (v->cpu_runtime != DNNL_RUNTIME_SEQ && v->cpu_runtime != DNNL_RUNTIME_OMP)
		snprintf(why->text, sizeof(why->text),
			 "libdnnl.so starts threads of its own, expected a build with OpenMP or without any");
	else if (shape->axis[ASSAY_MATMUL_M] < TERNARY_UNIT * (int64_t)shape->n_threads)
		snprintf(why->text, sizeof(why->text), "a thread would have fewer than %d rows", TERNARY_UNIT);
	else
		return 0;
	return -1;
}

/* Weights −1, 0 and 1 as bytes, [rows][k]. */
static void unpack(const struct assay_job *job, const struct part *p, int8_t *out)
{
	const struct matmul_ternary t = matmul_ternary_of(job);

	for (int64_t row = p->first; row < p->end; row++)
		for (int64_t i = 0; i < t.k; i++)
			*out++ = (int8_t)ternary_weight(&t, row, i);
}

static dnnl_status_t product_create(const struct assay_job *job, const struct state *s, const struct part *p,
				    dnnl_primitive_desc_t *pd)
{
	const int64_t k = job->shape->axis[ASSAY_MATMUL_K], n = job->shape->axis[ASSAY_MATMUL_N],
		      rows = p->end - p->first;
	dnnl_memory_desc_t x, w, y;
	dnnl_status_t rc;

	tagged(&x, 2, (dnnl_dims_t){ n, k }, dnnl_s8, dnnl_ab);
	tagged(&w, 2, (dnnl_dims_t){ k, rows }, dnnl_s8, dnnl_format_tag_any);
	tagged(&y, 2, (dnnl_dims_t){ n, rows }, dnnl_s32, dnnl_ab);
#if DNNL_VERSION_MAJOR == 2
	dnnl_matmul_desc_t d;

	rc = dnnl_matmul_desc_init(&d, &x, &w, NULL, &y);
	if (rc == dnnl_success)
		rc = dnnl_primitive_desc_create(pd, &d, NULL, s->engine, NULL);
#else
	rc = dnnl_matmul_primitive_desc_create(pd, s->engine, x, w, NULL, y, NULL);
#endif
	free_layout(x);
	free_layout(w);
	free_layout(y);
	return rc;
}

static dnnl_status_t pack(const struct state *s, const struct part *p, int64_t k, int8_t *plain)
{
	dnnl_memory_desc_t layout;
	dnnl_memory_t from;
	dnnl_primitive_desc_t pd;
	const_dnnl_primitive_desc_t product;
	dnnl_primitive_t reorder;
	dnnl_status_t rc;

	strided(&layout, 2, (dnnl_dims_t){ k, p->end - p->first }, dnnl_s8, (dnnl_dims_t){ 1, k });
	dnnl_memory_create(&from, LAYOUT(layout), s->engine, plain);
	dnnl_primitive_get_primitive_desc(p->product, &product);
	rc = dnnl_reorder_primitive_desc_create(&pd, LAYOUT(layout), s->engine,
						layout_of(product, dnnl_query_weights_md), s->engine, NULL);
	if (rc == dnnl_success) {
		dnnl_exec_arg_t args[] = { { DNNL_ARG_FROM, from }, { DNNL_ARG_TO, p->w } };

		dnnl_primitive_create(&reorder, pd);
		rc = dnnl_primitive_execute(reorder, p->stream, 2, args);
		dnnl_stream_wait(p->stream);
		dnnl_primitive_destroy(reorder);
		dnnl_primitive_desc_destroy(pd);
	}
	dnnl_memory_destroy(from);
	free_layout(layout);
	return rc;
}

static int part_open(const struct assay_job *job, struct state *s, struct part *p)
{
	const int64_t k = job->shape->axis[ASSAY_MATMUL_K];
	int8_t *plain = malloc((size_t)((p->end - p->first) * k));
	dnnl_primitive_desc_t pd;
	dnnl_status_t rc = plain ? product_create(job, s, p, &pd) : dnnl_out_of_memory;

	if (rc == dnnl_success) {
		p->packed = job->host->alloc(job, dnnl_memory_desc_get_size(layout_of(pd, dnnl_query_weights_md)));
		dnnl_primitive_create(&p->product, pd);
		dnnl_stream_create(&p->stream, s->engine, dnnl_stream_default_flags);
		dnnl_memory_create(&p->w, layout_of(pd, dnnl_query_weights_md), s->engine, p->packed);
		p->sums = job->host->alloc(job, dnnl_memory_desc_get_size(layout_of(pd, dnnl_query_dst_md)));
		dnnl_memory_create(&p->x, layout_of(pd, dnnl_query_src_md), s->engine, NULL);
		dnnl_memory_create(&p->y, layout_of(pd, dnnl_query_dst_md), s->engine, p->sums);
		unpack(job, p, plain);
		rc = p->packed && p->sums ? pack(s, p, k, plain) : dnnl_out_of_memory;
		dnnl_primitive_desc_destroy(pd);
	}
	free(plain);
	return rc;
}

static void release(struct assay_job *job)
{
	struct state *s = job->state;

	for (uint32_t t = 0; s && t < job->n_threads; t++) {
		struct part *p = &s->parts[t];

		if (p->product) {
			dnnl_memory_destroy(p->x);
			dnnl_memory_destroy(p->w);
			dnnl_memory_destroy(p->y);
			dnnl_stream_destroy(p->stream);
			dnnl_primitive_destroy(p->product);
			job->host->release(job, p->packed);
			job->host->release(job, p->sums);
		}
	}
	if (s)
		dnnl_engine_destroy(s->engine);
	free(s);
	job->state = NULL;
}

static int prepare(struct assay_job *job)
{
	struct state *s = calloc(1, sizeof(*s) + job->n_threads * sizeof(s->parts[0]));
	int rc = s ? (int)dnnl_engine_create(&s->engine, dnnl_cpu, 0) : -1;

	if (rc) {
		free(s);
		return job->host->fail(job, "oneDNN makes no engine");
	}
	job->state = s;
	if (omp_set_num_threads)
		omp_set_num_threads(1);
	for (uint32_t t = 0; t < job->n_threads && !rc; t++) {
		matmul_rows(job->shape->axis[ASSAY_MATMUL_M], TERNARY_UNIT, t, job->n_threads, &s->parts[t].first,
			    &s->parts[t].end);
		rc = part_open(job, s, &s->parts[t]);
	}
	if (!rc)
		return 0;
	release(job);
	return job->host->fail(job, "oneDNN refuses this product, status %d", rc);
}

static void multiply(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	struct state *s = job->state;
	struct part *p = &s->parts[tid];
	const struct matmul_ternary op = matmul_ternary_of(job);
	const int64_t rows = p->end - p->first;
	const dnnl_exec_arg_t args[] = { { DNNL_ARG_SRC, p->x }, { DNNL_ARG_WEIGHTS, p->w }, { DNNL_ARG_DST, p->y } };

	(void)n_threads;
	if (omp_set_num_threads)
		omp_set_num_threads(1);
	dnnl_memory_set_data_handle(p->x, job->tensors[ASSAY_TERNARY_X].data);
	if (dnnl_primitive_execute(p->product, p->stream, 3, args) || dnnl_stream_wait(p->stream))
		__atomic_store_n(&s->failed, 1, __ATOMIC_RELAXED);
	for (int64_t t = 0; t < op.n; t++) {
		const float scale = op.w_scale * op.x_scale[t];
		float *y = op.y + t * op.m + p->first;

		for (int64_t i = 0; i < rows; i++)
			y[i] = (float)p->sums[t * rows + i] * scale;
	}
}

static int run(struct assay_job *job)
{
	matmul_run(job, multiply);
	return ((struct state *)job->state)->failed ? job->host->fail(job, "dnnl_primitive_execute() fails") : 0;
}

static const struct assay_variant variants[] = {
	{ .op = "matmul.ternary",
	  .name = "onednn",
	  .help = "oneDNN's product of 8-bit integers",
	  .supports = supports,
	  .prepare = prepare,
	  .run = run,
	  .release = release },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "peers-onednn",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
