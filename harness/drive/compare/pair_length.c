/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/compare/pair_loop.h"

#include <math.h>

#include "judge/paired.h"

/*
 * Pairs differ by layout more than the estimate of one is uncertain, so many short pairs tell more than a few long
 * ones; below this, starting the processes would take most of the time.
 */
#define LEAST_NS 30000000.0
/* Disturbances last longer than a block, so with fewer blocks even the median follows them. */
#define LEAST_BLOCKS 12
/* In slices, the two calls of a block meet it alike. */
#define LEAST_SLICED_BLOCKS 8
/* But so many pairs at least are to fit into the budget by their samples. */
#define PAIRS_OF_BUDGET 16
/* Of the margin: what the own noise of a pair is to be, until the spread of the pairs is known. */
#define NOISE_OF_MARGIN 0.35
/* The first pair has few blocks, and may be wrong about the noise: the next one is so many times that time at most. */
#define FIRST_STEP 4
/* Until then, the samples take so much of the rest of a pair at least. */
#define SAMPLES_OVER_REST 0.25
/* From pair to pair it becomes longer or shorter by so much at most. */
#define STEP          2
#define TOLD_BY_PAIRS 3
/* Below this share of the margin the spread of the pairs decides at the first look: more samples are no use. */
#define ENOUGH_OF_MARGIN 0.5
/* And below this one, fewer do as well, but for a time that outlasts most of what disturbs. */
#define PLENTY_OF_MARGIN 0.25
#define PLENTY_NS        100000000.0

double assay_pair_length_rest_ns(const struct assay_pair *p, double sampling_ns)
{
	const double samples_ns = (double)p->n_blocks * assay_pair_length_block_ns(p);

	return fmax(0, (double)p->wall_ns - fmax(samples_ns, sampling_ns));
}

double assay_pair_length_block_ns(const struct assay_pair *p)
{
	double ns = 0;

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < 2 * p->n_blocks; i++)
			ns += (double)p->side[side].samples[i].ns;
	return p->n_blocks ? ns / (double)p->n_blocks : 0;
}

static double least_ns(double block_ns, bool slices)
{
	return fmax(LEAST_NS, (slices ? LEAST_SLICED_BLOCKS : LEAST_BLOCKS) * block_ns);
}

double assay_pair_length_least_ns(const struct assay_pair *p, bool slices)
{
	return least_ns(assay_pair_length_block_ns(p), slices);
}

static double within(double ns, double least, double budget_ns)
{
	return fmin(fmax(ns, least), fmax(LEAST_NS, budget_ns / PAIRS_OF_BUDGET));
}

double assay_pair_length_divided(double turn_ns, bool slices, double budget_ns)
{
	return within(ASSAY_PAIR_LENGTH_FIRST_NS, least_ns(4 * turn_ns, slices), budget_ns);
}

double assay_pair_length_learnt(double now_ns, const struct assay_pair_shown *first, double margin, double budget_ns)
{
	const double excess = first->own / (NOISE_OF_MARGIN * margin);
	const double next = fmin(ASSAY_PAIR_LENGTH_FIRST_NS * FIRST_STEP, now_ns * excess * excess);

	return within(fmax(next, SAMPLES_OVER_REST * first->rest_ns), first->least_ns, budget_ns);
}

bool assay_pair_length_first_counts(double own, double margin)
{
	return own > 0 && own <= NOISE_OF_MARGIN * margin;
}

/*
 * The sampling time that makes the most of a pair: the root of what a pair costs besides over what a sample costs, and
 * of the variance within pairs over that between them (Kalibera and Jones 2013, 7.2). Both variances are guesses from
 * few pairs. So the samples take as long as the rest at least: samples that are too long by this halve the number of
 * pairs, while samples that are too short may need many times as many.
 */
static double best_ns(double now_ns, const struct assay_pair_shown *s)
{
	const double between = fmax(s->sd * s->sd - s->own * s->own, ASSAY_PAIRED_SD_FLOOR * ASSAY_PAIRED_SD_FLOOR);

	return fmax(s->rest_ns, sqrt(s->rest_ns * now_ns * s->own * s->own / between));
}

double assay_pair_length_next(double now_ns, const struct assay_pair_shown *s, double margin, double budget_ns)
{
	double next = now_ns;

	if (s->n >= TOLD_BY_PAIRS && s->sd >= ENOUGH_OF_MARGIN * margin)
		next = best_ns(now_ns, s);
	else if (s->n >= TOLD_BY_PAIRS && s->sd < PLENTY_OF_MARGIN * margin)
		next = fmin(now_ns, PLENTY_NS);
	return within(fmax(now_ns / STEP, fmin(now_ns * STEP, next)), s->least_ns, budget_ns);
}
