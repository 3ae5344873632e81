/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is it slower than it was? Times of a run against the stored ones of the baseline, and when the machine is to blame.
 */
#include "judge/gate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/limits.h"
#include "judge/paired.h"
#include "judge/rows.h"
#include "stats/stats.h"

/* So many cases of unchanged code, and at least this share of them, must have moved for the machine to be blamed. */
#define MOVED_LEAST 2
#define MOVED_FRAC  0.1
/* A core has two hardware threads nearly always, and the other one takes half of it at most. */
#define SLOW_CORE_FACTOR 2.0

static enum assay_evidence rung_of(const struct assay_gate_time *t)
{
	return assay_run_is_imported(t->run) ? ASSAY_EVIDENCE_IMPORTED : ASSAY_EVIDENCE_STORED;
}

/* Another machine or other inputs: no time of it may be compared. */
static void check_baseline(struct assay_gate_time *t)
{
	const struct assay_run *run = t->run;

	for (size_t i = 0; i < t->n_base; i++) {
		const struct assay_run *b = t->base[i];

		/* two files of which nobody says that they are of one machine */
		if (assay_run_is_imported(run) && !strcmp(run->machine.label, ASSAY_MACHINE_UNKNOWN))
			snprintf(t->incomparable, sizeof(t->incomparable),
				 "the machine that it was measured on is unknown: import it again into another --db "
				 "with --machine NAME");
		else if (strcmp(b->machine.id, run->machine.id))
			snprintf(t->incomparable, sizeof(t->incomparable),
				 "run %" PRId64
				 " of the baseline was measured on another machine: %.8s (%.96s), this is %.8s (%.96s)",
				 b->id, b->machine.id, b->machine.label, run->machine.id, run->machine.label);
		else if (b->seed != run->seed)
			snprintf(t->incomparable, sizeof(t->incomparable),
				 "run %" PRId64 " of the baseline has different inputs: seed %" PRIu64
				 ", and this run has seed %" PRIu64,
				 b->id, b->seed, run->seed);
		else
			continue;
		return;
	}
}

/* Exact ops give the same bits on any machine, as long as the inputs are the same. */
static int judge_digest(const struct assay_gate_time *t, const struct assay_result *r, struct assay_gate_report *out,
			struct assay_err *err)
{
	for (size_t i = 0; r->digest[0] && i < t->n_base; i++) {
		const struct assay_run *run = t->base[i];
		const struct assay_result *b = run->seed == t->run->seed ? assay_run_result(run, r->c.key) : NULL;

		if (!b || !assay_result_is_right(b) || !b->digest[0] || !strcmp(b->digest, r->digest))
			continue;
		return assay_row_say(
			out, (struct assay_row_name){ r->c.key, "digest", ASSAY_EVIDENCE_EXACT }, ASSAY_WRONG_RESULT,
			err, "output %.8s… differs from %.8s… in run %" PRId64 " of the baseline, for the same inputs",
			r->digest, b->digest, run->id);
	}
	return 0;
}

static double disturbed_frac(const struct assay_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_samples; i++)
		n += assay_samples_disturbed(&r->samples[i], 1) != 0;
	return r->n_samples ? (double)n / (double)r->n_samples : 0.0;
}

static bool base_had_slow_core(const struct assay_gate_time *t, const char *key)
{
	for (size_t i = 0; i < t->n_base; i++) {
		const struct assay_result *b = assay_run_result(t->base[i], key);

		if (b && assay_result_is_right(b) && b->slow_core)
			return true;
	}
	return false;
}

/* Runs that a time is held against. */
struct base {
	struct assay_stored_points points;
	bool same_code; /* every run of it had the very machine code of the case */
};

/* The results of a case in the named baseline. */
static struct base base_of_runs(struct assay_gate_time *t, const struct assay_result *r)
{
	bool same = r->code_hash[0] != '\0';
	size_t n = 0;

	for (size_t i = 0; i < t->n_base; i++) {
		const struct assay_result *b = assay_run_result(t->base[i], r->c.key);

		if (!b || !assay_run_result_counts(t->base[i], b) || !b->n_samples)
			continue;
		same = same && !strcmp(b->code_hash, r->code_hash);
		t->points[n++] = assay_stored_point_of(b);
	}
	return (struct base){ { t->points, n }, same && n };
}

static struct base base_of_window(const struct assay_segment_window *w)
{
	return (struct base){ { w->v, w->n }, !w->other_code };
}

/* The bases of a case, at most two, none of them empty; @error is that of each. */
static size_t bases_of(struct assay_gate_time *t, const struct assay_result *r, struct base out[2], double *error)
{
	const struct assay_segment *s = t->segments ? &t->segments[r - t->run->results] : NULL;
	size_t n = 0;

	*error = s ? assay_segment_error(s, t->error) : t->error;
	if (!s)
		out[n++] = base_of_runs(t, r);
	if (s && s->last.n)
		out[n++] = base_of_window(&s->last);
	if (s && s->first.n)
		out[n++] = base_of_window(&s->first);
	return n && out[0].points.n ? n : 0;
}

/* Cases of the run that the baseline has. */
static size_t count_comparable(struct assay_gate_time *t)
{
	struct base bases[2];
	double error;
	size_t n = 0;

	for (size_t i = 0; i < t->run->n_results; i++)
		n += assay_run_result_counts(t->run, &t->run->results[i]) &&
		     bases_of(t, &t->run->results[i], bases, &error);
	return n;
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

/* Is the interval of a time wholly beyond the margin, on the slower (+1) or on the faster side (-1)? */
static int beyond_margin(const struct assay_gate_case *c)
{
	switch (assay_stored_verdict(c->ci_lo, c->ci_hi, c->margin_frac)) {
	case ASSAY_REGRESSED:
		return 1;
	case ASSAY_IMPROVED:
		return -1;
	default:
		return 0;
	}
}

/* How many times too slow, or too fast, slow cores may make the head look against the base; 1: not at all. */
struct doubt {
	double slower, faster;
	const char *why;
};

static struct doubt doubt_of(const struct assay_gate_time *t, const struct assay_result *r)
{
	bool base = base_had_slow_core(t, r->c.key);

	return (struct doubt){
		.slower = r->slow_core ? SLOW_CORE_FACTOR : 1,
		.faster = base ? SLOW_CORE_FACTOR : 1,
		.why = r->slow_core && base ? "its core was slow both now and when the baseline was measured, which "
					      "can halve the speed"
		       : r->slow_core       ? "its core was slow, which can halve the speed"
		       : base ? "its core was slow when the baseline was measured, which can halve the speed"
			      : NULL,
	};
}

static void explain_time(struct assay_gate_case *c, const struct doubt *d)
{
	char detail[256] = "";

	if (c->doubt == ASSAY_DOUBT_MACHINE)
		snprintf(detail, sizeof(detail), ": the machine changed, not the program");
	else if (c->doubt == ASSAY_DOUBT_MARGIN)
		snprintf(detail, sizeof(detail), "%s%s: a slowdown of %.1f %% or more would have been detected",
			 d->why ? "; but " : "", d->why ? d->why : "", 100.0 * c->smallest_detectable_frac);
	snprintf(c->reason, sizeof(c->reason), "%s%+.1f %% (%+.1f %% to %+.1f %%), allowed %+g %%%s",
		 c->same_code ? "same code, " : "", 100.0 * (c->ratio - 1.0), 100.0 * (c->ci_lo - 1.0),
		 100.0 * (c->ci_hi - 1.0), 100.0 * c->margin_frac, detail);
}

static int not_in_baseline(const struct assay_gate_time *t, const struct assay_result *r, struct assay_gate_report *out,
			   struct assay_err *err)
{
	const struct assay_row_name name = { r->c.key, "status", ASSAY_EVIDENCE_NONE };
	const char *since = t->segments ? t->segments[r - t->run->results].since : "";

	if (since[0])
		return assay_row_say(out, name, ASSAY_PASS, err,
				     "measured%s, no earlier run has it since its change in %s",
				     r->checked ? " and right" : "", since);
	return assay_row_say(out, name, ASSAY_PASS, err, "measured%s, but not in the baseline",
			     r->checked ? " and right" : "");
}

/* The same machine code cannot have become slower or faster: then it is the machine that changed. */
static enum assay_verdict verdict_of(const struct assay_gate_case *c, const struct doubt *d)
{
	return c->same_code && beyond_margin(c)
		       ? ASSAY_INCONCLUSIVE
		       : assay_stored_verdict(c->ci_lo / d->slower, c->ci_hi * d->faster, c->margin_frac);
}

/* Into @c, what @base says of the time. */
static bool hold_against(const struct assay_gate_time *t, const struct assay_result *r, const struct base *base,
			 double error, struct assay_gate_case *c, struct doubt *d)
{
	struct assay_stored_point head = assay_stored_point_of(r);
	struct assay_stored_compare cmp;

	if (!assay_stored_compare((struct assay_stored_points){ &head, 1 }, base->points, error, c->margin_frac, &cmp))
		return false;
	c->same_code = base->same_code;
	c->ratio = cmp.ratio;
	c->ci_lo = cmp.lo;
	c->ci_hi = cmp.hi;
	*d = base->same_code ? (struct doubt){ 1, 1, NULL } : doubt_of(t, r);
	c->smallest_detectable_frac = (1.0 + cmp.detectable_frac) * d->slower * d->faster - 1.0;
	c->verdict = verdict_of(c, d);
	return true;
}

/* Into @c, what the last runs say of the time, unless it is slower than the first, which *first says then. */
static bool hold_against_all(const struct assay_gate_time *t, const struct assay_result *r, const struct base *bases,
			     size_t n, double error, struct assay_gate_case *c, struct doubt *d, bool *first)
{
	struct assay_gate_case other = *c;
	struct doubt of_other;

	*first = false;
	if (!hold_against(t, r, &bases[0], error, c, d))
		return false;
	if (n == 1 || c->verdict == ASSAY_REGRESSED || !hold_against(t, r, &bases[1], error, &other, &of_other) ||
	    other.verdict != ASSAY_REGRESSED)
		return true;
	*first = true;
	*c = other;
	*d = of_other;
	return true;
}

static void note_base(const struct assay_gate_time *t, const struct assay_result *r, bool first,
		      struct assay_gate_case *c)
{
	const struct assay_segment *s = t->segments ? &t->segments[r - t->run->results] : NULL;

	if (first)
		assay_row_note(c, "; the last runs are as slow, the first of the baseline were not: 'assay history' "
				  "says since when");
	if (s && s->since[0])
		assay_row_note(c, "; since its change in %s", s->since);
}

static int judge_time(struct assay_gate_time *t, const struct assay_result *r, struct assay_gate_report *out,
		      struct assay_err *err)
{
	const struct assay_policy *p = t->policy;
	double noise = disturbed_frac(r), error;
	struct assay_gate_case *c;
	struct base bases[2];
	struct doubt doubt;
	size_t n = bases_of(t, r, bases, &error);
	bool first;

	if (!n)
		return not_in_baseline(t, r, out, err);
	c = assay_row_add(out, (struct assay_row_name){ r->c.key, "time_s", rung_of(t) }, err);
	if (!c)
		return ASSAY_ENOMEM;
	c->margin_frac = assay_policy_margin(p, &r->c);
	c->dropped_frac = r->dropped_frac;
	if (!hold_against_all(t, r, bases, n, error, c, &doubt, &first)) {
		c->same_code = bases[0].same_code;
		c->verdict = ASSAY_INCONCLUSIVE;
		c->doubt = ASSAY_DOUBT_SAMPLES;
		snprintf(c->reason, sizeof(c->reason), "too few samples for an interval (%zu here), %s",
			 assay_stored_point_of(r).n,
			 assay_run_is_imported(t->run) ? "let the tool repeat the benchmark more often"
						       : "give the case a larger budget");
		return 0;
	}
	/*
	 * What disturbs so many samples may slow the rest as well, by a neighbour's half of the core at most. Where it
	 * is most of them, nothing bounds it.
	 */
	if (noise > p->max_dropped_frac && noise < 0.5 && !c->same_code) {
		doubt.slower = fmax(doubt.slower, SLOW_CORE_FACTOR);
		doubt.faster = fmax(doubt.faster, SLOW_CORE_FACTOR);
		c->verdict = verdict_of(c, &doubt);
	}
	if (noise > p->max_dropped_frac &&
	    (noise >= 0.5 || c->same_code || c->verdict == ASSAY_INCONCLUSIVE || c->verdict == ASSAY_PASS)) {
		c->verdict = ASSAY_INCONCLUSIVE;
		c->doubt = ASSAY_DOUBT_NOISE;
		snprintf(c->reason, sizeof(c->reason), "host too noisy: %.0f %% of samples disturbed (limit %g %%)",
			 100.0 * noise, 100.0 * p->max_dropped_frac);
		return 0;
	}
	c->doubt = c->verdict != ASSAY_INCONCLUSIVE   ? ASSAY_DOUBT_NONE
		   : c->same_code && beyond_margin(c) ? ASSAY_DOUBT_MACHINE
						      : ASSAY_DOUBT_MARGIN;
	explain_time(c, &doubt);
	/* neither the same code nor a core known to be slow explains it */
	if (c->doubt == ASSAY_DOUBT_MARGIN && !c->same_code && !doubt.why)
		assay_paired_suspect(c);
	note_base(t, r, first, c);
	return 0;
}

int assay_gate_time_judge(struct assay_gate_time *t, const struct assay_result *r, struct assay_gate_report *out,
			  struct assay_err *err)
{
	const struct assay_row_name name = { r->c.key, "time_s", rung_of(t) };
	const char *why = t->no_base_reason;
	int rc = judge_digest(t, r, out, err);

	if (rc)
		return rc;
	if (t->incomparable[0])
		return assay_row_say(out, name, ASSAY_INCOMPARABLE, err, "%s", t->incomparable);
	if (t->no_baseline)
		return assay_row_say(out, name, ASSAY_INCOMPARABLE, err, "%s",
				     t->n_base ? "the baseline has none of the cases of this run"
				     : why     ? why
					       : "no baseline");
	return judge_time(t, r, out, err);
}

/* @direction: +1 slower, -1 faster. */
static void believe_unchanged(struct assay_gate_report *r, int direction)
{
	size_t same = 0, moved = 0;

	for (size_t i = 0; i < r->n_cases; i++) {
		same += r->cases[i].same_code;
		moved += r->cases[i].same_code && beyond_margin(&r->cases[i]) == direction;
	}
	if (moved < MOVED_LEAST || (double)moved < MOVED_FRAC * (double)same)
		return;
	for (size_t i = 0; i < r->n_cases; i++) {
		struct assay_gate_case *c = &r->cases[i];

		if (c->evidence != ASSAY_EVIDENCE_STORED ||
		    c->verdict != (direction > 0 ? ASSAY_REGRESSED : ASSAY_IMPROVED))
			continue;
		c->verdict = ASSAY_INCONCLUSIVE;
		c->doubt = ASSAY_DOUBT_MOVED;
		assay_row_note(c, "; but so did %zu of %zu cases whose code is the same: the machine changed", moved,
			       same);
	}
}

void assay_gate_time_believe_unchanged(struct assay_gate_report *r)
{
	believe_unchanged(r, 1);
	believe_unchanged(r, -1);
}

int assay_gate_time_metric(const struct assay_gate_time *t, const char *key, const char *metric, double *median,
			   struct assay_err *err)
{
	double *x = malloc((t->n_base + 1) * sizeof(*x));
	size_t n = 0;

	*median = NAN;
	if (!x)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory judging '%s'", key);
	for (size_t i = 0; !t->incomparable[0] && i < t->n_base; i++) {
		const struct assay_result *b = assay_run_result(t->base[i], key);
		struct assay_limit_facts f = { .value = NAN };

		if (b && assay_run_result_counts(t->base[i], b))
			assay_limit_value(b->metrics, b->n_metrics, &b->counters, metric, &f);
		if (isfinite(f.value))
			x[n++] = f.value;
	}
	if (n) {
		assay_stats_sort(x, n);
		*median = assay_stats_median(x, n);
	}
	free(x);
	return 0;
}

int assay_gate_time_begin(struct assay_gate_time *t, struct assay_err *err)
{
	size_t n;

	t->points = calloc(t->n_base + 1, sizeof(*t->points));
	if (!t->points)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory judging run %" PRId64, t->run->id);
	check_baseline(t);
	n = count_comparable(t);
	t->no_baseline = !n && !t->incomparable[0];
	/* Bonferroni: the chance that any of the n intervals misses on its harmful side is alpha. */
	t->error = t->policy->alpha / (double)(n ? n : 1);
	return 0;
}

void assay_gate_time_release(struct assay_gate_time *t)
{
	free(t->points);
	t->points = NULL;
}
