/* SPDX-License-Identifier: Apache-2.0 */
/* i2_s from floats with the vectors of an instruction set (quantize_isa.h). */
#ifndef QUANTIZE_I2_S_H
#define QUANTIZE_I2_S_H

#include <math.h>
#include <string.h>

#include "assay/op_matmul.h"
#include "assay/op_quantize.h"
#include "quantize_isa.h"

/*
 * @streams sum blocks in turn: within one, the definition lets every lane wait for its last sum. Memory is slower than
 * that, and quickest where it is read from one place only.
 */
INLINE void i2_s_sums_in_turn(const float *x, int64_t n, double *sums, const int streams)
{
	const int64_t block = ASSAY_I2_S_SUM_BLOCK;

	for (; n >= streams * block; n -= streams * block, x += streams * block, sums += streams) {
		lanes a[SUM_STREAMS];

		for (int k = 0; k < streams; k++)
			a[k] = zero_lanes();
		for (int64_t i = 0; i < block; i += ASSAY_I2_S_SUM_LANES)
			for (int k = 0; k < streams; k++)
				add_lanes(&a[k], x + k * block + i);
		for (int k = 0; k < streams; k++)
			sums[k] = sum_of_lanes(a[k], x + k * block, block);
	}
	for (; n > 0; n -= block, x += block, sums++) {
		const int64_t some = n < block ? n : block;
		lanes a = zero_lanes();

		for (int64_t i = 0; i < some; i += ASSAY_I2_S_SUM_LANES)
			add_lanes(&a, x + i);
		*sums = sum_of_lanes(a, x, some);
	}
}

static void i2_s_sums(const float *x, int64_t n, double *sums, bool around)
{
	if (around)
		i2_s_sums_in_turn(x, n, sums, 1);
	else
		i2_s_sums_in_turn(x, n, sums, SUM_STREAMS);
}

/* It asks for nothing ahead: values are gone through in order, and the hardware reads ahead of that by itself. */
static bool quantize_i2_s(const float *x, uint8_t *q, int64_t n, float s, bool around)
{
	const int64_t line = 2 * ASSAY_I2S_BLOCK, whole = n - n % line;
	const bool plainly = quantize_stores_plainly(q, around);
	int64_t i = 0;

	if (isnan(s)) {
		memset(q, 0x55, (size_t)n / 4);
		return plainly;
	}
	if (around && !plainly) {
		for (; i < whole; i += line)
			ternary_256(x + i, s, TO_EVEN, 6, -2, q + i / 4, true);
		stores_done();
	}
	for (; i < whole; i += line)
		ternary_256(x + i, s, TO_EVEN, 6, -2, q + i / 4, false);
	if (i < n) {
		float padded[2 * ASSAY_I2S_BLOCK] = { 0 };
		uint8_t codes[2 * ASSAY_I2S_BLOCK_BYTES];

		memcpy(padded, x + i, ASSAY_I2S_BLOCK * sizeof(*x));
		ternary_256(padded, s, TO_EVEN, 6, -2, codes, false);
		memcpy(q + i / 4, codes, ASSAY_I2S_BLOCK_BYTES);
	}
	return plainly;
}

#endif
