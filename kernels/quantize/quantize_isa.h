/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file for an instruction set defines before it includes quantize_body.h. This is all of it: the headers of the
 * formats build on these names and on nothing else of that file.
 *
 * For all formats:
 *
 *	FLOATS                     floats in a vector, 4 to 16
 *	mags                       a vector of FLOATS magnitudes, as bits; zero_mags(), load_mags(x), larger(a, b)
 *	largest(m)                 the largest of FLOATS magnitudes, uint32_t
 *	stores_done()              after stores around the caches, so that other threads see them
 *	QUANTIZE_ISA               the name of the variant
 *
 * For formats whose blocks have a scale each (tq2_0, q8_0):
 *
 *	largest_each(m, n)         lane b: the largest of m[b], for b < n; n, a constant, is 4 or FLOATS
 *	any_set(m)                 one is not 0
 *	halves_of(d, h)            FLOATS floats to halves
 *	store_line_around(dst, src)
 *	                           a line around the caches, dst aligned to 64 bytes; a plain copy where there are none
 *
 * For q8_0 and i8_token:
 *
 *	q8_codes(x, by, q0, q1)    the 32 codes of each of two blocks: x·by[0]/2 and x·by[1]/2, ties away from zero
 *	token_codes(x, s, q, around)
 *	                           64 codes of a token: x·s, ties to even
 *
 * For i2_s and tq2_0:
 *
 *	ternary_256(x, m, rounding, first, step, q, around)
 *	                           64 bytes of codes, 32 for each half of x. In byte j of a half, the code of its value
 *	                           32·i + j lies first + i·step bits up. A code is 1 + x·m, which is rounded and clamped
 *	                           to −1 … 1 before
 *
 * For i2_s:
 *
 *	SUM_STREAMS                sum blocks that are added up in turn
 *	lanes                      the 16 double lanes of a sum block; zero_lanes()
 *	add_lanes(&l, x)           adds the magnitudes of 16 floats
 *	sum_of_lanes(l, x, n)      the sum; x are the n floats that were added
 *
 * A file with some of the formats only includes their headers instead of quantize_body.h, and defines what these ask
 * for; tq2_0 then asks for tq2_0_codes() (quantize_tq2_0.h). Below is what such files may use.
 */
#ifndef QUANTIZE_ISA_H
#define QUANTIZE_ISA_H

#include <stdbool.h>
#include <stdint.h>

#include "../kernel_isa.h"
#include "quantize_half.h"
#include "quantize_variants.h"

/* How a product, smaller than 2^31, becomes the integer that a ternary code is made of. */
enum rounding { CUT_OFF, TO_EVEN };

/*
 * PMULHRSW by this is t / 2 of 16-bit integers t, to nearest, ties away from zero, for |t| < 2^14. The instruction
 * calculates floor((t·(2^14 + 1) + 2^14) / 2^15): the additional t, small against 2^14, takes the ties of negative t
 * down.
 */
#define HALF_AWAY_FACTOR 0x4001

/*
 * The bits of a magnitude, moved up to where the fraction of a double ends, are those of a double: 2^-896 of the
 * magnitude, since only the biases of the exponents differ (1023 and 127), subnormals included. Sums of such are 2^-896
 * of the sums, to the bit: what is subnormal among them has no more bits than a float and is added exactly. Infinities
 * and what is no number become 2^-768 or more, as do sums of 2^128.
 */
#define MOVED_BITS     29
#define MOVED_INFINITE 0x1p-768
#define MOVED_BACK     0x1p896

/* The sum of the n magnitudes of x, of which 2^-896 is @moved unless one of them is not finite. */
static inline double sum_of_moved(double moved, const float *x, int64_t n)
{
	return moved < MOVED_INFINITE ? moved * MOVED_BACK : assay_quantize_plain_i2_s_sum(x, n);
}

#endif
