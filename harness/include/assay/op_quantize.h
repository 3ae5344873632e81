/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What variants of the quantize and dequantize ops may rely on: tensors and formats, bit for bit. All eight ops are
 * exact: every variant, thread count and device writes the same bytes.
 *
 * Arithmetic. "float" is IEEE binary32, "half" binary16, "double" binary64; each operation written below is rounded
 * once, to nearest, ties to even, with subnormals kept and no fused multiply-add. round_away() rounds to the nearest
 * integer with ties away from zero (C's roundf), round_even() with ties to even (rintf). Integers and halves are
 * little-endian.
 *
 * amax of some floats is the largest of their bit patterns with the sign cleared, taken as an unsigned integer and read
 * back as a float: the largest |x| where all are finite, infinite or NaN otherwise, whatever the order of comparison.
 *
 * NaN and infinity. What shares a scale with a NaN or an infinity cannot be represented: that block (q8_0, tq2_0),
 * token (i8_token) or tensor (i2_s) gets a quiet NaN as its scale (half 0x7e00, float 0x7fc00000) and the code of zero
 * everywhere, so that it dequantizes to NaN and is noticed. Dequantizing is plain IEEE arithmetic on whatever scale is
 * stored; a result that is NaN has the bits 0x7fc00000.
 */
#ifndef ASSAY_OP_QUANTIZE_H
#define ASSAY_OP_QUANTIZE_H

#include "op_work.h"

/* Indices into assay_shape.axis. */
enum { ASSAY_QUANTIZE_N = 0 };                              /* i2_s, tq2_0, q8_0: number of floats */
enum { ASSAY_QUANTIZE_TOKENS = 0, ASSAY_QUANTIZE_DIM = 1 }; /* i8_token */

/* Indices into assay_job.tensors. x is F32, [n] or [tokens][dim]; q is described with each format. */
enum {
	ASSAY_QUANTIZE_X = 0,
	ASSAY_QUANTIZE_Q = 1,
	ASSAY_QUANTIZE_SCALE = 2, /* i2_s: F32 [1]; i8_token: F32 [tokens] */
	ASSAY_QUANTIZE_SUMS = 3,  /* i2_s: scratch, F64 [number of sum blocks] */
};
enum { ASSAY_DEQUANTIZE_Q = 0, ASSAY_DEQUANTIZE_SCALE = 1, ASSAY_DEQUANTIZE_X = 2 }; /* i2_s, i8_token */
enum { ASSAY_DEQUANTIZE_BLOCK_X = 1 };                                               /* q8_0, tq2_0: q, then x */

/*
 * quantize.q8_0, dequantize.q8_0
 *
 * q8_0 (ggml, block_q8_0 and quantize_row_q8_0_ref in ggml-quants.c). q is U8 [n/32][34]; n is a multiple of 32.
 * A block of 32 values: bytes 0–1 the half d, bytes 2–33 the int8 codes in order.
 *
 *	d = amax / 127                      float
 *	id = d == 0 ? 0 : 1 / d             float; 0 too where 1/d overflows (d is then 0 as a half)
 *	code = round_away(x * id)           −127 … 127
 *	stored: d as a half (infinite from 65520 on)
 *
 *	x = code * (float)d                 float
 */
#define ASSAY_Q8_0_BLOCK       32
#define ASSAY_Q8_0_BLOCK_BYTES 34

/*
 * quantize.tq2_0, dequantize.tq2_0
 *
 * tq2_0 (ggml, block_tq2_0 and quantize_row_tq2_0_ref in ggml-quants.c). q is U8 [n/256][66]; n is a multiple of 256.
 * A block of 256 values: bytes 0–63 the codes, bytes 64–65 the half d. Byte 32·h + m holds the values
 * 128·h + m + 32·i in its bits 2i+1:2i, for h = 0, 1 and i = 0 … 3.
 *
 *	d = amax                            float
 *	id = d == 0 ? 0 : 1 / d             float; 0 too where 1/d overflows (d is then 0 as a half)
 *	code = round_away(x * id) + 1       0 … 2
 *	stored: d as a half (infinite from 65520 on)
 *
 *	x = (code − 1) * (float)d           float; 3 is never written, and reads as +2
 */
#define ASSAY_TQ2_0_BLOCK       256
#define ASSAY_TQ2_0_BLOCK_BYTES 66

/*
 * quantize.i2_s, dequantize.i2_s
 *
 * i2_s: the layout that op_matmul.h describes (bitnet.cpp on x86: blocks of 128 values in 32 bytes), filled with the
 * absmean quantization of BitNet b1.58 (Ma et al., "The era of 1-bit LLMs", arXiv 2402.17764, and its code notes: scale
 * 1 / mean|W|, clamped at 1e-5, codes clamp(round(W · scale), −1, 1)). bitnet.cpp's own quantizer takes max|W|, as its
 * input is ternary already. q is U8 [n/4]; n is a multiple of 128; the scale is a tensor of its own.
 *
 *	sum = Σ |x|                         double, in the order below
 *	gamma = (float)(sum / n)            then 1e-5f where it is below 1e-5f
 *	s = 1 / gamma                       float
 *	code = clamp(round_even(x * s), −1, 1) + 1
 *	stored: gamma
 *
 *	x = (code − 1) * gamma              float; 3 is never written, and reads as 0, as in bitnet.cpp
 *
 * Order of the sum. x is cut into sum blocks of 4096 (the last may be shorter; its length is a multiple of 16). Within
 * a sum block, lane j of 16 adds |x[16·i + j]| for i = 0, 1, … to a double that starts at 0. Then lane j takes in lane
 * j+8 for j < 8, lane j+4 for j < 4, lane j+2 for j < 2, and lane 1: lane 0 is the sum of the block. The sums of the
 * blocks are added in the same way: that of block 16·i + j by lane j, then the lanes. Any number of threads and any
 * vector of up to 16 doubles can do that, and a device adds sixteen sums at a time.
 */
#define ASSAY_I2_S_SUM_BLOCK 4096
#define ASSAY_I2_S_SUM_LANES 16
#define ASSAY_I2_S_MIN_GAMMA 1e-5f
/* Of floats to quantize: |x · s|, at most n and a rounding error, then fits an int32. */
#define ASSAY_I2_S_MAX_N (INT64_C(1) << 30)

/*
 * quantize.i8_token, dequantize.i8_token
 *
 * i8_token: absmax per token, the activations of BitNet b1.58 (activation_quant in the code notes of arXiv 2402.17764).
 * q is I8 [tokens][dim], scale F32 [tokens]; any tokens and dim.
 *
 *	a = amax of the token               then 1e-5f where it is below 1e-5f
 *	s = 127 / a                         float
 *	code = clamp(round_even(x * s), −128, 127)
 *	stored: scale = a / 127             float
 *
 *	x = code * scale                    float
 */
#define ASSAY_I8_TOKEN_MIN_AMAX 1e-5f

#endif
