/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of rows of ggml's blocks and of inputs in eight bits, as ggml computes them on x86, so that models of files
 * give its ids. matmul.q8_0, matmul.q6_k and generate.file rely on it; all variants have the same bits.
 *
 * inputs   for q8_0 in blocks of 32: q = round(x · (127 / a)), a the greatest magnitude, times a / 127 as a half; for
 *          the others in blocks of 256: q = min(round(x · s), 127), s = −127 / the value of greatest magnitude, the
 *          first of them, times 1 / s. Rounded to nearest, ties to even
 * a block  gives eight integers: lane j sums the products of elements 4j to 4j + 3 of each 32, of q6_k times the scale
 *          of their 16. The codes of q6_k, tq1_0 and tq2_0 count from 0, and what they are too great by, 32 or 1, is
 *          taken from lane j for the elements 32j to 32j + 31
 * a row    in lane j, fma(scale of the weights · scale of the inputs, integer j, sum) from 0, block after block; then
 *          lanes (j, j + 4), (j, j + 2), (j, j + 1) are added
 */
#ifndef ASSAY_OP_BLOCKS_H
#define ASSAY_OP_BLOCKS_H

#include "float_bits.h"

/* As GGUF numbers them. */
enum assay_block_type { ASSAY_BLOCK_Q8_0 = 8, ASSAY_BLOCK_Q6_K = 14, ASSAY_BLOCK_TQ1_0 = 34, ASSAY_BLOCK_TQ2_0 = 35 };

/* Elements of a block. */
static inline int64_t assay_block_size(uint32_t type)
{
	return type == ASSAY_BLOCK_Q8_0 ? 32 : 256;
}

static inline int64_t assay_block_bytes(uint32_t type)
{
	return type == ASSAY_BLOCK_Q8_0 ? 34 : type == ASSAY_BLOCK_Q6_K ? 210 : type == ASSAY_BLOCK_TQ1_0 ? 54 : 66;
}

/* Where in a block its scale is, a half. */
static inline int64_t assay_block_scale_at(uint32_t type)
{
	return type == ASSAY_BLOCK_Q8_0 ? 0 : assay_block_bytes(type) - 2;
}

/*
 * Tensors of matmul.q8_0 and matmul.q6_k, y[n][m] = x[n][k] · w[m][k]^T; their axes are those of op_matmul.h. x is
 * rounded as above in the timed call.
 */
enum {
	ASSAY_BLOCKS_W = 0,       /* U8 [m][bytes of k / block blocks] */
	ASSAY_BLOCKS_X = 1,       /* F32 [n][k] */
	ASSAY_BLOCKS_Y = 2,       /* F32 [n][m] */
	ASSAY_BLOCKS_ROUNDED = 3, /* U8 [n][assay_block_inputs_bytes(k)], scratch */
	ASSAY_BLOCKS_N_TENSORS = 4,
};

/* A row of inputs: values, the scale of each block, and of blocks of 256 the sums of each 16 values. */
struct assay_block_inputs {
	int8_t *q;
	float *d;
	int16_t *sums;
};

/* Bytes of a row of @n inputs. */
static inline int64_t assay_block_inputs_bytes(int64_t n)
{
	return n + n / 32 * 4 + n / 16 * 2;
}

/* The row that lies at @at, at a multiple of 4 bytes. */
static inline struct assay_block_inputs assay_block_inputs(void *at, int64_t n)
{
	int8_t *q = (int8_t *)at;

	return (struct assay_block_inputs){ q, (float *)(void *)(q + n), (int16_t *)(void *)(q + n + n / 32 * 4) };
}

/* ---- half precision ---- */

/* Exact. */
static inline ASSAY_HD float assay_f32_of_half(uint16_t h)
{
	const uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = (uint32_t)(h & 0x7fff) << 13;

	if ((h & 0x7c00) == 0x7c00)
		return assay_f32_of_bits(sign | 0x7f800000 | rest);
	/* as a float, its exponent is too small by 112; this is right for subnormal halves as well */
	return assay_f32_of_bits(sign | assay_f32_bits(assay_f32_of_bits(rest) * 0x1p112f));
}

/* To nearest, ties to even. */
static inline ASSAY_HD uint16_t assay_half_of_f32(float x)
{
	const uint32_t sign = assay_f32_bits(x) >> 16 & 0x8000, rest = assay_f32_bits(x) & 0x7fffffff;

	if (rest > 0x7f800000)
		return (uint16_t)(sign | 0x7e00);
	if (rest >= 0x477ff000)
		return (uint16_t)(sign | 0x7c00);
	/* subnormal halves are multiples of 2^-24, which is the last bit of a float from 0.5 to 1 */
	if (rest < 0x38800000)
		return (uint16_t)(sign | (assay_f32_bits(assay_f32_of_bits(rest) + 0.5f) - 0x3f000000));
	return (uint16_t)(sign | ((rest + 0xfff + (rest >> 13 & 1) - 0x38000000) >> 13));
}

#endif
