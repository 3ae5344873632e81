/* SPDX-License-Identifier: Apache-2.0 */
/* Samples to ratios, ratios to the estimate of a pair. */
#include "judge/pair_estimate.h"

#include <math.h>
#include <string.h>

#include "stats/stats.h"

#define CLEAN_SHARE  0.5
#define BLOCK_RATIOS 4

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

/* What speaks against a block as a whole. */
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

/* Logarithms of the ratios of a block, all of whose times are positive; returns how many. */
static size_t log_ratios(const struct block *k, bool sums, double *out)
{
	const double *base = k->ns[ASSAY_BASE], *head = k->ns[ASSAY_HEAD];

	if (sums) {
		out[0] = log((head[0] + head[1]) / (base[0] + base[1]));
		return 1;
	}
	for (size_t i = 0; i < BLOCK_RATIOS; i++)
		out[i] = log(head[i / 2] / base[i % 2]);
	return BLOCK_RATIOS;
}

/* The ratios of the clean blocks, in order of time, go to @x; @n gets their number. */
static struct assay_pair_estimate collect(const struct assay_pair *p, bool sums, double *x, size_t *n)
{
	struct assay_pair_estimate e = { .n_blocks = p->n_blocks };

	*n = 0;
	for (size_t b = 0; b < p->n_blocks; b++) {
		const struct block k = block_of(p, b);
		const uint32_t flags = block_disturbance(p, b);

		for (unsigned i = 0; i < 5; i++)
			e.by_kind[i] += flags >> i & 1;
		if (flags || !all_positive(&k))
			e.n_dropped++; /* a clock that stood still says nothing either */
		else
			*n += log_ratios(&k, sums, x + *n);
	}
	e.usable = *n && (double)(e.n_blocks - e.n_dropped) >= CLEAN_SHARE * (double)e.n_blocks;
	return e;
}

struct assay_pair_estimate assay_pair_estimate(const struct assay_pair *p, bool sums, double *tmp)
{
	size_t n;
	struct assay_pair_estimate e = collect(p, sums, tmp, &n);

	if (e.usable) {
		assay_stats_sort(tmp, n);
		e.log_ratio = assay_stats_median(tmp, n);
	}
	return e;
}

double assay_pair_least_ratio(const struct assay_pair *p, double *tmp)
{
	size_t n = 0;

	for (size_t b = 0; b < p->n_blocks; b++) {
		const struct block k = block_of(p, b);
		const struct assay_sample *h = &p->side[ASSAY_HEAD].samples[2 * b];
		double base = k.ns[ASSAY_BASE][0] + k.ns[ASSAY_BASE][1];
		double head = k.ns[ASSAY_HEAD][0] + k.ns[ASSAY_HEAD][1] - assay_samples_lost_ns(h, 2);
		/* nobody knows what a migration or throttling took */
		bool known = !((h[0].flags | h[1].flags) & (ASSAY_DISTURB_MIGRATION | ASSAY_DISTURB_THROTTLE));

		tmp[n++] = known && head > 0 && base > 0 ? log(head / base) : -INFINITY;
	}
	if (!n)
		return -INFINITY;
	assay_stats_sort(tmp, n);
	return assay_stats_median(tmp, n);
}

double assay_pair_own_error(const struct assay_pair *p, double *tmp)
{
	double *sorted, median, squares = 0, error;
	size_t n, blocks;

	if (!collect(p, false, tmp, &n).usable || n < 2 * BLOCK_RATIOS)
		return 0;
	blocks = n / BLOCK_RATIOS;
	sorted = tmp + n;
	memcpy(sorted, tmp, n * sizeof(*sorted));
	assay_stats_sort(sorted, n);
	median = assay_stats_median(sorted, n);
	for (size_t b = 0; b < blocks; b++) {
		double above = 0;

		for (size_t i = 0; i < BLOCK_RATIOS; i++) {
			double x = tmp[b * BLOCK_RATIOS + i];

			above += x > median ? 1 : x < median ? 0 : 0.5;
		}
		above = above / BLOCK_RATIOS - 0.5;
		squares += above * above;
	}
	error = sqrt(squares / (double)(blocks - 1) / (double)blocks);
	return (assay_stats_quantile(sorted, n, fmin(1, 0.5 + error)) -
		assay_stats_quantile(sorted, n, fmax(0, 0.5 - error))) /
	       2;
}
