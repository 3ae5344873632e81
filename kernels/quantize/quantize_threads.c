/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts the work of a job for its threads and calls an instruction set's kernel on each share. Shares are runs of whole
 * units. A unit of the flat formats fills whole cache lines of q, so that threads share no line of an aligned q. That
 * of i8_token is one token, so that few tokens are spread evenly: where two shares meet, both threads may write to one
 * line of q or scale.
 */
#include "quantize_variants.h"

#include <string.h>

#include "assay/op_matmul.h"
#include "assay/op_quantize.h"
#include "quantize_half.h"

struct share {
	int64_t begin, end;
};

struct work {
	const struct assay_job *job;
	const void *src;
	void *dst;
	float *scale;
	double *sums;
	int64_t n;    /* values, or tokens */
	int64_t dim;  /* values of a token; 1 where n is values */
	int64_t unit; /* values, or tokens */
	int64_t block, block_bytes;
	union {
		quantize_blocks_fn quantize_blocks;
		dequantize_blocks_fn dequantize_blocks;
		quantize_i2_s_codes_fn quantize_i2_s;
		dequantize_i2_s_fn dequantize_i2_s;
		quantize_token_fn quantize_token;
		dequantize_token_fn dequantize_token;
	} fn;
	quantize_i2_s_sums_fn sum_up;
	bool around;
	bool fell_back; /* some thread's share did */
};

static struct share share_of(const struct work *w, uint32_t tid, uint32_t n_threads)
{
	int64_t units = (w->n + w->unit - 1) / w->unit;
	struct share s = { units * tid / n_threads * w->unit, units * (tid + 1) / n_threads * w->unit };

	if (s.end > w->n)
		s.end = w->n;
	return s;
}

static void note(struct work *w, bool fell_back)
{
	if (fell_back)
		__atomic_store_n(&w->fell_back, true, __ATOMIC_RELAXED);
}

static int go(const struct assay_job *job, assay_parallel_fn fn, struct work *w)
{
	if (job->n_threads == 1)
		fn(w, 0, 1);
	else
		job->host->parallel(job, fn, w);
	assay_counter(job, ASSAY_WORK_CPU_OPS, (uint64_t)(w->n * w->dim));
	if (w->fell_back)
		assay_counter(job, ASSAY_WORK_FALLBACKS, 1);
	return 0;
}

/* Data that exceeds the last-level cache leaves it before it is read again. */
static bool exceeds_caches(const struct assay_job *job, uint32_t src, uint32_t dst)
{
	uint64_t llc = job->shape->host ? job->shape->host->llc_bytes : 0;

	return llc && job->tensors[src].bytes + job->tensors[dst].bytes > llc;
}

static struct work work_of(const struct assay_job *job, uint32_t src, uint32_t dst)
{
	return (struct work){
		.job = job,
		.src = job->tensors[src].data,
		.dst = job->tensors[dst].data,
		.n = job->shape->axis[ASSAY_QUANTIZE_N],
		.dim = 1,
		.around = exceeds_caches(job, src, dst),
	};
}

/* ---- q8_0, tq2_0 ---- */

static void quantize_share(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct work *w = arg;
	struct share s = share_of(w, tid, n_threads);

	if (s.begin < s.end)
		note(w, w->fn.quantize_blocks((const float *)w->src + s.begin,
					      (uint8_t *)w->dst + s.begin / w->block * w->block_bytes, s.end - s.begin,
					      w->around));
}

static void dequantize_share(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct work *w = arg;
	struct share s = share_of(w, tid, n_threads);

	if (s.begin < s.end)
		note(w, w->fn.dequantize_blocks((const uint8_t *)w->src + s.begin / w->block * w->block_bytes,
						(float *)w->dst + s.begin, s.end - s.begin, w->around));
}

static int quantize_blocks(struct assay_job *job, quantize_blocks_fn fn, int64_t block, int64_t block_bytes)
{
	struct work w = work_of(job, ASSAY_QUANTIZE_X, ASSAY_QUANTIZE_Q);

	w.unit = block * QUANTIZE_LINE_BLOCKS;
	w.block = block;
	w.block_bytes = block_bytes;
	w.fn.quantize_blocks = fn;
	return go(job, quantize_share, &w);
}

static int dequantize_blocks(struct assay_job *job, dequantize_blocks_fn fn, int64_t block, int64_t block_bytes)
{
	struct work w = work_of(job, ASSAY_DEQUANTIZE_Q, ASSAY_DEQUANTIZE_BLOCK_X);

	w.unit = block * QUANTIZE_LINE_BLOCKS;
	w.block = block;
	w.block_bytes = block_bytes;
	w.fn.dequantize_blocks = fn;
	return go(job, dequantize_share, &w);
}

int assay_quantize_q8_0(struct assay_job *job, quantize_blocks_fn fn)
{
	return quantize_blocks(job, fn, ASSAY_Q8_0_BLOCK, ASSAY_Q8_0_BLOCK_BYTES);
}

int assay_quantize_tq2_0(struct assay_job *job, quantize_blocks_fn fn)
{
	return quantize_blocks(job, fn, ASSAY_TQ2_0_BLOCK, ASSAY_TQ2_0_BLOCK_BYTES);
}

int assay_dequantize_q8_0(struct assay_job *job, dequantize_blocks_fn fn)
{
	return dequantize_blocks(job, fn, ASSAY_Q8_0_BLOCK, ASSAY_Q8_0_BLOCK_BYTES);
}

int assay_dequantize_tq2_0(struct assay_job *job, dequantize_blocks_fn fn)
{
	return dequantize_blocks(job, fn, ASSAY_TQ2_0_BLOCK, ASSAY_TQ2_0_BLOCK_BYTES);
}

/* ---- i2_s ---- */

/* Each thread adds up all block sums itself: that costs less than a second barrier. */
static float i2_s_gamma(const struct work *w)
{
	int64_t n_blocks = (w->n + ASSAY_I2_S_SUM_BLOCK - 1) / ASSAY_I2_S_SUM_BLOCK;
	double lane[ASSAY_I2_S_SUM_LANES] = { 0 };
	float gamma;

	for (int64_t b = 0; b < n_blocks; b++)
		lane[b % ASSAY_I2_S_SUM_LANES] += w->sums[b];
	for (int width = ASSAY_I2_S_SUM_LANES / 2; width; width /= 2)
		for (int j = 0; j < width; j++)
			lane[j] += lane[j + width];
	gamma = (float)(lane[0] / (double)w->n);
	if (!isfinite(gamma))
		return assay_f32_of_bits(QUANTIZE_FLOAT_NAN);
	return gamma < ASSAY_I2_S_MIN_GAMMA ? ASSAY_I2_S_MIN_GAMMA : gamma;
}

static void quantize_i2_s_share(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct work *w = arg;
	const float *x = w->src;
	struct share s = share_of(w, tid, n_threads);
	float gamma;

	if (s.begin < s.end)
		w->sum_up(x + s.begin, s.end - s.begin, w->sums + s.begin / ASSAY_I2_S_SUM_BLOCK, w->around);
	if (n_threads > 1)
		w->job->host->barrier(w->job);
	gamma = i2_s_gamma(w);
	if (s.begin < s.end)
		note(w, w->fn.quantize_i2_s(x + s.begin, (uint8_t *)w->dst + s.begin / 4, s.end - s.begin, 1.0f / gamma,
					    w->around));
	if (!tid)
		*w->scale = gamma;
}

int assay_quantize_i2_s(struct assay_job *job, quantize_i2_s_sums_fn sum_up, quantize_i2_s_codes_fn codes)
{
	struct work w = work_of(job, ASSAY_QUANTIZE_X, ASSAY_QUANTIZE_Q);

	w.unit = ASSAY_I2_S_SUM_BLOCK;
	w.scale = job->tensors[ASSAY_QUANTIZE_SCALE].data;
	w.sums = job->tensors[ASSAY_QUANTIZE_SUMS].data;
	w.sum_up = sum_up;
	w.fn.quantize_i2_s = codes;
	return go(job, quantize_i2_s_share, &w);
}

static void dequantize_i2_s_share(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct work *w = arg;
	struct share s = share_of(w, tid, n_threads);

	if (s.begin < s.end)
		note(w, w->fn.dequantize_i2_s((const uint8_t *)w->src + s.begin / 4, (float *)w->dst + s.begin,
					      s.end - s.begin, *w->scale, w->around));
}

int assay_dequantize_i2_s(struct assay_job *job, dequantize_i2_s_fn fn)
{
	struct work w = work_of(job, ASSAY_DEQUANTIZE_Q, ASSAY_DEQUANTIZE_X);

	w.unit = ASSAY_I2S_BLOCK * 2;
	w.scale = job->tensors[ASSAY_DEQUANTIZE_SCALE].data;
	w.fn.dequantize_i2_s = fn;
	return go(job, dequantize_i2_s_share, &w);
}

/* ---- i8_token ---- */

static void quantize_tokens_share(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct work *w = arg;
	struct share s = share_of(w, tid, n_threads);
	bool fell_back = false;

	for (int64_t t = s.begin; t < s.end; t++)
		fell_back |= w->fn.quantize_token((const float *)w->src + t * w->dim, (int8_t *)w->dst + t * w->dim,
						  w->scale + t, w->dim, w->around);
	note(w, fell_back);
}

static void dequantize_tokens_share(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct work *w = arg;
	struct share s = share_of(w, tid, n_threads);
	bool fell_back = false;

	for (int64_t t = s.begin; t < s.end; t++)
		fell_back |= w->fn.dequantize_token((const int8_t *)w->src + t * w->dim, (float *)w->dst + t * w->dim,
						    w->scale[t], w->dim, w->around);
	note(w, fell_back);
}

int assay_quantize_i8_token(struct assay_job *job, quantize_token_fn fn)
{
	struct work w = work_of(job, ASSAY_QUANTIZE_X, ASSAY_QUANTIZE_Q);

	w.n = job->shape->axis[ASSAY_QUANTIZE_TOKENS];
	w.dim = job->shape->axis[ASSAY_QUANTIZE_DIM];
	w.unit = 1;
	w.scale = job->tensors[ASSAY_QUANTIZE_SCALE].data;
	w.fn.quantize_token = fn;
	return go(job, quantize_tokens_share, &w);
}

int assay_dequantize_i8_token(struct assay_job *job, dequantize_token_fn fn)
{
	struct work w = work_of(job, ASSAY_DEQUANTIZE_Q, ASSAY_DEQUANTIZE_X);

	w.n = job->shape->axis[ASSAY_QUANTIZE_TOKENS];
	w.dim = job->shape->axis[ASSAY_QUANTIZE_DIM];
	w.unit = 1;
	w.scale = job->tensors[ASSAY_DEQUANTIZE_SCALE].data;
	w.fn.dequantize_token = fn;
	return go(job, dequantize_tokens_share, &w);
}
