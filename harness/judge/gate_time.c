/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is it slower than it was? Times of a run against the stored ones of the baseline, and when the machine is to blame.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "judge/gate_parts.h"

/* So many cases of unchanged code, and at least this share of them, must have moved for the machine to be blamed. */
#define MOVED_LEAST 2
#define MOVED_FRAC  0.1
/* A core has two hardware threads nearly always, and the other one takes half of it at most. */
#define SLOW_CORE_FACTOR 2.0

const struct assay_result *assay_gate_result_of(const struct assay_run *run, const char *key)
{
	for (size_t i = 0; i < run->n_results; i++)
		if (!strcmp(run->results[i].c.key, key))
			return &run->results[i];
	return NULL;
}

void assay_gate_check_baseline(struct assay_judging *j)
{
	const struct assay_run *run = j->in->run;

	for (size_t i = 0; i < j->in->n_base; i++) {
		const struct assay_run *b = j->in->base[i];

		if (strcmp(b->machine.id, run->machine.id))
			snprintf(j->incomparable, sizeof(j->incomparable),
				 "run %" PRId64
				 " of the baseline is of another machine: %.8s (%.96s), this is %.8s (%.96s)",
				 b->id, b->machine.id, b->machine.label, run->machine.id, run->machine.label);
		else if (b->seed != run->seed)
			snprintf(j->incomparable, sizeof(j->incomparable),
				 "run %" PRId64 " of the baseline has other inputs: seed %" PRIu64
				 ", this has %" PRIu64,
				 b->id, b->seed, run->seed);
		else
			continue;
		return;
	}
}

/* Exact ops give the same bits on any machine, as long as the inputs are the same. */
static void judge_digest(struct assay_judging *j, const struct assay_result *r)
{
	for (size_t i = 0; r->digest[0] && i < j->in->n_base; i++) {
		const struct assay_run *run = j->in->base[i];
		const struct assay_result *b =
			run->seed == j->in->run->seed ? assay_gate_result_of(run, r->c.key) : NULL;

		if (!b || !assay_gate_right(b) || !b->digest[0] || !strcmp(b->digest, r->digest))
			continue;
		assay_gate_finding(j, r->c.key, "digest", ASSAY_EVIDENCE_EXACT, ASSAY_WRONG_RESULT,
				   "output %.8s… differs from %.8s… in run %" PRId64
				   " of the baseline, for the same inputs",
				   r->digest, b->digest, run->id);
		return;
	}
}

static double disturbed_frac(const struct assay_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_samples; i++)
		n += assay_samples_disturbed(&r->samples[i], 1) != 0;
	return r->n_samples ? (double)n / (double)r->n_samples : 0.0;
}

static bool base_had_slow_core(const struct assay_judging *j, const char *key)
{
	for (size_t i = 0; i < j->in->n_base; i++) {
		const struct assay_result *b = assay_gate_result_of(j->in->base[i], key);

		if (b && assay_gate_right(b) && b->slow_core)
			return true;
	}
	return false;
}

static struct assay_stored_point point_of(const struct assay_result *r)
{
	return (struct assay_stored_point){
		.median = r->median_ns,
		.lo = r->ci95_lo_ns,
		.hi = r->ci95_hi_ns,
		.n = (size_t)llround((double)r->n_samples * (1.0 - r->dropped_frac)),
	};
}

/* Collect what the baseline has of a case. @same_code: every run of it had the very machine code of @r. */
static size_t base_points(struct assay_judging *j, const struct assay_result *r, bool *same_code)
{
	bool same = r->code_hash[0] != '\0';
	size_t n = 0;

	for (size_t i = 0; i < j->in->n_base; i++) {
		const struct assay_result *b = assay_gate_result_of(j->in->base[i], r->c.key);

		if (!b || !assay_gate_right(b) || !b->n_samples)
			continue;
		same = same && !strcmp(b->code_hash, r->code_hash);
		j->points[n++] = point_of(b);
	}
	*same_code = same && n;
	return n;
}

size_t assay_gate_count_comparable(struct assay_judging *j)
{
	size_t n = 0;
	bool same;

	for (size_t i = 0; i < j->in->run->n_results; i++)
		n += assay_gate_right(&j->in->run->results[i]) && base_points(j, &j->in->run->results[i], &same);
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

static struct doubt doubt_of(const struct assay_judging *j, const struct assay_result *r)
{
	bool base = base_had_slow_core(j, r->c.key);

	return (struct doubt){
		.slower = r->slow_core ? SLOW_CORE_FACTOR : 1,
		.faster = base ? SLOW_CORE_FACTOR : 1,
		.why = r->slow_core && base ? "its core was slow, now and when the baseline was measured, which may "
					      "cost half of the speed"
		       : r->slow_core       ? "its core was slow, which may cost half of the speed"
		       : base ? "its core was slow when the baseline was measured, which may cost half of the speed"
			      : NULL,
	};
}

static void explain_time(struct assay_gate_case *c, const struct doubt *d)
{
	char detail[256] = "";

	if (c->verdict == ASSAY_INCONCLUSIVE && c->same_code && beyond_margin(c))
		snprintf(detail, sizeof(detail), ": the machine changed, not the program");
	else if (c->verdict == ASSAY_INCONCLUSIVE)
		snprintf(detail, sizeof(detail), "%s%s: a slowdown of %.1f %% or more would have been seen",
			 d->why ? "; but " : "", d->why ? d->why : "", 100.0 * c->smallest_detectable_frac);
	snprintf(c->reason, sizeof(c->reason), "%s%+.1f %% (%+.1f %% to %+.1f %%), allowed %+g %%%s",
		 c->same_code ? "same code, " : "", 100.0 * (c->ratio - 1.0), 100.0 * (c->ci_lo - 1.0),
		 100.0 * (c->ci_hi - 1.0), 100.0 * c->margin_frac, detail);
}

static void judge_time(struct assay_judging *j, const struct assay_result *r)
{
	const struct assay_policy *p = j->in->policy;
	struct assay_stored_point head = point_of(r);
	double noise = disturbed_frac(r);
	struct assay_stored_compare cmp;
	struct assay_gate_case *c;
	struct doubt doubt;
	bool same_code;
	size_t n = base_points(j, r, &same_code);

	if (!n) {
		assay_gate_finding(j, r->c.key, "status", ASSAY_EVIDENCE_NONE, ASSAY_PASS,
				   "measured and right, not in the baseline");
		return;
	}
	c = assay_gate_row(j, r->c.key, "time_s", ASSAY_EVIDENCE_STORED);
	if (!c)
		return;
	c->same_code = same_code;
	c->verdict = ASSAY_INCONCLUSIVE;
	c->margin_frac = assay_policy_margin(p, &r->c);
	c->dropped_frac = r->dropped_frac;
	if (!assay_stored_compare(&head, j->points, n, j->error, c->margin_frac, &cmp)) {
		snprintf(c->reason, sizeof(c->reason),
			 "too few samples for an interval (%zu here), give the case a larger budget", head.n);
		return;
	}
	c->ratio = cmp.ratio;
	c->ci_lo = cmp.lo;
	c->ci_hi = cmp.hi;
	doubt = same_code ? (struct doubt){ 1, 1, NULL } : doubt_of(j, r);
	c->smallest_detectable_frac = (1.0 + cmp.detectable_frac) * doubt.slower * doubt.faster - 1.0;
	if (noise > p->max_dropped_frac) {
		snprintf(c->reason, sizeof(c->reason),
			 "host too noisy: %.0f %% of the samples were disturbed, %g %% are allowed", 100.0 * noise,
			 100.0 * p->max_dropped_frac);
		return;
	}
	c->verdict = assay_stored_verdict(cmp.lo / doubt.slower, cmp.hi * doubt.faster, c->margin_frac);
	/* The same machine code cannot have become slower or faster: then it is the machine that changed. */
	if (same_code && beyond_margin(c))
		c->verdict = ASSAY_INCONCLUSIVE;
	explain_time(c, &doubt);
}

void assay_gate_believe_unchanged(struct assay_judging *j, int direction)
{
	struct assay_gate_report *r = &j->report;
	size_t same = 0, moved = 0;

	for (size_t i = 0; i < r->n_cases; i++) {
		same += r->cases[i].same_code;
		moved += r->cases[i].same_code && beyond_margin(&r->cases[i]) == direction;
	}
	if (moved < MOVED_LEAST || (double)moved < MOVED_FRAC * (double)same)
		return;
	for (size_t i = 0; i < r->n_cases; i++) {
		struct assay_gate_case *c = &r->cases[i];
		size_t len = strlen(c->reason);

		if (c->evidence != ASSAY_EVIDENCE_STORED ||
		    c->verdict != (direction > 0 ? ASSAY_REGRESSED : ASSAY_IMPROVED))
			continue;
		c->verdict = ASSAY_INCONCLUSIVE;
		snprintf(c->reason + len, sizeof(c->reason) - len,
			 "; but so did %zu of %zu cases whose code is the same: the machine changed", moved, same);
	}
}

void assay_gate_judge_baseline(struct assay_judging *j, const struct assay_result *r)
{
	const char *why = j->in->no_base_reason;

	judge_digest(j, r);
	if (j->incomparable[0])
		assay_gate_finding(j, r->c.key, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_INCOMPARABLE, "%s",
				   j->incomparable);
	else if (j->report.no_baseline)
		assay_gate_finding(j, r->c.key, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_INCOMPARABLE, "%s",
				   j->in->n_base ? "the baseline has none of the cases of this run"
				   : why         ? why
						 : "no baseline");
	else
		judge_time(j, r);
}
