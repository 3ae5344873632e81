/* SPDX-License-Identifier: Apache-2.0 */
/* i8_token from floats with the vectors of an instruction set (quantize_isa.h). */
#ifndef QUANTIZE_I8_TOKEN_H
#define QUANTIZE_I8_TOKEN_H

#include <math.h>
#include <string.h>

#include "assay/op_quantize.h"
#include "quantize_mags.h"

/*
 * Values of the next token that are asked for from memory: the hardware finds the rest itself, while they are gone
 * through.
 */
#define TOKEN_HEAD 1024

/* 64 codes, while the next token's values are read. */
INLINE void next_codes(const float *x, int64_t i, int64_t dim, float s, int8_t *q, bool around)
{
	if (!around)
		read_ahead(x + i, dim, 64, INTO_L1);
	else if (i < TOKEN_HEAD)
		read_ahead(x + i, dim, 64, INTO_L2);
	token_codes(x + i, s, q + i, around);
}

/* |x · s| is at most 127 and a rounding error: nothing is ever clamped. */
static bool quantize_i8_token(const float *x, int8_t *q, float *scale, int64_t dim, bool around)
{
	const bool plainly = quantize_stores_plainly(q, around);
	uint32_t amax = amax_of(x, dim);
	float a = assay_f32_of_bits(amax), s;
	int64_t i = 0;

	if (amax >= MAG_INFINITE) {
		*scale = assay_f32_of_bits(QUANTIZE_FLOAT_NAN);
		memset(q, 0, (size_t)dim);
		return false;
	}
	a = a < ASSAY_I8_TOKEN_MIN_AMAX ? ASSAY_I8_TOKEN_MIN_AMAX : a;
	*scale = a / 127.0f;
	s = 127.0f / a;
	if (around && !plainly) {
		for (; i + 64 <= dim; i += 64)
			next_codes(x, i, dim, s, q, true);
		stores_done();
	}
	for (; i + 64 <= dim; i += 64)
		next_codes(x, i, dim, s, q, false);
	for (; i < dim; i++)
		q[i] = (int8_t)rintf(x[i] * s);
	return plainly || dim < 64;
}

#endif
