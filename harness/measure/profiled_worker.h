/* SPDX-License-Identifier: Apache-2.0 */
/* A worker that is sampled while it runs a case: what the profile of one case and that of a pair have in common. */
#ifndef ASSAY_MEASURE_PROFILED_WORKER_H
#define ASSAY_MEASURE_PROFILED_WORKER_H

#include "model/status.h"
#include "profile/cpu_profile.h"
#include "worker/worker.h"

/* What became of the case. */
struct assay_profile_end {
	enum assay_status status;
	char reason[512];
	char wrong[512]; /* why its output is wrong, if it was profiled nevertheless; "": it is right */
};

struct assay_profiled_worker {
	struct assay_worker *worker;
	struct assay_cpu_profile *cpu;
	struct assay_profile *out;
	struct assay_profile_end *end;
	struct assay_err *err;
	uint64_t iterations; /* of a sample */
	double sample_ns;    /* that it takes about */
	struct assay_profiled_turns {
		struct assay_sample *samples; /* malloc'ed */
		size_t n_samples;
		double *ns; /* processor time of an iteration, of each command; malloc'ed */
		size_t n;
		double wall_ns; /* of all samples together */
	} turns[2];             /* that were not sampled, and that were */
	bool paused;            /* turns are not sampled */
	char op[2 * ASSAY_NAME_MAX + 1];
};

/*
 * These return 0 to go on, 1 if the case is over, with k->end saying how, and a negative number if the harness cannot
 * go on. Before the start, @k is all-zero except for its pointers. Free it in any case.
 */
/* @how NULL: nothing is sampled, and the worker is an ordinary one. */
int assay_profiled_worker_start(struct assay_profiled_worker *k, const struct assay_worker_options *wo,
				const struct assay_cpu_sampling *how);
/* Prepare, verify, warm up; timed samples follow. */
int assay_profiled_worker_ready(struct assay_profiled_worker *k, const struct assay_clock *clock);
/* Switch sampling on or off for the turns that follow. */
void assay_profiled_worker_pause(struct assay_profiled_worker *k, bool paused);
/* Order samples that take about @ns, or less if the rings fill before that. */
int assay_profiled_worker_sample(struct assay_profiled_worker *k, double ns);
/*
 * The duration of an iteration in the turns that were @sampled or were not, as assay_call_times() computes it: the
 * median of means of @group calls. NaN: there is none, or out of memory.
 */
double assay_profiled_worker_call_ns(const struct assay_profiled_worker *k, bool sampled, size_t group);
/* If all went well (@rc 0), check the outputs once more; then end the profile. */
int assay_profiled_worker_end(struct assay_profiled_worker *k, int rc);
void assay_profiled_worker_free(struct assay_profiled_worker *k);

#endif
