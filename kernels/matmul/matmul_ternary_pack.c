/* SPDX-License-Identifier: Apache-2.0 */
/* Repacks I2_S weights into the lines that matmul_ternary_packed.h defines. */
#include <string.h>

#include "matmul_ternary_packed.h"

#define LINES_PER_BLOCK (ASSAY_I2S_BLOCK / TERNARY_LINE_COLS)
#define CODES           0x03030303u /* the lowest code of each byte */

/* The 8 lines of a block get their four bytes of one row; @line points to the first. */
static void pack_block(const uint8_t *block, uint8_t *line)
{
	for (int i = 0; i < LINES_PER_BLOCK; i++, line += TERNARY_LINE_BYTES) {
		const uint8_t *from = block + i % 2 * TERNARY_LINE_COLS;
		int shift = 6 - i / 2 * 2;
		uint32_t packed = 0;

		for (int p = 0; p < 4; p++) {
			uint32_t four;

			memcpy(&four, from + 4 * p, sizeof(four));
			packed |= (four >> shift & CODES) << 2 * p;
		}
		memcpy(line, &packed, sizeof(packed));
	}
}

static void pack_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct assay_job *job = arg;
	struct matmul_ternary p = matmul_ternary_of(job);
	const struct ternary_packed *s = job->state;
	int64_t first, end;

	matmul_rows(p.m, tid, n_threads, &first, &end);
	for (int64_t row = first; row < end; row++) {
		const uint8_t *from = p.w + row * (p.k / 4);
		uint8_t *to =
			s->w + row / TERNARY_GROUP_ROWS * TERNARY_GROUP_ROWS * (p.k / 4) + row % TERNARY_GROUP_ROWS * 4;

		for (int64_t b = 0; b < p.k / ASSAY_I2S_BLOCK; b++)
			pack_block(from + b * ASSAY_I2S_BLOCK_BYTES, to + b * LINES_PER_BLOCK * TERNARY_LINE_BYTES);
	}
}

static int64_t panel_tokens(const struct matmul_ternary *p)
{
	int64_t most = TERNARY_PANEL_BYTES / p->k / TERNARY_TILE_MAX;

	if (p->n == 1)
		return 0;
	if (most < TERNARY_PANEL_TILES)
		most = TERNARY_PANEL_TILES;
	return most * TERNARY_TILE_MAX < p->n ? most * TERNARY_TILE_MAX : p->n;
}

int assay_matmul_ternary_pack(struct assay_job *job)
{
	struct matmul_ternary p = matmul_ternary_of(job);
	int64_t groups = (p.m + TERNARY_GROUP_ROWS - 1) / TERNARY_GROUP_ROWS;
	struct ternary_packed *s = job->host->alloc(job, sizeof(*s));

	if (!s)
		return job->host->fail(job, "no memory to repack the weights");
	job->state = s;
	s->panel_tokens = panel_tokens(&p);
	s->w = job->host->alloc(job, (uint64_t)(groups * TERNARY_GROUP_ROWS * (p.k / 4)));
	if (s->panel_tokens) {
		s->panel = job->host->alloc(job, (uint64_t)(s->panel_tokens * p.k));
		s->sums = job->host->alloc(job, (uint64_t)s->panel_tokens * sizeof(*s->sums));
	}
	if (!s->w || (s->panel_tokens && (!s->panel || !s->sums))) {
		assay_matmul_ternary_unpack(job);
		return job->host->fail(job, "no memory to repack the weights");
	}
	job->host->parallel(job, pack_rows, job);
	return 0;
}

void assay_matmul_ternary_unpack(struct assay_job *job)
{
	struct ternary_packed *s = job->state;

	if (!s)
		return;
	job->host->release(job, s->sums);
	job->host->release(job, s->panel);
	job->host->release(job, s->w);
	job->host->release(job, s);
	job->state = NULL;
}
