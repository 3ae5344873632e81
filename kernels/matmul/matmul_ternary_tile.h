/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.ternary on packed weights, for any vector that can multiply 8-bit codes by 8-bit activations. It gives a
 * variant packed_rows(), for matmul_run(). The variant includes it once, after it has defined all of these:
 *
 *	VEC, ACC                 vectors of codes and activations, and of sums
 *	VEC_LOAD(p)              a vector from memory
 *	VEC_CODES(c, v, p, t);   sets c to the codes p of the bytes of v, for a tile of t tokens
 *	CODES_SHIFT(p, t)        the bit to which it moves them, or at which it leaves them: they count 1 << that times
 *	CODES_TOP                1 where the instruction takes whole bytes, 0 where it needs their codes 3 alone
 *	VEC_QUAD(v, q);          sets v to the four bytes *q in all lanes
 *	ACC_ZERO                 no sum
 *	ACC_DOT(acc, codes, x);  adds the products of codes and activations to acc
 *	ACC_ADD(a, b), ACC_SUB(a, b)
 *	ACC_TOTAL(total, acc, sh) total + (acc >> sh), in 32 bits
 *	ACC_STORE(sums, total)   the sums of VEC_LANES rows
 *	TILE_TOKENS              tokens in a tile, at most TERNARY_TILE_MAX
 *	TILE_CODES(t)            2 or 4: how many codes of a byte a tile of t tokens takes in one pass
 *	TILE_STEP(t)             lines in a turn of the loop
 *	TILE_PHASES(t)           how many of these have sums of their own, so that enough chains run side by side
 *	TILE_LINES(t)            lines after which sums are added to 32-bit totals
 *	TILE_PREFETCH(t)         how many bytes ahead of the loads weights are asked for
 *	PAIR_PHASES              TILE_PHASES where a token takes two groups at a time; undefined: it takes one
 *
 * A tile keeps the sums of its rows and tokens in registers while a group passes. Codes are taken out of their bytes by
 * a mask alone where the sums have room for it, and the sums are shifted back when they are added to totals. Where all
 * four codes are taken at once, the whole byte stands for code 3: its sum has those of the others in it, which are
 * taken off.
 *
 * Where several tiles of TILE_TOKENS follow each other, codes are taken out once for KEPT_TILES of them: the first puts
 * those of some columns of a group, a byte a code, into a buffer that stays in the level-1 cache, and the others read
 * that.
 */
#ifndef MATMUL_TERNARY_TILE_H
#define MATMUL_TERNARY_TILE_H

#include <stdbool.h>
#include <string.h>

#include "matmul_ternary_packed.h"

#define VEC_BYTES  ((int)sizeof(VEC))
#define VEC_LANES  (VEC_BYTES / 4)
#define GROUP_ROWS VEC_BYTES
#define MAX_CODES  4
#define MAX_PHASES 4
#define CACHE_LINE 64
#define LEAST_PAGE 4096
#define LINES_UNIT (ASSAY_I2S_BLOCK / TERNARY_LINE_COLS) /* the lines of a group are a multiple of it */

/* Of codes that a tile takes in one pass from some lines; they stay in the level-1 cache while all tiles pass. */
#define CODES_BYTES (24 << 10)
#define CODES_LINES (CODES_BYTES / (TILE_CODES(TILE_TOKENS) * VEC_BYTES))

/*
 * Sums of so many tokens lie on the stack beside these codes: few enough that a profile, whose samples copy some 60 KiB
 * of a stack, finds the callers.
 */
#define KEPT_TOKENS 96
#define KEPT_TILES  (KEPT_TOKENS / TILE_TOKENS)

_Static_assert(CODES_LINES % LINES_UNIT == 0, "whole turns of the loop");
_Static_assert(TILE_TOKENS <= TERNARY_TILE_MAX && TERNARY_PANEL_TOKENS % TERNARY_TILE_MAX == 0,
	       "panels have room for their tiles");

/* The operands of a tile, and the buffer of its codes where it has one. */
struct tile {
	const uint8_t *w; /* lines of a group */
	int64_t lines;
	const quad *x; /* [lines][tokens] */
	uint8_t *codes;
};

/* Where a tile has its codes from: their bytes; these, and it puts them into the buffer; or from there. */
enum tile_codes { CODES_TAKEN, CODES_KEPT, CODES_READ };

/* The shape of its loops. Each use is inlined with constants, so that the loops can be unrolled. */
struct tile_plan {
	int tokens, step, phases;
	int first, codes; /* codes [first, first + codes) of each byte */
	int lines;        /* between two additions to the totals */
	enum tile_codes from;
};

struct tile_sums {
	ACC of[MAX_CODES][MAX_PHASES][TILE_TOKENS];
	ACC totals[MAX_CODES][TILE_TOKENS];
};

INLINE void take_codes(VEC *codes, VEC packed, const struct tile_plan plan, const int c)
{
	if (CODES_TOP && plan.codes == MAX_CODES && plan.from == CODES_TAKEN && c == MAX_CODES - 1)
		*codes = packed;
	else
		VEC_CODES(*codes, packed, plan.first + c, plan.tokens);
}

/*
 * The line at @w times the activations at @x, into the sums of phase @h; its place in the buffer @kept is @at. Either
 * activations or codes are made when they are needed, whichever are more, so that registers are left for sums.
 */
INLINE void run_line(const uint8_t *w, const quad *x, uint8_t *kept, int64_t at, struct tile_sums *acc,
		     const struct tile_plan plan, const int h)
{
	VEC packed = VEC_LOAD(w), codes[MAX_CODES], four[TILE_TOKENS];

	if (plan.tokens < plan.codes && plan.from == CODES_TAKEN) {
		EACH (t, plan.tokens)
			VEC_QUAD(four[t], x + t);
		EACH (c, plan.codes) {
			take_codes(&codes[0], packed, plan, c);
			EACH (t, plan.tokens)
				ACC_DOT(acc->of[c][h][t], codes[0], four[t]);
		}
	} else {
		EACH (c, plan.codes)
			if (plan.from == CODES_READ)
				codes[c] = VEC_LOAD(kept + at + c * VEC_BYTES);
			else
				take_codes(&codes[c], packed, plan, c);
		if (plan.from == CODES_KEPT)
			EACH (c, plan.codes)
				memcpy(kept + at + c * VEC_BYTES, &codes[c], sizeof(codes[c]));
		EACH (t, plan.tokens) {
			VEC_QUAD(four[0], x + t);
			EACH (c, plan.codes)
				ACC_DOT(acc->of[c][h][t], codes[c], four[0]);
		}
	}
}

/* Add the sums of all phases to the totals, and begin again. */
INLINE void add_totals(struct tile_sums *acc, const struct tile_plan plan)
{
	EACH (t, plan.tokens) {
		ACC all[MAX_CODES];

		EACH (c, plan.codes) {
			all[c] = acc->of[c][0][t];
			acc->of[c][0][t] = ACC_ZERO;
			for (int h = 1; h < plan.phases; h++) {
				all[c] = ACC_ADD(all[c], acc->of[c][h][t]);
				acc->of[c][h][t] = ACC_ZERO;
			}
		}
		if (CODES_TOP && plan.codes == MAX_CODES && plan.from == CODES_TAKEN)
			EACH (c, MAX_CODES - 1)
				all[MAX_CODES - 1] = ACC_SUB(all[MAX_CODES - 1], all[c]);
		EACH (c, plan.codes)
			acc->totals[c][t] =
				ACC_TOTAL(acc->totals[c][t], all[c], CODES_SHIFT(plan.first + c, plan.tokens));
	}
}

INLINE void load_totals(struct tile_sums *acc, int32_t (*sums)[TERNARY_GROUP_MAX], const struct tile_plan plan)
{
	EACH (t, plan.tokens)
		EACH (c, plan.codes)
			memcpy(&acc->totals[c][t], &sums[t][(plan.first + c) * VEC_LANES], sizeof(ACC));
}

/*
 * Σcx of the rows of the codes of @plan to @sums; with a buffer of codes, which has some columns only, it is added to
 * what stands there. Where that many lines are one turn, totals are loaded when they are added to: they would take
 * registers from the sums.
 */
INLINE void run_tile(const struct tile *in, int32_t (*sums)[TERNARY_GROUP_MAX], const struct tile_plan plan)
{
	const int kept_bytes = plan.codes * VEC_BYTES;
	const bool adds = plan.from != CODES_TAKEN, once = adds && CODES_LINES <= plan.lines;
	const uint8_t *w = in->w;
	const quad *x = in->x;
	struct tile_sums acc;

	EACH (c, plan.codes)
		EACH (t, plan.tokens) {
			EACH (h, plan.phases)
				acc.of[c][h][t] = ACC_ZERO;
			acc.totals[c][t] = ACC_ZERO;
		}
	if (adds && !once)
		load_totals(&acc, sums, plan);
	for (int64_t line = 0; line < in->lines;) {
		int64_t end = once || in->lines - line < plan.lines ? in->lines : line + plan.lines;

		for (; line <= end - plan.step; line += plan.step) {
			EACH (h, plan.step) {
				if (plan.from != CODES_READ && !plan.first && h * VEC_BYTES % CACHE_LINE == 0)
					__builtin_prefetch(w + h * VEC_BYTES + TILE_PREFETCH(plan.tokens));
				run_line(w + h * VEC_BYTES, x + h * plan.tokens, in->codes, (line + h) * kept_bytes,
					 &acc, plan, h % plan.phases);
			}
			w += plan.step * VEC_BYTES;
			x += plan.step * plan.tokens;
		}
		if (LINES_UNIT % plan.step)
			for (; line < end; line++, w += VEC_BYTES, x += plan.tokens)
				run_line(w, x, in->codes, line * kept_bytes, &acc, plan, 0);
		if (once)
			load_totals(&acc, sums, plan);
		add_totals(&acc, plan);
		if (once)
			break;
	}
	EACH (t, plan.tokens)
		EACH (c, plan.codes)
			ACC_STORE(&sums[t][(plan.first + c) * VEC_LANES], acc.totals[c][t]);
}

/* The loops of the pass @pass of a tile of @tokens tokens. */
INLINE struct tile_plan plan_pass(const int tokens, const int pass, const enum tile_codes from)
{
	return (struct tile_plan){
		.tokens = tokens,
		.step = TILE_STEP(tokens),
		.phases = TILE_PHASES(tokens),
		.first = pass * TILE_CODES(tokens),
		.codes = TILE_CODES(tokens),
		.lines = TILE_LINES(tokens),
		.from = from,
	};
}

#define PASSES(tokens) (MAX_CODES / TILE_CODES(tokens))

/* All rows of the group of @in times @tokens tokens. */
INLINE void run_group(const struct tile *in, int32_t (*sums)[TERNARY_GROUP_MAX], const int tokens)
{
	run_tile(in, sums, plan_pass(tokens, 0, CODES_TAKEN));
	if (PASSES(tokens) > 1)
		run_tile(in, sums, plan_pass(tokens, 1, CODES_TAKEN));
}

static void run_tokens(const struct tile *in, int32_t (*sums)[TERNARY_GROUP_MAX], int tokens)
{
	switch (tokens) {
#define TOKENS(t)                                                                                                      \
	case t:                                                                                                        \
		if (t <= TILE_TOKENS)                                                                                  \
			run_group(in, sums, t);                                                                        \
		break;
		TOKENS(1)
		TOKENS(2)
		TOKENS(3) TOKENS(4) TOKENS(5) TOKENS(6) TOKENS(7) TOKENS(8) TOKENS(9) TOKENS(10) TOKENS(11) TOKENS(12)
#undef TOKENS
	}
}

/* One pass of a tile of TILE_TOKENS: the @first of its panel fills the buffer, the others read it. */
static void run_kept(const struct tile *in, int32_t (*sums)[TERNARY_GROUP_MAX], int pass, bool first)
{
	switch (2 * pass + first) {
#define PASS(i)                                                                                                        \
	case 2 * (i):                                                                                                  \
		run_tile(in, sums, plan_pass(TILE_TOKENS, i, CODES_READ));                                             \
		break;                                                                                                 \
	case 2 * (i) + 1:                                                                                              \
		run_tile(in, sums, plan_pass(TILE_TOKENS, i, CODES_KEPT));                                             \
		break;
		PASS(0)
#if TILE_CODES(TILE_TOKENS) < MAX_CODES
		PASS(1)
#endif
#undef PASS
	}
}

/*
 * Have memory behind all of @buffer, whose end small shapes never reach: the kernel's copy of a stack for a profile
 * ends at the first page that was never touched.
 */
INLINE void touch_pages(void *buffer, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += LEAST_PAGE)
		((volatile uint8_t *)buffer)[at] = 0;
}

/* The group of @row, of @rows rows, times @tiles tiles, KEPT_TILES at most, at @x, whose first token is @t0. */
static void run_tiles(const struct matmul_ternary *p, const uint8_t *packed, const uint8_t *x,
		      const int32_t *token_sums, int64_t row, int64_t rows, int64_t t0, int64_t tiles)
{
	_Alignas(64) uint8_t codes[CODES_BYTES];
	_Alignas(64) int32_t sums[KEPT_TOKENS][TERNARY_GROUP_MAX];
	int64_t lines = p->k / TERNARY_LINE_COLS, tokens = tiles * TILE_TOKENS;

	touch_pages(codes, sizeof(codes));
	touch_pages(sums, sizeof(sums));
	memset(sums, 0, (size_t)tokens * sizeof(sums[0]));
	for (int64_t line = 0; line < lines; line += CODES_LINES) {
		struct tile in = { .w = packed + row * (p->k / 4) + line * VEC_BYTES, .codes = codes };

		in.lines = lines - line < CODES_LINES ? lines - line : CODES_LINES;
		for (int pass = 0; pass < PASSES(TILE_TOKENS); pass++)
			for (int64_t t = 0; t < tokens; t += TILE_TOKENS) {
				in.x = (const quad *)(x + t * p->k + line * TERNARY_LINE_COLS * TILE_TOKENS);
				run_kept(&in, sums + t, pass, !t);
				if (line + in.lines == lines && pass == PASSES(TILE_TOKENS) - 1)
					matmul_ternary_store(p, sums + t, token_sums + t, row, rows, t0 + t,
							     TILE_TOKENS);
			}
	}
}

/* A thread's share: rows [first, end) of tokens [token, last). @sharing threads fill its panel; it is number @tid. */
struct part {
	int64_t first, end, token, last;
	uint8_t *panel;
	int32_t *sums;
	uint32_t tid, sharing;
};

/* As many tiles at a time as codes are kept for, in turns of about the same length. */
static void run_tile_turns(const struct ternary_packed *s, const struct matmul_ternary *p, const struct part *part,
			   int64_t row, int64_t rows, int64_t t0, int64_t tiles)
{
	const int64_t turns = (tiles + KEPT_TILES - 1) / KEPT_TILES;

	for (int64_t i = 0; i < turns; i++) {
		const int64_t first = tiles * i / turns, t = first * TILE_TOKENS;

		run_tiles(p, s->w, part->panel + t * p->k, part->sums + t, row, rows, t0 + t,
			  tiles * (i + 1) / turns - first);
	}
}

/* Rows [first, end), the first of a group, times a tile of tokens from @t0 whose activations are at @x. */
static void run_rows(const struct matmul_ternary *p, const uint8_t *packed, const void *x, const int32_t *token_sums,
		     int64_t first, int64_t end, int64_t t0, int tokens)
{
	for (int64_t row = first; row < end; row += GROUP_ROWS) {
		const struct tile in = { .w = packed + row * (p->k / 4), .lines = p->k / TERNARY_LINE_COLS, .x = x };
		int64_t rows = end - row < GROUP_ROWS ? end - row : GROUP_ROWS;
		_Alignas(64) int32_t sums[TILE_TOKENS][TERNARY_GROUP_MAX];

		run_tokens(&in, sums, tokens);
		matmul_ternary_store(p, sums, token_sums, row, rows, t0, tokens);
	}
}

/* Σx of a token. */
INLINE int32_t token_sum(const int8_t *x, int64_t k)
{
	static const uint8_t one[VEC_BYTES] = { [0 ... VEC_BYTES - 1] = 1 };
	const VEC ones = VEC_LOAD(one);
	ACC total = ACC_ZERO;
	int32_t lanes[VEC_LANES], sum = 0;

	for (int64_t i = 0; i < k; i += VEC_BYTES) {
		const VEC v = VEC_LOAD((const uint8_t *)x + i);
		ACC acc = ACC_ZERO;

		ACC_DOT(acc, ones, v);
		total = ACC_TOTAL(total, acc, 0);
	}
	ACC_STORE(lanes, total);
	EACH (i, VEC_LANES)
		sum += lanes[i];
	return sum;
}

/* Four quads. */
typedef int32_t quads __attribute__((vector_size(16), may_alias, aligned(1)));

#ifdef __clang__
#define QUADS(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define QUADS(a, b, ...) __builtin_shuffle(a, b, (quads){ __VA_ARGS__ })
#endif

/* A square of quads with rows and columns swapped. */
INLINE void turn_square(uint8_t *to, int64_t to_stride, const int8_t *from, int64_t from_stride)
{
	quads row[4], low[2], high[2];

	EACH (i, 4)
		row[i] = *(const quads *)(from + i * from_stride);
	EACH (i, 2) {
		low[i] = QUADS(row[2 * i], row[2 * i + 1], 0, 4, 1, 5);
		high[i] = QUADS(row[2 * i], row[2 * i + 1], 2, 6, 3, 7);
	}
	*(quads *)to = QUADS(low[0], low[1], 0, 1, 4, 5);
	*(quads *)(to + to_stride) = QUADS(low[0], low[1], 2, 3, 6, 7);
	*(quads *)(to + 2 * to_stride) = QUADS(high[0], high[1], 0, 1, 4, 5);
	*(quads *)(to + 3 * to_stride) = QUADS(high[0], high[1], 2, 3, 6, 7);
}

#ifdef PAIR_PHASES
/*
 * Two groups of rows, at in->w and @apart bytes behind, times one token: memory is read faster as two streams that lie
 * far apart than as one, and both share the activations.
 */
INLINE void run_pair(const struct tile *in, int64_t apart, int32_t (*sums)[TERNARY_GROUP_MAX], const bool amd)
{
	const struct tile_plan plan = { .tokens = 1, .phases = PAIR_PHASES, .codes = MAX_CODES, .from = CODES_TAKEN };
	struct tile_sums acc[2];
	const uint8_t *w = in->w;
	const quad *x = in->x;

	EACH (g, 2)
		EACH (c, MAX_CODES) {
			EACH (h, PAIR_PHASES)
				acc[g].of[c][h][0] = ACC_ZERO;
			acc[g].totals[c][0] = ACC_ZERO;
		}
	for (int64_t line = 0; line < in->lines;) {
		int64_t end = in->lines - line < TILE_LINES(1) ? in->lines : line + TILE_LINES(1);

		for (; line < end; line += PAIR_PHASES, w += PAIR_PHASES * VEC_BYTES, x += PAIR_PHASES)
			EACH (h, PAIR_PHASES) {
				VEC four;

				VEC_QUAD(four, x + h);
				EACH (g, 2) {
					const uint8_t *at = w + g * apart + h * VEC_BYTES;
					VEC packed = VEC_LOAD(at), codes;

					matmul_ternary_prefetch(at, amd);
					EACH (c, MAX_CODES) {
						take_codes(&codes, packed, plan, c);
						ACC_DOT(acc[g].of[c][h][0], codes, four);
					}
				}
			}
		EACH (g, 2)
			add_totals(&acc[g], plan);
	}
	EACH (g, 2)
		EACH (c, MAX_CODES)
			ACC_STORE(&sums[g][c * VEC_LANES], acc[g].totals[c][0]);
}

/* Rows [first, end) times one token, a group of the first half with one of the second. */
static void run_pairs(const struct matmul_ternary *p, const uint8_t *packed, const int32_t *token_sum, int64_t first,
		      int64_t end)
{
	const int64_t half = (end - first) / GROUP_ROWS / 2 * GROUP_ROWS, apart = half * (p->k / 4);
	const bool amd = __builtin_cpu_is("amd");
	_Alignas(64) int32_t sums[2][TERNARY_GROUP_MAX];

	for (int64_t row = first; row < first + half; row += GROUP_ROWS) {
		const struct tile in = { packed + row * (p->k / 4), p->k / TERNARY_LINE_COLS, (const quad *)p->x,
					 NULL };

		if (amd)
			run_pair(&in, apart, sums, true);
		else
			run_pair(&in, apart, sums, false);
		EACH (g, 2)
			matmul_ternary_store(p, sums + g, token_sum, row + g * half, GROUP_ROWS, 0, 1);
	}
	run_rows(p, packed, p->x, token_sum, first + 2 * half, end, 0, 1);
}
#endif

/* Columns 4·[first, end) of @tokens tokens at @from to their tile at @to, four by four as far as they go. */
INLINE void copy_columns(uint8_t *to, const int8_t *from, int64_t k, int64_t first, int64_t end, const int64_t tokens)
{
	const int64_t squares = tokens / 4 * 4, last = first + (end - first) / 4 * 4;

	for (int64_t q = first; q < last; q += 4)
		for (int64_t t = 0; t < squares; t += 4)
			turn_square(to + 4 * (q * tokens + t), 4 * tokens, from + t * k + 4 * q, k);
	for (int64_t q = squares < tokens ? first : last; q < end; q++)
		for (int64_t t = q < last ? squares : 0; t < tokens; t++)
			memcpy(to + 4 * (q * tokens + t), from + t * k + 4 * q, 4);
}

/* This thread's share of the panel of @n tokens from @x on: columns of all tiles, sums of some tokens. */
static void fill_panel(const struct part *part, const int8_t *x, int64_t n, int64_t k)
{
	const uint32_t tid = part->tid, sharing = part->sharing;
	int64_t first = k / 4 * tid / sharing, end = k / 4 * (tid + 1) / sharing;

	for (int64_t t0 = 0; t0 < n; t0 += TILE_TOKENS) {
		int64_t tokens = n - t0 < TILE_TOKENS ? n - t0 : TILE_TOKENS;
		const int8_t *from = x + t0 * k;
		uint8_t *to = part->panel + t0 * k;

		if (tokens == TILE_TOKENS)
			copy_columns(to, from, k, first, end, TILE_TOKENS);
		else
			copy_columns(to, from, k, first, end, tokens);
	}
	for (int64_t t = n * tid / sharing; t < n * (tid + 1) / sharing; t++)
		part->sums[t] = token_sum(x + t * k, k);
}

/*
 * All tiles of a panel pass over a group before the next comes: the panel stays in the level-2 cache, and
 * weights come from memory once per panel.
 */
static void run_panels(const struct assay_job *job, const struct matmul_ternary *p, const struct part *part)
{
	const struct ternary_packed *s = job->state;
	int64_t most = s->panel_tokens > TILE_TOKENS ? s->panel_tokens / TILE_TOKENS * TILE_TOKENS : s->panel_tokens;

	for (int64_t t0 = part->token; t0 < part->last; t0 += most) {
		int64_t n = part->last - t0 < most ? part->last - t0 : most;
		int64_t tiles = n / TILE_TOKENS > 1 ? n / TILE_TOKENS : 0;

		if (t0 > part->token && part->sharing > 1)
			job->host->barrier(job);
		fill_panel(part, p->x + t0 * p->k, n, p->k);
		if (part->sharing > 1)
			job->host->barrier(job);
		for (int64_t row = part->first; row < part->end; row += GROUP_ROWS) {
			int64_t last = part->end - row < GROUP_ROWS ? part->end : row + GROUP_ROWS;

			if (tiles)
				run_tile_turns(s, p, part, row, last - row, t0, tiles);
			for (int64_t t = tiles * TILE_TOKENS; t < n; t += TILE_TOKENS)
				run_rows(p, s->w, part->panel + t * p->k, part->sums + t, row, last, t0 + t,
					 (int)(n - t < TILE_TOKENS ? n - t : TILE_TOKENS));
		}
	}
}

static void packed_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const struct ternary_packed *s = job->state;
	struct matmul_ternary p = matmul_ternary_of(job);
	struct part part = { .last = p.n, .panel = s->panel, .sums = s->sums, .tid = tid, .sharing = n_threads };

	if (matmul_ternary_by_tokens(p.n, n_threads)) {
		part.end = p.m;
		part.token = p.n * tid / n_threads;
		part.last = p.n * (tid + 1) / n_threads;
		part.panel += tid * s->panel_tokens * p.k;
		part.sums += tid * s->panel_tokens;
		part.tid = 0;
		part.sharing = 1;
	} else {
		matmul_rows(p.m, GROUP_ROWS, tid, n_threads, &part.first, &part.end);
	}
	if (p.n == 1) {
		int32_t sum = token_sum(p.x, p.k);

#ifdef PAIR_PHASES
		run_pairs(&p, s->w, &sum, part.first, part.end);
#else
		run_rows(&p, s->w, p.x, &sum, part.first, part.end, 0, 1);
#endif
	} else {
		run_panels(job, &p, &part);
	}
}

#endif
