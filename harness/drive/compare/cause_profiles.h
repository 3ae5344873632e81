/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of the cases that a comparison found to have changed, so that its report says which function did. */
#ifndef ASSAY_DRIVE_COMPARE_CAUSE_PROFILES_H
#define ASSAY_DRIVE_COMPARE_CAUSE_PROFILES_H

#include "base/text.h"
#include "drive/compare/plan.h"
#include "model/comparison.h"
#include "model/exact.h"
#include "model/gate_report.h"
#include "model/profile.h"
#include "store/store.h"
#include "worker/plugin/code_hash.h"

#define ASSAY_BECAUSE_FOR_NS 4000000000u

struct assay_because_keeping {
	struct assay_store *store;
	const int64_t *case_ids; /* of the cases of the plan, there */
	bool shared;             /* other work runs on the cores: profiling takes longer than it does on idle ones */
};

/*
 * Collect evidence for the cases of @plan that q->profile asks for, by @r, and fill in `because` there. Whatever
 * prevents profiling is recorded there and is not an error. ASSAY_EINTERRUPTED leaves the rest as it is.
 */
int assay_profile_because(struct assay_compare_plan *plan, const struct assay_compare_request *q,
			  const struct assay_watch *w, const struct assay_because_keeping *keep,
			  struct assay_gate_report *r, struct assay_err *err);

/* ---- cause evidence ---- */

/* Evidence about which function changed: profiles of process pairs, machine code, and exact counts. */

/* The functions of the plugins of a side. */
struct assay_side_codes {
	struct {
		char object[128]; /* file name */
		struct assay_function_codes codes;
	} * v;
	size_t n;
};
/* Plugins without symbols have none; ASSAY_ENOMEM. Release @c in either case. */
int assay_side_codes_read(struct assay_side_codes *c, const struct assay_strings *plugins, struct assay_err *err);
void assay_side_codes_release(struct assay_side_codes *c);

/* Add a process pair: the samples of @side[i] in timed iterations. @codes are of the same sides. */
int assay_because_add_pair(struct assay_because_evidence *e, const struct assay_profile side[2], const double ns[2],
			   const struct assay_side_codes codes[2], struct assay_err *err);
/* Exact counts of the same case on both sides, where they were taken. */
void assay_because_add_counts(struct assay_because_evidence *e, const struct assay_exact_run exact[2], const char *key);

#endif
