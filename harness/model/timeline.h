/* SPDX-License-Identifier: Apache-2.0 */
/* States of threads, how often they waited, and what they did over time. */
#ifndef ASSAY_MODEL_TIMELINE_H
#define ASSAY_MODEL_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

enum assay_thread_state {
	ASSAY_STATE_RUNNING,
	ASSAY_STATE_WAITING, /* where all threads meet, spinning or asleep */
	ASSAY_STATE_BLOCKED, /* in a lock or another call */
	ASSAY_STATE_READY,   /* it could run, but had no processor */
	ASSAY_N_THREAD_STATES,
};

/* How often, and how long at most, threads waited as a stack says; of a trace, how often they were in its span. */
struct assay_wait_count {
	uint64_t waits, longest_ns;
};

/* ns of each state in a span of time; the rest of it the thread was not watched. */
struct assay_timeline_cell {
	uint64_t ns[ASSAY_N_THREAD_STATES];
};

/* Rows are threads, in the order of their accounts. */
struct assay_timeline {
	uint64_t bin_ns;
	size_t n_bins, n_threads;
	struct assay_timeline_cell *cells; /* n_threads × n_bins; NULL: there is none */
};

#endif
