/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What variants of the matmul ops may rely on: axes, tensors and formats. Matrices are row-major.
 *
 * matmul.f32      y[n][m] = x[n][k] · w[m][k]^T                         all float
 * matmul.ternary  y[n][m] = (float)(Σ_k w[m][k]·x[n][k]) · (w_scale · x_scale[n])
 *                 w is ternary in I2_S, x int8. The sum is exact in int32. The two scales are multiplied first, in
 *                 float; their product times the converted sum is rounded once. So y is bit-identical everywhere.
 */
#ifndef ASSAY_OP_MATMUL_H
#define ASSAY_OP_MATMUL_H

#include "op_work.h"

/* Indices into assay_shape.axis, both ops: rows of w, columns of w, tokens. */
enum { ASSAY_MATMUL_M = 0, ASSAY_MATMUL_K = 1, ASSAY_MATMUL_N = 2 };

/* Indices into assay_job.tensors. */
enum { ASSAY_MATMUL_F32_W = 0, ASSAY_MATMUL_F32_X = 1, ASSAY_MATMUL_F32_Y = 2 }; /* F32 [m][k], [n][k], [n][m] */

enum {
	ASSAY_TERNARY_W = 0,       /* U8 [m][k/4]: I2_S, see below */
	ASSAY_TERNARY_W_SCALE = 1, /* F32 [1] */
	ASSAY_TERNARY_X = 2,       /* I8 [n][k], −127 … 127 */
	ASSAY_TERNARY_X_SCALE = 3, /* F32 [n] */
	ASSAY_TERNARY_Y = 4,       /* F32 [n][m] */
	ASSAY_TERNARY_N_TENSORS = 5,
};

/*
 * I2_S as bitnet.cpp stores it on x86: blocks of 128 weights along k in 32 bytes. Byte j of a block holds the weights
 * j, j+32, j+64 and j+96 in its bits 7:6, 5:4, 3:2 and 1:0; the codes 0, 1, 2 stand for −1, 0, +1 and 3 is never
 * written. Rows begin on a block, so k is a multiple of 128.
 *
 * A composite op may call prepare() once for a weight matrix and run() often, each time with other X, X_SCALE and Y
 * buffers and any n from 1 up to the n that prepare() saw; W, m, k and the number of threads stay.
 */
#define ASSAY_I2S_BLOCK       128
#define ASSAY_I2S_BLOCK_BYTES 32

/* The largest k: a multiple of the block with 127 · k below 2^31, so that every sum fits int32. */
#define ASSAY_TERNARY_K_MAX 16909312

#endif
