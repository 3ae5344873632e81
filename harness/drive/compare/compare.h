/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison from the request to the verdict, and the verdict again from what is stored. */
#ifndef ASSAY_DRIVE_COMPARE_COMPARE_H
#define ASSAY_DRIVE_COMPARE_COMPARE_H

#include <stdint.h>

#include "base/err.h"
#include "drive/compare/plan.h"
#include "model/comparison.h"
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

/* ---- reading ---- */

/* The numbers that the judge takes from the pairs of a stored comparison, for people and scripts. Judges nothing. */

/* One reading a case of @cmp into *out, for assay_case_readings_release. ASSAY_ENOMEM, ASSAY_EUSAGE (the policy). */
int assay_comparison_read(const struct assay_comparison *cmp, struct assay_case_reading **out, struct assay_err *err);

/* ---- variants ---- */

/* A comparison of two variants of one op, on the same inputs, in place of two builds of one variant. */

/*
 * The same as assay_compare_plan_make where q->base and q->head name variants, "OP/NAME": the cases of the suite that
 * both can run. A variant that only few benches name takes the cases of the other. ASSAY_EUSAGE when a name is none,
 * the ops differ, two plugins bring a variant, or one of the two cannot run here. Release @p in either case.
 */
int assay_compare_variants_make(struct assay_compare_plan *p, const struct assay_compare_request *q,
				const struct assay_watch *w, struct assay_err *err);

#endif
