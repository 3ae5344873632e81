/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.f32: shapes, cost, seeded inputs, and an oracle in double precision. A float sum of k products is right when
 * it lies within gamma_k · Σ|w||x| of the exact one, gamma_k = k·u / (1 − k·u), u = 2^-24 (N. J. Higham, "Accuracy and
 * Stability of Numerical Algorithms", section 3.1): that holds for any order of summation, fused or not. The reported
 * error is |y − exact| / Σ|w||x|, which cancellation in the sum does not inflate.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "assay/random.h"

#include "input_fill.h"
#include "matmul_ops.h"

#define FULL_LIMIT   (INT64_C(1) << 26) /* multiply-adds that are computed again in double */
#define GROUP_LIMIT  (INT64_C(1) << 27) /* multiply-adds of the grouped test */
#define CONFIDENCE   8.0                /* Hoeffding: an honest group exceeds it with probability 2·exp(−32) */
#define CHECK_STREAM 16                 /* random streams of the oracle: beyond those of the tensors */

const struct assay_axis assay_matmul_f32_axes[3] = {
	{ .name = "m", .help = "rows of w: outputs", .min = 1, .max = 1 << 24, .def = INT64_MIN },
	{ .name = "k", .help = "columns of w: inputs", .min = 1, .max = 1 << 22, .def = INT64_MIN },
	{ .name = "n", .help = "tokens", .min = 1, .max = 1 << 20, .def = 1 },
};

int assay_matmul_f32_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	int64_t m = shape->axis[ASSAY_MATMUL_M], k = shape->axis[ASSAY_MATMUL_K], n = shape->axis[ASSAY_MATMUL_N];

	(void)why;
	out->n_tensors = 3;
	out->tensors[ASSAY_MATMUL_F32_W] = assay_input_normal_f32("w", ASSAY_MATMUL_F32_W, m, k);
	out->tensors[ASSAY_MATMUL_F32_X] = assay_input_normal_f32("x", ASSAY_MATMUL_F32_X, n, k);
	out->tensors[ASSAY_MATMUL_F32_X].flags = ASSAY_TENSOR_VARIES;
	out->tensors[ASSAY_MATMUL_F32_Y] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = ASSAY_F32, .rank = 2, .dims = { n, m }
	};
	out->cost = (struct assay_cost){
		.ops = 2.0 * (double)m * (double)k * (double)n,
		.bytes_read = 4.0 * ((double)m * (double)k + (double)n * (double)k),
		.bytes_written = 4.0 * (double)m * (double)n,
		.items = (double)n,
		.item_name = "tokens",
		.arith = ASSAY_ARITH_F32,
	};
	return 0;
}

/* ---- inputs ---- */

int assay_matmul_f32_fill(struct assay_job *job)
{
	assay_input_fill(job);
	return 0;
}

/* ---- oracle ---- */

/* The findings of one thread: its worst error, and the lowest element that is wrong. */
struct finding {
	double max_rel_err;
	int64_t first; /* flat index, or INT64_MAX */
	double want;
};

struct check_job {
	const float *w, *x, *y;
	int64_t m, k, n;
	double gamma;
	int64_t n_rows; /* of those below; 0: all rows */
	const int64_t *rows;
	/* the grouped test: tokens in groups of group_size */
	int64_t group_size, n_groups;
	const double *sums;  /* [n_groups][k]: Σ over the group of ±x */
	const double *norms; /* [n_groups]: Frobenius norm of the group's x */
	uint64_t seed;
	struct finding *found; /* [n_threads] */
};

/* Exact product (both are floats, so it fits) summed in double, and the sum of magnitudes. */
static double dot_double(const float *w, const float *x, int64_t k, double *magnitude)
{
	double sum[4] = { 0 }, abs_sum[4] = { 0 };
	int64_t i;

	for (i = 0; i + 4 <= k; i += 4) {
		for (int l = 0; l < 4; l++) {
			double p = (double)w[i + l] * (double)x[i + l];

			sum[l] += p;
			abs_sum[l] += fabs(p);
		}
	}
	for (; i < k; i++) {
		sum[0] += (double)w[i] * (double)x[i];
		abs_sum[0] += fabs((double)w[i] * (double)x[i]);
	}
	*magnitude = abs_sum[0] + abs_sum[1] + abs_sum[2] + abs_sum[3];
	return sum[0] + sum[1] + sum[2] + sum[3];
}

static void check_element(const struct check_job *c, struct finding *f, int64_t row, int64_t token)
{
	double magnitude, want = dot_double(c->w + row * c->k, c->x + token * c->k, c->k, &magnitude);
	double err = fabs((double)c->y[token * c->m + row] - want);
	double rel = magnitude > 0 ? err / magnitude : err;

	if (isfinite(rel) && rel > f->max_rel_err)
		f->max_rel_err = rel;
	/* written so that NaN is wrong; FLT_MIN forgives results that underflow */
	if (!(err <= c->gamma * magnitude + (double)FLT_MIN) && token * c->m + row < f->first) {
		f->first = token * c->m + row;
		f->want = want;
	}
}

static void check_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct check_job *c = arg;
	int64_t n_rows = c->n_rows ? c->n_rows : c->m;

	for (int64_t i = tid; i < n_rows; i += n_threads)
		for (int64_t t = 0; t < c->n; t++)
			check_element(c, &c->found[tid], c->rows ? c->rows[i] : i, t);
}

static double sign_of(uint64_t seed, int64_t token)
{
	return assay_random4(seed, CHECK_STREAM, (uint64_t)token).v[0] & 1 ? 1.0 : -1.0;
}

/*
 * Freivalds' idea with signs: Σ ±y over a group of tokens against w · Σ ±x. The errors of honest elements have random
 * signs, so their sum stays below CONFIDENCE times the root of the sum of squared bounds, and with Cauchy-Schwarz that
 * is at most gamma · |w row| · |x group|. A row that exceeds it is searched element by element.
 */
static void check_groups(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct check_job *c = arg;

	for (int64_t row = tid; row < c->m; row += n_threads) {
		const float *w = c->w + row * c->k;
		double norm = 0;

		for (int64_t i = 0; i < c->k; i++)
			norm += (double)w[i] * (double)w[i];
		norm = sqrt(norm);
		for (int64_t g = 0; g < c->n_groups; g++) {
			int64_t first = g * c->group_size;
			int64_t end = first + c->group_size < c->n ? first + c->group_size : c->n;
			double got = 0, want = 0;

			for (int64_t t = first; t < end; t++)
				got += sign_of(c->seed, t) * (double)c->y[t * c->m + row];
			for (int64_t i = 0; i < c->k; i++)
				want += (double)w[i] * c->sums[g * c->k + i];
			if (fabs(got - want) <= CONFIDENCE * c->gamma * norm * c->norms[g])
				continue;
			for (int64_t t = first; t < end && c->found[tid].first == INT64_MAX; t++)
				check_element(c, &c->found[tid], row, t);
		}
	}
}

/* Groups as small as GROUP_LIMIT affords: the smaller, the sharper. */
static int prepare_groups(struct check_job *c, double **sums, double **norms)
{
	int64_t affordable = GROUP_LIMIT / (c->m * c->k);

	c->n_groups = affordable < 1 ? 1 : affordable < c->n ? affordable : c->n;
	c->group_size = (c->n + c->n_groups - 1) / c->n_groups;
	c->n_groups = (c->n + c->group_size - 1) / c->group_size;
	*sums = calloc((size_t)(c->n_groups * c->k), sizeof(**sums));
	*norms = calloc((size_t)c->n_groups, sizeof(**norms));
	if (!*sums || !*norms)
		return -1;
	for (int64_t t = 0; t < c->n; t++) {
		double sign = sign_of(c->seed, t), *sum = *sums + t / c->group_size * c->k;
		double *norm = *norms + t / c->group_size;

		for (int64_t i = 0; i < c->k; i++) {
			double v = (double)c->x[t * c->k + i];

			sum[i] += sign * v;
			*norm += v * v;
		}
	}
	for (int64_t g = 0; g < c->n_groups; g++)
		(*norms)[g] = sqrt((*norms)[g]);
	c->sums = *sums;
	c->norms = *norms;
	return 0;
}

/* First and last row and seeded ones between, all tokens of each, computed in double; then all rows in groups. */
static int check_large(struct assay_job *job, struct check_job *c)
{
	int64_t n_rows = FULL_LIMIT / (c->k * c->n);
	int64_t *rows = NULL;
	double *sums = NULL, *norms = NULL;
	int rc = -1;

	n_rows = n_rows < 2 ? 2 : n_rows > 64 ? 64 : n_rows;
	rows = calloc((size_t)n_rows, sizeof(*rows));
	if (!rows || prepare_groups(c, &sums, &norms))
		goto out;
	for (int64_t i = 1; i < n_rows; i++)
		rows[i] = assay_random4(job->seed, CHECK_STREAM + 1, (uint64_t)i).v[0] % c->m;
	rows[n_rows - 1] = c->m - 1;
	c->rows = rows;
	c->n_rows = n_rows;
	job->host->parallel(job, check_rows, c);
	job->host->parallel(job, check_groups, c);
	rc = 0;
out:
	free(rows);
	free(sums);
	free(norms);
	return rc;
}

static void report_findings(const struct check_job *c, uint32_t n_threads, struct assay_check *out)
{
	struct finding worst = { 0, INT64_MAX, 0 };

	for (uint32_t i = 0; i < n_threads; i++) {
		if (c->found[i].max_rel_err > worst.max_rel_err)
			worst.max_rel_err = c->found[i].max_rel_err;
		if (c->found[i].first < worst.first) {
			worst.first = c->found[i].first;
			worst.want = c->found[i].want;
		}
	}
	*out = (struct assay_check){
		.size = out->size, .correct = 1, .max_rel_err = worst.max_rel_err, .first_bad = -1
	};
	if (worst.first == INT64_MAX)
		return;
	out->correct = 0;
	out->first_bad = worst.first;
	out->tensor = "y";
	snprintf(out->reason.text, sizeof(out->reason.text), "token %lld, row %lld: got %.9g, want %.9g",
		 (long long)(worst.first / c->m), (long long)(worst.first % c->m), (double)c->y[worst.first],
		 worst.want);
}

int assay_matmul_f32_check(struct assay_job *job, struct assay_check *out)
{
	struct check_job c = {
		.w = job->tensors[ASSAY_MATMUL_F32_W].data,
		.x = job->tensors[ASSAY_MATMUL_F32_X].data,
		.y = job->tensors[ASSAY_MATMUL_F32_Y].data,
		.m = job->shape->axis[ASSAY_MATMUL_M],
		.k = job->shape->axis[ASSAY_MATMUL_K],
		.n = job->shape->axis[ASSAY_MATMUL_N],
		.seed = job->seed,
	};
	double ku = (double)c.k * 0x1p-24;
	int rc = 0;

	c.gamma = ku / (1 - ku);
	c.found = calloc(job->n_threads, sizeof(*c.found));
	if (!c.found)
		return job->host->fail(job, "not enough memory for the oracle of matmul.f32");
	for (uint32_t i = 0; i < job->n_threads; i++)
		c.found[i].first = INT64_MAX;
	if (c.m * c.k <= FULL_LIMIT / c.n)
		job->host->parallel(job, check_rows, &c);
	else
		rc = check_large(job, &c);
	if (rc)
		job->host->fail(job, "not enough memory for the oracle of matmul.f32");
	else
		report_findings(&c, job->n_threads, out);
	free(c.found);
	return rc;
}
