/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins of peers share: the rows of a ternary product, and their weights one by one. */
#ifndef TERNARY_ROWS_H
#define TERNARY_ROWS_H

#include "kernels/matmul/matmul_variants.h"

#define TERNARY_UNIT 16 /* rows of a thread come in such units */

/* −1, 0 or 1, of column @i in I2_S (op_matmul.h). */
static inline int ternary_weight(const struct matmul_ternary *t, int64_t row, int64_t i)
{
	const int64_t at = i % ASSAY_I2S_BLOCK;
	const uint8_t byte = t->w[row * (t->k / 4) + i / ASSAY_I2S_BLOCK * ASSAY_I2S_BLOCK_BYTES + at % 32];

	return (byte >> (6 - 2 * (at / 32)) & 3) - 1;
}

#endif
