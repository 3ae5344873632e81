/* SPDX-License-Identifier: Apache-2.0 */
/* What is compared with what: the two sides, what their workers load, the cases they share, the controls. */
#ifndef ASSAY_DRIVE_COMPARE_PLAN_H
#define ASSAY_DRIVE_COMPARE_PLAN_H

#include "drive/comparing.h"
#include "drive/revision.h"
#include "drive/session.h"
#include "judge/limits.h"

/* All-zero but for `what` and `base` is the default. Strings are borrowed. */
struct assay_compare_request {
	const struct assay_request *what;
	const char *base, *head;   /* revision, plugin or folder; head NULL: what lies in the working tree */
	const char *policy;        /* file; NULL: baselines/policy.conf */
	double margin_frac, alpha; /* win over the policy; 0: as it says */
	uint64_t budget_ns;        /* a case; 0: as the policy says */
	double injected_frac;      /* of the control; 0: 2 %, or four margins where that is more */
	bool no_controls;
	bool strict; /* INCONCLUSIVE fails, too */
};

/* All-zero is empty. */
struct assay_compare_plan {
	struct assay_side_source source[2];
	struct assay_compare_side side[2];
	struct assay_session session;   /* the head's: its catalog, topology and suite */
	struct assay_case_facts *facts; /* one a case of cmp, controls included */
	bool *exact;                    /* the same: does the suite name it for exact counts? */
	struct assay_comparison cmp;    /* cases without pairs */
	struct assay_policy policy;
	struct assay_countable countable; /* what the groups of counters here may bring, and --events */
};

/*
 * Resolve, build where needed, load, plan. ASSAY_EUSAGE before anything is measured: unknown revision, one that does
 * not build, a plugin that cannot be used, nothing to compare. A base whose plugins have another ABI is no error: its
 * cases say so. Release in either case.
 */
int assay_compare_plan_make(struct assay_compare_plan *p, const struct assay_compare_request *q,
			    const struct assay_watch *w, struct assay_err *err);
void assay_compare_plan_release(struct assay_compare_plan *p);

/*
 * The loop over the cases of @p, which was made from @r; whoever runs it adds what it should tell. All pointers stay
 * the callers'.
 */
struct assay_comparing assay_compare_plan_comparing(struct assay_compare_plan *p, const struct assay_request *r,
						    const struct assay_clock *clock, const struct assay_watch *w);

#endif
