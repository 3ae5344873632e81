/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every measurement in workers needs to know: the machine, the clock, what to count, and whom to report progress
 * to.
 */
#ifndef ASSAY_MEASURE_OPTIONS_H
#define ASSAY_MEASURE_OPTIONS_H

#include "base/text.h"
#include "counters/groups.h"
#include "machine/clock.h"
#include "machine/core_pace.h"
#include "machine/topology.h"
#include "worker/start.h"

/* The stage that a case is in, for a progress bar. */
enum assay_stage {
	ASSAY_STAGE_PREPARE,
	ASSAY_STAGE_WARMUP,
	ASSAY_STAGE_SAMPLE,
	ASSAY_STAGE_CHECK,
	ASSAY_STAGE_DONE,
};

struct assay_measure_options {
	struct assay_worker_setup worker;
	struct assay_core_paces *paces; /* what is known about the pace of the cores; each case adds to it; or NULL */
	struct assay_timeout_history
		*timeouts; /* what the case took before, to which this adds; NULL: nothing is known */
	struct assay_placement_options placement;
	/*
	 * What the oracle accepted in earlier processes of the case; this one adds to it. If there is something, the
	 * process checks less and needs fewer samples. NULL: there are no other processes.
	 */
	struct assay_accepted *accepted;
	bool verify_only;                          /* correctness, no samples */
	bool deterministic;                        /* fixed iterations and samples: the work does not depend on time */
	const struct assay_counter_groups *groups; /* NULL: there are none */
	const char *counter_groups;         /* to be counted besides those of the cases, comma separated; NULL: none */
	const struct assay_strings *events; /* likewise; NULL: none */
	void (*progress)(void *arg, enum assay_stage stage, double done_frac);
	void *progress_arg;
};

#endif
