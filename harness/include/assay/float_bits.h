/* SPDX-License-Identifier: Apache-2.0 */
/* Bits of floats, and bf16: the upper half of a float. For hosts and devices alike. */
#ifndef ASSAY_FLOAT_BITS_H
#define ASSAY_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

#include "random.h" /* ASSAY_HD */

static inline ASSAY_HD uint32_t assay_f32_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline ASSAY_HD float assay_f32_of_bits(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* To nearest, ties to even; @x is a number. */
static inline ASSAY_HD uint16_t assay_bf16_of_f32(float x)
{
	const uint32_t bits = assay_f32_bits(x);

	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Exact; of the lower half of @x. */
static inline ASSAY_HD float assay_f32_of_bf16(uint32_t x)
{
	return assay_f32_of_bits(x << 16);
}

#endif
