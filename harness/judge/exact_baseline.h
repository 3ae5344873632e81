/* SPDX-License-Identifier: Apache-2.0 */
/* The committed file of exact counts: baselines/exact/SUITE.json. */
#ifndef ASSAY_JUDGE_EXACT_BASELINE_H
#define ASSAY_JUDGE_EXACT_BASELINE_H

#include "base/text.h"
#include "model/exact.h"

/*
 * {"schema": 1, "suite": …, "events": […], "builds": [{"arch", "compiler", "flags", "cache", "seed", "tool", "libc",
 * "features", "environment", "cases": {KEY: {"(how)": "stepped", "(lines)": {"FILE:LINE FUNCTION": [counts], …},
 * "(total)": [counts], "FUNCTION (OBJECT)": [counts], …}}}]}: one line a function, in the order of "events", so that a
 * diff shows what changed. Without "(how)" it is callgrind; lines are those that matter. A build is known by
 * architecture, compiler and flags.
 */
struct assay_exact_baseline {
	char path[512];
	char suite[ASSAY_NAME_MAX];
	/* Malloc'ed; id, run_id and started_ns are 0, of the build only compiler and flags are known. */
	struct assay_exact_run *builds;
	size_t n_builds;
};

/*
 * ASSAY_ENOTFOUND when the file is absent, ASSAY_EUSAGE with "file: …" when it is not what it must be. @b is unchanged
 * on error.
 */
int assay_exact_baseline_load(struct assay_exact_baseline *b, const char *path, struct assay_err *err);
void assay_exact_baseline_release(struct assay_exact_baseline *b);
/* The build that @run can be held against; NULL, and *why filled (@size bytes), when there is none. */
const struct assay_exact_run *assay_exact_baseline_match(const struct assay_exact_baseline *b,
							 const struct assay_exact_run *run, char *why, size_t size);
/*
 * Put the counted cases of @run in the place of what its build had of them. What else its build had, with the same
 * caches and seed, is kept, *kept cases, unless @prune: @run may be of a part of the suite. 0 or ASSAY_ENOMEM.
 */
int assay_exact_baseline_put(struct assay_exact_baseline *b, const struct assay_exact_run *run, bool prune,
			     size_t *kept, struct assay_err *err);
/* The text of the file. */
int assay_exact_baseline_format(const struct assay_exact_baseline *b, struct assay_text *out, struct assay_err *err);

#endif
