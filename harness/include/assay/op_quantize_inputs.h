/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs of the quantize and dequantize ops: bell-shaped values as in a trained network, and at fixed places the values
 * that break quantizers (ties, subnormals, spikes, scales that overflow, NaN), so that every measured run of enough
 * blocks or tokens is checked on them. i2_s has ties and subnormals alone: one NaN would be the scale of the whole
 * tensor. The hard blocks are few and near the front: they must not weigh on the time. inputs.h says who calls this.
 */
#ifndef ASSAY_OP_QUANTIZE_INPUTS_H
#define ASSAY_OP_QUANTIZE_INPUTS_H

#include "float_bits.h"
#include "op_matmul.h"
#include "op_quantize.h"
#include "random.h"

#define ASSAY_INPUT_SIGMA      0.02f /* of a trained weight matrix */
#define ASSAY_INPUT_SCALES     16    /* what is added to the stream of the codes for that of the halves */
#define ASSAY_INPUT_N_HARD     13    /* enum assay_input_hard */
#define ASSAY_INPUT_HALVES     13
#define ASSAY_INPUT_FLOATS     12
#define ASSAY_INPUT_HARD_BLOCK 256

/* ---- floats to quantize ---- */

enum assay_input_hard {
	ASSAY_HARD_ZERO,           /* 0 and −0 */
	ASSAY_HARD_SPIKE,          /* one value near the largest float */
	ASSAY_HARD_SUBNORMAL,      /* subnormal floats */
	ASSAY_HARD_TINY,           /* so small that the reciprocal of the scale overflows */
	ASSAY_HARD_TIES,           /* halves, with 127 as the largest */
	ASSAY_HARD_NEAR_HALF,      /* 0.5 and its neighbours, with 1 as the largest */
	ASSAY_HARD_EXTREME,        /* ± the largest float */
	ASSAY_HARD_HALF_OVERFLOW,  /* scale beyond the largest half */
	ASSAY_HARD_HALF_SUBNORMAL, /* scale among the subnormal halves */
	ASSAY_HARD_HALF_TIE,       /* largest value halfway between two halves */
	ASSAY_HARD_HALF_TIE_127,   /* a 127th of the largest value halfway between two halves */
	ASSAY_HARD_NAN,
	ASSAY_HARD_INFINITE,
};

/* ±0.5, its neighbours below and above, and ±1; bits 0 to 2 of @word choose. */
static inline ASSAY_HD uint32_t assay_input_near_half(uint32_t word)
{
	const uint32_t which = word >> 1 & 3, sign = (word & 1) << 31;

	return sign | (which == 0 ? 0x3f000000u : which == 1 ? 0x3effffffu : which == 2 ? 0x3f000001u : 0x3f800000u);
}

/* Value i of a block of the kind, as bits. The largest value, where it matters, comes back every 32 values. */
static inline ASSAY_HD uint32_t assay_input_hard_value(int64_t kind, int64_t i, uint32_t word)
{
	const uint32_t sign = word & 0x80000000u;
	const float z = assay_normal_f32(word);

	switch (kind) {
	case ASSAY_HARD_ZERO:
		return sign;
	case ASSAY_HARD_SPIKE:
		return i == 17 ? 0x7f7ffffeu : assay_f32_bits(z);
	case ASSAY_HARD_SUBNORMAL:
		return word & 0x807fffffu;
	case ASSAY_HARD_TINY:
		return word & 0x80001fffu;
	case ASSAY_HARD_TIES:
		return i % 32 == 5 ? assay_f32_bits(127) : sign | assay_f32_bits((float)(word % 127) + 0.5f);
	case ASSAY_HARD_NEAR_HALF:
		return i % 32 == 7 ? assay_f32_bits(1) : assay_input_near_half(word);
	case ASSAY_HARD_EXTREME:
		return sign | 0x7f7fffffu;
	case ASSAY_HARD_HALF_OVERFLOW:
		return assay_f32_bits(z * 0x1p+30f);
	case ASSAY_HARD_HALF_SUBNORMAL:
		return assay_f32_bits(z * 0x1p-17f);
	case ASSAY_HARD_HALF_TIE: /* up for one half of the blocks of 32, down for the other: ties go both ways */
		return assay_f32_bits(i % 32 == 3 ? (i & 32 ? 0x1.006p+0f : 0x1.002p+0f) : z * 0.25f);
	case ASSAY_HARD_HALF_TIE_127:
		return assay_f32_bits(i % 32 == 3 ? (i & 32 ? 127 * 0x1.006p+0f : 127 * 0x1.002p+0f) : z);
	case ASSAY_HARD_NAN:
		return i == 100 ? 0xff812345u : assay_f32_bits(z);
	default: /* ASSAY_HARD_INFINITE */
		return i == 31 ? 0xff800000u : assay_f32_bits(z);
	}
}

/* Of @n floats: blocks of 256 with a hard kind for each of the blocks from 1 on, and a spike in the last one. */
static inline ASSAY_HD uint32_t assay_input_of_blocks(int64_t i, int64_t n, uint32_t word)
{
	const int64_t block = i / ASSAY_INPUT_HARD_BLOCK, in_block = i % ASSAY_INPUT_HARD_BLOCK;

	if (block >= 1 && block <= ASSAY_INPUT_N_HARD)
		return assay_input_hard_value(block - 1, in_block, word);
	if (block == (n - 1) / ASSAY_INPUT_HARD_BLOCK)
		return assay_input_hard_value(ASSAY_HARD_SPIKE, in_block, word);
	return assay_f32_bits(assay_normal_f32(word) * ASSAY_INPUT_SIGMA);
}

/*
 * Even tokens have 127/32 as their largest value and a tie in every 16th place (the multiplier is then exactly 32);
 * with enough tokens, the first ones after token 0 are hard.
 */
static inline ASSAY_HD uint32_t assay_input_of_tokens(int64_t at, int64_t tokens, int64_t dim, uint32_t word)
{
	const int64_t t = at / dim, i = at % dim;

	if (tokens > ASSAY_INPUT_N_HARD && t >= 1 && t <= ASSAY_INPUT_N_HARD)
		return assay_input_hard_value(t - 1, i, word);
	if (t % 2 == 0 && i == dim / 2)
		return assay_f32_bits(127.0f / 32);
	if (t % 2 == 0 && i % 16 == 3)
		return assay_f32_bits(((float)(word % 254) - 126.5f) / 32);
	return assay_f32_bits(assay_normal_f32(word));
}

/* ---- i2_s ---- */

/* Whole numbers −510 … 510 with the bell shape of assay_normal_f32. */
static inline ASSAY_HD int32_t assay_input_bell(uint32_t word)
{
	return (int32_t)((word & 0xff) + (word >> 8 & 0xff) + (word >> 16 & 0xff) + (word >> 24)) - 510;
}

/* Places that the levelling below leaves alone: ties, and subnormals and zeros that weigh nothing. */
static inline ASSAY_HD int assay_input_is_level(int64_t i)
{
	return i % 128 == 5 || i % 4096 == 33 || i % 4096 == 34;
}

/*
 * Multiples of 2^-14 whose magnitudes have the mean 128 · 2^-14: gamma is then exactly 2^-7 and the planted ±64 · 2^-14
 * are exact ties. The bell alone has a mean of 118, so each value moves outward by the mean of what is still missing.
 * A unit of 4096 values is levelled by itself; the last one has all that is left. Four words come of a Philox block.
 */
static inline ASSAY_HD void assay_input_i2_s(uint64_t seed, uint32_t stream, int64_t unit, int64_t units, int64_t n,
					     uint32_t *x)
{
	const int64_t first = unit * ASSAY_I2_S_SUM_BLOCK, end = unit + 1 < units ? first + ASSAY_I2_S_SUM_BLOCK : n;
	int64_t missing = 128 * (end - first), left = 0;
	struct assay_philox r = { { 0, 0, 0, 0 } };

	for (int64_t i = first; i < end; i++) {
		int32_t k;

		if (i % 4 == 0)
			r = assay_random4(seed, stream, (uint64_t)i / 4);
		k = assay_input_bell(r.v[i % 4]);
		if (!assay_input_is_level(i)) {
			missing -= k < 0 ? -k : k;
			left++;
		} else if (i % 128 == 5) {
			missing -= 64;
		}
	}
	for (int64_t i = first; i < end; i++) {
		uint32_t word, sign;
		int64_t k, mag, move;

		if (i % 4 == 0)
			r = assay_random4(seed, stream, (uint64_t)i / 4);
		word = r.v[i % 4];
		sign = word & 1 ? 0x80000000u : 0;
		if (i % 128 == 5) {
			x[i] = sign | assay_f32_bits(64 * 0x1p-14f);
		} else if (assay_input_is_level(i)) {
			x[i] = i % 4096 == 33 ? sign | (word >> 9) : sign;
		} else {
			k = assay_input_bell(word);
			mag = k < 0 ? -k : k;
			move = missing / left--;
			move = move < -mag ? -mag : move;
			missing -= move;
			x[i] = assay_f32_bits((float)(k < 0 ? -(mag + move) : mag + move) * 0x1p-14f);
		}
	}
}

/* ---- codes to dequantize ---- */

/* Half scales of the blocks from 1 on: zeros, subnormals, the largest, infinite, NaN. */
static inline ASSAY_HD uint32_t assay_input_hard_half(uint64_t i)
{
	static const uint16_t halves[ASSAY_INPUT_HALVES] = { 0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x7bff, 0xfbff,
							     0x7c00, 0xfc00, 0x7e00, 0x7d01, 0xfe00, 0xbc00 };

	return halves[i];
}

/* Scale of token @at: 1/64 … 3/64 but, with enough tokens, for the same kinds of hard ones, from token 1 on. */
static inline ASSAY_HD uint32_t assay_input_token_scale(int64_t at, int64_t tokens, uint32_t word)
{
	static const uint32_t floats[ASSAY_INPUT_FLOATS] = { 0x00000000, 0x80000000, 0x00000001, 0x807fffff,
							     0x00800000, 0x7f7fffff, 0xff7fffff, 0x7f800000,
							     0xff800000, 0x7fc00000, 0x7f812345, 0xffc00001 };

	if (tokens > ASSAY_INPUT_FLOATS && at >= 1 && at <= ASSAY_INPUT_FLOATS)
		return floats[at - 1];
	return assay_f32_bits((0.5f + assay_uniform_f32(word)) / 32);
}

/* Four bytes of four ternary codes each. 81 of the 256 bytes have no 3 in them. */
static inline ASSAY_HD uint32_t assay_input_ternary_bytes(uint32_t word)
{
	uint32_t out = 0;

	for (int i = 0; i < 32; i += 8) {
		const uint32_t v = (word >> i & 0xff) * 81 >> 8;

		out |= (v % 3 | v / 3 % 3 << 2 | v / 9 % 3 << 4 | v / 27 << 6) << i;
	}
	return out;
}

/* The scale of a block, from a stream of its own: 2^-8 … 2^-6 but for the hard ones. */
static inline ASSAY_HD void assay_input_half(uint64_t seed, uint32_t stream, uint64_t block, uint8_t *to)
{
	uint32_t half;

	if (block >= 1 && block <= ASSAY_INPUT_HALVES)
		half = assay_input_hard_half(block - 1);
	else
		half = 0x1c00u + (assay_random4(seed, stream + ASSAY_INPUT_SCALES, block / 4).v[block % 4] & 0x7ff);
	to[0] = (uint8_t)half;
	to[1] = (uint8_t)(half >> 8);
}

static inline ASSAY_HD void assay_input_store(uint8_t *to, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(word >> 8 * i);
}

static inline ASSAY_HD void assay_input_q8_0(uint64_t seed, uint32_t stream, uint64_t block, uint8_t *to)
{
	assay_input_half(seed, stream, block, to);
	for (uint64_t i = 0; i < ASSAY_Q8_0_BLOCK / 16; i++) {
		const struct assay_philox r = assay_random4(seed, stream, block * (ASSAY_Q8_0_BLOCK / 16) + i);

		for (int k = 0; k < 4; k++)
			assay_input_store(to + 2 + 16 * i + 4 * k, r.v[k]);
	}
}

static inline ASSAY_HD void assay_input_tq2_0(uint64_t seed, uint32_t stream, uint64_t block, uint8_t *to)
{
	for (uint64_t i = 0; i < ASSAY_TQ2_0_BLOCK / 64; i++) {
		const struct assay_philox r = assay_random4(seed, stream, block * (ASSAY_TQ2_0_BLOCK / 64) + i);

		for (int k = 0; k < 4; k++)
			assay_input_store(to + 16 * i + 4 * k, assay_input_ternary_bytes(r.v[k]));
	}
	assay_input_half(seed, stream, block, to + ASSAY_TQ2_0_BLOCK / 4);
}

#endif
