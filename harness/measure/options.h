/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every measurement needs to know: the machine, the clock, what to count, and whom to report progress to; and what
 * those of pairs need besides.
 */
#ifndef ASSAY_MEASURE_OPTIONS_H
#define ASSAY_MEASURE_OPTIONS_H

#include "base/text.h"
#include "counters/groups.h"
#include "machine/clock.h"
#include "machine/core_pace.h"
#include "machine/topology.h"
#include "model/result.h"
#include "worker/start.h"
#include "worker/worker.h"

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
	const char *folder; /* that programs run in; NULL: the current one */
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
	/* @so_far has the samples until then and what follows from them; NULL where none are taken */
	void (*progress)(void *arg, enum assay_stage stage, double done_frac, const struct assay_result *so_far);
	void *progress_arg;
};

/* ---- pairs ---- */

struct assay_pair_options {
	const struct assay_strings *plugins[2]; /* of base and head */
	const char *parts[2];                   /* see enum assay_plugin_part; NULL: all of everything */
	const char *folders[2];                 /* that programs run in; NULL: the current one */
	const struct assay_case *base_case;     /* another variant of the op; NULL: the base runs the head's case */
	double injected_frac;                   /* slowdown of the head: see find_injection(); 0: none */
	uint64_t pair_seed;                     /* order and layout; 0 is as good as any other */
	uint64_t iterations;                    /* of a sample; 0: find out and tell in the result */
	uint64_t sampling_ns;                   /* time for the samples, set-up not counted */
	bool changed_only;                      /* take no samples if the machine code is the same on both sides */
	bool alone;                             /* no pair follows, so that this one takes samples in any case */
	bool all_checks;                        /* whatever the seed draws */
	struct assay_kept_memory *kept;         /* of earlier pairs, for large cases; NULL: memory of its own */
};

/* Knowledge that the pairs of a case take over from earlier ones; starts all-zero. */
struct assay_pair_calibration {
	struct assay_accepted accepted; /* outputs that the oracle accepted */
	bool own_memory;                /* the sides cannot share their tensors */
	double sample_ns;               /* duration of a sample; 0: there was no pair before */
	uint32_t turn_parts;            /* how calls are divided, see struct assay_turns; 0: not at all */
	uint32_t call_turns;
	bool slices; /* calls are cut into slices that take turns */
	bool whole;  /* calls are never cut into slices: a side cannot bear it, or other processes run in between */
	bool inputs_only;                         /* outputs are not common: each side is in the middle of its own */
	unsigned crowded;                         /* pairs in a row in which others ran in between */
	bool steady;                              /* the times were steady at the end of the first pair's warm-up */
	struct assay_timeout_history timeouts[2]; /* with either side: the head may have become slower by any factor */
};

#endif
