/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packed weights that the vector variants of matmul.ternary share.
 *
 * A line is 128 bytes: the weights of 32 rows and 16 columns. Byte 4·r + j holds row r of the line, and in its bits 2p
 * and 2p + 1 column 4·p + j, as the code 0, 1, 2 of −1, 0, +1. So the bits of one p are 32 rows of four adjacent
 * columns, what instructions for 8-bit dot products take whole: the four activations are broadcast to all lanes, and a
 * lane sums one row. No sum crosses lanes, and adjacent lanes are adjacent in y. Two vectors of 512 bits take a line,
 * four of 256, eight of 128.
 *
 * The k / 16 lines of 32 rows make a group and lie in order of columns; groups lie in order of rows, each directly
 * behind the one before, so that a product reads the weights as one stream. Rows beyond m in the last group hold zeros.
 *
 * The codes are multiplied as they are: Σ(c−1)x = Σcx − Σx, where Σx of a token is taken off once per row.
 */
#ifndef MATMUL_TERNARY_PACKED_H
#define MATMUL_TERNARY_PACKED_H

#include "matmul_variants.h"

#define TERNARY_GROUP_ROWS 32
#define TERNARY_LINE_COLS  16
#define TERNARY_LINE_BYTES 128

/*
 * Activations of several tokens are put into a panel before they are multiplied: tiles of up to TERNARY_TILE_MAX tokens
 * one behind the other, in a tile of t tokens four columns of each token in turn, [k / 4][t][4 bytes], so that a tile
 * is one stream too. The panel holds TERNARY_PANEL_BYTES, but no less than TERNARY_PANEL_TILES such tiles.
 */
#define TERNARY_TILE_MAX    12
#define TERNARY_PANEL_BYTES (384 << 10)
#define TERNARY_PANEL_TILES 2

/* What prepare makes for one weight matrix. */
struct ternary_packed {
	uint8_t *w;           /* the groups */
	int64_t panel_tokens; /* room of the panel; 0 where only single tokens will come */
	uint8_t *panel;       /* [panel_tokens · k] */
	int32_t *sums;        /* [panel_tokens]: Σx of each */
};

/* Callbacks of every variant that works on packed weights. */
int assay_matmul_ternary_pack(struct assay_job *job);
void assay_matmul_ternary_unpack(struct assay_job *job);

#endif
