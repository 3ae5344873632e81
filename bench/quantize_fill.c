/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs of the quantize and dequantize ops: bell-shaped values as in a trained network, and at fixed places the values
 * that break quantizers (ties, subnormals, spikes, scales that overflow, NaN), so that every measured run of enough
 * blocks or tokens is checked on them. i2_s has ties and subnormals alone: one NaN would be the scale of the whole
 * tensor. The hard blocks are few and near the front: they must not weigh on the time.
 */
#include <stdint.h>
#include <string.h>

#include "assay/op_quantize.h"
#include "assay/random.h"
#include "quantize_ops.h"

#define COUNT(a) ((int64_t)(sizeof(a) / sizeof((a)[0])))

#define SIGMA 0.02f /* of a trained weight matrix */

static uint32_t bits_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* One Philox stream read in order: four words come out of each block. */
struct words {
	uint64_t seed;
	uint32_t stream;
	int64_t block;
	struct assay_philox r;
};

static struct words words_of(const struct assay_job *job, uint32_t stream)
{
	return (struct words){ .seed = job->seed, .stream = stream, .block = -1 };
}

static uint32_t word_at(struct words *w, int64_t index)
{
	if (index >> 2 != w->block) {
		w->block = index >> 2;
		w->r = assay_random4(w->seed, w->stream, (uint64_t)w->block);
	}
	return w->r.v[index & 3];
}

static uint32_t byte_at(struct words *w, int64_t index)
{
	return word_at(w, index >> 2) >> (index & 3) * 8 & 0xff;
}

/* ---- floats to quantize ---- */

enum hard {
	HARD_ZERO,           /* 0 and −0 */
	HARD_SPIKE,          /* one value near the largest float */
	HARD_SUBNORMAL,      /* subnormal floats */
	HARD_TINY,           /* so small that the reciprocal of the scale overflows */
	HARD_TIES,           /* halves, with 127 as the largest */
	HARD_NEAR_HALF,      /* 0.5 and its neighbours, with 1 as the largest */
	HARD_EXTREME,        /* ± the largest float */
	HARD_HALF_OVERFLOW,  /* scale beyond the largest half */
	HARD_HALF_SUBNORMAL, /* scale among the subnormal halves */
	HARD_HALF_TIE,       /* largest value halfway between two halves */
	HARD_HALF_TIE_127,   /* a 127th of the largest value halfway between two halves */
	HARD_NAN,
	HARD_INFINITE,
	N_HARD,
};

/* Value i of a block of the kind, as bits. The largest value, where it matters, comes back every 32 values. */
static uint32_t hard_value(enum hard kind, int64_t i, uint32_t word)
{
	static const float near_half[8] = { 0.5f,           -0.5f,           0x1.fffffep-2f, -0x1.fffffep-2f,
					    0x1.000002p-1f, -0x1.000002p-1f, 1.0f,           -1.0f };
	uint32_t sign = word & 0x80000000u;
	float z = assay_normal_f32(word);

	switch (kind) {
	case HARD_ZERO:
		return sign;
	case HARD_SPIKE:
		return i == 17 ? 0x7f7ffffeu : bits_of(z);
	case HARD_SUBNORMAL:
		return word & 0x807fffffu;
	case HARD_TINY:
		return word & 0x80001fffu;
	case HARD_TIES:
		return i % 32 == 5 ? bits_of(127) : sign | bits_of((float)(word % 127) + 0.5f);
	case HARD_NEAR_HALF:
		return bits_of(i % 32 == 7 ? 1 : near_half[word & 7]);
	case HARD_EXTREME:
		return sign | 0x7f7fffffu;
	case HARD_HALF_OVERFLOW:
		return bits_of(z * 0x1p+30f);
	case HARD_HALF_SUBNORMAL:
		return bits_of(z * 0x1p-17f);
	case HARD_HALF_TIE: /* up for one half of the blocks of 32, down for the other: ties to even goes both ways */
		return bits_of(i % 32 == 3 ? (i & 32 ? 0x1.006p+0f : 0x1.002p+0f) : z * 0.25f);
	case HARD_HALF_TIE_127:
		return bits_of(i % 32 == 3 ? (i & 32 ? 127 * 0x1.006p+0f : 127 * 0x1.002p+0f) : z);
	case HARD_NAN:
		return i == 100 ? 0xff812345u : bits_of(z);
	case HARD_INFINITE:
		return i == 31 ? 0xff800000u : bits_of(z);
	case N_HARD:
		break;
	}
	return 0;
}

/* Blocks of 256 with a hard kind for each of the blocks 1 … N_HARD, and a spike in the last one. */
static int fill_blocks(struct assay_job *job)
{
	uint32_t *x = job->tensors[ASSAY_QUANTIZE_X].data;
	int64_t n = job->shape->axis[ASSAY_QUANTIZE_N], last = (n - 1) / 256;
	struct words words = words_of(job, ASSAY_QUANTIZE_X);

	for (int64_t i = 0; i < n; i++) {
		uint32_t word = word_at(&words, i);
		int64_t block = i / 256;

		if (block >= 1 && block <= N_HARD)
			x[i] = hard_value((enum hard)(block - 1), i % 256, word);
		else if (block == last)
			x[i] = hard_value(HARD_SPIKE, i % 256, word);
		else
			x[i] = bits_of(assay_normal_f32(word) * SIGMA);
	}
	return 0;
}

int assay_quantize_q8_0_fill(struct assay_job *job)
{
	return fill_blocks(job);
}

int assay_quantize_tq2_0_fill(struct assay_job *job)
{
	return fill_blocks(job);
}

/*
 * Even tokens have 127/32 as their largest value and a tie in every 16th place (the multiplier is then exactly 32);
 * with enough tokens, tokens 1 … N_HARD are hard.
 */
int assay_quantize_i8_token_fill(struct assay_job *job)
{
	uint32_t *x = job->tensors[ASSAY_QUANTIZE_X].data;
	int64_t tokens = job->shape->axis[ASSAY_QUANTIZE_TOKENS], dim = job->shape->axis[ASSAY_QUANTIZE_DIM];
	struct words words = words_of(job, ASSAY_QUANTIZE_X);

	for (int64_t t = 0; t < tokens; t++) {
		for (int64_t i = 0; i < dim; i++, x++) {
			uint32_t word = word_at(&words, t * dim + i);

			if (tokens > N_HARD && t >= 1 && t <= N_HARD)
				*x = hard_value((enum hard)(t - 1), i, word);
			else if (t % 2 == 0 && i == dim / 2)
				*x = bits_of(127.0f / 32);
			else if (t % 2 == 0 && i % 16 == 3)
				*x = bits_of(((float)(word % 254) - 126.5f) / 32);
			else
				*x = bits_of(assay_normal_f32(word));
		}
	}
	return 0;
}

/* Whole numbers −510 … 510 with the bell shape of assay_normal_f32. */
static int32_t bell(uint32_t word)
{
	return (int32_t)((word & 0xff) + (word >> 8 & 0xff) + (word >> 16 & 0xff) + (word >> 24)) - 510;
}

/* Places of i2_s inputs that the levelling below leaves alone: ties, and subnormals and zeros that weigh nothing. */
static int is_planted(int64_t i)
{
	return i % 128 == 5 || i % 4096 == 33 || i % 4096 == 34;
}

/*
 * Multiples of 2^-14 whose magnitudes have the mean 128 · 2^-14: gamma is then exactly 2^-7 and the planted ±64 · 2^-14
 * are exact ties. The bell alone has a mean of 118, so each value moves outward by the mean of what is still missing.
 */
int assay_quantize_i2_s_fill(struct assay_job *job)
{
	uint32_t *x = job->tensors[ASSAY_QUANTIZE_X].data;
	int64_t n = job->shape->axis[ASSAY_QUANTIZE_N], missing = 128 * n, left = 0;
	struct words words = words_of(job, ASSAY_QUANTIZE_X);

	for (int64_t i = 0; i < n; i++) {
		int32_t k = bell(word_at(&words, i));

		if (!is_planted(i)) {
			missing -= k < 0 ? -k : k;
			left++;
		} else if (i % 128 == 5) {
			missing -= 64;
		}
	}
	for (int64_t i = 0; i < n; i++) {
		uint32_t word = word_at(&words, i), sign = word & 1 ? 0x80000000u : 0;
		int64_t k = bell(word), mag = k < 0 ? -k : k, move;

		if (i % 128 == 5) {
			x[i] = sign | bits_of(64 * 0x1p-14f);
		} else if (is_planted(i)) {
			x[i] = i % 4096 == 33 ? sign | (word >> 9) : sign;
		} else {
			move = missing / left--;
			move = move < -mag ? -mag : move;
			missing -= move;
			x[i] = bits_of((float)(k < 0 ? -(mag + move) : mag + move) * 0x1p-14f);
		}
	}
	return 0;
}

/* ---- codes to dequantize ---- */

/* Half scales for the blocks 1 … of the block formats: zeros, subnormals, the largest, infinite, NaN. */
static const uint16_t hard_halves[] = { 0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x7bff, 0xfbff,
					0x7c00, 0xfc00, 0x7e00, 0x7d01, 0xfe00, 0xbc00 };

/* Float scales for the tokens 1 …, likewise. */
static const uint32_t hard_floats[] = { 0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff,
					0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f812345, 0xffc00001 };

/* A byte of four ternary codes. 81 of the 256 bytes have no 3 in them. */
static uint8_t ternary_byte(uint32_t byte)
{
	uint32_t v = byte * 81 >> 8;

	return (uint8_t)(v % 3 | v / 3 % 3 << 2 | v / 9 % 3 << 4 | v / 27 << 6);
}

int assay_dequantize_i2_s_fill(struct assay_job *job)
{
	uint8_t *q = job->tensors[ASSAY_DEQUANTIZE_Q].data;
	float *scale = job->tensors[ASSAY_DEQUANTIZE_SCALE].data;
	int64_t n = job->shape->axis[ASSAY_QUANTIZE_N];
	struct words codes = words_of(job, ASSAY_DEQUANTIZE_Q);
	struct words scales = words_of(job, ASSAY_DEQUANTIZE_SCALE);

	for (int64_t i = 0; i < n / 4; i++)
		q[i] = ternary_byte(byte_at(&codes, i));
	*scale = SIGMA * (0.5f + assay_uniform_f32(word_at(&scales, 0)));
	return 0;
}

/* The scale of a block, from the second stream of q: 2^-8 … 2^-6 but for the hard ones. */
static uint16_t half_at(struct words *scales, int64_t block)
{
	if (block >= 1 && block <= COUNT(hard_halves))
		return hard_halves[block - 1];
	return (uint16_t)(0x1c00u + (word_at(scales, block) & 0x7ff));
}

static void store_half(uint8_t *p, uint16_t half)
{
	p[0] = (uint8_t)half;
	p[1] = (uint8_t)(half >> 8);
}

int assay_dequantize_q8_0_fill(struct assay_job *job)
{
	uint8_t *q = job->tensors[ASSAY_DEQUANTIZE_Q].data;
	int64_t blocks = job->shape->axis[ASSAY_QUANTIZE_N] / ASSAY_Q8_0_BLOCK;
	struct words codes = words_of(job, ASSAY_DEQUANTIZE_Q);
	struct words scales = words_of(job, ASSAY_DEQUANTIZE_Q + 16);

	for (int64_t b = 0; b < blocks; b++, q += ASSAY_Q8_0_BLOCK_BYTES) {
		store_half(q, half_at(&scales, b));
		for (int64_t i = 0; i < ASSAY_Q8_0_BLOCK; i++)
			q[2 + i] = (uint8_t)byte_at(&codes, b * ASSAY_Q8_0_BLOCK + i);
	}
	return 0;
}

int assay_dequantize_tq2_0_fill(struct assay_job *job)
{
	uint8_t *q = job->tensors[ASSAY_DEQUANTIZE_Q].data;
	int64_t blocks = job->shape->axis[ASSAY_QUANTIZE_N] / ASSAY_TQ2_0_BLOCK;
	struct words codes = words_of(job, ASSAY_DEQUANTIZE_Q);
	struct words scales = words_of(job, ASSAY_DEQUANTIZE_Q + 16);

	for (int64_t b = 0; b < blocks; b++, q += ASSAY_TQ2_0_BLOCK_BYTES) {
		for (int64_t i = 0; i < 64; i++)
			q[i] = ternary_byte(byte_at(&codes, b * 64 + i));
		store_half(q + 64, half_at(&scales, b));
	}
	return 0;
}

int assay_dequantize_i8_token_fill(struct assay_job *job)
{
	uint8_t *q = job->tensors[ASSAY_DEQUANTIZE_Q].data;
	uint32_t *scale = job->tensors[ASSAY_DEQUANTIZE_SCALE].data;
	int64_t tokens = job->shape->axis[ASSAY_QUANTIZE_TOKENS], dim = job->shape->axis[ASSAY_QUANTIZE_DIM];
	struct words codes = words_of(job, ASSAY_DEQUANTIZE_Q);
	struct words scales = words_of(job, ASSAY_DEQUANTIZE_SCALE);

	for (int64_t i = 0; i < tokens * dim; i++)
		q[i] = (uint8_t)byte_at(&codes, i);
	for (int64_t t = 0; t < tokens; t++) {
		float u = assay_uniform_f32(word_at(&scales, t));

		if (tokens > COUNT(hard_floats) && t >= 1 && t <= COUNT(hard_floats))
			scale[t] = hard_floats[t - 1];
		else
			scale[t] = bits_of((0.5f + u) / 32);
	}
	return 0;
}
