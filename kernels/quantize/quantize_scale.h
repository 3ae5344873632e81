/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Per-block arithmetic that the vector variants share: multipliers from magnitudes, and limits of codes.
 *
 * Ternary codes need no product per value. Rounding is monotonic, so that fl(x·mul) reaches one half exactly where x
 * reaches some float, which is found once for a block or a tensor: 0.5 / mul or a neighbour of it.
 */
#ifndef QUANTIZE_SCALE_H
#define QUANTIZE_SCALE_H

#include <math.h>
#include <stdbool.h>

#include "quantize_half.h"

#define MAG_MASK     0x7fffffffu
#define MAG_INFINITE 0x7f800000u

/* A NaN is the one of the definition. */
static inline float canonical(float x)
{
	return isnan(x) ? quantize_float(QUANTIZE_FLOAT_NAN) : x;
}

/* 1 / d where a block with the largest magnitude @amax has the scale @d; 0 where all its codes are zero. */
static inline float block_multiplier(uint32_t amax, float d)
{
	float id;

	if (amax >= MAG_INFINITE || amax == 0)
		return 0;
	id = 1.0f / d;
	return quantize_bits(id) < MAG_INFINITE ? id : 0;
}

/*
 * The least t > 0 with fl(t·mul) ≥ 0.5, or > 0.5 where ties stay below: x·mul rounds to 1 where x ≥ t, to −1 where
 * x ≤ −t. NaN, which no x reaches, where mul is 0 or NaN. With e the relative error of the division, at most 2^-24,
 * t lies one float below it to one above, or at it to two above where ties stay below.
 */
static inline float code_limit(float mul, bool ties_below)
{
	uint32_t t;

	if (!(mul > 0))
		return quantize_float(QUANTIZE_FLOAT_NAN);
	t = quantize_bits(0.5f / mul);
	if (ties_below) {
		t += !(quantize_float(t) * mul > 0.5f);
		t += !(quantize_float(t) * mul > 0.5f);
	} else {
		t--;
		t += !(quantize_float(t) * mul >= 0.5f);
		t += !(quantize_float(t) * mul >= 0.5f);
	}
	return quantize_float(t);
}

#endif
