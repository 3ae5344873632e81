/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step of generate.file, for the instruction set that the including file is compiled for; PREPARE names its callback.
 * Vectors of 16 floats are what the sums are defined with; the compiler splits them for narrower registers.
 *
 * A row of a matrix is decoded once for all tokens of the step, by the thread that computes its outputs.
 */
#include <string.h>

#include "assay/float_bits.h"
#include "generate_file_variants.h"
#include "gguf/types.h"

typedef float v16 __attribute__((vector_size(64)));

struct step {
	struct assay_job *job;
	const struct assay_file_model *m;
	struct assay_file_work w;
	float *f; /* the tensor of work */
	const int32_t *tokens;
	int64_t n, pos, max_pos;
	int layer;
	/* of a matrix product */
	const struct assay_file_matrix *a;
	const float *in;
	float *out;
	int add; /* to what @out holds */
};

struct range {
	int64_t begin, end;
};

static struct range share(int64_t n, uint32_t tid, uint32_t n_threads)
{
	return (struct range){ n * tid / n_threads, n * (tid + 1) / n_threads };
}

/* ---- numbers ---- */

static float add_lanes(const float *l)
{
	float s[8];

	for (int i = 0; i < 8; i++)
		s[i] = l[i] + l[i + 8];
	for (int i = 0; i < 4; i++)
		s[i] += s[i + 4];
	return (s[0] + s[2]) + (s[1] + s[3]);
}

static float dot(const float *a, const float *b, int64_t n)
{
	const int64_t whole = n - n % 16;
	v16 sum = { 0 }, x, y;
	float lanes[16];

	for (int64_t i = 0; i < whole; i += 16) {
		memcpy(&x, a + i, sizeof(x));
		memcpy(&y, b + i, sizeof(y));
		sum += x * y;
	}
	memcpy(lanes, &sum, sizeof(lanes));
	for (int64_t i = whole; i < n; i++)
		lanes[i - whole] += a[i] * b[i];
	return add_lanes(lanes);
}

static float exp_of(float x)
{
	const float t = x * 0x1.715476p+0f + 0x1.8p23f, n = t - 0x1.8p23f;
	const float r = (x - n * 0x1.62ep-1f) - n * 0x1.0bfbe8p-15f;
	float p = 1.0f / 5040;

	if (x < -87)
		return 0;
	p = p * r + 1.0f / 720;
	p = p * r + 1.0f / 120;
	p = p * r + 1.0f / 24;
	p = p * r + 1.0f / 6;
	p = p * r + 0.5f;
	p = p * r + 1.0f;
	p = p * r + 1.0f;
	return p * assay_f32_of_bits(((uint32_t)(int32_t)n + 127) << 23);
}

static float silu(float x)
{
	const float e = exp_of(x < 0 ? x : -x);

	return x < 0 ? x * e / (1 + e) : x / (1 + e);
}

static void rmsnorm(const struct step *s, const float *x, const float *gain, int64_t n, float *out)
{
	const float scale = 1.0f / __builtin_sqrtf(dot(x, x, n) / (float)n + s->m->eps);

	for (int64_t i = 0; i < n; i++)
		out[i] = x[i] * scale * gain[i];
}

/* ---- rounding of inputs, as ggml's quantize_row_q8_0(), quantize_row_q8_K() and bitnet.cpp have it ---- */

static float largest(const float *x, int64_t n)
{
	float most = 0;

	for (int64_t i = 0; i < n; i++)
		most = __builtin_fabsf(x[i]) > most ? __builtin_fabsf(x[i]) : most;
	return most;
}

/* To nearest, ties to even, of what is below 2^22. */
static float nearest(float x)
{
	return (x + 0x1.8p23f) - 0x1.8p23f;
}

static void round_block_32(const float *x, float *out)
{
	const float most = largest(x, 32), by = most > 0 ? 127 / most : 0,
		    d = assay_gguf_f32_of_half(assay_gguf_half_of_f32(most / 127));

	for (int i = 0; i < 32; i++)
		out[i] = nearest(x[i] * by) * d;
}

/* The value of largest magnitude, the first of them, becomes -127. */
static void round_block_256(const float *x, float *out)
{
	float most = 0, first = 0, by, d;

	for (int i = 0; i < 256; i++)
		if (__builtin_fabsf(x[i]) > most) {
			most = __builtin_fabsf(x[i]);
			first = x[i];
		}
	by = most > 0 ? -127.0f / first : 0;
	d = most > 0 ? 1 / by : 0;
	for (int i = 0; i < 256; i++) {
		const float q = nearest(by * x[i]);

		out[i] = (q > 127 ? 127 : q) * d;
	}
}

static void round_token(const float *x, int64_t n, float *out)
{
	const float most = largest(x, n) > 1e-5f ? largest(x, n) : 1e-5f, by = 127 / most;

	for (int64_t i = 0; i < n; i++)
		out[i] = nearest(x[i] * by) / by;
}

static void round_row(uint32_t how, const float *x, int64_t n, float *out)
{
	switch (how) {
	case ASSAY_FILE_ROUND_F16:
		for (int64_t i = 0; i < n; i++)
			out[i] = assay_gguf_f32_of_half(assay_gguf_half_of_f32(x[i]));
		break;
	case ASSAY_FILE_ROUND_BF16:
		for (int64_t i = 0; i < n; i++)
			out[i] = assay_f32_of_bf16(assay_bf16_of_f32(x[i]));
		break;
	case ASSAY_FILE_ROUND_BLOCKS_32:
		for (int64_t i = 0; i < n; i += 32)
			round_block_32(x + i, out + i);
		break;
	case ASSAY_FILE_ROUND_BLOCKS_256:
		for (int64_t i = 0; i < n; i += 256)
			round_block_256(x + i, out + i);
		break;
	default:
		round_token(x, n, out);
	}
}

/* ---- a matrix times the tokens of the step ---- */

static void multiply_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct step *s = arg;
	const struct assay_file_matrix *a = s->a;
	const struct range r = share(a->rows, tid, n_threads);
	float *row = s->f + s->w.row + tid * s->w.row_stride;

	for (int64_t i = r.begin; i < r.end; i++) {
		const uint8_t *at = a->data + i * a->row_bytes;
		const float *w = row;

		if (a->rounding == ASSAY_FILE_ROUND_F32)
			w = (const float *)(const void *)at;
		else
			a->decode(at, (size_t)a->blocks, row);
		for (int64_t t = 0; t < s->n; t++) {
			const float y = dot(w, s->in + t * a->cols, a->cols) * a->scale;
			float *out = s->out + t * a->rows + i;

			*out = s->add ? *out + y : y;
		}
	}
}

/* @n rows of @in, unrounded, times @a. */
static void multiply(struct step *s, const struct assay_file_matrix *a, const float *in, float *out, int add)
{
	float *rounded = s->f + s->w.rounded[a->rounding];

	s->in = in;
	if (a->rounding != ASSAY_FILE_ROUND_F32) {
		for (int64_t t = 0; t < s->n; t++)
			round_row(a->rounding, in + t * a->cols, a->cols, rounded + t * a->cols);
		s->in = rounded;
	}
	s->a = a;
	s->out = out;
	s->add = add;
	s->job->host->parallel(s->job, multiply_rows, s);
}

/* ---- attention ---- */

static float *cached(const struct step *s, int which, int32_t head, int64_t pos)
{
	float *kv = s->job->tensors[ASSAY_FILE_T_KV].data;
	const struct assay_file_model *m = s->m;

	return kv + ((((int64_t)s->layer * 2 + which) * m->kv_heads + head) * s->max_pos + pos) * m->head_dim;
}

static void rotate(const struct step *s, int64_t pos, float *x)
{
	const int64_t half = s->m->rotated / 2;
	const float *c = (const float *)s->job->tensors[ASSAY_FILE_T_ROPE].data + pos * s->m->rotated, *sn = c + half;

	for (int64_t i = 0; i < half; i++) {
		float *a = x + (s->m->halves ? i : 2 * i), *b = s->m->halves ? a + half : a + 1;
		const float u = *a * c[i] - *b * sn[i], v = *a * sn[i] + *b * c[i];

		*a = u;
		*b = v;
	}
}

static void rotate_and_keep(struct step *s)
{
	const struct assay_file_model *m = s->m;

	for (int64_t t = 0; t < s->n; t++) {
		for (int32_t h = 0; h < m->heads; h++)
			rotate(s, s->pos + t, s->f + s->w.q + (t * m->heads + h) * m->head_dim);
		for (int32_t h = 0; h < m->kv_heads; h++) {
			float *k = s->f + s->w.k + (t * m->kv_heads + h) * m->head_dim;

			rotate(s, s->pos + t, k);
			memcpy(cached(s, 0, h, s->pos + t), k, (size_t)m->head_dim * sizeof(*k));
			memcpy(cached(s, 1, h, s->pos + t), s->f + s->w.v + (t * m->kv_heads + h) * m->head_dim,
			       (size_t)m->head_dim * sizeof(*k));
		}
	}
}

static void attend_head(const struct step *s, float *scores, int64_t t, int32_t head)
{
	const struct assay_file_model *m = s->m;
	const int64_t len = s->pos + t + 1, dim = m->head_dim;
	const int32_t kv = head / (m->heads / m->kv_heads);
	const float *q = s->f + s->w.q + (t * m->heads + head) * dim;
	float *out = s->f + s->w.att + (t * m->heads + head) * dim, scale = 1.0f / __builtin_sqrtf((float)dim);
	float most = 0, sum = 0;

	for (int64_t p = 0; p < len; p++) {
		scores[p] = dot(q, cached(s, 0, kv, p), dim) * scale;
		most = p && most > scores[p] ? most : scores[p];
	}
	memset(out, 0, (size_t)dim * sizeof(*out));
	for (int64_t p = 0; p < len; p++) {
		const float e = exp_of(scores[p] - most), *v = cached(s, 1, kv, p);

		sum += e;
		for (int64_t i = 0; i < dim; i++)
			out[i] += e * v[i];
	}
	for (int64_t i = 0; i < dim; i++)
		out[i] *= 1.0f / sum;
}

/* Dealt out one by one, because later tokens see more positions. */
static void attend(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct step *s = arg;
	float *scores = s->f + s->w.scores + tid * s->max_pos;

	for (int64_t u = tid; u < s->n * s->m->heads; u += n_threads)
		attend_head(s, scores, u / s->m->heads, (int32_t)(u % s->m->heads));
}

/* ---- layers ---- */

static void norm_rows(const struct step *s, const float *x, const float *gain, int64_t cols, float *out)
{
	for (int64_t t = 0; t < s->n; t++)
		rmsnorm(s, x + t * cols, gain, cols, out + t * cols);
}

static void run_layer(struct step *s, const struct assay_file_layer *l)
{
	const struct assay_file_model *m = s->m;
	const int64_t q_dim = (int64_t)m->heads * m->head_dim;
	float *x = s->f + s->w.x, *norm = s->f + s->w.norm, *att = s->f + s->w.att, *gate = s->f + s->w.gate,
	      *up = s->f + s->w.up;

	assay_span(s->job, "attention");
	norm_rows(s, x, l->norms[ASSAY_FILE_NORM_ATTN], m->dim, norm);
	multiply(s, &l->matrices[ASSAY_FILE_WQ], norm, s->f + s->w.q, 0);
	multiply(s, &l->matrices[ASSAY_FILE_WK], norm, s->f + s->w.k, 0);
	multiply(s, &l->matrices[ASSAY_FILE_WV], norm, s->f + s->w.v, 0);
	rotate_and_keep(s);
	s->job->host->parallel(s->job, attend, s);
	if (l->norms[ASSAY_FILE_NORM_ATTN_SUB]) {
		norm_rows(s, att, l->norms[ASSAY_FILE_NORM_ATTN_SUB], q_dim, norm);
		att = norm;
	}
	multiply(s, &l->matrices[ASSAY_FILE_WO], att, x, 1);
	assay_span_end(s->job);

	assay_span(s->job, "feed-forward");
	norm_rows(s, x, l->norms[ASSAY_FILE_NORM_FFN], m->dim, norm);
	multiply(s, &l->matrices[ASSAY_FILE_WGATE], norm, gate, 0);
	multiply(s, &l->matrices[ASSAY_FILE_WUP], norm, up, 0);
	for (int64_t i = 0; i < s->n * m->ffn; i++) {
		const float g = gate[i] > 0 ? gate[i] : 0;

		gate[i] = (m->relu2 ? g * g : silu(gate[i])) * up[i];
	}
	if (l->norms[ASSAY_FILE_NORM_FFN_SUB]) {
		norm_rows(s, gate, l->norms[ASSAY_FILE_NORM_FFN_SUB], m->ffn, norm);
		gate = norm;
	}
	multiply(s, &l->matrices[ASSAY_FILE_WDOWN], gate, x, 1);
	assay_span_end(s->job);
}

static void step(struct assay_job *job, const int32_t *tokens, int64_t n, int64_t pos, int want_logits)
{
	const struct assay_file_state *state = job->op_state;
	const struct assay_file_model *m = &state->model;
	struct step s = { .job = job,
			  .m = m,
			  .w = assay_file_work(m, state->max_pos, job->n_threads),
			  .f = job->tensors[ASSAY_FILE_T_WORK].data,
			  .tokens = tokens,
			  .n = n,
			  .pos = pos,
			  .max_pos = state->max_pos };
	float *x = s.f + s.w.x, *last = s.f + s.w.norm;

	for (int64_t t = 0; t < n; t++) {
		const struct assay_file_matrix *e = &m->embedding;

		e->decode(e->data + tokens[t] * e->row_bytes, (size_t)e->blocks, x + t * m->dim);
		for (int32_t i = 0; i < m->dim; i++)
			x[t * m->dim + i] *= e->scale;
	}
	for (s.layer = 0; s.layer < m->layers; s.layer++)
		run_layer(&s, &m->layer[s.layer]);
	if (!want_logits)
		return;
	assay_span(job, "head");
	rmsnorm(&s, x + (n - 1) * m->dim, m->norm, m->dim, last);
	s.n = 1;
	multiply(&s, &m->head, last, job->tensors[ASSAY_FILE_T_LOGITS].data, 0);
	assay_span_end(job);
}

int PREPARE(struct assay_job *job)
{
	struct assay_file_state *s = job->op_state;

	s->step = step;
	return 0;
}
