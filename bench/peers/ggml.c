/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of matrices by ggml, from the shared library that the environment variable ASSAY_GGML names, such as
 * libggml-cpu-zen4.so: each thread rounds inputs and multiplies its own rows by the functions that the library's table
 * of types has (ggml-cpu.h). Its struct is trusted only where it says what the types of version 0 do.
 */
#include <stdio.h>
#include <stdlib.h>

#include "assay/op_blocks.h"
#include "assay/op_matmul.h"
#include "kernels/kernel_library.h"

#define REFUSE(why, ...) (snprintf((why)->text, sizeof((why)->text), __VA_ARGS__), -1)

enum { GGML_Q8_0 = 8, GGML_Q6_K = 14, GGML_Q8_K = 15 };

struct traits {
	void (*from_float)(const float *x, void *y, int64_t k);
	void (*vec_dot)(int n, float *s, size_t bs, const void *x, size_t bx, const void *y, size_t by, int nrc);
	int vec_dot_type;
	int64_t n_rows;
};

struct peer {
	const struct traits *weights, *inputs;
	size_t input_bytes; /* of a token */
	void *rounded;
};

static int peer_open(struct peer *p, int type, int64_t k, struct assay_reason *why)
{
	const char *file = getenv("ASSAY_GGML");
	const int inputs = type == GGML_Q8_0 ? GGML_Q8_0 : GGML_Q8_K;
	const struct traits *(*traits_of)(int type);
	const char *(*version)(void);
	size_t (*row_size)(int type, int64_t n);
	void (*init)(void);
	void *dl = file && *file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!dl)
		return REFUSE(why, "%s: name a libggml-cpu*.so in ASSAY_GGML",
			      file && *file ? dlerror() : "ASSAY_GGML is not set");
	if (!kernel_library_find(dl, "ggml_get_type_traits_cpu", &traits_of) ||
	    !kernel_library_find(dl, "ggml_version", &version) || !kernel_library_find(dl, "ggml_cpu_init", &init) ||
	    !kernel_library_find(dl, "ggml_row_size", &row_size))
		return REFUSE(why, "%s lacks a function of ggml-cpu.h, which it has since 2025", file);
	if (strncmp(version(), "0.", 2))
		return REFUSE(why, "%s is ggml %s, expected version 0", file, version());
	init();
	p->weights = traits_of(type);
	p->inputs = traits_of(inputs);
	p->input_bytes = row_size(inputs, k);
	if (p->weights->vec_dot_type != inputs || !p->weights->vec_dot || !p->inputs->from_float)
		return REFUSE(why, "%s, ggml %s, has another table of types", file, version());
	return 0;
}

static int prepare_type(struct assay_job *job, int type)
{
	const int64_t *axis = job->shape->axis;
	struct peer *p = calloc(1, sizeof(*p));
	struct assay_reason why = { "not enough memory" };
	int rc = p ? peer_open(p, type, axis[ASSAY_MATMUL_K], &why) : -1;

	if (!rc)
		p->rounded = job->host->alloc(job, p->input_bytes * (uint64_t)axis[ASSAY_MATMUL_N]);
	if (rc || !p->rounded) {
		free(p);
		return job->host->fail(job, "%s", why.text);
	}
	job->state = p;
	return 0;
}

static void release(struct assay_job *job)
{
	struct peer *p = job->state;

	job->host->release(job, p->rounded);
	free(p);
	job->state = NULL;
}

static void round_tokens(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const struct peer *p = job->state;
	const int64_t k = job->shape->axis[ASSAY_MATMUL_K];
	const float *x = job->tensors[ASSAY_BLOCKS_X].data;

	for (int64_t t = tid; t < job->shape->axis[ASSAY_MATMUL_N]; t += n_threads)
		p->inputs->from_float(x + t * k, (char *)p->rounded + (size_t)t * p->input_bytes, k);
}

static void multiply_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const struct peer *p = job->state;
	const int64_t m = job->shape->axis[ASSAY_MATMUL_M], k = job->shape->axis[ASSAY_MATMUL_K];
	const int64_t bytes = (int64_t)job->tensors[ASSAY_BLOCKS_W].bytes / m;
	const char *w = job->tensors[ASSAY_BLOCKS_W].data;
	float *y = job->tensors[ASSAY_BLOCKS_Y].data;

	for (int64_t row = m * tid / n_threads; row < m * (tid + 1) / n_threads; row++)
		for (int64_t t = 0; t < job->shape->axis[ASSAY_MATMUL_N]; t++)
			p->weights->vec_dot((int)k, y + t * m + row, 0, w + row * bytes, 0,
					    (const char *)p->rounded + (size_t)t * p->input_bytes, 0, 1);
}

static int run(struct assay_job *job)
{
	const int64_t *axis = job->shape->axis;

	job->host->parallel(job, round_tokens, job);
	job->host->parallel(job, multiply_rows, job);
	assay_counter(job, ASSAY_WORK_CPU_OPS,
		      2 * (uint64_t)(axis[ASSAY_MATMUL_M] * axis[ASSAY_MATMUL_K] * axis[ASSAY_MATMUL_N]));
	return 0;
}

#define OF(op_, type)                                                                                                  \
	static int supports_##op_(const struct assay_shape *shape, struct assay_reason *why)                           \
	{                                                                                                              \
		struct peer p;                                                                                         \
                                                                                                                       \
		return peer_open(&p, type, shape->axis[ASSAY_MATMUL_K], why);                                          \
	}                                                                                                              \
	static int prepare_##op_(struct assay_job *job)                                                                \
	{                                                                                                              \
		return prepare_type(job, type);                                                                        \
	}
OF(q8_0, GGML_Q8_0)
OF(q6_k, GGML_Q6_K)

#define ENTRY(op_)                                                                                                     \
	{                                                                                                              \
		.op = "matmul." #op_, .name = "ggml", .help = "ggml's product of two rows, $ASSAY_GGML",               \
		.supports = supports_##op_, .prepare = prepare_##op_, .run = run, .release = release                   \
	}

static const struct assay_variant variants[] = { ENTRY(q8_0), ENTRY(q6_k) };

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "peers",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
