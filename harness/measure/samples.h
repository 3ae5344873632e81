/* SPDX-License-Identifier: Apache-2.0 */
/* Pure helpers over the samples of a case: how many iterations each has, when they are steady, what they cost. */
#ifndef ASSAY_MEASURE_SAMPLES_H
#define ASSAY_MEASURE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "machine/clock.h"
#include "model/reports.h"
#include "model/result.h"
#include "worker/worker.h"

/* ---- iterations ---- */

/* How many iterations a sample needs so that timer error stays below 0.1 % of it. */

/* Least duration of a sample on this clock. */
double assay_iterations_target_ns(const struct assay_clock *clock);

/*
 * Find the number of iterations by trial in a verified worker. 0 and *iterations, *sample_ns (expected time of a
 * sample); 1 if the worker came to an end, see @end; negative as assay_worker_call.
 */
int assay_iterations_find(struct assay_worker *w, double target_ns, uint64_t *iterations, double *sample_ns,
			  struct assay_ending end, struct assay_err *err);

/* ---- steadiness ---- */

/*
 * Times of samples in the order in which they were taken, to find out when they became steady. Internal to this folder.
 */

#define ASSAY_CLOCK_TOLERANCE_FRAC 0.01

/* All zero: none yet. */
struct assay_steadiness {
	double *ns; /* malloc'ed */
	size_t n;
	double clock_hz; /* that the device was last seen at; 0: unknown */
	bool clock_moves;
};

/* ASSAY_ENOMEM, with @s unchanged. */
int assay_steadiness_add(struct assay_steadiness *s, const struct assay_sample *samples, size_t n,
			 struct assay_err *err);
/*
 * The device ran between these clocks while samples were taken, 0: unknown. It moves until two series in a row lie
 * within ASSAY_CLOCK_TOLERANCE_FRAC of each other.
 */
void assay_steadiness_clock(struct assay_steadiness *s, double least_hz, double most_hz);
void assay_steadiness_release(struct assay_steadiness *s);

/* ---- whole calls ---- */

/* Makes samples of whole calls from samples of parts of calls. Pure. */

/*
 * Put the parts of each call of @s together; a sample that is not a part stays as it is. *out is malloc'ed;
 * ASSAY_ENOMEM: there is none. Steal ticks are those of all polls of the host that fell into the call. Each poll counts
 * once, although it is recorded with every part that it covers.
 */
int assay_whole_calls(const struct assay_sample *s, size_t n, struct assay_sample **out, size_t *n_calls,
		      struct assay_err *err);

/* ---- sample overhead ---- */

/* The cost of a sample beyond the calls that it times, as `assay doctor` shows it. */

/*
 * The time in ns that a sample of one call shows if the call does nothing: the median of some thousand samples. Runs no
 * plugin.
 */
double assay_sample_overhead_ns(const struct assay_clock *clock);
/* The finding "sample_overhead" of @ns: a warning above the goal of 60 ns. */
void assay_sample_overhead_add(struct assay_findings *l, double ns);

#endif
