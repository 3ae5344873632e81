/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/run_diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/limits.h"
#include "model/exact.h"
#include "stats/stats.h"

bool assay_diff_has_time(const struct assay_result *r)
{
	/* nobody checked the outputs of imported results */
	return r && (assay_result_is_right(r) || (r->status == ASSAY_STATUS_OK && !r->checked)) && r->n_samples &&
	       r->median_ns > 0;
}

const struct assay_result *assay_diff_best_of(const struct assay_diff_case_side *s)
{
	const struct assay_result *any = NULL;

	for (size_t i = 0; i < s->runs->n; i++) {
		if (assay_diff_has_time(s->r[i]))
			return s->r[i];
		any = any ? any : s->r[i];
	}
	return any;
}

/* Its exact counts in run @i of the side; NULL: none were taken. */
static const struct assay_exact_case *counts_of(const struct assay_diff_case_side *s, size_t i)
{
	const struct assay_exact_run *exact = s->runs->v[i]->exact;
	const struct assay_exact_case *c = exact ? assay_exact_case_find(exact, s->key) : NULL;

	return c && c->status == ASSAY_STATUS_OK ? c : NULL;
}

/* The median of @name over the runs of a side into @m. */
static void read_number(const struct assay_diff_case_side *s, enum assay_diff_side_of at, double *values,
			struct assay_diff_number *m)
{
	size_t n = 0;

	m->value[at] = NAN;
	for (size_t i = 0; i < s->runs->n; i++) {
		const struct assay_exact_case *c = counts_of(s, i);
		struct assay_limit_facts f = { .value = NAN };

		if (assay_exact_is_metric(m->name) && c) {
			f.value = assay_exact_metric(&c->total, m->name);
			snprintf(f.source, sizeof(f.source), "%s", ASSAY_SOURCE_EXACT);
		} else if (assay_diff_has_time(s->r[i])) {
			assay_limit_value(s->r[i]->metrics, s->r[i]->n_metrics, &s->r[i]->counters, m->name, &f);
		}
		if (!isfinite(f.value))
			continue;
		values[n++] = f.value;
		snprintf(m->source, sizeof(m->source), "%s", f.source);
		if (f.unit[0])
			snprintf(m->unit, sizeof(m->unit), "%s", f.unit);
	}
	if (n) {
		assay_stats_sort(values, n);
		m->value[at] = assay_stats_median(values, n);
	}
}

static int better_of(const struct assay_diff_case_side *s, const char *name)
{
	const struct assay_metric_info *own = assay_metric_find(name);
	const struct assay_result *r = assay_diff_best_of(s);
	const struct assay_metric *m = r ? assay_result_metric(r, name) : NULL;

	return own ? own->better : m ? m->better : 0;
}

/* Were they counted, and all in the same way? Counts taken in different ways are never compared. */
static bool counted_alike(const struct assay_diff_case_side side[2])
{
	const struct assay_exact_case *first = NULL;
	const char *cache = NULL;

	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < side[s].runs->n; i++) {
			const struct assay_exact_case *c = counts_of(&side[s], i);

			if (!c)
				continue;
			if (first && (c->how != first->how || strcmp(side[s].runs->v[i]->exact->setting.cache, cache)))
				return false;
			first = c;
			cache = side[s].runs->v[i]->exact->setting.cache;
		}
	return first;
}

/* The names that either side has: metrics and counts, then those of exact counts. */
static int collect_names(const struct assay_diff_case_side side[2], struct assay_strings *names, struct assay_err *err)
{
	const bool counted = counted_alike(side);
	int rc = 0;

	for (int s = 0; s < 2 && !rc; s++) {
		const struct assay_result *r = assay_diff_best_of(&side[s]);

		if (assay_diff_has_time(r))
			rc = assay_result_names(r, names, err);
	}
	for (size_t i = 0; i < assay_n_metrics && counted && !rc; i++)
		if (assay_exact_is_metric(assay_metrics[i].tag) && !assay_strings_has(names, assay_metrics[i].tag))
			rc = assay_strings_add(names, assay_metrics[i].tag, err);
	return rc;
}

int assay_diff_numbers(const struct assay_diff_case_side side[2], double *values, struct assay_diff_case *c,
		       struct assay_err *err)
{
	struct assay_strings names = { 0 };
	int rc = collect_names(side, &names, err);

	if (!rc && names.n) {
		c->numbers = calloc(names.n, sizeof(*c->numbers));
		if (!c->numbers)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < names.n && !rc; i++) {
		struct assay_diff_number *m = &c->numbers[c->n_numbers];

		snprintf(m->name, sizeof(m->name), "%s", names.v[i]);
		snprintf(m->unit, sizeof(m->unit), "1");
		m->better = better_of(&side[ASSAY_DIFF_HEAD], m->name);
		for (int s = 0; s < 2; s++)
			read_number(&side[s], (enum assay_diff_side_of)s, values, m);
		c->n_numbers += isfinite(m->value[0]) || isfinite(m->value[1]);
	}
	assay_strings_release(&names);
	return rc;
}
