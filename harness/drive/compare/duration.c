/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/compare/duration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/paired.h"
#include "judge/stopping.h"
#include "store/comparison.h"

/* Comparisons hold all their samples, so that reading many takes longer than it is worth. */
#define LOOK_AT 2
/* Times the announced duration: from here on the user is told that it was wrong. */
#define EXCEEDED 1.5

/* The times that stored comparisons of this machine have for a case. */
struct known_case {
	size_t n_pairs; /* usable ones */
	unsigned n_measured;
	double wall_s; /* of all pairs together */
};

static int learn(struct known_case *k, const struct assay_comparison_case *c, struct assay_err *err)
{
	struct assay_paired_readings r;
	int rc = assay_paired_readings(c, NULL, &r, err);

	if (rc || r.n < 2)
		return rc;
	k->n_pairs += r.n;
	k->n_measured++;
	for (size_t i = 0; i < c->n_pairs; i++)
		k->wall_s += (double)c->pairs[i].wall_ns * 1e-9;
	return 0;
}

/* Controls learn from the case that they are of. */
static int learn_all(const struct assay_compare_plan *p, struct assay_store *store, struct known_case *known,
		     struct assay_err *err)
{
	struct assay_comparison_info *list = NULL;
	size_t n = 0;
	int rc = assay_store_comparisons(store, p->cmp.machine.id, LOOK_AT, &list, &n, err);

	for (size_t i = 0; i < n && !rc; i++) {
		struct assay_comparison old = { 0 };

		rc = assay_store_comparison_load(store, list[i].id, &old, NULL, NULL, err);
		for (size_t k = 0; !rc && k < old.n_cases; k++)
			for (size_t to = 0; !rc && to < p->cmp.n_cases; to++)
				if (old.cases[k].control != ASSAY_CONTROL_SLOWER &&
				    !strcmp(p->cmp.cases[to].c.key, old.cases[k].c.key))
					rc = learn(&known[to], &old.cases[k], err);
		assay_comparison_release(&old);
	}
	free(list);
	return rc;
}

/*
 * The time that the case took before. The slower control is found at the first look that allows it, by pairs of its
 * case. NaN where no pair of the case is known: pairs take from 50 ms to some seconds, so a guess would mislead.
 */
static double expected_s(const struct assay_comparison *cmp, const struct assay_comparison_case *c,
			 const struct assay_policy *policy, const struct known_case *known)
{
	const struct assay_paired_rule rule = assay_comparison_rule(cmp, c, policy);

	if (!known->n_measured)
		return NAN;
	if (c->control != ASSAY_CONTROL_SLOWER)
		return known->wall_s / known->n_measured;
	return known->wall_s / (double)known->n_pairs *
	       (double)assay_sequential_first_look(rule.alpha_regressed, rule.max_pairs);
}

int assay_compare_duration(const struct assay_compare_plan *p, struct assay_store *store, struct assay_duration *out,
			   struct assay_err *err)
{
	const struct assay_comparison *cmp = &p->cmp;
	struct known_case *known = calloc(cmp->n_cases + 1, sizeof(*known));
	struct assay_err lost;
	int rc = known ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");

	*out = (struct assay_duration){ .most_s = (double)assay_stopping_most_ns(cmp) * 1e-9 };
	/* damage of the store is reported by the commands that read it; here it only means that a time is not known */
	if (!rc && learn_all(p, store, known, &lost) == ASSAY_ENOMEM)
		rc = assay_err_set(err, ASSAY_ENOMEM, "%s", lost.text);
	for (size_t i = 0; i < cmp->n_cases && !rc; i++) {
		const struct assay_comparison_case *c = &cmp->cases[i];

		if (!assay_stopping_wants_pairs(c))
			continue;
		*(c->control == ASSAY_CONTROL_NONE ? &out->n_cases : &out->n_controls) += 1;
		out->about_s += expected_s(cmp, c, &p->policy, &known[i]);
	}
	out->about_s = isnan(out->about_s) ? 0 : fmin(out->about_s, out->most_s);
	free(known);
	return rc;
}

/* "6 s", "3 min 20 s", "2 h 5 min" */
static void span_text(double s, char *buf, size_t size)
{
	const long all = lround(fmax(1, s));

	if (all < 60)
		snprintf(buf, size, "%ld s", all);
	else if (all < 3600 && all % 60)
		snprintf(buf, size, "%ld min %ld s", all / 60, all % 60);
	else if (all < 3600 || !(all % 3600 / 60))
		snprintf(buf, size, all < 3600 ? "%ld min" : "%ld h", all < 3600 ? all / 60 : all / 3600);
	else
		snprintf(buf, size, "%ld h %ld min", all / 3600, all % 3600 / 60);
}

void assay_compare_duration_text(const struct assay_duration *d, char *buf, size_t size)
{
	char about[48], most[48], controls[48] = "";

	span_text(d->about_s, about, sizeof(about));
	span_text(d->most_s, most, sizeof(most));
	if (d->n_controls)
		snprintf(controls, sizeof(controls), " and %zu self-check%s", d->n_controls,
			 d->n_controls == 1 ? "" : "s");
	if (!(d->about_s > 0))
		snprintf(buf, size, "%zu case%s%s: at most %s", d->n_cases, d->n_cases == 1 ? "" : "s", controls, most);
	else if (d->shared)
		snprintf(buf, size, "%zu case%s%s: at most %s; about %s if the cores were idle", d->n_cases,
			 d->n_cases == 1 ? "" : "s", controls, most, about);
	else
		snprintf(buf, size, "%zu case%s%s: about %s, at most %s", d->n_cases, d->n_cases == 1 ? "" : "s",
			 controls, about, most);
}

bool assay_compare_duration_exceeded(const struct assay_duration *d, double spent_s, size_t undecided, char *buf,
				     size_t size)
{
	char about[48], spent[48], most[48];

	if (d->shared || !(d->about_s > 0) || !undecided || spent_s <= EXCEEDED * d->about_s)
		return false;
	span_text(d->about_s, about, sizeof(about));
	span_text(spent_s, spent, sizeof(spent));
	span_text(d->most_s, most, sizeof(most));
	snprintf(buf, size,
		 "this takes longer than the %s announced: after %s, %zu of %zu cases and controls are undecided; at "
		 "most %s",
		 about, spent, undecided, d->n_cases + d->n_controls, most);
	return true;
}
