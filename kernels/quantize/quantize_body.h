/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of assay/op_quantize.h from floats for one instruction set, whose file includes this after it has defined what
 * quantize_groups.h asks for and
 *
 *	SUM_STREAMS                sum blocks that are added up in turn
 *	lanes                      the 16 double lanes of a sum block; zero_lanes(); sum_of_lanes(l, x, n): of the n floats x
 *	                           that were added
 *	add_lanes(&l, x)           adds the magnitudes of 16 floats
 *	q8_codes(x, by, q0, q1)    the 32 codes of each of two blocks: x·by[0]/2 and x·by[1]/2, ties away from zero
 *	ternary_256(x, m, rounding, first, step, q, around)
 *	                           64 bytes of codes, 32 for each half of x. In byte j of a half, the code of its value
 *	                           32·i + j lies first + i·step bits up. A code is 1 + x·m, which is rounded and clamped
 *	                           to −1 … 1 before
 *	token_codes(x, s, q, around)
 *	                           64 codes of a token: x·s, ties to even
 *	QUANTIZE_ISA               the name of the variant
 */
#include "assay/op_matmul.h"
#include "quantize_groups.h"
#include "quantize_rounding.h"

/* Cut off from 2·x·id: exact, and 0 where x·id rounds to 0. */
#define TQ2_0_MULTIPLE 2

INLINE void tq2_0_codes(const float *x, float by, uint8_t *q)
{
	ternary_256(x, by, CUT_OFF, 0, 2, q, false);
}

#include "quantize_tq2_0.h"

/* ---- q8_0 ---- */

/* From the caches one request is enough; from memory a far one into L2, with the magnitudes, and a near one from there. */
#define Q8_AHEAD 3072
#define Q8_NEAR  1536
#define Q8_FAR   8192
#define Q8_STEP  (FLOATS < 8 ? FLOATS : 8)

INLINE void q8_blocks(const float *x, const struct scales *s, int b, int n, uint8_t *q, bool stage)
{
#pragma GCC unroll 1
	for (int k = 0; k < n; k += 2, x += 2 * ASSAY_Q8_0_BLOCK, q += 2 * ASSAY_Q8_0_BLOCK_BYTES) {
		read_ahead(x, stage ? Q8_NEAR : Q8_AHEAD, 2 * ASSAY_Q8_0_BLOCK, INTO_L1);
		memcpy(q, &s->half[b + k], 2);
		memcpy(q + ASSAY_Q8_0_BLOCK_BYTES, &s->half[b + k + 1], 2);
		q8_codes(x, s->by + b + k, q + 2, q + ASSAY_Q8_0_BLOCK_BYTES + 2);
	}
}

static const struct format q8_0 = { .block = ASSAY_Q8_0_BLOCK,
				    .block_bytes = ASSAY_Q8_0_BLOCK_BYTES,
				    .levels = 127,
				    .multiple = 2,
				    .codes_at = 2,
				    .half_at = 0,
				    .zero = 0,
				    .codes_of = q8_blocks,
				    .cached = { .blocks = FLOATS, .step = Q8_STEP, .lead = 2 },
				    .memory = { .blocks = FLOATS, .step = Q8_STEP, .lead = 1, .ahead = Q8_FAR } };

ALONE void q8_0_cached(const float *x, uint8_t *q, int64_t n_blocks)
{
	whole_groups(&q8_0, x, q, n_blocks, false);
}

ALONE void q8_0_memory(const float *x, uint8_t *q, int64_t n_blocks)
{
	whole_groups(&q8_0, x, q, n_blocks, true);
}

static bool quantize_q8_0(const float *x, uint8_t *q, int64_t n, bool around)
{
	all_blocks(&q8_0, q8_0_cached, q8_0_memory, x, q, n, around);
	return quantize_stores_plainly(q, around);
}

/* ---- i2_s ---- */

/*
 * @streams sum blocks in turn: within one, the definition lets every lane wait for its last sum. Memory is slower than that,
 * and quickest where it is read from one place only.
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

/* ---- i8_token ---- */

/* Values of the next token that are asked for from memory: the hardware finds the rest itself, while they are gone through. */
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
			next_codes(x, i, dim, s, q, true);
		stores_done();
	}
	for (; i + 64 <= dim; i += 64)
		next_codes(x, i, dim, s, q, false);
	for (; i < dim; i++)
		q[i] = (int8_t)rintf(x[i] * s);
	return plainly || dim < 64;
}

/* a level of its own, so that the name is replaced before it is joined */
#define RUNS(isa) QUANTIZE_RUNS(isa)
RUNS(QUANTIZE_ISA)
