/* SPDX-License-Identifier: Apache-2.0 */
/* Samples to ratios, ratios to the estimate of a pair. */
#include "judge/paired.h"

#include <math.h>
#include <string.h>

#include "stats/stats.h"

#define CLEAN_SHARE  0.5
#define BLOCK_RATIOS 4
/* Of parts of calls, a ratio farther from the median than so many deviations is taken for one at that distance. */
#define CLIP_DEVIATIONS 5
#define CLIP_LEAST      0.7    /* but no nearer than twice as long, which one part of many may take for good */
#define MAD_TO_SD       1.4826 /* of a normal distribution */
/* Of the time that an interrupted call had its CPU, so much at most went into filling caches again. */
#define REFILL_SHARE 0.5

/* Times of the four samples of a block, by side. */
struct block {
	double ns[2][2];
};

static struct block block_of(const struct assay_pair *p, size_t b)
{
	struct block k;

	for (int side = 0; side < 2; side++)
		for (int i = 0; i < 2; i++)
			k.ns[side][i] = (double)p->side[side].samples[2 * b + (size_t)i].ns;
	return k;
}

/* Disturbances of a block as a whole. */
static uint32_t block_disturbance(const struct assay_pair *p, size_t b)
{
	const struct assay_sample *base = &p->side[ASSAY_BASE].samples[2 * b],
				  *head = &p->side[ASSAY_HEAD].samples[2 * b];
	const struct assay_sample all[4] = { base[0], base[1], head[0], head[1] };

	return assay_samples_disturbed(all, 4);
}

static bool all_positive(const struct block *k)
{
	return k->ns[0][0] > 0 && k->ns[0][1] > 0 && k->ns[1][0] > 0 && k->ns[1][1] > 0;
}

/* Ratios of clean blocks, in order of time. */
struct ratios {
	double *x;
	double *weight; /* of those of parts: the time that they stand for. NULL: whole calls, which weigh alike */
	bool middle;    /* whole calls in slices: their interquartile mean counts, and not their median */
	size_t n, of_block;
};

/* Compare parts that ran beside each other or are the same part of a call, and whole calls with both. */
static void add_ratios(const struct block *k, struct ratios *r)
{
	const double *base = k->ns[ASSAY_BASE], *head = k->ns[ASSAY_HEAD];

	for (size_t i = 0; i < r->of_block; i++) {
		const size_t h = r->of_block < BLOCK_RATIOS ? i : i / 2, b = i % 2;

		if (r->weight)
			r->weight[r->n] = base[b] + head[h];
		r->x[r->n++] = log(head[h] / base[b]);
	}
}

static bool has(const struct assay_pair *p, uint32_t flag)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < 2 * p->n_blocks; i++)
			if (p->side[side].samples[i].flags & flag)
				return true;
	return false;
}

/* The value of a block of parts of calls: their least time on a side, since disturbances only add to it. */
static double time_of_parts(const struct block *k)
{
	return fmin(k->ns[ASSAY_BASE][0], k->ns[ASSAY_HEAD][0]) + fmin(k->ns[ASSAY_BASE][1], k->ns[ASSAY_HEAD][1]);
}

static struct assay_pair_estimate collect(const struct assay_pair *p, double *tmp, struct ratios *r)
{
	struct assay_pair_estimate e = { .n_blocks = p->n_blocks };
	const bool parts = has(p, ASSAY_SAMPLE_CONTINUES);
	const bool beside = has(p, ASSAY_SAMPLE_BESIDE);
	double all = 0, lost = 0;

	*r = (struct ratios){ .x = tmp,
			      .middle = beside && !parts,
			      .weight = parts ? tmp + 2 * p->n_blocks : NULL,
			      .of_block = parts || beside ? 2 : BLOCK_RATIOS };
	for (size_t b = 0; b < p->n_blocks; b++) {
		const struct block k = block_of(p, b);
		const uint32_t flags = block_disturbance(p, b);
		const double weight = parts ? time_of_parts(&k) : 1;
		const bool drop = flags || !all_positive(&k); /* a clock that stood still says nothing either */

		for (unsigned i = 0; i < ASSAY_N_DISTURB; i++)
			e.by_kind[i] += flags >> i & 1;
		all += weight;
		e.n_dropped += drop;
		if (drop)
			lost += weight;
		else
			add_ratios(&k, r);
	}
	e.dropped_weight = parts && all > 0 ? (double)e.n_blocks * lost / all : lost;
	e.usable = r->n && (double)e.n_blocks - e.dropped_weight >= CLEAN_SHARE * (double)e.n_blocks;
	return e;
}

/*
 * Of parts of calls: their mean by time, so that what changed in few of them counts for what it is, but for the
 * farthest ones, which are drawn in. @error gets its standard error.
 */
static double mean_of_parts(const struct ratios *r, double *sorted, double *error)
{
	double median, clip, sum = 0, weight = 0, mean, squares = 0;

	memcpy(sorted, r->x, r->n * sizeof(*sorted));
	assay_stats_sort(sorted, r->n);
	median = assay_stats_median(sorted, r->n);
	for (size_t i = 0; i < r->n; i++)
		sorted[i] = fabs(r->x[i] - median);
	assay_stats_sort(sorted, r->n);
	clip = fmax(CLIP_LEAST, CLIP_DEVIATIONS * MAD_TO_SD * assay_stats_median(sorted, r->n));
	for (size_t i = 0; i < r->n; i++) {
		r->x[i] = fmax(median - clip, fmin(median + clip, r->x[i]));
		sum += r->weight[i] * r->x[i];
		weight += r->weight[i];
	}
	mean = sum / weight;
	for (size_t i = 0; i < r->n; i++)
		squares += pow(r->weight[i] / weight * (r->x[i] - mean), 2);
	*error = sqrt(squares);
	return mean;
}

/* Ratios that are left out on either side, of @n. */
static size_t trimmed(size_t n)
{
	return n / 4;
}

static double interquartile_mean(const double *sorted, size_t n)
{
	return assay_stats_mean(sorted + trimmed(n), n - 2 * trimmed(n));
}

/* Standard error of the interquartile mean, from the winsorized deviation (Tukey and McLaughlin 1963). */
static double middle_error(double *sorted, size_t n)
{
	const size_t cut = trimmed(n);

	for (size_t i = 0; i < cut; i++) {
		sorted[i] = sorted[cut];
		sorted[n - 1 - i] = sorted[n - 1 - cut];
	}
	return assay_stats_sd(sorted, n) * sqrt((double)n) / (double)(n - 2 * cut);
}

struct assay_pair_estimate assay_pair_estimate(const struct assay_pair *p, double *tmp)
{
	struct ratios r;
	struct assay_pair_estimate e = collect(p, tmp, &r);
	double error;

	if (!e.usable)
		return e;
	if (r.weight) {
		e.log_ratio = mean_of_parts(&r, tmp + 4 * p->n_blocks, &error);
	} else {
		assay_stats_sort(r.x, r.n);
		e.log_ratio = r.middle ? interquartile_mean(r.x, r.n) : assay_stats_median(r.x, r.n);
	}
	return e;
}

/* Bounds of the time that a side's two samples of a block would have taken undisturbed, in ns. */
struct undisturbed {
	double least, most;
};

static struct undisturbed undisturbed(const struct assay_sample *s)
{
	const double ns = (double)s[0].ns + (double)s[1].ns;
	const uint32_t flags = assay_samples_disturbed(s, 2);
	struct undisturbed u = { ns - assay_samples_lost_ns(s, 2), ns - assay_samples_told_ns(s, 2) };

	if (flags & (ASSAY_DISTURB_MIGRATION | ASSAY_DISTURB_THROTTLE | ASSAY_DISTURB_DEVICE))
		u.least = 0;
	else if (flags)
		u.least *= 1 - REFILL_SHARE;
	/* more cannot be lost than there was: then the clocks disagree, and say nothing */
	if (u.most <= 0)
		u.most = ns;
	u.least = fmax(0, u.least);
	return u;
}

/* Logarithm of @a / @b, of which both may be 0: then it is @unknown. */
static double log_ratio(double a, double b, double unknown)
{
	return a > 0 && b > 0 ? log(a / b) : unknown;
}

static double sorted_median(double *x, size_t n)
{
	assay_stats_sort(x, n);
	return assay_stats_median(x, n);
}

static struct assay_pair_range range_of(const struct undisturbed u[2])
{
	return (struct assay_pair_range){
		.least = log_ratio(u[ASSAY_HEAD].least, u[ASSAY_BASE].most, -INFINITY),
		.most = log_ratio(u[ASSAY_HEAD].most, u[ASSAY_BASE].least, INFINITY),
		.likely = log_ratio(u[ASSAY_HEAD].most, u[ASSAY_BASE].most, 0),
	};
}

struct assay_pair_range assay_pair_range(const struct assay_pair *p, double *tmp)
{
	double *least = tmp, *most = least + p->n_blocks, *likely = most + p->n_blocks;
	struct undisturbed sum[2] = { 0 };

	for (size_t b = 0; b < p->n_blocks; b++) {
		struct assay_pair_range block;
		struct undisturbed u[2];

		for (int side = 0; side < 2; side++) {
			u[side] = undisturbed(&p->side[side].samples[2 * b]);
			sum[side].least += u[side].least;
			sum[side].most += u[side].most;
		}
		block = range_of(u);
		least[b] = block.least;
		most[b] = block.most;
		likely[b] = block.likely;
	}
	if (!p->n_blocks)
		return (struct assay_pair_range){ -INFINITY, INFINITY, NAN };
	if (has(p, ASSAY_SAMPLE_CONTINUES))
		return range_of(sum);
	return (struct assay_pair_range){ .least = sorted_median(least, p->n_blocks),
					  .most = sorted_median(most, p->n_blocks),
					  .likely = sorted_median(likely, p->n_blocks) };
}

/* Standard error of the median of whole calls, from how far blocks agree on which side of it they lie. */
static double median_error(const struct ratios *r, double *sorted)
{
	const size_t blocks = r->n / r->of_block;
	double median, squares = 0, error;

	memcpy(sorted, r->x, r->n * sizeof(*sorted));
	assay_stats_sort(sorted, r->n);
	median = assay_stats_median(sorted, r->n);
	for (size_t b = 0; b < blocks; b++) {
		double above = 0;

		for (size_t i = 0; i < r->of_block; i++) {
			double x = r->x[b * r->of_block + i];

			above += x > median ? 1 : x < median ? 0 : 0.5;
		}
		above = above / (double)r->of_block - 0.5;
		squares += above * above;
	}
	error = sqrt(squares / (double)(blocks - 1) / (double)blocks);
	return (assay_stats_quantile(sorted, r->n, fmin(1, 0.5 + error)) -
		assay_stats_quantile(sorted, r->n, fmax(0, 0.5 - error))) /
	       2;
}

double assay_pair_own_error(const struct assay_pair *p, double *tmp)
{
	struct ratios r;
	double error;

	if (!collect(p, tmp, &r).usable || r.n < 2 * r.of_block)
		return 0;
	if (r.middle) {
		assay_stats_sort(r.x, r.n);
		return middle_error(r.x, r.n);
	}
	if (!r.weight)
		return median_error(&r, tmp + 4 * p->n_blocks);
	mean_of_parts(&r, tmp + 4 * p->n_blocks, &error);
	return error;
}
