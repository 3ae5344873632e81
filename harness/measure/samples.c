/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stats/stats.h"
#include "worker/case/job.h"

/* ---- iterations ---- */

/*
 * Trial samples of growing size, then a few more, of which the quickest decides: the first of a size is often slow. One
 * that is long enough only because others had the CPU meanwhile is taken again.
 */

#define MIN_SAMPLE_NS     100000.0 /* shorter samples drown in the bookkeeping between them */
#define TIMER_ERROR_SHARE 1000.0   /* a sample lasts this many timer errors */
#define CONFIRMATIONS     3
#define REPEATS           8

double assay_iterations_target_ns(const struct assay_clock *clock)
{
	return fmax(MIN_SAMPLE_NS, (clock->overhead_ns + clock->resolution_ns) * TIMER_ERROR_SHARE);
}

int assay_iterations_find(struct assay_worker *w, double target_ns, uint64_t *iterations, double *sample_ns,
			  struct assay_ending end, struct assay_err *err)
{
	struct assay_worker_args args = { .iterations = 1, .count = 1 };
	double ns = 0, per_call;
	int left = CONFIRMATIONS, repeats = 0;

	while (left) {
		int rc = assay_worker_call(w, ASSAY_CMD_SAMPLE, &args, end, err);
		const struct assay_sample *sample = &assay_worker_reply(w)->samples[0];
		double one = (double)sample->ns;

		if (rc || *end.status != ASSAY_STATUS_OK)
			return rc ? rc : 1;
		if (one >= target_ns && one - assay_samples_told_ns(sample, 1) < target_ns && repeats++ < REPEATS)
			continue;
		if (one < target_ns && left == CONFIRMATIONS && args.iterations < UINT64_MAX / 16) {
			args.iterations *= (uint64_t)fmin(10, fmax(2, ceil(1.1 * target_ns / fmax(1, one))));
			continue;
		}
		ns = left == CONFIRMATIONS ? one : fmin(ns, one);
		left = one > 10 * target_ns ? 0 : left - 1;
	}
	per_call = ns / (double)args.iterations;
	*iterations = (uint64_t)fmax(1, ceil(target_ns / fmax(per_call, 1e-3)));
	*sample_ns = per_call * (double)*iterations;
	return 0;
}

/* ---- steadiness ---- */

int assay_steadiness_add(struct assay_steadiness *s, const struct assay_sample *samples, size_t n,
			 struct assay_err *err)
{
	double *grown = n ? realloc(s->ns, (s->n + n) * sizeof(*grown)) : s->ns;

	if (n && !grown)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the times of %zu samples", s->n + n);
	s->ns = grown;
	for (size_t i = 0; i < n; i++)
		s->ns[s->n++] = (double)samples[i].ns;
	return 0;
}

void assay_steadiness_clock(struct assay_steadiness *s, double least_hz, double most_hz)
{
	const double most = fmax(most_hz, s->clock_hz), least = s->clock_hz > 0 ? fmin(least_hz, s->clock_hz) : 0;

	s->clock_moves = most_hz > 0 && least < (1 - ASSAY_CLOCK_TOLERANCE_FRAC) * most;
	s->clock_hz = most_hz;
}

void assay_steadiness_release(struct assay_steadiness *s)
{
	free(s->ns);
	*s = (struct assay_steadiness){ 0 };
}

/* ---- whole calls ---- */

/* Parts of a call are added up in the order in which they were taken. */

/* The fields of a sample about itself and its place among others, without those about disturbances. */
#define OF_ONE_SAMPLE (ASSAY_SAMPLE_CONTINUES | ASSAY_SAMPLE_WAIT_TOLD | ASSAY_SAMPLE_POLLED)

int assay_whole_calls(const struct assay_sample *s, size_t n, struct assay_sample **out, size_t *n_calls,
		      struct assay_err *err)
{
	struct assay_sample *calls = calloc(n + 1, sizeof(*calls)), *call = calls;
	bool goes_on = false, counted = false; /* the ticks of the poll that covers this sample */

	if (!calls)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu samples", n);
	*n_calls = 0;
	for (size_t i = 0; i < n; i++) {
		if (!goes_on) {
			call = &calls[(*n_calls)++];
			*call = (struct assay_sample){ .iterations = s[i].iterations, .flags = ASSAY_SAMPLE_WAIT_TOLD };
			counted = false;
		}
		call->ns += s[i].ns;
		call->flags |= s[i].flags & ~OF_ONE_SAMPLE;
		call->switches += s[i].switches;
		call->faults += s[i].faults;
		call->waited_ns += s[i].waited_ns;
		call->stolen_ns += s[i].stolen_ns;
		if (!(s[i].flags & ASSAY_SAMPLE_WAIT_TOLD)) /* of all parts, or not at all */
			call->flags &= ~ASSAY_SAMPLE_WAIT_TOLD;
		if (!counted)
			call->steal_ticks += s[i].steal_ticks;
		counted = !(s[i].flags & ASSAY_SAMPLE_POLLED);
		goes_on = s[i].flags & ASSAY_SAMPLE_CONTINUES;
	}
	*out = calls;
	return 0;
}

/* ---- sample overhead ---- */

/* Times a variant that does nothing, in the loop that times all others. */

#define GOAL_NS 60.0
#define SAMPLES 4001

static int run_nothing(struct assay_job *job)
{
	(void)job;
	return 0;
}

double assay_sample_overhead_ns(const struct assay_clock *clock)
{
	static const struct assay_variant nothing = { .name = "nothing", .run = run_nothing };
	struct assay_worker_spec spec = { .clock = *clock };
	struct assay_job job = { .size = sizeof(job) };
	_Atomic uint32_t phase = ASSAY_PHASE_IDLE;
	struct assay_case_job j = { .spec = &spec, .phase = &phase, .variant = &nothing, .jobs = &job, .n_jobs = 1 };
	double x[SAMPLES];

	for (size_t i = 0; i < SAMPLES; i++) {
		uint64_t ns;

		assay_case_job_time(&j, 1, &ns);
		x[i] = (double)ns;
	}
	assay_stats_sort(x, SAMPLES);
	return assay_stats_median(x, SAMPLES);
}

void assay_sample_overhead_add(struct assay_findings *l, double ns)
{
	char value[128];

	snprintf(value, sizeof(value), "a sample has %.0f ns of overhead; the goal is under %.0f ns", ns, GOAL_NS);
	if (ns < GOAL_NS)
		assay_findings_add(l, "sample_overhead", ASSAY_HEALTH_GOOD, value, "");
	else
		assay_findings_add(l, "sample_overhead", ASSAY_HEALTH_WARN, value,
				   "samples are made longer to make up for it; an invariant TSC would cost less");
}
