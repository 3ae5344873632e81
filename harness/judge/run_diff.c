/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/run_diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "judge/advice.h"
#include "judge/stored.h"
#include "stats/stats.h"

/* Chance that an interval misses on one of its sides: 95 % for each case. */
#define ERROR_A_SIDE 0.025
#define REFERENCE    "ref"

/* Room for one case at a time. */
struct work {
	struct assay_diff *out;
	const char *metric;
	const struct assay_result **results;
	struct assay_stored_point *points;
	double *values;
	size_t n_runs; /* of the larger side */
	struct assay_err *err;
};

static int work_begin(struct work *w, size_t n_runs)
{
	w->n_runs = n_runs;
	w->results = calloc(2 * n_runs, sizeof(struct assay_result *));
	w->points = calloc(2 * n_runs, sizeof(*w->points));
	w->values = calloc(n_runs, sizeof(*w->values));
	if (!w->results || !w->points || !w->values)
		return assay_err_set(w->err, ASSAY_ENOMEM, "out of memory");
	return 0;
}

static void work_end(struct work *w)
{
	free(w->results);
	free(w->points);
	free(w->values);
}

static struct assay_diff_case_side side_of(struct work *w, const struct assay_diff_runs *runs, size_t at,
					   const char *key)
{
	struct assay_diff_case_side s = { .runs = runs, .r = w->results + at * w->n_runs, .key = key };

	for (size_t i = 0; i < runs->n; i++)
		s.r[i] = assay_run_result(runs->v[i], key);
	return s;
}

/* Once the cause was looked for in all of them. */
static void keep_only(struct assay_diff_case *c, const char *metric)
{
	const struct assay_diff_number *m = assay_diff_number(c, metric);

	if (m)
		c->numbers[0] = *m;
	c->n_numbers = m != NULL;
}

static struct assay_stored_points points_of(struct work *w, const struct assay_diff_case_side *s,
					    enum assay_diff_side_of at)
{
	struct assay_stored_points p = { .v = w->points + at * w->n_runs };

	for (size_t i = 0; i < s->runs->n; i++)
		if (assay_diff_has_time(s->r[i]))
			w->points[at * w->n_runs + p.n++] = assay_stored_point_of(s->r[i]);
	return p;
}

static double median_of(struct work *w, struct assay_stored_points p)
{
	for (size_t i = 0; i < p.n; i++)
		w->values[i] = p.v[i].median;
	assay_stats_sort(w->values, p.n);
	return p.n ? assay_stats_median(w->values, p.n) : NAN;
}

/* Every run of both sides ran this very code. */
static bool same_code(const struct assay_diff_case_side side[2])
{
	const struct assay_result *first = assay_diff_best_of(&side[ASSAY_DIFF_HEAD]);

	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < side[s].runs->n; i++)
			if (assay_diff_has_time(side[s].r[i]) &&
			    (!first->code_hash[0] || strcmp(side[s].r[i]->code_hash, first->code_hash)))
				return false;
	return true;
}

static bool slow_core(const struct assay_diff_case_side *s)
{
	for (size_t i = 0; i < s->runs->n; i++)
		if (assay_diff_has_time(s->r[i]) && s->r[i]->slow_core)
			return true;
	return false;
}

/* Why a side has no time of a case that it should have. */
static void say_not_measured(struct assay_diff_case *c, const struct assay_diff_case_side *s, const char *side)
{
	const struct assay_result *r = assay_diff_best_of(s);

	c->result = ASSAY_DIFF_NOT_MEASURED;
	snprintf(c->reason, sizeof(c->reason), "%s: %s%s%.300s", side, r ? assay_status_name(r->status) : "no result",
		 r && r->reason[0] ? ": " : "", r ? r->reason : "");
}

static bool is_skipped(const struct assay_result *r)
{
	return r->status == ASSAY_STATUS_SKIPPED;
}

/* Skipped cases have nothing to compare: a case that neither side measured, or a variant. */
static bool skip(struct work *w, const struct assay_result *r[2], struct assay_diff_case *c)
{
	if (!is_skipped(r[1]) || !(w->out->by_variant || is_skipped(r[0])))
		return false;
	c->result = ASSAY_DIFF_SKIPPED;
	snprintf(c->reason, sizeof(c->reason), "%.300s", r[1]->reason);
	return true;
}

/* Times of two sides that both have. */
static void compare_times(struct work *w, const struct assay_diff_case_side side[2], struct assay_diff_case *c)
{
	struct assay_stored_points p[2];
	struct assay_stored_compare cmp;

	for (int s = 0; s < 2; s++) {
		p[s] = points_of(w, &side[s], (enum assay_diff_side_of)s);
		c->ns[s] = median_of(w, p[s]);
		c->slow_core[s] = slow_core(&side[s]);
	}
	if (c->result == ASSAY_DIFF_INCOMPARABLE || !p[0].n || !p[1].n)
		return;
	c->same_code = same_code(side);
	c->result = ASSAY_DIFF_UNCLEAR;
	if (!assay_stored_compare(p[ASSAY_DIFF_HEAD], p[ASSAY_DIFF_BASE], ERROR_A_SIDE, 0, &cmp)) {
		snprintf(c->reason, sizeof(c->reason), "too few samples for an interval");
		return;
	}
	c->ratio = cmp.ratio;
	c->lo = cmp.lo;
	c->hi = cmp.hi;
	if (c->same_code && (cmp.lo > 1 || cmp.hi < 1))
		c->result = ASSAY_DIFF_MACHINE;
	else if (cmp.lo > 1)
		c->result = ASSAY_DIFF_SLOWER;
	else if (cmp.hi < 1)
		c->result = ASSAY_DIFF_FASTER;
}

static int add_case(struct work *w, const struct assay_diff_case_side side[2], const char *why_not)
{
	const struct assay_result *r[2] = { assay_diff_best_of(&side[0]), assay_diff_best_of(&side[1]) };
	struct assay_diff *d = w->out;
	struct assay_diff_case *c, fresh = { .c = r[1] ? r[1]->c : r[0]->c,
					     .result = why_not[0] ? ASSAY_DIFF_INCOMPARABLE : ASSAY_DIFF_UNCLEAR,
					     .ns = { NAN, NAN },
					     .ratio = NAN,
					     .lo = NAN,
					     .hi = NAN,
					     .because = { .explained_frac = NAN } };
	int rc = assay_grow((void **)&d->cases, d->n_cases, sizeof(*d->cases));

	if (rc)
		return assay_err_set(w->err, ASSAY_ENOMEM, "out of memory");
	c = &d->cases[d->n_cases++];
	*c = fresh;
	snprintf(c->reason, sizeof(c->reason), "%s", why_not);
	if (r[0] && d->by_variant) {
		snprintf(c->base_key, sizeof(c->base_key), "%s", r[0]->c.key);
		snprintf(c->base_variant, sizeof(c->base_variant), "%s", r[0]->c.variant);
	}
	compare_times(w, side, c);
	if (!r[0] || !r[1]) {
		c->result = r[0] ? ASSAY_DIFF_ONLY_BASE : ASSAY_DIFF_ONLY_HEAD;
		c->reason[0] = '\0';
	} else if (skip(w, r, c)) {
		/* which says all */
	} else if (!assay_diff_has_time(r[1])) {
		say_not_measured(c, &side[1], "head");
	} else if (!assay_diff_has_time(r[0])) {
		say_not_measured(c, &side[0], "base");
	}
	rc = assay_diff_numbers(side, w->values, c, w->err);
	if (!rc && assay_diff_moved(c))
		assay_because_find(c);
	if (!rc && w->metric)
		keep_only(c, w->metric);
	return rc;
}

/* ---- two sets of runs ------------------------------------------------------------------------------------------- */

static void describe(struct assay_diff_side *out, const struct assay_diff_runs *runs)
{
	const struct assay_run *newest = runs->v[0];

	for (size_t i = 1; i < runs->n; i++)
		if (runs->v[i]->started_ns > newest->started_ns)
			newest = runs->v[i];
	*out = (struct assay_diff_side){ .n_runs = runs->n,
					 .run = newest->id,
					 .started_ns = newest->started_unknown ? 0 : newest->started_ns,
					 .build = newest->build };
	snprintf(out->name, sizeof(out->name), "%s", runs->name);
	snprintf(out->machine_id, sizeof(out->machine_id), "%s", newest->machine.id);
	snprintf(out->machine_label, sizeof(out->machine_label), "%s", newest->machine.label);
}

/* Why no time of one side may be held against the other; "" where it may. */
static void find_hindrance(const struct assay_diff_runs *base, const struct assay_diff_runs *head, char *buf,
			   size_t size)
{
	const struct assay_run *b = base->v[0], *h = head->v[0];

	buf[0] = '\0';
	if (strcmp(b->machine.id, h->machine.id))
		snprintf(buf, size, "different machines: base %.8s (%.96s), head %.8s (%.96s)", b->machine.id,
			 b->machine.label, h->machine.id, h->machine.label);
	for (size_t i = 0; i < base->n && !buf[0]; i++)
		for (size_t k = 0; k < head->n && !buf[0]; k++)
			if (base->v[i]->seed != head->v[k]->seed)
				snprintf(buf, size, "different inputs: base has seed %" PRIu64 ", head %" PRIu64,
					 base->v[i]->seed, head->v[k]->seed);
}

/* Cases whose code is the same on both sides are the controls of the others. */
static void sum_up_controls(struct assay_diff *d)
{
	d->same_code_most = 1;
	for (size_t i = 0; i < d->n_cases; i++) {
		const struct assay_diff_case *c = &d->cases[i];

		if (!c->same_code || !assay_diff_compared(c))
			continue;
		d->n_same_code++;
		if (c->result != ASSAY_DIFF_MACHINE)
			continue;
		d->n_same_code_moved++;
		d->same_code_most = fmax(d->same_code_most, fmax(c->ratio, 1 / c->ratio));
	}
}

static bool in_any(const struct assay_diff_runs *runs, size_t before, const char *key)
{
	for (size_t i = 0; i < before; i++)
		if (assay_run_result(runs->v[i], key))
			return true;
	return false;
}

/* The cases of @from that neither it in an earlier run nor @done has. */
static int add_cases(struct work *w, const struct assay_diff_runs *base, const struct assay_diff_runs *head,
		     const struct assay_diff_runs *from, const char *why_not)
{
	int rc = 0;

	for (size_t i = 0; i < from->n; i++)
		for (size_t k = 0; k < from->v[i]->n_results && !rc; k++) {
			const char *key = from->v[i]->results[k].c.key;
			struct assay_diff_case_side side[2];

			if (in_any(from, i, key) || (from == base && in_any(head, head->n, key)))
				continue;
			side[0] = side_of(w, base, 0, key);
			side[1] = side_of(w, head, 1, key);
			rc = add_case(w, side, why_not);
		}
	return rc;
}

int assay_diff_runs_compare(const struct assay_diff_runs *base, const struct assay_diff_runs *head, const char *metric,
			    struct assay_diff *out, struct assay_err *err)
{
	struct work w = { .out = out, .metric = metric, .err = err };
	char why_not[352];
	int rc;

	*out = (struct assay_diff){ 0 };
	describe(&out->side[ASSAY_DIFF_BASE], base);
	describe(&out->side[ASSAY_DIFF_HEAD], head);
	find_hindrance(base, head, why_not, sizeof(why_not));
	rc = work_begin(&w, base->n > head->n ? base->n : head->n);
	if (!rc)
		rc = add_cases(&w, base, head, head, why_not);
	if (!rc)
		rc = add_cases(&w, base, head, base, why_not);
	work_end(&w);
	sum_up_controls(out);
	if (base->n > 1 || head->n > 1)
		snprintf(out->uncovered, sizeof(out->uncovered),
			 "the intervals hold the noise within runs and between those of a side; a stored series "
			 "measures the machine as much as the code, so what changed on it between the two sides is not "
			 "in them");
	else
		snprintf(out->uncovered, sizeof(out->uncovered),
			 "the intervals hold the noise within the two runs alone; a stored series measures the machine "
			 "as much as the code, and on shared machines half of the runs of one build differ by more "
			 "than 2.7 %%");
	return rc;
}

/* ---- variants --------------------------------------------------------------------------------------------------- */

/* The variant that others of the shape of @c are held against; NULL: none was measured. */
static const struct assay_result *base_of(const struct assay_run *run, const struct assay_case *c)
{
	const struct assay_result *slowest = NULL;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];

		if (!assay_case_same_but_variant(&r->c, c))
			continue;
		if (!assay_diff_has_time(r))
			continue;
		if (!strcmp(r->c.variant, REFERENCE))
			return r;
		if (!slowest || r->median_ns > slowest->median_ns)
			slowest = r;
	}
	return slowest;
}

static bool has_other(const struct assay_run *run, const struct assay_result *r)
{
	for (size_t i = 0; i < run->n_results; i++)
		if (&run->results[i] != r && assay_case_same_but_variant(&run->results[i].c, &r->c))
			return true;
	return false;
}

int assay_diff_variants_compare(const struct assay_run *run, const char *metric, struct assay_diff *out,
				struct assay_err *err)
{
	const struct assay_run *const one[] = { run };
	char name[2][160];
	const struct assay_diff_runs runs[2] = { { one, 1, name[0] }, { one, 1, name[1] } };
	struct work w = { .out = out, .metric = metric, .err = err };
	int rc;

	*out = (struct assay_diff){ .by_variant = true };
	snprintf(name[0], sizeof(name[0]), "'" REFERENCE "', else the slowest variant, of run %" PRId64, run->id);
	snprintf(name[1], sizeof(name[1]), "the other variants of run %" PRId64, run->id);
	describe(&out->side[ASSAY_DIFF_BASE], &runs[0]);
	describe(&out->side[ASSAY_DIFF_HEAD], &runs[1]);
	rc = work_begin(&w, 1);
	for (size_t i = 0; i < run->n_results && !rc; i++) {
		const struct assay_result *head = &run->results[i], *b = base_of(run, &head->c);
		struct assay_diff_case_side side[2];

		if (b == head || !has_other(run, head))
			continue;
		side[0] = side_of(&w, &runs[0], 0, b ? b->c.key : "");
		side[1] = side_of(&w, &runs[1], 1, head->c.key);
		rc = add_case(&w, side, "");
	}
	work_end(&w);
	sum_up_controls(out);
	snprintf(out->uncovered, sizeof(out->uncovered),
		 "the intervals hold the noise within each case; variants were measured one after the other, each in a "
		 "process of its own, so what changed on the machine in between is not in them");
	return rc;
}
