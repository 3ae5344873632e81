/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of assay/op_quantize.h from floats for one instruction set, whose file includes this after it has defined
 *
 *	mags          FLOATS magnitudes; zero_mags(), load_mags(x), larger(a, b), largest(m)
 *	lanes         the 16 double lanes of a sum block; zero_lanes(), add_lanes(&l, x) for 16 floats, sum_of_lanes(l)
 *	half_of_float(x)
 *	q8_codes(x, id, q)         the 32 codes of one block
 *	Q8_GROUP, q8_group(x, q)   that many whole blocks, a divisor of 32
 *	ternary_256(x, limit, first, step, q, around)  64 bytes of codes: those of x[32·i + j], and those of the second
 *	ternary_128(x, limit, first, step, q)          half 32 bytes on, lie first + i·step bits up in byte j
 *	token_codes(x, s, q, around)                   64 codes of a token
 *	store_line_around(dst, src), stores_done()     around the caches, dst aligned to 64 bytes; plain stores where
 *	                                               there are none
 *	QUANTIZE_ISA  the name of the variant
 *
 * Every float operation is the definition's own, in another order only where order cannot be seen; no fused
 * multiply-add.
 */
#include <string.h>

#include "assay/op_matmul.h"
#include "assay/op_quantize.h"
#include "quantize_scale.h"
#include "quantize_threads.h"

#define STAGED_BLOCKS 32 /* of 34 or of 66 bytes fill whole lines */

static inline bool line_aligned(const void *p)
{
	return (uintptr_t)p % 64 == 0;
}

/* @bytes, a multiple of 64, that were staged in level 1 because they come in odd pieces. */
static inline void store_around(uint8_t *dst, const uint8_t *staged, int64_t bytes)
{
	for (int64_t i = 0; i < bytes; i += 64)
		store_line_around(dst + i, staged + i);
}

static inline uint32_t amax_of(const float *x, int64_t n)
{
	mags m0 = zero_mags(), m1 = m0, m2 = m0, m3 = m0;
	uint32_t amax;
	int64_t i = 0;

	for (; i + 4 * FLOATS <= n; i += 4 * FLOATS) {
		m0 = larger(m0, load_mags(x + i));
		m1 = larger(m1, load_mags(x + i + FLOATS));
		m2 = larger(m2, load_mags(x + i + 2 * FLOATS));
		m3 = larger(m3, load_mags(x + i + 3 * FLOATS));
	}
	for (; i + FLOATS <= n; i += FLOATS)
		m0 = larger(m0, load_mags(x + i));
	amax = largest(larger(larger(m0, m1), larger(m2, m3)));
	for (; i < n; i++) {
		uint32_t mag = quantize_bits(x[i]) & MAG_MASK;

		amax = mag > amax ? mag : amax;
	}
	return amax;
}

static inline void store_scale(uint8_t *p, uint32_t amax, float d)
{
	uint16_t half = amax >= MAG_INFINITE ? QUANTIZE_HALF_NAN : half_of_float(d);

	memcpy(p, &half, sizeof(half));
}

/* ---- q8_0 ---- */

static void q8_block(const float *x, uint8_t *q)
{
	uint32_t amax = amax_of(x, ASSAY_Q8_0_BLOCK);
	float d = quantize_float(amax) / 127.0f, id = block_multiplier(amax, d);

	store_scale(q, amax, d);
	if (id == 0)
		memset(q + 2, 0, ASSAY_Q8_0_BLOCK);
	else
		q8_codes(x, id, q + 2);
}

static void quantize_q8_0(const float *x, uint8_t *q, int64_t n, bool around)
{
	uint8_t staged[STAGED_BLOCKS * ASSAY_Q8_0_BLOCK_BYTES];
	const int64_t many = STAGED_BLOCKS * ASSAY_Q8_0_BLOCK, group = Q8_GROUP * ASSAY_Q8_0_BLOCK;
	const int64_t group_bytes = Q8_GROUP * ASSAY_Q8_0_BLOCK_BYTES;

	if (around && line_aligned(q)) {
		for (; n >= many; n -= many, x += many, q += sizeof(staged)) {
			for (int g = 0; g < STAGED_BLOCKS / Q8_GROUP; g++)
				q8_group(x + g * group, staged + g * group_bytes);
			store_around(q, staged, sizeof(staged));
		}
		stores_done();
	}
	for (; n >= group; n -= group, x += group, q += group_bytes)
		q8_group(x, q);
	for (; n > 0; n -= ASSAY_Q8_0_BLOCK, x += ASSAY_Q8_0_BLOCK, q += ASSAY_Q8_0_BLOCK_BYTES)
		q8_block(x, q);
}

/* ---- tq2_0 ---- */

static inline void tq2_block(const float *x, uint8_t *q)
{
	uint32_t amax = amax_of(x, ASSAY_TQ2_0_BLOCK);
	float d = quantize_float(amax);

	ternary_256(x, code_limit(block_multiplier(amax, d), false), 0, 2, q, false);
	store_scale(q + 64, amax, d);
}

static void quantize_tq2_0(const float *x, uint8_t *q, int64_t n, bool around)
{
	uint8_t staged[STAGED_BLOCKS * ASSAY_TQ2_0_BLOCK_BYTES];
	const int64_t many = STAGED_BLOCKS * ASSAY_TQ2_0_BLOCK;

	if (around && line_aligned(q)) {
		for (; n >= many; n -= many, x += many, q += sizeof(staged)) {
			for (int b = 0; b < STAGED_BLOCKS; b++)
				tq2_block(x + b * ASSAY_TQ2_0_BLOCK, staged + b * ASSAY_TQ2_0_BLOCK_BYTES);
			store_around(q, staged, sizeof(staged));
		}
		stores_done();
	}
	for (; n > 0; n -= ASSAY_TQ2_0_BLOCK, x += ASSAY_TQ2_0_BLOCK, q += ASSAY_TQ2_0_BLOCK_BYTES)
		tq2_block(x, q);
}

/* ---- i2_s ---- */

/* Two sum blocks at a time: within one, the definition lets every lane wait for its last sum. */
static void i2_s_sums(const float *x, int64_t n, double *sums)
{
	const int64_t block = ASSAY_I2_S_SUM_BLOCK;

	for (; n >= 2 * block; n -= 2 * block, x += 2 * block, sums += 2) {
		lanes a = zero_lanes(), b = a;

		for (int64_t i = 0; i < block; i += ASSAY_I2_S_SUM_LANES) {
			add_lanes(&a, x + i);
			add_lanes(&b, x + block + i);
		}
		sums[0] = sum_of_lanes(a);
		sums[1] = sum_of_lanes(b);
	}
	for (; n > 0; n -= block, x += block, sums++) {
		lanes a = zero_lanes();

		for (int64_t i = 0; i < (n < block ? n : block); i += ASSAY_I2_S_SUM_LANES)
			add_lanes(&a, x + i);
		*sums = sum_of_lanes(a);
	}
}

static void quantize_i2_s(const float *x, uint8_t *q, int64_t n, float s, bool around)
{
	const int64_t line = 2 * ASSAY_I2S_BLOCK, line_bytes = 2 * ASSAY_I2S_BLOCK_BYTES;
	const float limit = code_limit(s, true);

	if (around && line_aligned(q)) {
		for (; n >= line; n -= line, x += line, q += line_bytes)
			ternary_256(x, limit, 6, -2, q, true);
		stores_done();
	}
	for (; n >= line; n -= line, x += line, q += line_bytes)
		ternary_256(x, limit, 6, -2, q, false);
	if (n > 0)
		ternary_128(x, limit, 6, -2, q);
}

/* ---- i8_token ---- */

/* |x · s| is at most 127 and a rounding error: nothing is ever clamped. */
static void quantize_i8_token(const float *x, int8_t *q, float *scale, int64_t dim, bool around)
{
	uint32_t amax = amax_of(x, dim);
	float a = quantize_float(amax), s;
	int64_t i = 0;

	if (amax >= MAG_INFINITE) {
		*scale = quantize_float(QUANTIZE_FLOAT_NAN);
		memset(q, 0, (size_t)dim);
		return;
	}
	a = a < ASSAY_I8_TOKEN_MIN_AMAX ? ASSAY_I8_TOKEN_MIN_AMAX : a;
	*scale = a / 127.0f;
	s = 127.0f / a;
	if (around && line_aligned(q)) {
		for (; i + 64 <= dim; i += 64)
			token_codes(x + i, s, q + i, true);
		stores_done();
	}
	for (; i + 64 <= dim; i += 64)
		token_codes(x + i, s, q + i, false);
	for (; i < dim; i++)
		q[i] = (int8_t)rintf(x[i] * s);
}

/* a level of its own, so that the name is replaced before it is joined */
#define RUNS(isa) QUANTIZE_RUNS(isa)
RUNS(QUANTIZE_ISA)
