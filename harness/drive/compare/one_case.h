/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer of a comparison of two revisions about one case: for history, which confirms changes, and bisect.
 */
#ifndef ASSAY_DRIVE_COMPARE_ONE_CASE_H
#define ASSAY_DRIVE_COMPARE_ONE_CASE_H

#include "drive/compare/plan.h"
#include "model/gate_report.h"

struct assay_case_answer {
	char key[ASSAY_KEY_MAX];
	enum assay_verdict verdict; /* of what is wrong or not measured that, else of its time */
	char reason[512];
	double ratio, ci_lo, ci_hi; /* head over base; NaN where no time was taken, because the code is the same */
	bool is_new;                /* the base lacks it */
	int64_t comparison_id;      /* where it is stored */
};

/*
 * Compare as @q says, of which `what->only` does not count, the case that is called @key, or the only one that it
 * selects as a glob or a part of its key. Errors as assay_compare_measure(); ASSAY_EUSAGE where more than one case is
 * selected.
 */
int assay_compare_case(const struct assay_compare_request *q, const char *key, const struct assay_watch *w,
		       struct assay_case_answer *out, struct assay_err *err);

/* "+4.9 % (+4.6 to +5.2 %)", or the reason where there is no interval, such as that the code is the same. */
void assay_case_answer_text(const struct assay_case_answer *a, char *buf, size_t size);

#endif
