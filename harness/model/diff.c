/* SPDX-License-Identifier: Apache-2.0 */
#include "model/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *assay_diff_result_name(enum assay_diff_result r)
{
	static const char *const names[ASSAY_N_DIFF_RESULTS] = {
		[ASSAY_DIFF_FASTER] = "faster",
		[ASSAY_DIFF_SLOWER] = "slower",
		[ASSAY_DIFF_MACHINE] = "machine",
		[ASSAY_DIFF_UNCLEAR] = "unclear",
		[ASSAY_DIFF_INCOMPARABLE] = "incomparable",
		[ASSAY_DIFF_NOT_MEASURED] = "not_measured",
		[ASSAY_DIFF_SKIPPED] = "skipped",
		[ASSAY_DIFF_ONLY_BASE] = "only_base",
		[ASSAY_DIFF_ONLY_HEAD] = "only_head",
	};

	return names[r];
}

void assay_diff_release(struct assay_diff *d)
{
	for (size_t i = 0; i < d->n_cases; i++)
		free(d->cases[i].numbers);
	free(d->cases);
	free(d->measure);
	*d = (struct assay_diff){ 0 };
}

const struct assay_diff_number *assay_diff_number(const struct assay_diff_case *c, const char *name)
{
	for (size_t i = 0; i < c->n_numbers; i++)
		if (!strcmp(c->numbers[i].name, name))
			return &c->numbers[i];
	return NULL;
}

size_t assay_diff_count(const struct assay_diff *d, enum assay_diff_result r)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_cases; i++)
		n += d->cases[i].result == r;
	return n;
}

bool assay_diff_compared(const struct assay_diff_case *c)
{
	return c->result <= ASSAY_DIFF_UNCLEAR;
}

bool assay_diff_moved(const struct assay_diff_case *c)
{
	return c->result == ASSAY_DIFF_FASTER || c->result == ASSAY_DIFF_SLOWER;
}

/* The value that a case is sorted by, and its original place. */
struct rank {
	double by; /* greater comes first; NaN last */
	size_t at;
	const struct assay_diff_case *c;
};

static int by_number(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (isnan(x->by) != isnan(y->by))
		return isnan(x->by) ? 1 : -1;
	if (!isnan(x->by) && x->by != y->by)
		return x->by > y->by ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

static int by_key(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int order = strcmp(x->c->c.key, y->c->c.key);

	return order ? order : x->at < y->at ? -1 : 1;
}

static double rank_of(const struct assay_diff_case *c, const char *metric)
{
	const struct assay_diff_number *m = metric ? assay_diff_number(c, metric) : NULL;

	if (!metric)
		return c->ratio;
	return m && m->value[ASSAY_DIFF_BASE] ? m->value[ASSAY_DIFF_HEAD] / m->value[ASSAY_DIFF_BASE] : NAN;
}

void assay_diff_sort(struct assay_diff *d, const char *metric)
{
	struct rank *ranks = malloc((d->n_cases + 1) * sizeof(*ranks));
	struct assay_diff_case *sorted = malloc((d->n_cases + 1) * sizeof(*sorted));

	for (size_t i = 0; ranks && i < d->n_cases; i++)
		ranks[i] = (struct rank){ rank_of(&d->cases[i], metric), i, &d->cases[i] };
	if (ranks && sorted) {
		qsort(ranks, d->n_cases, sizeof(*ranks), d->by_variant ? by_key : by_number);
		for (size_t i = 0; i < d->n_cases; i++)
			sorted[i] = *ranks[i].c;
		free(d->cases);
		d->cases = sorted;
		sorted = NULL;
	}
	free(sorted);
	free(ranks);
}
