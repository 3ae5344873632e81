/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of assay/op_quantize.h from floats for one instruction set, whose file includes this after it has defined
 *
 *	FLOATS                     floats in a vector
 *	mags                       FLOATS magnitudes; zero_mags(), load_mags(x), larger(a, b)
 *	largest(m)                 the largest of FLOATS magnitudes
 *	largest_each(m, n)         lane b: the largest of m[b], for b < n; n, a constant, is 4 or FLOATS
 *	any_set(m)                 one is not 0
 *	SUM_STREAMS                sum blocks that are added up in turn
 *	lanes                      the 16 double lanes of a sum block; zero_lanes(); sum_of_lanes(l, x, n): of the n floats x
 *	                           that were added
 *	add_lanes(&l, x)           adds the magnitudes of 16 floats
 *	halves_of(d, h)            FLOATS floats to halves
 *	q8_codes(x, by, q0, q1)    the 32 codes of each of two blocks: x·by[0]/2 and x·by[1]/2, ties away from zero
 *	ternary_256(x, m, rounding, first, step, q, around)
 *	                           64 bytes of codes, 32 for each half of x. In byte j of a half, the code of its value
 *	                           32·i + j lies first + i·step bits up. A code is 1 + x·m, which is rounded and clamped
 *	                           to −1 … 1 before
 *	token_codes(x, s, q, around)
 *	                           64 codes of a token: x·s, ties to even
 *	store_line_around(dst, src)
 *	                           a line around the caches, dst aligned to 64 bytes; a plain copy where there are none
 *	stores_done()              after those, so that other threads see them
 *	QUANTIZE_ISA               the name of the variant
 *
 * Every float operation is the definition's own, in another order only where order cannot be seen; no fused
 * multiply-add.
 */
#include <string.h>

#include "assay/op_matmul.h"
#include "assay/op_quantize.h"
#include "../kernel_isa.h"
#include "quantize_half.h"
#include "quantize_rounding.h"
#include "quantize_threads.h"

/*
 * Functions that take a struct format are INLINE for each format, so that its members are constants. Some loops stay
 * functions of their own: two in one function would compete for registers.
 */
#define ALONE static __attribute__((noinline))

/* Lanes of any 32 bits, for what is done once a block or once a tensor. */
typedef float floats __attribute__((vector_size(4 * FLOATS)));
typedef uint32_t words __attribute__((vector_size(4 * FLOATS)));

/*
 * Where values are asked into. A request into the first level holds one of its few fill buffers until the line is there:
 * what comes from memory is asked into the second.
 */
enum into { INTO_L1, INTO_L2 };

/* Starts the reading of the n values that lie @ahead values on; beyond the input it asks for lines that nobody needs. */
INLINE void read_ahead(const float *x, int64_t ahead, int64_t n, enum into into)
{
	uintptr_t at = (uintptr_t)x + (uintptr_t)(ahead * (int64_t)sizeof(*x));

	for (int64_t i = 0; i < n; i += 16) {
		const void *line = (const void *)(at + (uintptr_t)i * sizeof(*x));

		if (into == INTO_L1)
			__builtin_prefetch(line, 0, 3);
		else
			__builtin_prefetch(line, 0, 2);
	}
}

/*
 * Magnitudes of which the largest is that of n values, n a multiple of FLOATS. Values @ahead of them, unless that is 0, are
 * asked into the second level in turn with them: many requests at once keep the values themselves waiting.
 */
INLINE mags mags_of(const float *x, int64_t n, int64_t ahead)
{
	const int64_t turn = n < 4 * FLOATS ? FLOATS : 4 * FLOATS;
	mags m0, m1, m2, m3;
	int64_t i = FLOATS;

	if (!n)
		return zero_mags();
	if (ahead)
		read_ahead(x, ahead, turn, INTO_L2);
	m0 = load_mags(x);
	if (n >= 4 * FLOATS) {
		m1 = load_mags(x + FLOATS);
		m2 = load_mags(x + 2 * FLOATS);
		m3 = load_mags(x + 3 * FLOATS);
		for (i = 4 * FLOATS; i + 4 * FLOATS <= n; i += 4 * FLOATS) {
			if (ahead)
				read_ahead(x + i, ahead, turn, INTO_L2);
			m0 = larger(m0, load_mags(x + i));
			m1 = larger(m1, load_mags(x + i + FLOATS));
			m2 = larger(m2, load_mags(x + i + 2 * FLOATS));
			m3 = larger(m3, load_mags(x + i + 3 * FLOATS));
		}
		m0 = larger(larger(m0, m1), larger(m2, m3));
	}
	for (; i < n; i += FLOATS) {
		if (ahead)
			read_ahead(x + i, ahead, FLOATS, INTO_L2);
		m0 = larger(m0, load_mags(x + i));
	}
	return m0;
}

static inline uint32_t amax_of(const float *x, int64_t n)
{
	int64_t whole = n - n % FLOATS;
	uint32_t amax = largest(mags_of(x, whole, 0));

	for (int64_t i = whole; i < n; i++) {
		uint32_t mag = quantize_bits(x[i]) & MAG_MASK;

		amax = mag > amax ? mag : amax;
	}
	return amax;
}

/* ---- groups of up to FLOATS blocks ---- */

/*
 * What the kernels multiply with is twice the reciprocal, so that codes are made of integers cut off from 2·x·id: that
 * product is exact unless infinite, and cut off to 0 where x·id rounds to 0.
 */
struct __attribute__((may_alias)) scales {
	float by[FLOATS]; /* 0 where all codes are zero */
	uint16_t half[FLOATS];
	bool special; /* a block has a NaN or an infinity, or its reciprocal is finite and twice that is not */
};

/* How values are gone through. */
struct pace {
	int blocks;    /* of a group, at most FLOATS */
	int lead;      /* groups by which magnitudes are ahead of codes, 1 or 2: the scales are made in between */
	int64_t ahead; /* see mags_of() */
};

/* What differs between block formats. The functions are constants where they are called. */
struct format {
	int64_t block, block_bytes;
	float levels;          /* d is the largest magnitude over this */
	int codes_at, half_at; /* in the bytes of a block */
	int zero;              /* a byte of codes of zero */
	int step;              /* blocks of which magnitudes and codes are made in turn; divides those of a group */
	void (*codes_of)(const float *x, const struct scales *s, int b, uint8_t *q, bool stage); /* `step` blocks from b on */
	quantize_blocks_fn plain;
	struct pace cached, memory; /* where the values come from; what comes from memory is staged */
};

INLINE const struct pace *pace_of(const struct format *f, bool stage)
{
	return stage ? &f->memory : &f->cached;
}

INLINE void mags_of_blocks(const struct format *f, const float *x, int begin, int end, int64_t ahead, mags m[FLOATS])
{
	for (int b = begin; b < end; b++)
		m[b] = mags_of(x + b * f->block, f->block, ahead);
}

/* Lane b: the largest magnitude of block b of a group, for which the m of its blocks are set. */
INLINE words amax_of_mags(mags m[FLOATS], int blocks)
{
	const int n = blocks <= 4 ? 4 : FLOATS;

	EACH (b, FLOATS)
		if (b >= blocks && b < n)
			m[b] = zero_mags();
	return (words)largest_each(m, n);
}

INLINE words amax_of_group(const struct format *f, const float *x, bool stage)
{
	const int blocks = pace_of(f, stage)->blocks;
	mags m[FLOATS];

	mags_of_blocks(f, x, 0, blocks, 0, m);
	return amax_of_mags(m, blocks);
}

INLINE void scales_of(const struct format *f, words amax, struct scales *s)
{
	floats d = (floats)amax / f->levels, id = 1.0f / d, by = id + id;
	words fits = (words)((words)by < MAG_INFINITE);

	by = (floats)((words)by & fits);
	memcpy(s->by, &by, sizeof(s->by));
	halves_of(d, s->half);
	s->special = any_set((mags)(((words)((words)id < MAG_INFINITE) & ~fits) | (words)(amax >= MAG_INFINITE)));
}

/*
 * The codes of a group and, in turn with them unless there is none, the largest magnitudes of the one that is `lead`
 * groups on.
 */
INLINE words codes_of_group(const struct format *f, const float *x, const struct scales *s, uint8_t *q, bool stage,
			    bool more)
{
	const struct pace *pace = pace_of(f, stage);
	const int64_t lead = pace->lead * pace->blocks * f->block;
	mags m[FLOATS];

#pragma GCC unroll 4
	for (int b = 0; b < pace->blocks; b += f->step) {
		const float *at = x + b * f->block;

		if (more)
			mags_of_blocks(f, x + lead, b, b + f->step, pace->ahead, m);
		f->codes_of(at, s, b, q + b * f->block_bytes, stage);
	}
	return more ? amax_of_mags(m, pace->blocks) : (words)zero_mags();
}

/*
 * What is written while values are read. CPUs let a load behind a store wait for it where the last bits of their addresses
 * are the same, even if it is of another page. With groups of half a page, as of q8_0 with AVX-512, a place relative to the
 * values stays bad or good from group to group; this one was good (kernels/README.md, step 13 of quantizing).
 */
struct __attribute__((may_alias)) scratch {
	struct scales s[2];
	uint8_t staged[QUANTIZE_LINE_BLOCKS * ASSAY_TQ2_0_BLOCK_BYTES] __attribute__((aligned(64)));
};

#define PAGE_BYTES 4096

/*
 * Quantizes whole groups of blocks and returns the number of blocks that are done. It stops after the first group with
 * a special block (with @stage, after the groups that are staged with that one) and sets *special if there was one.
 *
 * What a group's codes wait for (its lines, a reduction and two divisions) is under way while those of the groups
 * before are written; the values come from the level-1 cache then. Only the largest magnitudes go from one turn of the
 * loop to the next, so that compilers keep the others in registers. With @stage, lines are put together in that cache
 * too, from blocks of odd sizes, and stored around the caches.
 */
INLINE int64_t groups(const struct format *f, const float *x, uint8_t *q, int64_t n_blocks, bool stage, bool *special)
{
	const int blocks = pace_of(f, stage)->blocks, lead = pace_of(f, stage)->lead;
	const int64_t n_groups = n_blocks / blocks, values = blocks * f->block, bytes = blocks * f->block_bytes;
	const int64_t per_stage = stage ? QUANTIZE_LINE_BLOCKS / blocks : 1;
	uint8_t room[PAGE_BYTES + sizeof(struct scratch)] __attribute__((aligned(64)));
	const uintptr_t place = ((uintptr_t)x + PAGE_BYTES / 2 - (uintptr_t)room) & (PAGE_BYTES - 64);
	struct scratch *const scratch = (struct scratch *)(room + place);
	struct scales *const s = scratch->s;
	uint8_t *const staged = scratch->staged;
	words amax = amax_of_group(f, x, stage);

	*special = false;
	if (lead == 2) {
		scales_of(f, amax, &s[0]);
		if (n_groups > 1)
			amax = amax_of_group(f, x + values, stage);
	}
	for (int64_t g = 0; g < n_groups; g++, x += values) {
		uint8_t *to = stage ? staged + g % per_stage * bytes : q + g * bytes;
		const struct scales *now = &s[g % 2];

		if (g + lead - 1 < n_groups)
			scales_of(f, amax, &s[(g + lead - 1) % 2]);
		if (g + lead < n_groups)
			amax = codes_of_group(f, x, now, to, stage, true);
		else
			codes_of_group(f, x, now, to, stage, false);
		*special |= now->special;
		if (g % per_stage < per_stage - 1)
			continue;
		for (int64_t i = 0; stage && i < per_stage * bytes; i += 64)
			store_line_around(q + (g + 1 - per_stage) * bytes + i, staged + i);
		if (*special)
			return (g + 1) * blocks;
	}
	return n_blocks;
}

static void correct_special(const struct format *f, const float *x, uint8_t *q, int64_t n_blocks)
{
	const uint16_t nan = QUANTIZE_HALF_NAN;

	for (; n_blocks > 0; n_blocks--, x += f->block, q += f->block_bytes) {
		float amax = quantize_float(amax_of(x, f->block)), id = 1.0f / (amax / f->levels);

		if (!isfinite(amax)) {
			memset(q + f->codes_at, f->zero, (size_t)f->block_bytes - sizeof(nan));
			memcpy(q + f->half_at, &nan, sizeof(nan));
		} else if (isfinite(id) && isinf(id + id)) {
			f->plain(x, q, f->block, false);
		}
	}
}

INLINE void whole_groups(const struct format *f, const float *x, uint8_t *q, int64_t n_blocks, bool stage)
{
	const int64_t most = stage ? QUANTIZE_LINE_BLOCKS : f->cached.blocks;

	while (n_blocks > 0) {
		bool special;
		int64_t done = groups(f, x, q, n_blocks, stage, &special);

		x += done * f->block;
		q += done * f->block_bytes;
		n_blocks -= done;
		if (special)
			correct_special(f, x - most * f->block, q - most * f->block_bytes, most);
	}
}

/* Whole groups of a format, of its pace from the caches or from memory. */
typedef void (*groups_fn)(const float *x, uint8_t *q, int64_t n_blocks);

static void all_blocks(const struct format *f, groups_fn cached, groups_fn memory, const float *x, uint8_t *q,
		       int64_t n, bool around)
{
	const int64_t values = FLOATS * f->block, whole = n / values * FLOATS, rest = n % values;
	int64_t staged = 0;

	if (around && !quantize_stores_plainly(q, around)) {
		staged = whole - whole % QUANTIZE_LINE_BLOCKS;
		memory(x, q, staged);
		stores_done();
	}
	cached(x + staged * f->block, q + staged * f->block_bytes, whole - staged);
	if (rest) {
		float padded[FLOATS * ASSAY_TQ2_0_BLOCK];
		uint8_t blocks[FLOATS * ASSAY_TQ2_0_BLOCK_BYTES];

		memcpy(padded, x + whole * f->block, (size_t)rest * sizeof(*x));
		memset(padded + rest, 0, (size_t)(values - rest) * sizeof(*x));
		cached(padded, blocks, FLOATS);
		memcpy(q + whole * f->block_bytes, blocks, (size_t)(rest / f->block * f->block_bytes));
	}
}

/* ---- q8_0 ---- */

/* From the caches one request is enough; from memory a far one into L2, with the magnitudes, and a near one from there. */
#define Q8_AHEAD 3072
#define Q8_NEAR  1536
#define Q8_FAR   8192
#define Q8_STEP  (FLOATS < 8 ? FLOATS : 8)

INLINE void q8_blocks(const float *x, const struct scales *s, int b, uint8_t *q, bool stage)
{
#pragma GCC unroll 1
	for (int k = 0; k < Q8_STEP; k += 2, x += 2 * ASSAY_Q8_0_BLOCK, q += 2 * ASSAY_Q8_0_BLOCK_BYTES) {
		read_ahead(x, stage ? Q8_NEAR : Q8_AHEAD, 2 * ASSAY_Q8_0_BLOCK, INTO_L1);
		memcpy(q, &s->half[b + k], 2);
		memcpy(q + ASSAY_Q8_0_BLOCK_BYTES, &s->half[b + k + 1], 2);
		q8_codes(x, s->by + b + k, q + 2, q + ASSAY_Q8_0_BLOCK_BYTES + 2);
	}
}

static const struct format q8_0 = { .block = ASSAY_Q8_0_BLOCK,
				    .block_bytes = ASSAY_Q8_0_BLOCK_BYTES,
				    .levels = 127,
				    .codes_at = 2,
				    .half_at = 0,
				    .zero = 0,
				    .step = Q8_STEP,
				    .codes_of = q8_blocks,
				    .plain = assay_quantize_plain_q8_0,
				    .cached = { FLOATS, 2, 0 },
				    .memory = { FLOATS, 1, Q8_FAR } };

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

/* ---- tq2_0 ---- */

INLINE void tq2_block(const float *x, const struct scales *s, int b, uint8_t *q, bool stage)
{
	(void)stage;
	ternary_256(x, s->by[b], CUT_OFF, 0, 2, q, false);
	memcpy(q + 64, &s->half[b], 2);
}

static const struct format tq2_0 = { .block = ASSAY_TQ2_0_BLOCK,
				     .block_bytes = ASSAY_TQ2_0_BLOCK_BYTES,
				     .levels = 1,
				     .codes_at = 0,
				     .half_at = 64,
				     .zero = 0x55,
				     .step = 1,
				     .codes_of = tq2_block,
				     .plain = assay_quantize_plain_tq2_0,
				     .cached = { 4, 1, 0 },
				     .memory = { 2, 1, 0 } };

ALONE void tq2_0_cached(const float *x, uint8_t *q, int64_t n_blocks)
{
	whole_groups(&tq2_0, x, q, n_blocks, false);
}

ALONE void tq2_0_memory(const float *x, uint8_t *q, int64_t n_blocks)
{
	whole_groups(&tq2_0, x, q, n_blocks, true);
}

static bool quantize_tq2_0(const float *x, uint8_t *q, int64_t n, bool around)
{
	all_blocks(&tq2_0, tq2_0_cached, tq2_0_memory, x, q, n, around);
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
