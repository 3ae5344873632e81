/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block formats of assay/op_quantize.h, whose blocks have a scale each, from floats in groups of up to FLOATS blocks
 * with the vectors of an instruction set (quantize_isa.h).
 *
 * Every float operation is the definition's own, in another order only where order cannot be seen; no fused
 * multiply-add.
 */
#ifndef QUANTIZE_GROUPS_H
#define QUANTIZE_GROUPS_H

#include <string.h>

#include "assay/op_quantize.h"
#include "quantize_mags.h"

/*
 * Functions that take a struct format are INLINE for each format, so that its members are constants. Some loops stay
 * functions of their own: two in one function would compete for registers.
 */
#define ALONE static __attribute__((noinline))

/* Lanes of any 32 bits, for what is done once a block or once a tensor. */
typedef float floats __attribute__((vector_size(4 * FLOATS)));
typedef uint32_t words __attribute__((vector_size(4 * FLOATS)));

/*
 * The kernels multiply with the reciprocal times 2 or 4. The product is x·id as the definition rounds it, times that,
 * wherever it decides on a code, unless the multiple is infinite: tiny_block().
 */
struct __attribute__((may_alias)) scales {
	float by[FLOATS]; /* 0 where all codes are zero */
	uint16_t half[FLOATS];
	bool special; /* a block has a NaN or an infinity, or its reciprocal is finite and the multiple is not */
};

/* How values are gone through. */
struct pace {
	int blocks;       /* of a group; divides FLOATS and QUANTIZE_LINE_BLOCKS */
	int step;         /* of those, whose magnitudes and codes are made in turn; divides them */
	int lead;         /* groups by which magnitudes are ahead of codes, 1 or 2: the scales are made in between */
	bool codes_first; /* a step begins with its codes: while they wait for their scales, the CPU reads on */
	int64_t ahead;    /* see mags_of() */
};

/* The differences between block formats. The functions are constants where they are called. */
struct format {
	int64_t block, block_bytes;
	float levels;          /* d is the largest magnitude over this */
	float multiple;        /* of the reciprocal that values are multiplied with, a power of two */
	int codes_at, half_at; /* in the bytes of a block */
	int zero;              /* a byte of codes of zero */
	/* of the n blocks that x and q begin with, whose scales are those from b on; n is a step or 2 */
	void (*codes_of)(const float *x, const struct scales *s, int b, int n, uint8_t *q, bool stage);
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

	EACH (b, FLOATS) /* with constant indices m stays in registers */
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
	floats d = (floats)amax / f->levels, id = 1.0f / d, by = id * f->multiple;
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

#pragma GCC unroll 4 /* all steps, so that m stays in registers */
	for (int b = 0; b < pace->blocks; b += pace->step) {
		if (more && !pace->codes_first)
			mags_of_blocks(f, x + lead, b, b + pace->step, pace->ahead, m);
		f->codes_of(x + b * f->block, s, b, pace->step, q + b * f->block_bytes, stage);
		if (more && pace->codes_first)
			mags_of_blocks(f, x + lead, b, b + pace->step, pace->ahead, m);
	}
	return more ? amax_of_mags(m, pace->blocks) : (words)zero_mags();
}

/*
 * What is written while values are read. CPUs let a load behind a store wait for it where the last bits of their
 * addresses are the same, even if it is of another page. With groups of half a page, as of q8_0 with AVX-512, a place
 * relative to the values stays bad or good from group to group; this one was good (kernels/LESSONS.md,
 * "Reading memory").
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

/*
 * A block so small that the multiple of its reciprocal @id is infinite: its values are taken up and the reciprocal down
 * by a power of two, which changes no product. Its scale is in q.
 */
static void tiny_block(const struct format *f, const float *x, float id, uint8_t *q)
{
	float up[2 * ASSAY_TQ2_0_BLOCK] = { 0 };
	uint8_t blocks[2 * ASSAY_TQ2_0_BLOCK_BYTES];
	struct scales s = { .by = { id * 0x1p-24f * f->multiple } };

	for (int64_t i = 0; i < f->block; i++)
		up[i] = x[i] * 0x1p+24f;
	memcpy(s.half, q + f->half_at, sizeof(s.half[0]));
	f->codes_of(up, &s, 0, 2, blocks, false);
	memcpy(q, blocks, (size_t)f->block_bytes);
}

static void correct_special(const struct format *f, const float *x, uint8_t *q, int64_t n_blocks)
{
	const uint16_t nan = QUANTIZE_HALF_NAN;

	for (; n_blocks > 0; n_blocks--, x += f->block, q += f->block_bytes) {
		float amax = assay_f32_of_bits(amax_of(x, f->block)), id = 1.0f / (amax / f->levels);

		if (!isfinite(amax)) {
			memset(q + f->codes_at, f->zero, (size_t)f->block_bytes - sizeof(nan));
			memcpy(q + f->half_at, &nan, sizeof(nan));
		} else if (isfinite(id) && isinf(id * f->multiple)) {
			tiny_block(f, x, id, q);
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
	const int64_t values = f->cached.blocks * f->block, whole = n / values * f->cached.blocks, rest = n % values;
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
		cached(padded, blocks, f->cached.blocks);
		memcpy(q + whole * f->block_bytes, blocks, (size_t)(rest / f->block * f->block_bytes));
	}
}

/* quantize_<name>() of the format @name. Its loops of either pace are functions of their own. */
#define FORMAT_KERNEL(name)                                                                                            \
	ALONE void name##_cached(const float *x, uint8_t *q, int64_t n_blocks)                                         \
	{                                                                                                              \
		whole_groups(&name, x, q, n_blocks, false);                                                            \
	}                                                                                                              \
	ALONE void name##_memory(const float *x, uint8_t *q, int64_t n_blocks)                                         \
	{                                                                                                              \
		whole_groups(&name, x, q, n_blocks, true);                                                             \
	}                                                                                                              \
	static bool quantize_##name(const float *x, uint8_t *q, int64_t n, bool around)                                \
	{                                                                                                              \
		all_blocks(&name, name##_cached, name##_memory, x, q, n, around);                                      \
		return quantize_stores_plainly(q, around);                                                             \
	}

#endif
