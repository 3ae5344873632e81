/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packed weights that the vector variants of matmul.ternary share.
 *
 * A line is one vector of V = 16, 32 or 64 bytes: the weights of V rows and 4 columns. Byte 4·r + j holds column j of
 * the four rows r + p·V/4, p = 0 … 3, each in its bits 2p and 2p + 1 as the code 0, 1, 2 of −1, 0, +1. So the bits of
 * one p are what instructions for 8-bit dot products take whole: the four activations are broadcast to all lanes, once
 * for all p, and a lane sums one row. No sum crosses lanes, and adjacent lanes are adjacent in y.
 *
 * The k / 4 lines of V rows make a group and lie in order of columns; groups lie in order of rows, each directly behind
 * the one before, so that a product reads the weights as one stream. Rows beyond m in the last group hold zeros.
 *
 * The codes are multiplied as they are: Σ(c−1)x = Σcx − Σx, where Σx of a token is taken off once per row.
 */
#ifndef MATMUL_TERNARY_PACKED_H
#define MATMUL_TERNARY_PACKED_H

#include <stdbool.h>

#include "../kernel_isa.h"
#include "matmul_variants.h"

#define TERNARY_LINE_COLS 4
#define TERNARY_GROUP_MAX 64 /* rows of a group, V */

/*
 * Activations of several tokens are put into a panel before they are multiplied: tiles of up to TERNARY_TILE_MAX tokens
 * one behind the other, in a tile of t tokens four columns of each token in turn, [k / 4][t][4 bytes], so that a tile
 * is one stream too. The panel holds TERNARY_PANEL_BYTES, but no less than TERNARY_PANEL_TILES such tiles and no more
 * than TERNARY_PANEL_TOKENS.
 */
#define TERNARY_TILE_MAX     12
#define TERNARY_PANEL_BYTES  (192 << 10)
#define TERNARY_PANEL_TILES  4
#define TERNARY_PANEL_TOKENS 384

/*
 * Threads share the rows, and fill a panel together. Where each has at least so many tokens, they share the tokens
 * instead, with a panel each: no thread waits for another, or reads what another has just written.
 */
#define TERNARY_TOKENS_EACH 24

static inline bool matmul_ternary_by_tokens(int64_t n, uint32_t n_threads)
{
	return n_threads > 1 && n >= (int64_t)n_threads * TERNARY_TOKENS_EACH;
}

/*
 * The same weights at 1.6 bits, for products that wait for memory: five in a byte, since 3^5 = 243 fits. A line has
 * 16 rows and 20 columns. Byte 4·r + j holds column 4·q + j of row r as code c_q, for q = 0 … 4; the columns beyond k
 * in the last line of a group have code 0. With v = Σ c_q·3^(4−q) the byte is ⌈256·v / 243⌉, a binary fraction just
 * above v / 243: of three times the fraction, c_0 is what carries out of the eight bits, and what stays is that of the
 * others.
 */
#define TRITS_GROUP_ROWS 16
#define TRITS_LINE_COLS  20
#define TRITS_LINE_BYTES 64
#define TRITS_PER_BYTE   5

static inline int64_t matmul_trits_lines(int64_t k)
{
	return (k + TRITS_LINE_COLS - 1) / TRITS_LINE_COLS;
}

/* The packed form that prepare makes of one weight matrix. */
struct ternary_packed {
	uint8_t *w;           /* the groups at two bits; NULL where all products take 1.6 */
	int64_t group_rows;   /* V of w */
	uint8_t *trits;       /* the groups at 1.6 bits, or NULL */
	int64_t panel_tokens; /* room of a panel; 0 where only single tokens will come */
	uint8_t *panel;       /* [panels][panel_tokens · k]: one, or where threads share tokens one of each */
	int32_t *sums;        /* [panels][panel_tokens]: Σx of each token */
};

/*
 * Callbacks of the variants that work on packed weights, by the bytes of their vectors: 16 on aarch64, the others on
 * x86. Those of 1.6 bits keep two bits, for vectors of 64 bytes, where more than one token may come.
 */
int assay_matmul_ternary_pack16(struct assay_job *job);
int assay_matmul_ternary_pack32(struct assay_job *job);
int assay_matmul_ternary_pack64(struct assay_job *job);
int assay_matmul_ternary_pack_trits(struct assay_job *job);
void assay_matmul_ternary_unpack(struct assay_job *job);
/* Bytes that a call of the variants of 1.6 bits reads. */
double assay_matmul_trits_bytes_read(const struct assay_shape *shape);

#if defined(__x86_64__)
/*
 * Asks for weights of one token. AMD's PREFETCHNTA brings a line past the level-2 cache, which costs others less; on
 * Intel's servers, where such a line never gets to a larger cache, it would be read from memory each time. Both take as
 * many instructions.
 */
INLINE void matmul_ternary_prefetch(const uint8_t *at, const bool amd)
{
	if (amd)
		__builtin_prefetch(at + 2048, 0, 0);
	else
		__builtin_prefetch(at + 8192, 0, 3);
}
#endif

/* Four activations, wherever they lie. */
typedef int32_t quad __attribute__((may_alias, aligned(1)));

/* y of @rows rows of a group from @row on, and of @tokens tokens from @t0 on; @sums is Σcx, @token_sums Σx. */
static inline void matmul_ternary_store(const struct matmul_ternary *p, int32_t (*sums)[TERNARY_GROUP_MAX],
					const int32_t *token_sums, int64_t row, int64_t rows, int64_t t0, int tokens)
{
	for (int t = 0; t < tokens; t++) {
		const float scale = p->w_scale * p->x_scale[t0 + t];
		float *y = p->y + (t0 + t) * p->m + row;

		/* Σcx alone may wrap for the longest k; the difference never does */
		for (int64_t r = 0; r < rows; r++)
			y[r] = (float)(int32_t)((uint32_t)sums[t][r] - (uint32_t)token_sums[t]) * scale;
	}
}

#endif
