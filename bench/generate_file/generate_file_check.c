/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle of generate.file: the model once more, in double precision with libm, one position after the other from
 * the tokens alone. It shares the decoding of blocks and of halves with the variants, which tests/unit/gguf holds
 * against ggml's definitions, and nothing else. Compared are keys and values of every position, each chosen token, and
 * the last logits.
 *
 * Where inputs of matrices are rounded, one of them may fall the other way, which moves all that follows: there the
 * tolerance is 5 %. Of models so large that all positions would take minutes, the first ones are compared.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../generate_file_ops.h"
#include "assay/float_bits.h"
#include "generate_file_state.h"

#define MOST_MACS 2e11

struct oracle {
	struct assay_job *job;
	const struct assay_file_model *m;
	int64_t max_pos;
	double *kv; /* [layers][2][max_pos][kv_heads * head_dim] */
	double *x, *norm, *q, *att, *gate, *up, *rounded, *scores, *logits;
	double tolerance;
	struct assay_check *out;

	/* of a product, whose rows are shared out */
	const struct assay_file_matrix *a;
	double *y;
	float *rows; /* one a thread */
	int64_t row_len;
};

/* ---- arithmetic ---- */

static double largest(const double *x, int64_t n)
{
	double most = 0;

	for (int64_t i = 0; i < n; i++)
		most = fmax(most, fabs(x[i]));
	return most;
}

static void round_block(double *x, int64_t n, double by, double d)
{
	for (int64_t i = 0; i < n; i++)
		x[i] = fmin(nearbyint(x[i] * by), 127) * d;
}

static void round_inputs(uint32_t how, double *x, int64_t n)
{
	const int64_t block = how == ASSAY_FILE_ROUND_BLOCKS_32 ? 32 : how == ASSAY_FILE_ROUND_BLOCKS_256 ? 256 : n;

	for (int64_t i = 0; i < n && how == ASSAY_FILE_ROUND_F16; i++)
		x[i] = (double)assay_f32_of_half(assay_half_of_f32((float)x[i]));
	for (int64_t i = 0; i < n && how == ASSAY_FILE_ROUND_BF16; i++)
		x[i] = (double)assay_f32_of_bf16(assay_bf16_of_f32((float)x[i]));
	for (int64_t at = 0; at < n && how > ASSAY_FILE_ROUND_BF16; at += block) {
		const double most = largest(x + at, block);
		double d = most / 127, sign = 1;

		if (how == ASSAY_FILE_ROUND_BLOCKS_32)
			d = (double)assay_f32_of_half(assay_half_of_f32((float)d));
		for (int64_t i = at; i < at + block && how == ASSAY_FILE_ROUND_BLOCKS_256; i++)
			if (fabs(x[i]) == most) {
				sign = x[i] > 0 ? -1 : 1;
				break;
			}
		round_block(x + at, block, most > 0 ? sign * 127 / most : 0, sign * d);
	}
}

static void multiply_rows(void *oracle, uint32_t tid, uint32_t n_threads)
{
	struct oracle *o = oracle;
	float *row = o->rows + tid * o->row_len;

	for (int64_t i = tid; i < o->a->rows; i += n_threads) {
		double sum = 0;

		o->a->decode(o->a->data + i * o->a->row_bytes, (size_t)o->a->blocks, row);
		for (int64_t k = 0; k < o->a->cols; k++)
			sum += (double)row[k] * o->rounded[k];
		o->y[i] = sum * (double)o->a->scale;
	}
}

static void multiply(struct oracle *o, const struct assay_file_matrix *a, const double *in, double *out)
{
	memcpy(o->rounded, in, (size_t)a->cols * sizeof(*in));
	round_inputs(a->rounding, o->rounded, a->cols);
	o->a = a;
	o->y = out;
	o->job->host->parallel(o->job, multiply_rows, o);
}

static void rmsnorm(const struct oracle *o, const double *x, const float *gain, int64_t n, double *out)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += x[i] * x[i];
	for (int64_t i = 0; i < n; i++)
		out[i] = x[i] / sqrt(sum / (double)n + (double)o->m->eps) * (double)gain[i];
}

static void rotate(const struct oracle *o, double *x, int64_t pos)
{
	const int32_t half = o->m->rotated / 2;

	for (int32_t i = 0; i < half; i++) {
		const double angle = (double)pos * pow((double)o->m->freq_base, -2.0 * i / o->m->rotated);
		double *a = x + (o->m->halves ? i : 2 * i), *b = o->m->halves ? a + half : a + 1;
		const double u = *a * cos(angle) - *b * sin(angle), v = *a * sin(angle) + *b * cos(angle);

		*a = u;
		*b = v;
	}
}

/* ---- one position ---- */

static double *kv_row(const struct oracle *o, int layer, int which, int64_t pos)
{
	return o->kv + ((layer * 2 + which) * o->max_pos + pos) * o->m->kv_heads * o->m->head_dim;
}

static void attend(struct oracle *o, int layer, int64_t pos, int32_t head)
{
	const int64_t dim = o->m->head_dim, at = head / (o->m->heads / o->m->kv_heads) * dim;
	const double *q = o->q + head * dim;
	double *out = o->att + head * dim, sum = 0, most = -INFINITY;

	for (int64_t p = 0; p <= pos; p++) {
		o->scores[p] = 0;
		for (int64_t i = 0; i < dim; i++)
			o->scores[p] += q[i] * kv_row(o, layer, 0, p)[at + i] / sqrt((double)dim);
		most = fmax(most, o->scores[p]);
	}
	memset(out, 0, (size_t)dim * sizeof(*out));
	for (int64_t p = 0; p <= pos; p++) {
		const double e = exp(o->scores[p] - most);

		sum += e;
		for (int64_t i = 0; i < dim; i++)
			out[i] += e * kv_row(o, layer, 1, p)[at + i];
	}
	for (int64_t i = 0; i < dim; i++)
		out[i] /= sum;
}

static void run_layer(struct oracle *o, int layer, int64_t pos)
{
	const struct assay_file_layer *l = &o->m->layer[layer];
	const int64_t dim = o->m->dim, head_dim = o->m->head_dim;
	double *k = kv_row(o, layer, 0, pos);

	rmsnorm(o, o->x, l->norms[ASSAY_FILE_NORM_ATTN], dim, o->norm);
	multiply(o, &l->matrices[ASSAY_FILE_WQ], o->norm, o->q);
	multiply(o, &l->matrices[ASSAY_FILE_WK], o->norm, k);
	multiply(o, &l->matrices[ASSAY_FILE_WV], o->norm, kv_row(o, layer, 1, pos));
	for (int32_t h = 0; h < o->m->heads; h++)
		rotate(o, o->q + h * head_dim, pos);
	for (int32_t h = 0; h < o->m->kv_heads; h++)
		rotate(o, k + h * head_dim, pos);
	for (int32_t h = 0; h < o->m->heads; h++)
		attend(o, layer, pos, h);
	if (l->norms[ASSAY_FILE_NORM_ATTN_SUB])
		rmsnorm(o, o->att, l->norms[ASSAY_FILE_NORM_ATTN_SUB], o->m->heads * head_dim, o->att);
	multiply(o, &l->matrices[ASSAY_FILE_WO], o->att, o->norm);
	for (int64_t i = 0; i < dim; i++)
		o->x[i] += o->norm[i];

	rmsnorm(o, o->x, l->norms[ASSAY_FILE_NORM_FFN], dim, o->norm);
	multiply(o, &l->matrices[ASSAY_FILE_WGATE], o->norm, o->gate);
	multiply(o, &l->matrices[ASSAY_FILE_WUP], o->norm, o->up);
	for (int32_t i = 0; i < o->m->ffn; i++) {
		const double g = o->gate[i];

		o->gate[i] = (o->m->relu2 ? fmax(g, 0) * fmax(g, 0) : g / (1 + exp(-g))) * o->up[i];
	}
	if (l->norms[ASSAY_FILE_NORM_FFN_SUB])
		rmsnorm(o, o->gate, l->norms[ASSAY_FILE_NORM_FFN_SUB], o->m->ffn, o->gate);
	multiply(o, &l->matrices[ASSAY_FILE_WDOWN], o->gate, o->norm);
	for (int64_t i = 0; i < dim; i++)
		o->x[i] += o->norm[i];
}

static void embed(struct oracle *o, int32_t token)
{
	const struct assay_file_matrix *e = &o->m->embedding;

	e->decode(e->data + token * e->row_bytes, (size_t)e->blocks, o->rows);
	for (int32_t i = 0; i < o->m->dim; i++)
		o->x[i] = (double)o->rows[i] * (double)e->scale;
}

/* ---- comparisons ---- */

static void wrong(struct oracle *o, const char *tensor, int64_t index, const char *what, double got, double want)
{
	if (!o->out->correct)
		return;
	o->out->correct = 0;
	o->out->tensor = tensor;
	o->out->first_bad = index;
	snprintf(o->out->reason.text, sizeof(o->out->reason.text), "%s: got %.6g, want %.6g", what, got, want);
}

/* Floats within the tolerance of the largest of them. */
static void compare(struct oracle *o, const char *tensor, int64_t first, const float *got, const double *want,
		    int64_t n, const char *what)
{
	const double most = largest(want, n);

	for (int64_t i = 0; i < n; i++) {
		const double error = fabs((double)got[i] - want[i]) / most;

		o->out->max_rel_err = fmax(o->out->max_rel_err, error);
		if (!(error <= o->tolerance))
			wrong(o, tensor, first + i, what, (double)got[i], want[i]);
	}
}

static void compare_kv(struct oracle *o, int64_t pos)
{
	const float *kv = o->job->tensors[ASSAY_FILE_T_KV].data;
	const struct assay_file_model *m = o->m;
	char what[64];

	for (int row = 0; row < m->layers * 2; row++)
		for (int32_t h = 0; h < m->kv_heads; h++) {
			const int64_t at = (((int64_t)row * m->kv_heads + h) * o->max_pos + pos) * m->head_dim;

			snprintf(what, sizeof(what), "%s of layer %d at position %lld", row % 2 ? "value" : "key",
				 row / 2, (long long)pos);
			compare(o, "kv_cache", at, kv + at, kv_row(o, row / 2, row % 2, pos) + h * m->head_dim,
				m->head_dim, what);
		}
}

/* The token that was chosen after @pos is the most likely one, or as good as that. */
static void compare_token(struct oracle *o, int64_t pos, int64_t pp, int64_t tg)
{
	const int32_t *tokens = o->job->tensors[ASSAY_FILE_T_TOKENS].data, token = tokens[pos - pp + 1];
	double best = -INFINITY;

	rmsnorm(o, o->x, o->m->norm, o->m->dim, o->norm);
	multiply(o, &o->m->head, o->norm, o->logits);
	for (int32_t i = 0; i < o->m->vocab; i++)
		best = fmax(best, o->logits[i]);
	if (o->logits[token] < best - o->tolerance * largest(o->logits, o->m->vocab))
		wrong(o, "tokens", pos - pp + 1, "logit of the chosen token", o->logits[token], best);
	if (pos == pp + tg - 2)
		compare(o, "logits", 0, o->job->tensors[ASSAY_FILE_T_LOGITS].data, o->logits, o->m->vocab, "logit");
}

static void check_positions(struct oracle *o)
{
	const int64_t pp = o->job->shape->axis[ASSAY_FILE_AXIS_PP], tg = o->job->shape->axis[ASSAY_FILE_AXIS_TG];
	const int32_t *prompt = o->job->tensors[ASSAY_FILE_T_PROMPT].data,
		      *tokens = o->job->tensors[ASSAY_FILE_T_TOKENS].data;
	const double fit = MOST_MACS / assay_file_model_parameters(o->m);

	for (int64_t i = 0; i < tg; i++)
		if (tokens[i] < 0 || tokens[i] >= o->m->vocab) {
			wrong(o, "tokens", i, "a token", tokens[i], o->m->vocab - 1);
			return;
		}
	for (int64_t pos = 0; pos < pp + tg - 1 && (!pos || (double)pos < fit) && o->out->correct; pos++) {
		embed(o, pos < pp ? prompt[pos] : tokens[pos - pp]);
		for (int layer = 0; layer < o->m->layers; layer++)
			run_layer(o, layer, pos);
		compare_kv(o, pos);
		if (pos >= pp - 1)
			compare_token(o, pos, pp, tg);
	}
}

int assay_generate_file_check(struct assay_job *job, struct assay_check *out)
{
	const struct file_state *s = job->op_state;
	const struct assay_file_model *m = &s->state.model;
	const int64_t q = (int64_t)m->heads * m->head_dim, most = (m->ffn > m->dim ? m->ffn : m->dim) + q;
	struct oracle o = { .job = job, .m = m, .max_pos = s->state.max_pos, .out = out, .row_len = most };
	double *all;
	int rc = 0;
	const int64_t n_kv = 2 * (int64_t)m->layers * o.max_pos * m->kv_heads * m->head_dim;

	o.kv = calloc((size_t)n_kv, sizeof(*o.kv));
	all = calloc((size_t)(7 * most + o.max_pos + m->vocab), sizeof(*all));
	o.rows = calloc((size_t)most * job->n_threads, sizeof(*o.rows));
	out->correct = 1;
	out->first_bad = -1;
	out->max_rel_err = 0;
	if (o.kv && all && o.rows) {
		o.x = all;
		o.norm = all + most;
		o.q = all + 2 * most;
		o.att = all + 3 * most;
		o.gate = all + 4 * most;
		o.up = all + 5 * most;
		o.rounded = all + 6 * most;
		o.scores = all + 7 * most;
		o.logits = o.scores + o.max_pos;
		o.tolerance = m->layer[0].matrices[0].rounding == ASSAY_FILE_ROUND_F32 ? 1e-3 : 5e-2;
		check_positions(&o);
	} else {
		rc = job->host->fail(job, "cannot check the outputs: out of memory");
	}
	free(o.kv);
	free(all);
	free(o.rows);
	return rc;
}
