/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.f32 blocked for caches and registers, the textbook way. Blocks of w (64 rows × 256 columns, 64 KiB) stay in
 * the level-2 cache while all tokens pass; in a tile of 4 rows × 2 tokens each loaded value is used several times. Sums
 * run in four lanes, written with the compiler's generic vectors, because it may not reorder a float sum by itself.
 */
#include <string.h>

#include "matmul_variants.h"

#define BLOCK_ROWS    64
#define BLOCK_COLUMNS 256
#define TILE_ROWS     4
#define TILE_TOKENS   2
#define LANES         4
/* Of a thread in a part of a call, a millisecond or some, in multiply-adds. */
#define PART_MULTIPLY_ADDS ((int64_t)1 << 25)

typedef float lanes __attribute__((vector_size(4 * LANES)));

static inline lanes load(const float *p)
{
	lanes v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static int64_t min_i64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * out[token][row] of @rows rows and @tokens tokens, each @stride apart. Both are constant where this is called, so that
 * the loops over them unroll and the sums stay in registers.
 */
static inline __attribute__((always_inline)) void tile(const float *w, const float *x, int64_t stride, int64_t k,
						       const int rows, const int tokens,
						       float out[TILE_TOKENS][TILE_ROWS])
{
	lanes acc[TILE_TOKENS][TILE_ROWS];
	int64_t i;

	for (int t = 0; t < tokens; t++)
		for (int r = 0; r < rows; r++)
			acc[t][r] = (lanes){ 0 };
	for (i = 0; i + LANES <= k; i += LANES) {
		for (int t = 0; t < tokens; t++) {
			lanes v = load(x + t * stride + i);

			for (int r = 0; r < rows; r++)
				acc[t][r] += load(w + r * stride + i) * v;
		}
	}
	for (int t = 0; t < tokens; t++) {
		for (int r = 0; r < rows; r++) {
			float sum = (acc[t][r][0] + acc[t][r][2]) + (acc[t][r][1] + acc[t][r][3]);

			for (int64_t j = i; j < k; j++)
				sum += w[r * stride + j] * x[t * stride + j];
			out[t][r] = sum;
		}
	}
}

/* Adds columns [k0, k0 + k) of rows [first, end) to y, for all tokens; the first columns start the sums. */
static void block(const struct matmul_f32 *p, int64_t first, int64_t end, int64_t k0, int64_t k)
{
	for (int64_t t = 0; t < p->n; t += TILE_TOKENS) {
		int64_t tokens = min_i64(TILE_TOKENS, p->n - t);
		int64_t step;

		for (int64_t row = first; row < end; row += step) {
			const float *w = p->w + row * p->k + k0, *x = p->x + t * p->k + k0;
			float out[TILE_TOKENS][TILE_ROWS];

			step = end - row >= TILE_ROWS ? TILE_ROWS : 1;
			if (step == 1)
				for (int64_t j = 0; j < tokens; j++)
					tile(w, x + j * p->k, p->k, k, 1, 1, out + j);
			else if (tokens == TILE_TOKENS)
				tile(w, x, p->k, k, TILE_ROWS, TILE_TOKENS, out);
			else
				tile(w, x, p->k, k, TILE_ROWS, 1, out);
			for (int64_t j = 0; j < tokens; j++) {
				for (int64_t r = 0; r < step; r++) {
					float *y = &p->y[(t + j) * p->m + row + r];

					*y = k0 ? *y + out[j][r] : out[j][r];
				}
			}
		}
	}
}

/* Rows of y that lie side by side. */
struct part {
	const struct assay_job *job;
	int64_t from, rows;
};

static void blocked_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct part *part = arg;
	struct matmul_f32 p = matmul_f32_of(part->job);
	int64_t first, end;

	matmul_rows(part->rows, MATMUL_ROW_UNIT, tid, n_threads, &first, &end);
	first += part->from;
	end += part->from;
	for (int64_t row = first; row < end; row += BLOCK_ROWS)
		for (int64_t k0 = 0; k0 < p.k; k0 += BLOCK_COLUMNS)
			block(&p, row, min_i64(row + BLOCK_ROWS, end), k0, min_i64(BLOCK_COLUMNS, p.k - k0));
}

/* Rows of a part of a call: whole blocks for each thread, in parts of about the same length. */
static int64_t rows_of_part(const struct matmul_f32 *p, int64_t threads)
{
	const int64_t unit = BLOCK_ROWS * threads, units = (p->m + unit - 1) / unit;
	const int64_t parts = min_i64(units, p->m * p->k * p->n / (PART_MULTIPLY_ADDS * threads));

	return parts > 1 ? (units + parts - 1) / parts * unit : p->m;
}

/* Long calls mark their parts. */
int assay_matmul_f32_blocked(struct assay_job *job)
{
	const struct matmul_f32 p = matmul_f32_of(job);
	const int64_t rows = rows_of_part(&p, job->n_threads);

	for (int64_t from = 0; from < p.m; from += rows) {
		struct part part = { job, from, min_i64(rows, p.m - from) };

		job->host->parallel(job, blocked_rows, &part);
		if (rows < p.m)
			assay_part(job);
	}
	matmul_publish(job, job->shape->axis);
	return 0;
}
