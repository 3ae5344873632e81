/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of assay/op_quantize.h from floats for one instruction set, whose file includes this after it has defined
 *
 *	mags          FLOATS magnitudes; zero_mags(), load_mags(x), larger(a, b), largest(m)
 *	largest_each(m)            lane b: the largest of m[b], for b < FLOATS
 *	lanes         the 16 double lanes of a sum block; zero_lanes(), add_lanes(&l, x) for 16 floats, sum_of_lanes(l)
 *	halves_of(d, h)            FLOATS to halves
 *	q8_codes(x, id, q)         the 32 codes of one block
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
#include "quantize_half.h"
#include "quantize_threads.h"

#define STAGED_BLOCKS 32 /* of 34 or of 66 bytes fill whole lines */

/* Lanes of any 32 bits, for what is done once a block or once a tensor. */
typedef float floats __attribute__((vector_size(4 * FLOATS)));
typedef uint32_t words __attribute__((vector_size(4 * FLOATS)));

/* Magnitudes of which the largest is that of n values, n a multiple of FLOATS. */
static inline mags mags_of(const float *x, int64_t n)
{
	mags m0 = zero_mags(), m1 = m0, m2 = m0, m3 = m0;
	int64_t i = 0;

	for (; i + 4 * FLOATS <= n; i += 4 * FLOATS) {
		m0 = larger(m0, load_mags(x + i));
		m1 = larger(m1, load_mags(x + i + FLOATS));
		m2 = larger(m2, load_mags(x + i + 2 * FLOATS));
		m3 = larger(m3, load_mags(x + i + 3 * FLOATS));
	}
	for (; i < n; i += FLOATS)
		m0 = larger(m0, load_mags(x + i));
	return larger(larger(m0, m1), larger(m2, m3));
}

static inline uint32_t amax_of(const float *x, int64_t n)
{
	int64_t whole = n - n % FLOATS;
	uint32_t amax = largest(mags_of(x, whole));

	for (int64_t i = whole; i < n; i++) {
		uint32_t mag = quantize_bits(x[i]) & MAG_MASK;

		amax = mag > amax ? mag : amax;
	}
	return amax;
}

/* ---- groups of FLOATS blocks ---- */

struct scales {
	float by[FLOATS]; /* q8_0: the multiplier; tq2_0: the limit of the codes */
	uint16_t half[FLOATS];
	bool bad; /* a block has a NaN or an infinity, and QUANTIZE_HALF_NAN for its scale */
};

typedef void (*scales_fn)(const float *x, int64_t n_blocks, struct scales *s);
typedef void (*codes_fn)(const float *x, int64_t n_blocks, const struct scales *s, uint8_t *q);

static inline words amaxes_of(const float *x, int64_t n_blocks, int64_t block)
{
	uint32_t amax[FLOATS] = { 0 };
	mags m[FLOATS];
	words w;

	if (n_blocks == FLOATS) {
		for (int b = 0; b < FLOATS; b++)
			m[b] = mags_of(x + b * block, block);
		return (words)largest_each(m);
	}
	for (int64_t b = 0; b < n_blocks; b++)
		amax[b] = largest(mags_of(x + b * block, block));
	memcpy(&w, amax, sizeof(w));
	return w;
}

/* 1 / d; 0 where all codes of a block with the largest magnitude @amax and the scale @d are zero. */
static inline floats multipliers(words amax, floats d)
{
	words id = (words)(1.0f / d);

	return (floats)(id & (words)(id < MAG_INFINITE) & (words)(amax < MAG_INFINITE));
}

/*
 * The least t > 0 with fl(t·mul) ≥ 0.5, or > 0.5 where ties stay below. Rounding is monotonic, so that x·mul rounds to
 * 1 where x ≥ t and to −1 where x ≤ −t: ternary codes need no product a value. NaN, which no x reaches, where mul is 0
 * or NaN. t is at most one float from 0.5 / mul to either side, or two above it where ties stay below; positive floats
 * compare as their bits.
 */
static inline floats code_limits(floats mul, bool ties_below)
{
	const uint32_t half = quantize_bits(0.5f) + ties_below;
	words t = (words)(0.5f / mul) - !ties_below, none = (words)((words)mul - 1 >= MAG_INFINITE - 1);

	/* a comparison that holds is −1 */
	t -= (words)((words)((floats)t * mul) < half);
	t -= (words)((words)((floats)t * mul) < half);
	return (floats)((t & ~none) | (none & QUANTIZE_FLOAT_NAN));
}

static inline void store_scales(words amax, floats d, floats by, struct scales *s)
{
	words bad = (words)(amax >= MAG_INFINITE);

	s->bad = largest((mags)amax) >= MAG_INFINITE;
	memcpy(s->by, &by, sizeof(s->by));
	/* converts to QUANTIZE_HALF_NAN */
	halves_of((floats)(((words)d & ~bad) | (bad & QUANTIZE_FLOAT_NAN)), s->half);
}

/*
 * Whole groups. What a group's codes wait for (a reduction and two divisions) is under way while those of the group
 * before are written; the values come from the level-1 cache then. With @stage, lines are put together there too, from
 * blocks of odd sizes, and stored around the caches.
 */
static inline __attribute__((always_inline)) void groups(const float *x, uint8_t *q, int64_t n_groups, bool stage,
							 int64_t block, int64_t block_bytes, scales_fn scales_of,
							 codes_fn codes_of)
{
	const int64_t group = FLOATS * block, group_bytes = FLOATS * block_bytes, per_stage = STAGED_BLOCKS / FLOATS;
	uint8_t staged[STAGED_BLOCKS * ASSAY_TQ2_0_BLOCK_BYTES];
	struct scales s[2];

	if (n_groups > 0)
		scales_of(x, FLOATS, &s[0]);
	for (int64_t g = 0; g < n_groups; g++, x += group) {
		if (g + 1 < n_groups)
			scales_of(x + group, FLOATS, &s[(g + 1) % 2]);
		if (!stage) {
			codes_of(x, FLOATS, &s[g % 2], q + g * group_bytes);
			continue;
		}
		codes_of(x, FLOATS, &s[g % 2], staged + g % per_stage * group_bytes);
		if (g % per_stage == per_stage - 1)
			for (int64_t i = 0; i < per_stage * group_bytes; i += 64)
				store_line_around(q + (g + 1 - per_stage) * group_bytes + i, staged + i);
	}
}

static inline __attribute__((always_inline)) void all_blocks(const float *x, uint8_t *q, int64_t n, bool around,
							     int64_t block, int64_t block_bytes, scales_fn scales_of,
							     codes_fn codes_of)
{
	const int64_t group = FLOATS * block, group_bytes = FLOATS * block_bytes, per_stage = STAGED_BLOCKS / FLOATS;
	int64_t n_groups = n / group, staged = 0, rest = n % group / block;
	struct scales s;

	if (around && !quantize_stores_plainly(q, around)) {
		staged = n_groups - n_groups % per_stage;
		groups(x, q, staged, true, block, block_bytes, scales_of, codes_of);
		stores_done();
	}
	groups(x + staged * group, q + staged * group_bytes, n_groups - staged, false, block, block_bytes, scales_of,
	       codes_of);
	if (rest) {
		scales_of(x + n_groups * group, rest, &s);
		codes_of(x + n_groups * group, rest, &s, q + n_groups * group_bytes);
	}
}

/* ---- q8_0 ---- */

static inline void q8_scales(const float *x, int64_t n_blocks, struct scales *s)
{
	words amax = amaxes_of(x, n_blocks, ASSAY_Q8_0_BLOCK);
	floats d = (floats)amax / 127.0f;

	store_scales(amax, d, multipliers(amax, d), s);
}

static inline void q8_blocks(const float *x, int64_t n_blocks, const struct scales *s, uint8_t *q)
{
	for (int64_t b = 0; b < n_blocks; b++) {
		memcpy(q + b * ASSAY_Q8_0_BLOCK_BYTES, &s->half[b], 2);
		q8_codes(x + b * ASSAY_Q8_0_BLOCK, s->by[b], q + b * ASSAY_Q8_0_BLOCK_BYTES + 2);
	}
	for (int64_t b = 0; s->bad && b < n_blocks; b++)
		if (s->half[b] == QUANTIZE_HALF_NAN)
			memset(q + b * ASSAY_Q8_0_BLOCK_BYTES + 2, 0, ASSAY_Q8_0_BLOCK);
}

static bool quantize_q8_0(const float *x, uint8_t *q, int64_t n, bool around)
{
	all_blocks(x, q, n, around, ASSAY_Q8_0_BLOCK, ASSAY_Q8_0_BLOCK_BYTES, q8_scales, q8_blocks);
	return quantize_stores_plainly(q, around);
}

/* ---- tq2_0 ---- */

static inline void tq2_scales(const float *x, int64_t n_blocks, struct scales *s)
{
	words amax = amaxes_of(x, n_blocks, ASSAY_TQ2_0_BLOCK);

	store_scales(amax, (floats)amax, code_limits(multipliers(amax, (floats)amax), false), s);
}

static inline void tq2_blocks(const float *x, int64_t n_blocks, const struct scales *s, uint8_t *q)
{
	for (int64_t b = 0; b < n_blocks; b++, x += ASSAY_TQ2_0_BLOCK, q += ASSAY_TQ2_0_BLOCK_BYTES) {
		ternary_256(x, s->by[b], 0, 2, q, false);
		memcpy(q + 64, &s->half[b], 2);
	}
}

static bool quantize_tq2_0(const float *x, uint8_t *q, int64_t n, bool around)
{
	all_blocks(x, q, n, around, ASSAY_TQ2_0_BLOCK, ASSAY_TQ2_0_BLOCK_BYTES, tq2_scales, tq2_blocks);
	return quantize_stores_plainly(q, around);
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

static bool quantize_i2_s(const float *x, uint8_t *q, int64_t n, float s, bool around)
{
	const int64_t line = 2 * ASSAY_I2S_BLOCK, line_bytes = 2 * ASSAY_I2S_BLOCK_BYTES;
	const float limit = code_limits(s - (floats){ 0 }, true)[0];
	const bool plainly = quantize_stores_plainly(q, around);

	if (around && !plainly) {
		for (; n >= line; n -= line, x += line, q += line_bytes)
			ternary_256(x, limit, 6, -2, q, true);
		stores_done();
	}
	for (; n >= line; n -= line, x += line, q += line_bytes)
		ternary_256(x, limit, 6, -2, q, false);
	if (n > 0)
		ternary_128(x, limit, 6, -2, q);
	return plainly;
}

/* ---- i8_token ---- */

/* |x · s| is at most 127 and a rounding error: nothing is ever clamped. */
static bool quantize_i8_token(const float *x, int8_t *q, float *scale, int64_t dim, bool around)
{
	const bool plainly = quantize_stores_plainly(q, around);
	uint32_t amax = amax_of(x, dim);
	float a = quantize_float(amax), s;
	int64_t i = 0;

	if (amax >= MAG_INFINITE) {
		*scale = quantize_float(QUANTIZE_FLOAT_NAN);
		memset(q, 0, (size_t)dim);
		return false;
	}
	a = a < ASSAY_I8_TOKEN_MIN_AMAX ? ASSAY_I8_TOKEN_MIN_AMAX : a;
	*scale = a / 127.0f;
	s = 127.0f / a;
	if (around && !plainly) {
		for (; i + 64 <= dim; i += 64)
			token_codes(x + i, s, q + i, true);
		stores_done();
	}
	for (; i + 64 <= dim; i += 64)
		token_codes(x + i, s, q + i, false);
	for (; i < dim; i++)
		q[i] = (int8_t)rintf(x[i] * s);
	return plainly || dim < 64;
}

/* a level of its own, so that the name is replaced before it is joined */
#define RUNS(isa) QUANTIZE_RUNS(isa)
RUNS(QUANTIZE_ISA)
