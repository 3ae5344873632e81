/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts events around samples, in all threads of a case. Events that cannot be counted together take turns from sample
 * to sample; what cannot be counted at all has a reason. Nothing here runs between the two clock reads of a sample.
 */
#ifndef ASSAY_COUNTERS_COUNTING_H
#define ASSAY_COUNTERS_COUNTING_H

#include "assay/plugin.h"

#include "base/err.h"
#include "counters/provider.h"

/* Runs fn(arg, tid, n) on every thread of the case, tid 0 being the caller. */
typedef void (*assay_counting_parallel_fn)(void *pool, assay_parallel_fn fn, void *arg);

struct assay_counting_options {
	struct assay_counter_context *ctx; /* outlives the counting */
	const char *events;                /* lines of assay_counter_choice_text() */
	uint32_t n_threads;
	assay_counting_parallel_fn parallel;
	void *pool;
	/* NULL: the embedded table */
	const struct assay_counter_provider *const *providers;
	size_t n_providers;
};

struct assay_counting;

/*
 * Find a provider for every event and open its sets in every thread. Fails only for lack of memory; if an event cannot
 * be counted, its reason is kept.
 */
int assay_counting_open(struct assay_counting **c, const struct assay_counting_options *o, struct assay_err *err);
void assay_counting_close(struct assay_counting *c);

/*
 * Call these in every thread of the case, before a sample (starts the sets whose turn it is) and after it. @os gets
 * what the operating system counted for the thread, or its children, which is read once for everybody.
 */
void assay_counting_before(struct assay_counting *c, uint32_t tid, struct assay_os_counts *os);
void assay_counting_after(struct assay_counting *c, uint32_t tid, struct assay_os_counts *os);
/*
 * Call these when a thread stops in the middle of a sample and when it goes on; what is counted meanwhile is left out.
 * For signal handlers.
 */
void assay_counting_stand(struct assay_counting *c, uint32_t tid, struct assay_os_counts *os);
void assay_counting_go_on(struct assay_counting *c, uint32_t tid, struct assay_os_counts *os);
/*
 * Then call this once: it adds what was counted and lets the next sets have their turn. @iterations 0: the sample was a
 * part of a call that goes on in the next one; the last part brings the number.
 */
void assay_counting_add(struct assay_counting *c, uint64_t iterations);

/*
 * Close what counts in this thread, which the next sample opens anew. For children, after each: the kernel hands the
 * event of a thread to the process that it starts (perf_event_context_sched_out() swaps them), where it ends with it.
 */
void assay_counting_rest(struct assay_counting *c, uint32_t tid);

/* Means of one iteration over all samples so far, and reasons. 0 or ASSAY_ENOMEM. */
int assay_counting_result(const struct assay_counting *c, struct assay_counters *out);

#endif
