/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle of matmul.ternary. Small problems are computed again in full. Of large ones every element is checked by
 * Freivalds' test (R. Freivalds, "Probabilistic machines can use less running time", 1977) in integers modulo 2^64:
 *
 *	Σ_n r[n]·acc[n][row]  =  Σ_k w[row][k]·(Σ_n r[n]·x[n][k])        for each row, r random
 *
 * where acc is the integer that y must have come from. It is recovered from y and the scales, and y must be its product
 * bit by bit. An error below 2^24 in a row goes unseen with a probability under 2^-40. A seeded sample of rows is
 * computed in full as well. The first element that differs is then looked for in the rows that failed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/random.h"

#include "matmul_ops.h"

#define FULL_LIMIT      (INT64_C(1) << 28) /* multiply-adds of m·k·n that are computed again */
#define EXACT_ACC_LIMIT (1 << 23) /* below it different sums give different floats, so that y gives back its sum */
#define SAMPLE_ROWS     64
#define CHECK_STREAM    16 /* random streams of the oracle: beyond those of the tensors */

struct check_job {
	const uint8_t *w;
	const int8_t *x;
	const float *x_scale, *y;
	float w_scale;
	int64_t m, k, n;
	const uint64_t *r;   /* [n] */
	const uint64_t *rx;  /* [k]: Σ_n r[n]·x[n][k] */
	const uint8_t *rows; /* [m]: rows to compute in full */
	uint8_t *bad;        /* [m]: rows that failed Freivalds */
	int64_t first;       /* lowest flat index that differs, or INT64_MAX */
	int failed;          /* out of memory in a thread */
};

static void decode_row(const uint8_t *row, int8_t *w, int64_t k)
{
	for (int64_t block = 0; block < k; block += ASSAY_I2S_BLOCK, row += ASSAY_I2S_BLOCK_BYTES)
		for (int part = 0; part < 4; part++)
			for (int j = 0; j < ASSAY_I2S_BLOCK_BYTES; j++)
				w[block + 32 * part + j] = (int8_t)((row[j] >> (6 - 2 * part) & 3) - 1);
}

static float scaled(const struct check_job *c, int64_t acc, int64_t token)
{
	float scale = c->w_scale * c->x_scale[token];

	return (float)(int32_t)acc * scale;
}

static int32_t dot(const int8_t *w, const int8_t *x, int64_t k)
{
	int32_t sum = 0;

	for (int64_t i = 0; i < k; i++)
		sum += w[i] * x[i];
	return sum;
}

static void note_first(struct check_job *c, int64_t index)
{
	int64_t old = __atomic_load_n(&c->first, __ATOMIC_RELAXED);

	while (index < old &&
	       !__atomic_compare_exchange_n(&c->first, &old, index, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Every element of the marked rows, computed again. */
static void check_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct check_job *c = arg;
	int8_t *w = malloc((size_t)c->k);

	if (!w) {
		__atomic_store_n(&c->failed, 1, __ATOMIC_RELAXED);
		return;
	}
	for (int64_t row = tid; row < c->m; row += n_threads) {
		if (c->rows && !c->rows[row])
			continue;
		decode_row(c->w + row * (c->k / 4), w, c->k);
		for (int64_t t = 0; t < c->n; t++) {
			float want = scaled(c, dot(w, c->x + t * c->k, c->k), t);

			if (memcmp(&want, &c->y[t * c->m + row], sizeof(want))) {
				note_first(c, t * c->m + row);
				break;
			}
		}
	}
	free(w);
}

/* The integer that y[token][row] is the scaled image of; 0 and *@ok = 0 where there is none. */
static int64_t recovered(const struct check_job *c, int64_t token, int64_t row, int *ok)
{
	float y = c->y[token * c->m + row], back;
	double quotient = (double)y / ((double)(c->w_scale * c->x_scale[token]));
	int64_t acc;

	*ok = fabs(quotient) < EXACT_ACC_LIMIT;
	if (!*ok)
		return 0;
	acc = (int64_t)rint(quotient);
	back = scaled(c, acc, token);
	*ok = !memcmp(&back, &y, sizeof(y));
	return acc;
}

static uint64_t weighted_row(const uint8_t *row, const uint64_t *rx, int64_t k)
{
	uint64_t sum = 0;

	for (int64_t block = 0; block < k; block += ASSAY_I2S_BLOCK, row += ASSAY_I2S_BLOCK_BYTES) {
		for (int part = 0; part < 4; part++) {
			for (int j = 0; j < ASSAY_I2S_BLOCK_BYTES; j++) {
				uint64_t code = row[j] >> (6 - 2 * part);
				uint64_t v = rx[block + 32 * part + j];

				sum += (v & -(code & 1)) + 2 * (v & -(code >> 1 & 1)) - v;
			}
		}
	}
	return sum;
}

static void freivalds(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct check_job *c = arg;

	for (int64_t row = c->m * tid / n_threads; row < c->m * (tid + 1) / n_threads; row++) {
		uint64_t sum = 0;
		int ok = 1;

		for (int64_t t = 0; t < c->n && ok; t++)
			sum += c->r[t] * (uint64_t)recovered(c, t, row, &ok);
		c->bad[row] = !ok || sum != weighted_row(c->w + row * (c->k / 4), c->rx, c->k);
	}
}

static uint64_t random_u64(uint64_t seed, uint32_t stream, uint64_t i)
{
	struct assay_philox p = assay_random4(seed, CHECK_STREAM + stream, i);

	return (uint64_t)p.v[0] << 32 | p.v[1];
}

/* Marks in @bad every row that cannot be right. -1: out of memory. */
static int find_bad_rows(struct assay_job *job, struct check_job *c)
{
	uint64_t *r = calloc((size_t)c->n, sizeof(*r)), *rx = calloc((size_t)c->k, sizeof(*rx));
	int rc = -1;

	if (!r || !rx)
		goto out;
	for (int64_t t = 0; t < c->n; t++) {
		r[t] = random_u64(job->seed, 0, (uint64_t)t);
		for (int64_t i = 0; i < c->k; i++)
			rx[i] += r[t] * (uint64_t)(int64_t)c->x[t * c->k + i];
	}
	c->r = r;
	c->rx = rx;
	job->host->parallel(job, freivalds, c);
	rc = 0;
out:
	free(r);
	free(rx);
	return rc;
}

/*
 * Where Freivalds and the sample see nothing wrong, c->first stays INT64_MAX. Rows that failed are computed again;
 * since a wrong variant is often wrong everywhere, only the first SAMPLE_ROWS of them are.
 */
static int check_large(struct assay_job *job, struct check_job *c)
{
	uint8_t *rows = calloc((size_t)c->m, 1), *bad = calloc((size_t)c->m, 1);
	int rc = -1, n_bad = 0;

	if (!rows || !bad)
		goto out;
	c->bad = bad;
	if (find_bad_rows(job, c))
		goto out;
	for (int64_t row = 0; row < c->m && n_bad < SAMPLE_ROWS; row++) {
		rows[row] = bad[row];
		n_bad += bad[row];
	}
	for (uint64_t i = 0; i < SAMPLE_ROWS; i++)
		rows[random_u64(job->seed, 1, i) % (uint64_t)c->m] = 1;
	rows[0] = rows[c->m - 1] = 1;
	c->rows = rows;
	job->host->parallel(job, check_rows, c);
	/* a row that failed Freivalds holds an element that differs: the two can disagree only if the oracle is broken
	 */
	rc = n_bad && c->first == INT64_MAX ? -2 : 0;
out:
	free(rows);
	free(bad);
	return rc;
}

static void report_first(const struct check_job *c, struct assay_check *out)
{
	int64_t token = c->first / c->m, row = c->first % c->m;
	int64_t acc = 0;
	int8_t w[ASSAY_I2S_BLOCK];

	for (int64_t i = 0; i < c->k; i += ASSAY_I2S_BLOCK) {
		decode_row(c->w + row * (c->k / 4) + i / 4, w, ASSAY_I2S_BLOCK);
		acc += dot(w, c->x + token * c->k + i, ASSAY_I2S_BLOCK);
	}
	out->correct = 0;
	out->first_bad = c->first;
	out->tensor = "y";
	snprintf(out->reason.text, sizeof(out->reason.text), "token %lld, row %lld: got %.9g, want %.9g (sum %lld)",
		 (long long)token, (long long)row, (double)c->y[c->first], (double)scaled(c, acc, token),
		 (long long)acc);
}

int assay_matmul_ternary_check(struct assay_job *job, struct assay_check *out)
{
	struct check_job c = {
		.w = job->tensors[ASSAY_TERNARY_W].data,
		.x = job->tensors[ASSAY_TERNARY_X].data,
		.x_scale = job->tensors[ASSAY_TERNARY_X_SCALE].data,
		.y = job->tensors[ASSAY_TERNARY_Y].data,
		.w_scale = *(const float *)job->tensors[ASSAY_TERNARY_W_SCALE].data,
		.m = job->shape->axis[ASSAY_MATMUL_M],
		.k = job->shape->axis[ASSAY_MATMUL_K],
		.n = job->shape->axis[ASSAY_MATMUL_N],
		.first = INT64_MAX,
	};
	int rc = 0;

	if (c.m * c.k <= FULL_LIMIT / c.n || 127 * c.k >= EXACT_ACC_LIMIT)
		job->host->parallel(job, check_rows, &c);
	else
		rc = check_large(job, &c);
	if (rc == -2)
		return job->host->fail(job, "the two oracles of matmul.ternary disagree");
	if (rc || c.failed)
		return job->host->fail(job, "not enough memory for the oracle of matmul.ternary");
	*out = (struct assay_check){ .size = out->size, .correct = 1, .max_rel_err = -1, .first_bad = -1 };
	if (c.first != INT64_MAX)
		report_first(&c, out);
	return 0;
}
