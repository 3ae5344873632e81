/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ternary products of whole matrices by ggml (TQ2_0) and ik_llama.cpp (IQ2_BN_R4), from the shared libraries that the
 * environment variables ASSAY_GGML, such as libggml-cpu-zen4.so, and ASSAY_IK_GGML, a libggml.so, name. Each thread
 * computes a graph of its own rows with ggml_mul_mat(), in functions of ggml.h and ggml-backend.h that both have.
 *
 * Inputs are handed over as rows that ggml has rounded already, with a scale of 1, since those of the op are of eight
 * bits: so sums are exact, and what is timed is the product. The scales of the op are multiplied in a pass of our own.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/kernel_library.h"
#include "ternary_rows.h"

#define REFUSE(why, ...) (snprintf((why)->text, sizeof((why)->text), __VA_ARGS__), -1)

enum { GGML_Q8_K = 15, GGML_TQ2_0 = 35, IK_Q8_K16 = 147, IK_IQ2_BN_R4 = 335 };
enum { Q8_K_BLOCK = 256, IK_META = 5, GRAPH_NODES = 8, CONTEXT_BYTES = 64 << 20 };

/* block_q8_K of ggml (ggml-common.h) */
struct q8_k {
	float d;
	int8_t q[Q8_K_BLOCK];
	int16_t sums[Q8_K_BLOCK / 16];
};

struct init_params {
	size_t bytes;
	void *buffer;
	bool no_alloc;
};

struct library {
	const char *(*type_name)(int type);
	size_t (*row_size)(int type, int64_t n);
	void *(*init)(struct init_params params);
	void *(*new_tensor_2d)(void *ctx, int type, int64_t ne0, int64_t ne1);
	void *(*mul_mat)(void *ctx, void *a, void *b);
	void *(*new_graph)(void *ctx, size_t size, bool grads);
	void (*expand)(void *graph, void *tensor);
	/* The last argument is ik_llama.cpp's alone. */
	size_t (*quantize)(int type, const float *x, void *out, int64_t start, int64_t rows, int64_t k,
			   const float *importance, void *user);
	void *(*backend)(void);
	void (*backend_free)(void *backend);
	void (*set_threads)(void *backend, int n);
	int (*compute)(void *backend, void *graph);
	void *(*buffer_of)(void *memory, size_t bytes);
	void (*buffer_free)(void *buffer);
	int (*place)(void *buffer, void *tensor, void *address);
};

static const struct peer_type {
	const char *variable, *own; /* a function that the other library lacks: types beyond a table crash it */
	const char *weights_name, *inputs_name;
	int weights, inputs;
} ggml = { "ASSAY_GGML", "ggml_version", "tq2_0", "q8_K", GGML_TQ2_0, GGML_Q8_K },
  ik = { "ASSAY_IK_GGML", "ggml_fused_up_gate", "iq2_bn_r4", "q8_K16", IK_IQ2_BN_R4, IK_Q8_K16 };

struct part {
	void *buffer, *backend, *graph, *memory;
	char *x;
	float *y;
	int64_t first, end;
};

struct state {
	struct library lib;
	const struct peer_type *type;
	size_t x_bytes; /* of a token */
	int failed;
	struct part parts[];
};

static int library_open(struct library *l, const struct peer_type *type, struct assay_reason *why)
{
	const struct {
		const char *name;
		void *function;
	} symbols[] = {
		{ "ggml_type_name", &l->type_name },
		{ "ggml_row_size", &l->row_size },
		{ "ggml_init", &l->init },
		{ "ggml_new_tensor_2d", &l->new_tensor_2d },
		{ "ggml_mul_mat", &l->mul_mat },
		{ "ggml_new_graph_custom", &l->new_graph },
		{ "ggml_build_forward_expand", &l->expand },
		{ "ggml_quantize_chunk", &l->quantize },
		{ "ggml_backend_cpu_init", &l->backend },
		{ "ggml_backend_free", &l->backend_free },
		{ "ggml_backend_cpu_set_n_threads", &l->set_threads },
		{ "ggml_backend_graph_compute", &l->compute },
		{ "ggml_backend_cpu_buffer_from_ptr", &l->buffer_of },
		{ "ggml_backend_buffer_free", &l->buffer_free },
		{ "ggml_backend_tensor_alloc", &l->place },
	};
	const char *file = getenv(type->variable);
	void *dl = file && *file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL, *own;

	if (!dl)
		return REFUSE(why, "%s: name the library in %s", file && *file ? dlerror() : "no library",
			      type->variable);
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (!kernel_library_find(dl, symbols[i].name, symbols[i].function))
			return REFUSE(why, "%s lacks %s()", file, symbols[i].name);
	if (!kernel_library_find(dl, type->own, &own))
		return REFUSE(why, "%s lacks %s(): it is not of the project that %s is for", file, type->own,
			      type->variable);
	if (strcmp(l->type_name(type->weights), type->weights_name) ||
	    strcmp(l->type_name(type->inputs), type->inputs_name))
		return REFUSE(why, "%s has other types: expected %s as type %d and %s as type %d", file,
			      type->weights_name, type->weights, type->inputs_name, type->inputs);
	return 0;
}

static int supports(const struct peer_type *type, const struct assay_shape *shape, struct assay_reason *why)
{
	const int64_t m = shape->axis[ASSAY_MATMUL_M], k = shape->axis[ASSAY_MATMUL_K];
	struct library l;

	if (m % TERNARY_UNIT || k % Q8_K_BLOCK)
		return REFUSE(why, "m must be a multiple of %d, and k of %d", TERNARY_UNIT, Q8_K_BLOCK);
	return library_open(&l, type, why);
}

static void write_weights(const struct state *s, const struct assay_job *job, const struct part *p, char *out,
			  float *rows)
{
	const struct matmul_ternary t = matmul_ternary_of(job);

	for (int64_t row = p->first; row < p->end; row += TERNARY_UNIT) {
		for (int64_t i = 0; i < TERNARY_UNIT * t.k; i++)
			rows[i] = (float)ternary_weight(&t, row + i / t.k, i % t.k);
		out += s->lib.quantize(s->type->weights, rows, out, 0, TERNARY_UNIT, t.k, NULL, NULL);
	}
}

static size_t lines(size_t bytes)
{
	return (bytes + 63) / 64 * 64;
}

/* The tensors lie one behind the other in memory of the host; @ctx describes them. */
static int part_open(struct state *s, struct assay_job *job, void *ctx, struct part *p, float *rows)
{
	const struct library *l = &s->lib;
	const int64_t k = job->shape->axis[ASSAY_MATMUL_K], n = job->shape->axis[ASSAY_MATMUL_N], m = p->end - p->first;
	const size_t w_bytes = lines((size_t)m * l->row_size(s->type->weights, k)),
		     x_bytes = lines((size_t)n * s->x_bytes), y_bytes = (size_t)(m * n) * sizeof(float);
	void *w, *x, *y;

	p->memory = job->host->alloc(job, w_bytes + x_bytes + y_bytes);
	p->backend = l->backend();
	if (!p->memory || !p->backend)
		return -1;
	p->x = (char *)p->memory + w_bytes;
	p->y = (float *)(p->x + x_bytes);
	write_weights(s, job, p, p->memory, rows);
	p->buffer = l->buffer_of(p->memory, w_bytes + x_bytes + y_bytes);
	w = l->new_tensor_2d(ctx, s->type->weights, k, m);
	x = l->new_tensor_2d(ctx, s->type->inputs, k, n);
	y = l->mul_mat(ctx, w, x);
	l->place(p->buffer, w, p->memory);
	l->place(p->buffer, x, p->x);
	l->place(p->buffer, y, p->y);
	p->graph = l->new_graph(ctx, GRAPH_NODES, false);
	l->expand(p->graph, y);
	l->set_threads(p->backend, 1);
	return 0;
}

static void release(struct assay_job *job)
{
	struct state *s = job->state;

	for (uint32_t t = 0; s && t < job->n_threads; t++) {
		struct part *p = &s->parts[t];

		if (p->buffer)
			s->lib.buffer_free(p->buffer);
		if (p->backend)
			s->lib.backend_free(p->backend);
		if (p->memory)
			job->host->release(job, p->memory);
	}
	free(s);
	job->state = NULL;
}

static int prepare(struct assay_job *job, const struct peer_type *type)
{
	const int64_t k = job->shape->axis[ASSAY_MATMUL_K];
	struct state *s = calloc(1, sizeof(*s) + job->n_threads * sizeof(s->parts[0]));
	float *rows = malloc((size_t)(TERNARY_UNIT * k) * sizeof(*rows));
	struct assay_reason why = { "not enough memory" };
	static void *ctx; /* for all copies of a cold case, and never freed: ik_llama.cpp has 64 of them at most */
	int rc = s && rows ? library_open(&s->lib, type, &why) : -1;

	job->state = s;
	if (!rc && !ctx)
		ctx = s->lib.init((struct init_params){ CONTEXT_BYTES, NULL, true });
	if (!ctx)
		rc = -1;
	for (uint32_t t = 0; t < job->n_threads && !rc; t++) {
		s->type = type;
		s->x_bytes = s->lib.row_size(type->inputs, k);
		matmul_rows(job->shape->axis[ASSAY_MATMUL_M], TERNARY_UNIT, t, job->n_threads, &s->parts[t].first,
			    &s->parts[t].end);
		rc = part_open(s, job, ctx, &s->parts[t], rows);
	}
	free(rows);
	if (!rc)
		return 0;
	release(job);
	return job->host->fail(job, "%s", why.text);
}

static void write_q8_k(const int8_t *x, int64_t k, void *out)
{
	struct q8_k *b = out;

	for (int64_t i = 0; i < k / Q8_K_BLOCK; i++, x += Q8_K_BLOCK) {
		b[i].d = 1;
		memcpy(b[i].q, x, Q8_K_BLOCK);
		for (int j = 0; j < Q8_K_BLOCK / 16; j++) {
			int sum = 0;

			for (int l = 0; l < 16; l++)
				sum += x[16 * j + l];
			b[i].sums[j] = (int16_t)sum;
		}
	}
}

/* Four scales, the sum of all inputs, and the inputs. */
static void write_q8_k16(const int8_t *x, int64_t k, void *out)
{
	float meta[IK_META] = { 1, 1, 1, 1 };
	int sum = 0;

	for (int64_t i = 0; i < k; i++)
		sum += x[i];
	meta[4] = (float)sum;
	memcpy(out, meta, sizeof(meta));
	memcpy((char *)out + sizeof(meta), x, (size_t)k);
}

static void multiply(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	struct state *s = job->state;
	const struct part *p = &s->parts[tid];
	const struct matmul_ternary op = matmul_ternary_of(job);
	const int64_t rows = p->end - p->first;

	(void)n_threads;
	for (int64_t t = 0; t < op.n; t++) {
		void *out = p->x + (size_t)t * s->x_bytes;

		if (s->type == &ggml)
			write_q8_k(op.x + t * op.k, op.k, out);
		else
			write_q8_k16(op.x + t * op.k, op.k, out);
	}
	if (s->lib.compute(p->backend, p->graph))
		__atomic_store_n(&s->failed, 1, __ATOMIC_RELAXED);
	for (int64_t t = 0; t < op.n; t++) {
		const float scale = op.w_scale * op.x_scale[t];
		float *y = op.y + t * op.m + p->first;

		for (int64_t i = 0; i < rows; i++)
			y[i] = p->y[t * rows + i] * scale;
	}
}

static int run(struct assay_job *job)
{
	matmul_run(job, multiply);
	return ((struct state *)job->state)->failed ? job->host->fail(job, "ggml_backend_graph_compute() fails") : 0;
}

#define OF(type)                                                                                                       \
	static int supports_##type(const struct assay_shape *shape, struct assay_reason *why)                          \
	{                                                                                                              \
		return supports(&type, shape, why);                                                                    \
	}                                                                                                              \
	static int prepare_##type(struct assay_job *job)                                                               \
	{                                                                                                              \
		return prepare(job, &type);                                                                            \
	}
OF(ggml)
OF(ik)

#define ENTRY(type, help_)                                                                                             \
	{                                                                                                              \
		.op = "matmul.ternary", .name = #type, .help = help_, .supports = supports_##type,                     \
		.prepare = prepare_##type, .run = run, .release = release                                              \
	}

static const struct assay_variant variants[] = { ENTRY(ggml, "ggml_mul_mat() of TQ2_0, $ASSAY_GGML"),
						 ENTRY(ik, "ggml_mul_mat() of IQ2_BN_R4, $ASSAY_IK_GGML") };

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "peers-ternary",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
