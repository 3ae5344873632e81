/* SPDX-License-Identifier: Apache-2.0 */
/* Repacks I2_S weights into the lines of two and of 1.6 bits that matmul_ternary_packed.h defines. */
#if defined(__x86_64__) || defined(__aarch64__)
#include <string.h>

#include "matmul_ternary_packed.h"

#define LINES_PER_BLOCK (ASSAY_I2S_BLOCK / TERNARY_LINE_COLS)
#define CODES_PER_BYTE  4
#define STEP_BYTES      8                                           /* of a block of I2_S, packed at a time */
#define LINES_APART     (ASSAY_I2S_BLOCK_BYTES / TERNARY_LINE_COLS) /* between the codes of a byte */
#define TRITS_STEP_COLS 640                                         /* whole blocks and whole lines */

/* Swap the bits @low of @b with those @shift above them in @a. */
INLINE void swap_codes(uint64_t *a, uint64_t *b, int shift, uint64_t low)
{
	uint64_t t = (*a >> shift ^ *b) & low;

	*b ^= t;
	*a ^= t << shift;
}

/*
 * The lines of a block of columns get their four bytes of one lane, made of @n rows that lie @row_bytes apart: @block
 * is the block of the first, @line_bytes the distance of lines from @line on. A byte of a row has four codes of columns
 * 32 apart, the first of them highest; a byte of a line has those of four rows. So the bytes of four rows are a 4 × 4
 * matrix of codes, and lines are its transpose.
 */
INLINE void pack_lane(const uint8_t *block, int64_t row_bytes, const int n, int64_t line_bytes, uint8_t *line)
{
	for (int i = 0; i < ASSAY_I2S_BLOCK_BYTES;
	     i += STEP_BYTES, line += STEP_BYTES / TERNARY_LINE_COLS * line_bytes) {
		uint64_t x[CODES_PER_BYTE] = { 0 };

		for (int p = 0; p < n; p++)
			memcpy(&x[p], block + p * row_bytes + i, STEP_BYTES);
		swap_codes(&x[0], &x[2], 4, 0x0f0f0f0f0f0f0f0fu);
		swap_codes(&x[1], &x[3], 4, 0x0f0f0f0f0f0f0f0fu);
		swap_codes(&x[0], &x[1], 2, 0x3333333333333333u);
		swap_codes(&x[2], &x[3], 2, 0x3333333333333333u);
		for (int c = 0; c < CODES_PER_BYTE; c++) {
			uint8_t *to = line + c * LINES_APART * line_bytes;

			memcpy(to, &x[CODES_PER_BYTE - 1 - c], TERNARY_LINE_COLS);
			memcpy(to + line_bytes, (const uint8_t *)&x[CODES_PER_BYTE - 1 - c] + TERNARY_LINE_COLS,
			       TERNARY_LINE_COLS);
		}
	}
}

/* The group at @to from the @rows rows at @from. */
static void pack_group(const uint8_t *from, int64_t rows, int64_t k, int64_t group_rows, uint8_t *to)
{
	const int64_t lanes = group_rows / CODES_PER_BYTE, row_bytes = k / 4;

	for (int64_t b = 0; b < k / ASSAY_I2S_BLOCK; b++, to += LINES_PER_BLOCK * group_rows)
		for (int64_t r = 0; r < lanes && r < rows; r++) {
			const uint8_t *block = from + r * row_bytes + b * ASSAY_I2S_BLOCK_BYTES;

			if (rows == group_rows)
				pack_lane(block, lanes * row_bytes, CODES_PER_BYTE, group_rows, to + r * 4);
			else
				pack_lane(block, lanes * row_bytes, (int)((rows - r + lanes - 1) / lanes), group_rows,
					  to + r * 4);
		}
}

static void pack_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct assay_job *job = arg;
	struct matmul_ternary p = matmul_ternary_of(job);
	const struct ternary_packed *s = job->state;
	int64_t first, end;

	matmul_rows(p.m, s->group_rows, tid, n_threads, &first, &end);
	for (int64_t row = first; row < end; row += s->group_rows)
		pack_group(p.w + row * (p.k / 4), end - row < s->group_rows ? end - row : s->group_rows, p.k,
			   s->group_rows, s->w + row * (p.k / 4));
}

static int64_t panel_tokens(const struct matmul_ternary *p)
{
	int64_t most = TERNARY_PANEL_BYTES / p->k / TERNARY_TILE_MAX;

	if (p->n == 1)
		return 0;
	if (most < TERNARY_PANEL_TILES)
		most = TERNARY_PANEL_TILES;
	if (most > TERNARY_PANEL_TOKENS / TERNARY_TILE_MAX)
		most = TERNARY_PANEL_TOKENS / TERNARY_TILE_MAX;
	return most * TERNARY_TILE_MAX < p->n ? most * TERNARY_TILE_MAX : p->n;
}

/* The codes of a block, a byte each. */
static void unpack_block(const uint8_t *from, uint8_t codes[ASSAY_I2S_BLOCK])
{
	for (int c = 0; c < CODES_PER_BYTE; c++)
		for (int i = 0; i < ASSAY_I2S_BLOCK_BYTES; i++)
			codes[c * ASSAY_I2S_BLOCK_BYTES + i] = from[i] >> (6 - 2 * c) & 3u;
}

/*
 * A row of I2_S weights as bytes of five codes each; @line points to its part of the first line, @fraction says the
 * byte for each v. Four v stay below 243, so that they are made side by side in one word.
 */
static void pack_row_trits(const uint8_t *from, int64_t k, const uint8_t *fraction, uint8_t *line)
{
	for (int64_t col = 0; col < k; col += TRITS_STEP_COLS, from += TRITS_STEP_COLS / 4) {
		const int64_t n = k - col < TRITS_STEP_COLS ? k - col : TRITS_STEP_COLS;
		uint8_t codes[TRITS_STEP_COLS] = { 0 };

		for (int i = 0; i < TRITS_STEP_COLS && i < n; i += ASSAY_I2S_BLOCK)
			unpack_block(from + i / 4, codes + i);
		for (int64_t i = 0; i < n; i += TRITS_LINE_COLS, line += TRITS_LINE_BYTES) {
			uint32_t v = 0, four;

			for (int q = 0; q < TRITS_PER_BYTE; q++) {
				memcpy(&four, codes + i + q * TERNARY_LINE_COLS, sizeof(four));
				v = 3 * v + four;
			}
			for (int j = 0; j < TERNARY_LINE_COLS; j++)
				line[j] = fraction[v >> 8 * j & 0xff];
		}
	}
}

static void pack_trits(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct assay_job *job = arg;
	struct matmul_ternary p = matmul_ternary_of(job);
	const struct ternary_packed *s = job->state;
	int64_t group_bytes = matmul_trits_lines(p.k) * TRITS_LINE_BYTES, first, end;
	uint8_t fraction[256];

	for (unsigned v = 0; v < sizeof(fraction); v++)
		fraction[v] = (uint8_t)((256 * v + 242) / 243);
	matmul_rows(p.m, TRITS_GROUP_ROWS, tid, n_threads, &first, &end);
	for (int64_t row = first; row < end; row++)
		pack_row_trits(p.w + row * (p.k / 4), p.k, fraction,
			       s->trits + row / TRITS_GROUP_ROWS * group_bytes + row % TRITS_GROUP_ROWS * 4);
}

static int64_t n_groups(const struct matmul_ternary *p, int64_t rows)
{
	return (p->m + rows - 1) / rows;
}

/* Weights at two bits, and a panel where more than one token may come. 0 or -1. */
static int make_lines(struct assay_job *job, const struct matmul_ternary *p, struct ternary_packed *s)
{
	s->w = job->host->alloc(job, (uint64_t)(n_groups(p, s->group_rows) * s->group_rows * (p->k / 4)));
	s->panel_tokens = panel_tokens(p);
	if (s->panel_tokens) {
		uint64_t tokens = (uint64_t)s->panel_tokens;

		if (matmul_ternary_by_tokens(p->n, job->n_threads))
			tokens *= job->n_threads;
		s->panel = job->host->alloc(job, tokens * (uint64_t)p->k);
		s->sums = job->host->alloc(job, tokens * sizeof(*s->sums));
	}
	if (!s->w || (s->panel_tokens && (!s->panel || !s->sums)))
		return -1;
	job->host->parallel(job, pack_rows, job);
	return 0;
}

double assay_matmul_trits_bytes_read(const struct assay_shape *shape)
{
	const int64_t m = shape->axis[ASSAY_MATMUL_M], k = shape->axis[ASSAY_MATMUL_K], n = shape->axis[ASSAY_MATMUL_N];
	const int64_t groups = (m + TRITS_GROUP_ROWS - 1) / TRITS_GROUP_ROWS;
	const int64_t weights = n == 1 ? groups * matmul_trits_lines(k) * TRITS_LINE_BYTES : m * k / 4;

	/* activations, their scales and that of the weights */
	return (double)weights + (double)n * (double)k + 4.0 * ((double)n + 1);
}

static int make_trits(struct assay_job *job, const struct matmul_ternary *p, struct ternary_packed *s)
{
	s->trits = job->host->alloc(
		job, (uint64_t)(n_groups(p, TRITS_GROUP_ROWS) * matmul_trits_lines(p->k) * TRITS_LINE_BYTES));
	if (!s->trits)
		return -1;
	job->host->parallel(job, pack_trits, job);
	return 0;
}

/* @group_rows: of the weights at two bits, 0 where there shall be none. */
static int pack(struct assay_job *job, int64_t group_rows, int trits)
{
	struct matmul_ternary p = matmul_ternary_of(job);
	struct ternary_packed *s = job->host->alloc(job, sizeof(*s));

	job->state = s;
	if (s)
		s->group_rows = group_rows;
	if (s && !(group_rows && make_lines(job, &p, s)) && !(trits && make_trits(job, &p, s)))
		return 0;
	assay_matmul_ternary_unpack(job);
	return job->host->fail(job, "no memory to repack the weights");
}

#if defined(__x86_64__)
int assay_matmul_ternary_pack32(struct assay_job *job)
{
	return pack(job, 32, 0);
}

int assay_matmul_ternary_pack64(struct assay_job *job)
{
	return pack(job, 64, 0);
}

int assay_matmul_ternary_pack_trits(struct assay_job *job)
{
	return pack(job, job->shape->axis[ASSAY_MATMUL_N] > 1 ? 64 : 0, 1);
}
#else
int assay_matmul_ternary_pack16(struct assay_job *job)
{
	return pack(job, 16, 0);
}
#endif

void assay_matmul_ternary_unpack(struct assay_job *job)
{
	struct ternary_packed *s = job->state;

	if (!s)
		return;
	job->host->release(job, s->sums);
	job->host->release(job, s->panel);
	job->host->release(job, s->w);
	job->host->release(job, s->trits);
	job->host->release(job, s);
	job->state = NULL;
}
#endif
