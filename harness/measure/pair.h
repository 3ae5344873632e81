/* SPDX-License-Identifier: Apache-2.0 */
/* One process pair: a base and a head worker on the same cores, taking turns sample by sample. */
#ifndef ASSAY_MEASURE_PAIR_H
#define ASSAY_MEASURE_PAIR_H

#include "measure/options.h"
#include "model/catalog.h"
#include "model/comparison.h"
#include "worker/worker.h"

struct assay_pair_options {
	const struct assay_strings *plugins[2]; /* of base and head */
	const char *parts[2];                   /* see enum assay_plugin_part; NULL: all of everything */
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

/* What the pairs of a case learn from earlier ones; starts all-zero. */
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

/*
 * Whatever happens to a kernel is a status of its side, and the return is 0. There are samples only if both sides are
 * OK, and not in a first pair that finds that the calls of the later pairs are to be divided. The two sides map the
 * same tensors, so that the place of these in memory favours neither. If one side is wrong or ends while they do, or
 * exact outputs differ, the pair is taken again with separate memory for each side, which shows which side was wrong
 * and where. A variant that keeps something in scratch memory is thus not called wrong for it, but one that is wrong
 * only now and then is.
 *
 * @difference (ASSAY_DIFFERENCE_MAX bytes) gets the first element in which the outputs of an exact op differ, or "".
 * Negative: see assay_measure_case. The caller releases @out in either case.
 */
int assay_measure_pair(const struct assay_case *c, const struct assay_catalog *cat,
		       const struct assay_case_facts *facts, const struct assay_measure_options *o,
		       const struct assay_pair_options *po, struct assay_pair_calibration *calibration,
		       struct assay_pair *out, char *difference, struct assay_err *err);

#endif
