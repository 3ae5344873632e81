/* SPDX-License-Identifier: Apache-2.0 */
/* How sums of floats are taken in doubles without converting them. */
#ifndef QUANTIZE_SUMS_H
#define QUANTIZE_SUMS_H

#include <stdint.h>

#include "quantize_threads.h"

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
