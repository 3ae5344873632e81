/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/bisection.h"

#include <math.h>
#include <stdlib.h>

/*
 * The most that one answer is believed. An error is of the spread that was seen, and what favours one side in all pairs
 * is none of it. So many that a commit which one answer alone sets apart from half of 64 is still sure.
 */
#define MOST_ODDS 1e4
/* A change that is hardly larger than an error of nothing would be believed at once. */
#define LEAST_ERROR 1e-5

int assay_bisection_init(struct assay_bisection *b, size_t n, double change, struct assay_err *err)
{
	*b = (struct assay_bisection){ .n = n, .change = change };
	b->log_p = calloc(n + 1, sizeof(*b->log_p));
	b->skipped = calloc(n + 1, sizeof(*b->skipped));
	return b->log_p && b->skipped ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu commits", n);
}

void assay_bisection_release(struct assay_bisection *b)
{
	free(b->log_p);
	free(b->skipped);
	*b = (struct assay_bisection){ 0 };
}

/* The best has 0, so that nothing overflows. */
static void scale(struct assay_bisection *b)
{
	double greatest = -INFINITY;

	for (size_t i = 1; i <= b->n; i++)
		greatest = fmax(greatest, b->log_p[i]);
	for (size_t i = 1; i <= b->n; i++)
		b->log_p[i] -= greatest;
}

static double total(const struct assay_bisection *b)
{
	double sum = 0;

	for (size_t i = 1; i <= b->n; i++)
		sum += exp(b->log_p[i]);
	return sum;
}

struct assay_bisection_place assay_bisection_place(const struct assay_bisection *b)
{
	struct assay_bisection_place best = { .p = -1 };
	double all = total(b), here = 0;
	size_t first = 1;

	for (size_t i = 1; i <= b->n; i++) {
		here += exp(b->log_p[i]);
		if (b->skipped[i] && i < b->n)
			continue;
		if (here / all > best.p)
			best = (struct assay_bisection_place){ first, i, here / all };
		first = i + 1;
		here = 0;
	}
	return best;
}

/*
 * Of those between which can be told, half lie before it: commits that cannot be measured go with the next one that
 * can, and count as one with it.
 */
bool assay_bisection_next(const struct assay_bisection *b, size_t *at)
{
	double all = 0, below = 0, nearest = 1;
	bool found = false;

	if (assay_bisection_place(b).p >= ASSAY_BISECTION_SURE)
		return false;
	for (size_t i = 1; i <= b->n; i++)
		all += b->skipped[i] ? 0 : exp(b->log_p[i]);
	for (size_t i = 1; i < b->n; i++) {
		if (b->skipped[i])
			continue;
		below += exp(b->log_p[i]);
		if (fabs(below / all - 0.5) >= nearest)
			continue;
		nearest = fabs(below / all - 0.5);
		*at = i;
		found = true;
	}
	return found;
}

void assay_bisection_skip(struct assay_bisection *b, size_t at)
{
	b->skipped[at] = true;
}

void assay_bisection_answer(struct assay_bisection *b, size_t at, double log_ratio, double error)
{
	const double most = log(MOST_ODDS);
	double e = fmax(error, LEAST_ERROR);
	/* normal: of a mean that is the whole change, against one that is nothing */
	double odds = (log_ratio - b->change / 2) * b->change / (e * e);

	odds = fmax(-most, fmin(most, odds));
	for (size_t i = 1; i <= b->n; i++)
		b->log_p[i] += i <= at ? odds / 2 : -odds / 2;
	scale(b);
}

void assay_bisection_reject(struct assay_bisection *b, const struct assay_bisection_place *place)
{
	for (size_t i = place->first; i <= place->last; i++)
		b->log_p[i] -= 2 * log(MOST_ODDS);
	scale(b);
}
