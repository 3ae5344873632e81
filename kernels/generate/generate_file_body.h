/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step of generate.file, for the instruction set that the including file is compiled for; PREPARE names its callback.
 * Vectors of 16 floats are what the sums are defined with; the compiler splits them for narrower registers.
 *
 * Rows of q8_0, q6_k, tq1_0 and tq2_0 are multiplied as they are; those of other types are decoded once for all tokens
 * of the step, by the thread that computes their outputs.
 */
#include <string.h>

#include "../block_rows.h"
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

/* sum += a · b, fused; vectors that the file has no registers for are not passed by value. */
INLINE void fma_16(const v16 *a, const v16 *b, v16 *sum)
{
#if defined(__AVX512F__)
	*sum = (v16)_mm512_fmadd_ps((__m512)*a, (__m512)*b, (__m512)*sum);
#elif defined(__AVX2__)
	__m256 x[2], y[2], z[2];

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	memcpy(z, sum, sizeof(z));
	z[0] = _mm256_fmadd_ps(x[0], y[0], z[0]);
	z[1] = _mm256_fmadd_ps(x[1], y[1], z[1]);
	memcpy(sum, z, sizeof(z));
#else
	for (int i = 0; i < 16; i++)
		(*sum)[i] = __builtin_fmaf((*a)[i], (*b)[i], (*sum)[i]);
#endif
}

static float dot(const float *a, const float *b, int64_t n)
{
	const int64_t whole = n - n % 64;
	v16 sum[4] = { { 0 } }, x, y;
	float lanes[16], all;

	for (int64_t i = 0; i < whole; i += 64)
		EACH (k, 4) {
			memcpy(&x, a + i + 16 * k, sizeof(x));
			memcpy(&y, b + i + 16 * k, sizeof(y));
			fma_16(&x, &y, &sum[k]);
		}
	sum[0] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
	memcpy(lanes, &sum[0], sizeof(lanes));
	all = add_lanes(lanes);
	for (int64_t i = whole; i < n; i++)
		all = __builtin_fmaf(a[i], b[i], all);
	return all;
}

static double sum_of_squares(const float *x, int64_t n)
{
	double lanes[8] = { 0 };

	for (int64_t i = 0; i < n; i++)
		lanes[i % 8] += (double)(x[i] * x[i]);
	for (int i = 0; i < 4; i++)
		lanes[i] += lanes[i + 4];
	return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

/* 2^@n, for the exponents of normal numbers. */
static float power_of_2(int32_t n)
{
	return assay_f32_of_bits((uint32_t)(n + 127) << 23);
}

/* 2^n p(b) with x = n ln 2 + b; ln 2 in two parts, and 2^n in two factors, which round but once. */
static float exp_of(float x)
{
	const float z = __builtin_fmaf(x, 0x1.715476p+0f, 0x1.8p23f), n = z - 0x1.8p23f;
	const float b = __builtin_fmaf(-n, 0x1.7f7d1cp-20f, __builtin_fmaf(-n, 0x1.62e4p-1f, x)), b2 = b * b;
	const float high = __builtin_fmaf(0x1.0e402p-7f, b, 0x1.573e2ep-5f);
	const float low = __builtin_fmaf(0x1.555e66p-3f, b, 0x1.fffdb6p-2f);
	const float p = __builtin_fmaf(__builtin_fmaf(high, b2, low), b2, __builtin_fmaf(0x1.ffffecp-1f, b, 1));
	const int32_t whole = (int32_t)(assay_f32_bits(z) - assay_f32_bits(0x1.8p23f)), half = whole / 2;

	return x < -132 ? 0 : x > 132 ? __builtin_inff() : p * power_of_2(half) * power_of_2(whole - half);
}

static float silu(float x)
{
	return x / (1 + exp_of(-x));
}

static void rmsnorm(const struct step *s, const float *x, const float *gain, int64_t n, float *out)
{
	const float scale = 1.0f / __builtin_sqrtf((float)(sum_of_squares(x, n) / (double)n) + s->m->eps);

	for (int64_t i = 0; i < n; i++)
		out[i] = x[i] * scale * gain[i];
}

/* ---- rounding of inputs, as ggml and bitnet.cpp have it ---- */

static float largest(const float *x, int64_t n)
{
	float most = 0;

	for (int64_t i = 0; i < n; i++)
		most = __builtin_fabsf(x[i]) > most ? __builtin_fabsf(x[i]) : most;
	return most;
}

static void round_token(const float *x, int64_t n, float *out)
{
	const float most = largest(x, n) > 1e-5f ? largest(x, n) : 1e-5f, by = 127 / most;

	for (int64_t i = 0; i < n; i++)
		out[i] = block_nearest(x[i] * by) / by;
}

static void round_row(const struct assay_file_matrix *a, const float *x, float *out)
{
	const int64_t n = a->cols;

	switch (a->rounding) {
	case ASSAY_FILE_ROUND_F16:
		for (int64_t i = 0; i < n; i++)
			out[i] = assay_f32_of_half(assay_half_of_f32(x[i]));
		break;
	case ASSAY_FILE_ROUND_BF16:
		for (int64_t i = 0; i < n; i++)
			out[i] = assay_f32_of_bf16(assay_bf16_of_f32(x[i]));
		break;
	case ASSAY_FILE_ROUND_TOKEN:
		round_token(x, n, out);
		break;
	default:
		block_inputs(a->type, x, n, out);
	}
}

/* ---- a matrix times the tokens of the step ---- */

static void keep(const struct step *s, int64_t t, int64_t row, float y)
{
	float *out = s->out + t * s->a->rows + row;

	*out = s->add ? *out + y : y;
}

static void multiply_blocks(void *step, uint32_t tid, uint32_t n_threads)
{
	const struct step *s = step;
	const struct range r = share(s->a->rows, tid, n_threads);
	const struct block_product p = { .w = s->a->data,
					 .in = (const uint8_t *)s->in,
					 .in_bytes = s->a->cols * (int64_t)sizeof(*s->in),
					 .y = s->out,
					 .m = s->a->rows,
					 .k = s->a->cols,
					 .n = s->n,
					 .add = s->add };

	if (s->a->type == ASSAY_BLOCK_Q8_0)
		block_product(ASSAY_BLOCK_Q8_0, &p, r.begin, r.end);
	else if (s->a->type == ASSAY_BLOCK_Q6_K)
		block_product(ASSAY_BLOCK_Q6_K, &p, r.begin, r.end);
	else if (s->a->type == ASSAY_BLOCK_TQ1_0)
		block_product(ASSAY_BLOCK_TQ1_0, &p, r.begin, r.end);
	else
		block_product(ASSAY_BLOCK_TQ2_0, &p, r.begin, r.end);
}

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
		for (int64_t t = 0; t < s->n; t++)
			keep(s, t, i, dot(w, s->in + t * a->cols, a->cols) * a->scale);
	}
}

/* @n rows of @in, unrounded, times @a. */
static void multiply(struct step *s, const struct assay_file_matrix *a, const float *in, float *out, int add)
{
	float *rounded = s->f + s->w.rounded[a->rounding];

	s->in = in;
	if (a->rounding != ASSAY_FILE_ROUND_F32) {
		for (int64_t t = 0; t < s->n; t++)
			round_row(a, in + t * a->cols, rounded + t * a->cols);
		s->in = rounded;
	}
	s->a = a;
	s->out = out;
	s->add = add;
	s->job->host->parallel(s->job,
			       a->type == ASSAY_BLOCK_Q8_0 || a->type == ASSAY_BLOCK_Q6_K ||
					       a->type == ASSAY_BLOCK_TQ1_0 || a->type == ASSAY_BLOCK_TQ2_0
				       ? multiply_blocks
				       : multiply_rows,
			       s);
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
		const float u = __builtin_fmaf(*a, c[i], -(*b * sn[i])), v = __builtin_fmaf(*a, sn[i], *b * c[i]);

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

/* exp(score - greatest) over their sum, in place; @n is padded with zeros to a multiple of 16. */
static void softmax(float *scores, int64_t n)
{
	float most = scores[0];
	double sum = 0;

	for (int64_t p = 1; p < n; p++)
		most = most > scores[p] ? most : scores[p];
	for (int64_t p = 0; p < n; p++)
		scores[p] = exp_of(scores[p] - most);
	for (int64_t p = n; p % 16; p++)
		scores[p] = 0;
	for (int64_t p = 0; p < n; p += 16)
		sum += (double)add_lanes(scores + p);
	for (int64_t p = 0; p < n; p++)
		scores[p] *= (float)(1 / sum);
}

/* Sixteen values at @at of a head, each summed over the positions as the products of a row are. */
static void attend_values(const struct step *s, const float *shares, int64_t len, int32_t kv, int64_t at, float *out)
{
	const int64_t dim = s->m->head_dim, n = dim - at < 16 ? dim - at : 16;
	v16 lanes[64] = { { 0 } }, v = { 0 }, share;
	float turned[16];

	for (int64_t p = 0; p < len; p++) {
		share = (v16){ 0 } + shares[p];
		memcpy(&v, cached(s, 1, kv, p) + at, (size_t)n * sizeof(*out));
		fma_16(&share, &v, &lanes[p % 64]);
	}
	for (int l = 0; l < 16; l++)
		lanes[l] = (lanes[l] + lanes[l + 32]) + (lanes[l + 16] + lanes[l + 48]);
	for (int64_t i = 0; i < n; i++) {
		for (int l = 0; l < 16; l++)
			turned[l] = lanes[l][i];
		out[i] = add_lanes(turned);
	}
}

static void attend_head(const struct step *s, float *scores, int64_t t, int32_t head)
{
	const struct assay_file_model *m = s->m;
	const int64_t len = s->pos + t + 1, dim = m->head_dim;
	const int32_t kv = head / (m->heads / m->kv_heads);
	const float *q = s->f + s->w.q + (t * m->heads + head) * dim, scale = 1.0f / __builtin_sqrtf((float)dim);

	for (int64_t p = 0; p < len; p++)
		scores[p] = dot(q, cached(s, 0, kv, p), dim) * scale;
	softmax(scores, len);
	for (int64_t i = 0; i < dim; i += 16)
		attend_values(s, scores, len, kv, i, s->f + s->w.att + (t * m->heads + head) * dim + i);
}

/* Dealt out one by one, because later tokens see more positions. */
static void attend(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct step *s = arg;
	float *scores = s->f + s->w.scores + tid * assay_file_scores_stride(s->max_pos);

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
