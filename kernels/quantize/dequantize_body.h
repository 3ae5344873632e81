/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of assay/op_quantize.h back to floats for one instruction set, whose file includes this after it has
 * defined
 *
 *	FLOATS              floats in a vector
 *	vec                 FLOATS floats; canonical_all()
 *	floats_of(q)        FLOATS int8 codes as floats
 *	packed              FLOATS bytes in lanes of their own; load_packed(q)
 *	table               four floats; table_of(a, b, c, d)
 *	look_up(t, packed, shift)
 *	                    the floats of t that bits shift + 1 : shift of each byte select
 *	float_of_half(h)    the float that half h is
 *	store_floats_around(p, v)
 *	                    around the caches, p aligned to 64 bytes; a plain store where there are none
 *	stores_done()       after those, so that other threads see them
 *	DEQUANTIZE_ISA      the name of the variant
 */
#include <string.h>

#include "assay/op_matmul.h"
#include "assay/op_quantize.h"
#include "quantize_half.h"
#include "quantize_variants.h"

/* Subtracting 0 keeps the sign of −0, which adding it would not. */
static inline vec splat(float x)
{
	return x - (vec){ 0 };
}

static inline void put(float *p, vec v, bool around)
{
	if (around)
		store_floats_around(p, v);
	else
		memcpy(p, &v, sizeof(v));
}

/* Calls fn(…, around) so that the compiler sees two loops, of which one stores around the caches. */
#define BY_STORES(fn, x, ...)                                                                                          \
	do {                                                                                                           \
		if (around && !quantize_stores_plainly(x, around)) {                                                   \
			fn(__VA_ARGS__, true);                                                                         \
			stores_done();                                                                                 \
		} else {                                                                                               \
			fn(__VA_ARGS__, false);                                                                        \
		}                                                                                                      \
	} while (0)

static inline uint16_t load_half(const uint8_t *p)
{
	uint16_t half;

	memcpy(&half, p, sizeof(half));
	return half;
}

/* ---- q8_0, i8_token ---- */

static inline void scale_codes(const int8_t *q, float *x, int64_t n, vec d, bool may_be_nan, bool around)
{
	for (int64_t i = 0; i < n; i += FLOATS) {
		vec y = floats_of(q + i) * d;

		put(x + i, may_be_nan ? canonical_all(y) : y, around);
	}
}

static inline void q8_0_blocks(const uint8_t *q, float *x, int64_t n, bool around)
{
	for (; n > 0; n -= ASSAY_Q8_0_BLOCK, x += ASSAY_Q8_0_BLOCK, q += ASSAY_Q8_0_BLOCK_BYTES) {
		uint16_t half = load_half(q);
		vec d = splat(float_of_half(half));

		if ((half & 0x7c00) == 0x7c00) /* infinite or NaN */
			scale_codes((const int8_t *)q + 2, x, ASSAY_Q8_0_BLOCK, d, true, around);
		else
			scale_codes((const int8_t *)q + 2, x, ASSAY_Q8_0_BLOCK, d, false, around);
	}
}

static bool dequantize_q8_0(const uint8_t *q, float *x, int64_t n, bool around)
{
	BY_STORES(q8_0_blocks, x, q, x, n);
	return quantize_stores_plainly(x, around);
}

/* In pieces of a known length, which compilers unroll. */
static inline void token_codes(const int8_t *q, float *x, float scale, int64_t dim, bool may_be_nan, bool around)
{
	const vec d = splat(scale);
	int64_t i = 0;

	for (; i + 64 <= dim; i += 64)
		scale_codes(q + i, x + i, 64, d, may_be_nan, around);
	for (; i + FLOATS <= dim; i += FLOATS)
		scale_codes(q + i, x + i, FLOATS, d, may_be_nan, around);
	for (; i < dim; i++)
		x[i] = canonical((float)q[i] * scale);
}

static inline void token(const int8_t *q, float *x, float scale, int64_t dim, bool around)
{
	if (isfinite(scale))
		token_codes(q, x, scale, dim, false, around);
	else
		token_codes(q, x, scale, dim, true, around);
}

static bool dequantize_i8_token(const int8_t *q, float *x, float scale, int64_t dim, bool around)
{
	BY_STORES(token, x, q, x, scale, dim);
	return quantize_stores_plainly(x, around) || dim < FLOATS;
}

/* ---- tq2_0, i2_s ---- */

/* 128 values from 32 bytes; the i-th 32 of them lie first + i·step bits up. */
static inline void look_up_128(const uint8_t *q, float *x, table t, int first, int step, bool around)
{
	for (int j = 0; j < 32; j += FLOATS) {
		packed codes = load_packed(q + j);

		for (int i = 0; i < 4; i++)
			put(x + j + 32 * i, look_up(t, codes, first + i * step), around);
	}
}

static inline void tq2_0_blocks(const uint8_t *q, float *x, int64_t n, bool around)
{
	for (; n > 0; n -= ASSAY_TQ2_0_BLOCK, x += ASSAY_TQ2_0_BLOCK, q += ASSAY_TQ2_0_BLOCK_BYTES) {
		float d = float_of_half(load_half(q + 64));
		table t = table_of(canonical(-1 * d), canonical(0 * d), canonical(d), canonical(2 * d));

		look_up_128(q, x, t, 0, 2, around);
		look_up_128(q + 32, x + 128, t, 0, 2, around);
	}
}

static bool dequantize_tq2_0(const uint8_t *q, float *x, int64_t n, bool around)
{
	BY_STORES(tq2_0_blocks, x, q, x, n);
	return quantize_stores_plainly(x, around);
}

static inline void i2_s_blocks(const uint8_t *q, float *x, int64_t n, float gamma, bool around)
{
	float zero = canonical(0 * gamma);
	table t = table_of(canonical(-1 * gamma), zero, canonical(gamma), zero);

	for (; n > 0; n -= ASSAY_I2S_BLOCK, x += ASSAY_I2S_BLOCK, q += ASSAY_I2S_BLOCK_BYTES)
		look_up_128(q, x, t, 6, -2, around);
}

static bool dequantize_i2_s(const uint8_t *q, float *x, int64_t n, float gamma, bool around)
{
	BY_STORES(i2_s_blocks, x, q, x, n, gamma);
	return quantize_stores_plainly(x, around);
}

/* a level of its own, so that the name is replaced before it is joined */
#define RUNS(isa) DEQUANTIZE_RUNS(isa)
RUNS(DEQUANTIZE_ISA)
