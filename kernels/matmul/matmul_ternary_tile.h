/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.ternary on packed weights, for any vector that can multiply 8-bit codes by 8-bit activations. Included once by
 * each variant, which defines before:
 *
 *	VEC, ACC                 vectors of codes and activations, and of sums
 *	VEC_LOAD(p)              a vector from memory
 *	VEC_CODES(v, sh, mask)   (v >> sh) & mask of each byte, sh and mask being constant
 *	VEC_QUAD(v, q);          sets v to the four bytes *q in all lanes
 *	ACC_ZERO                 no sum
 *	ACC_DOT(acc, codes, x);  adds the products of codes and activations to acc
 *	ACC_FLUSH(sums, acc, sh) add the sums >> sh of the rows of a vector to int32 *sums
 *	TILE_TOKENS              tokens in a tile, at most TERNARY_TILE_MAX
 *	TILE_VECS(t)             vectors of rows in a tile of t tokens
 *	TILE_SCALES(t)           see below; 1, 2 or 4, for a tile of t tokens
 *	TILE_LINES(s)            lines after which sums have to be flushed, with s scales
 *	TILE_PREFETCH            how many bytes ahead of the loads weights are asked for
 *
 * A tile keeps the sums of its rows and tokens in registers while a group, or a part of its rows, passes. Codes cost
 * a shift and a mask each, which all tokens of the tile share. With few tokens that would be most of the work, so up to
 * four codes of a byte are left where they are: they count 4, 16 or 64 times then, have sums of their own, and these
 *are shifted back when they are flushed.
 */
#ifndef MATMUL_TERNARY_TILE_H
#define MATMUL_TERNARY_TILE_H

#include <string.h>

#include "matmul_ternary_packed.h"

#define VEC_BYTES  ((int)sizeof(VEC))
#define VEC_ROWS   (VEC_BYTES / 4)
#define LINE_VECS  (TERNARY_LINE_BYTES / VEC_BYTES)
#define MAX_SCALES 4
#define CACHE_LINE 64

/* What a tile reads. */
struct tile {
	const uint8_t *w; /* its first line, or a part of it */
	int64_t lines;
	const quad *x; /* [4 · lines][tokens] */
};

/* Add Σcx of all rows and tokens to @sums. @tokens, @vecs and @scales are constant where this is called. */
INLINE void run_tile(const struct tile *in, int32_t (*sums)[TERNARY_GROUP_ROWS], const int tokens, const int vecs,
		     const int scales)
{
	const uint8_t *w = in->w;
	const quad *x = in->x;

	for (int64_t line = 0; line < in->lines;) {
		int64_t end = in->lines - line < TILE_LINES(scales) ? in->lines : line + TILE_LINES(scales);
		ACC acc[MAX_SCALES][LINE_VECS][TILE_TOKENS];

		EACH (s, scales)
			EACH (v, vecs)
				EACH (t, tokens)
					acc[s][v][t] = ACC_ZERO;
		for (; line < end; line++, w += TERNARY_LINE_BYTES, x += 4 * tokens) {
			VEC packed[LINE_VECS];

			EACH (v, vecs)
				packed[v] = VEC_LOAD(w + v * VEC_BYTES);
			for (int v = 0; v < vecs * VEC_BYTES; v += CACHE_LINE)
				__builtin_prefetch(w + v + TILE_PREFETCH);
			EACH (p, 4) {
				const int s = p % scales;
				VEC codes[LINE_VECS];

				EACH (v, vecs)
					codes[v] = VEC_CODES(packed[v], 2 * (p - s), 3 << 2 * s);
				EACH (t, tokens) {
					VEC four;

					VEC_QUAD(four, x + p * tokens + t);
					EACH (v, vecs)
						ACC_DOT(acc[s][v][t], codes[v], four);
				}
			}
		}
		EACH (s, scales)
			EACH (v, vecs)
				EACH (t, tokens)
					ACC_FLUSH(&sums[t][v * VEC_ROWS], acc[s][v][t], 2 * s);
	}
}

/* All rows of the group at @w times @tokens tokens. */
INLINE void run_group(const uint8_t *w, int64_t lines, const quad *x, int32_t (*sums)[TERNARY_GROUP_ROWS],
		      const int tokens)
{
	for (int v = 0; v < LINE_VECS; v += TILE_VECS(tokens)) {
		const struct tile in = { w + v * VEC_BYTES, lines, x };

		run_tile(&in, (int32_t(*)[TERNARY_GROUP_ROWS]) & sums[0][v * VEC_ROWS], tokens, TILE_VECS(tokens),
			 TILE_SCALES(tokens));
	}
}

static void run_tokens(const uint8_t *w, int64_t lines, const quad *x, int32_t (*sums)[TERNARY_GROUP_ROWS], int tokens)
{
	switch (tokens) {
#define TOKENS(t)                                                                                                      \
	case t:                                                                                                        \
		if (t <= TILE_TOKENS)                                                                                  \
			run_group(w, lines, x, sums, t);                                                               \
		break;
		TOKENS(1)
		TOKENS(2)
		TOKENS(3) TOKENS(4) TOKENS(5) TOKENS(6) TOKENS(7) TOKENS(8) TOKENS(9) TOKENS(10) TOKENS(11) TOKENS(12)
#undef TOKENS
	}
}

/* Rows [first, end), the first of a group, times a tile of tokens from @t0 whose activations are at @x. */
static void run_rows(const struct matmul_ternary *p, const uint8_t *packed, const void *x, const int32_t *token_sums,
		     int64_t first, int64_t end, int64_t t0, int tokens)
{
	for (int64_t row = first; row < end; row += TERNARY_GROUP_ROWS) {
		int64_t rows = end - row < TERNARY_GROUP_ROWS ? end - row : TERNARY_GROUP_ROWS;
		_Alignas(64) int32_t sums[TILE_TOKENS][TERNARY_GROUP_ROWS];

		memset(sums, 0, sizeof(sums[0]) * (size_t)tokens);
		run_tokens(packed + row * (p->k / 4), p->k / TERNARY_LINE_COLS, x, sums, tokens);
		matmul_ternary_store(p, sums, token_sums, row, rows, t0, tokens);
	}
}

/* This thread's share of the panel of @n tokens from @x on: columns of all tiles, sums of some tokens. */
static void fill_panel(const struct ternary_packed *s, const int8_t *x, int64_t n, int64_t k, uint32_t tid,
		       uint32_t n_threads)
{
	int64_t first = k / 4 * tid / n_threads, end = k / 4 * (tid + 1) / n_threads;

	for (int64_t t0 = 0; t0 < n; t0 += TILE_TOKENS) {
		int64_t tokens = n - t0 < TILE_TOKENS ? n - t0 : TILE_TOKENS;
		const int8_t *from = x + t0 * k;
		uint8_t *to = s->panel + t0 * k;

		for (int64_t q = first; q < end; q++)
			for (int64_t t = 0; t < tokens; t++)
				memcpy(to + 4 * (q * tokens + t), from + t * k + 4 * q, 4);
	}
	for (int64_t t = n * tid / n_threads; t < n * (tid + 1) / n_threads; t++)
		s->sums[t] = matmul_ternary_sum(x + t * k, k);
}

/*
 * All tiles of a panel pass over a group before the next comes: the panel stays in the level-2 cache, and
 * weights come from memory once per panel.
 */
static void run_panels(const struct assay_job *job, const struct matmul_ternary *p, int64_t first, int64_t end,
		       uint32_t tid, uint32_t n_threads)
{
	const struct ternary_packed *s = job->state;
	int64_t most = s->panel_tokens > TILE_TOKENS ? s->panel_tokens / TILE_TOKENS * TILE_TOKENS : s->panel_tokens;

	for (int64_t t0 = 0; t0 < p->n; t0 += most) {
		int64_t n = p->n - t0 < most ? p->n - t0 : most;

		if (t0)
			job->host->barrier(job);
		fill_panel(s, p->x + t0 * p->k, n, p->k, tid, n_threads);
		job->host->barrier(job);
		for (int64_t row = first; row < end; row += TERNARY_GROUP_ROWS) {
			int64_t last = end - row < TERNARY_GROUP_ROWS ? end : row + TERNARY_GROUP_ROWS;

			for (int64_t t = 0; t < n; t += TILE_TOKENS)
				run_rows(p, s->w, s->panel + t * p->k, s->sums + t, row, last, t0 + t,
					 (int)(n - t < TILE_TOKENS ? n - t : TILE_TOKENS));
		}
	}
}

static void packed_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const struct ternary_packed *s = job->state;
	struct matmul_ternary p = matmul_ternary_of(job);
	int64_t first, end;

	matmul_rows(p.m, tid, n_threads, &first, &end);
	if (p.n == 1) {
		int32_t sum = matmul_ternary_sum(p.x, p.k);

		run_rows(&p, s->w, p.x, &sum, first, end, 0, 1);
	} else {
		run_panels(job, &p, first, end, tid, n_threads);
	}
}

#endif
