/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all variants of the quantize ops share of IEEE formats: the NaN of the definition, and half precision in
 * integer arithmetic for code that may not count on the CPU's own conversion.
 */
#ifndef QUANTIZE_HALF_H
#define QUANTIZE_HALF_H

#include <math.h>
#include <stdint.h>

#include "assay/float_bits.h"

#define QUANTIZE_HALF_NAN  0x7e00u
#define QUANTIZE_FLOAT_NAN 0x7fc00000u

#define MAG_MASK     0x7fffffffu /* of the bits of a float */
#define MAG_INFINITE 0x7f800000u

/* A NaN is the one of the definition. */
static inline ASSAY_HD float canonical(float x)
{
	return isnan(x) ? assay_f32_of_bits(QUANTIZE_FLOAT_NAN) : x;
}

/* To nearest, ties to even; from 65520 on infinite; any NaN becomes QUANTIZE_HALF_NAN. */
static inline ASSAY_HD uint16_t quantize_half_of_float(float x)
{
	uint32_t bits = assay_f32_bits(x);
	uint32_t sign = bits >> 16 & 0x8000u, mag = bits & MAG_MASK;
	uint32_t mant, shift, half;

	if (mag > MAG_INFINITE)
		return QUANTIZE_HALF_NAN;
	if (mag >= 0x477ff000u) /* 65520, halfway from the largest half to the next power of two */
		return (uint16_t)(sign | 0x7c00u);
	if (mag < 0x33000000u) /* below 2^-25, half of the smallest half */
		return (uint16_t)sign;
	if (mag >= 0x38800000u) { /* 2^-14: normal halves; a carry out of the mantissa raises the exponent */
		half = mag - 0x38000000u;
		half = (half + 0xfffu + (half >> 13 & 1)) >> 13;
		return (uint16_t)(sign | half);
	}
	mant = (mag & 0x7fffffu) | 0x800000u;
	shift = 126u - (mag >> 23); /* 14 … 24: the mantissa in units of 2^-24 */
	half = mant >> shift;
	mant &= (1u << shift) - 1;
	half += mant > 1u << (shift - 1) || (mant == 1u << (shift - 1) && (half & 1));
	return (uint16_t)(sign | half);
}

/* Exact; any NaN becomes QUANTIZE_FLOAT_NAN. */
static inline ASSAY_HD float quantize_float_of_half(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000u) << 16, mag = half & 0x7fffu;

	if (mag > 0x7c00u)
		return assay_f32_of_bits(QUANTIZE_FLOAT_NAN);
	if (mag == 0x7c00u)
		return assay_f32_of_bits(sign | MAG_INFINITE);
	if (mag >= 0x400u)
		return assay_f32_of_bits(sign | ((mag << 13) + 0x38000000u));
	return assay_f32_of_bits(sign | assay_f32_bits((float)mag * 0x1p-24f));
}

#endif
