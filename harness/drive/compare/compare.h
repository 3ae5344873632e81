/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison from the request to the verdict, and the verdict again from what is stored. */
#ifndef ASSAY_DRIVE_COMPARE_COMPARE_H
#define ASSAY_DRIVE_COMPARE_COMPARE_H

#include <stdint.h>

#include "drive/compare/plan.h"
#include "model/gate_report.h"

/* All-zero is empty. */
struct assay_compare_outcome {
	int64_t id;  /* of the stored comparison */
	bool judged; /* report says what came of it, also where it was interrupted */
	struct assay_gate_report report;
};

/*
 * Resolve and build both sides, measure them in lock step (q->what->take: times, counts or both), store each pair as
 * soon as it is there, and judge. ASSAY_EUSAGE before anything is measured, as assay_compare_plan_make() says.
 * ASSAY_EINTERRUPTED when the watch says so, with the verdicts of what was measured. Release @out in either case.
 */
int assay_compare_measure(const struct assay_compare_request *q, const struct assay_watch *w,
			  struct assay_compare_outcome *out, struct assay_err *err);

struct assay_replay_request {
	const char *db;
	int64_t id;                 /* of a stored comparison; 0: the newest */
	bool strict, suspects_fail; /* as of a comparison */
};

/*
 * Judge a stored comparison again, by the samples and the policy that are stored with it. Warns where it did not
 * finish, or was judged otherwise when it was measured. Release @out in either case.
 */
int assay_compare_replay(const struct assay_replay_request *q, const struct assay_watch *w,
			 struct assay_compare_outcome *out, struct assay_err *err);

void assay_compare_outcome_release(struct assay_compare_outcome *out);

#endif
