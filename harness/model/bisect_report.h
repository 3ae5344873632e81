/* SPDX-License-Identifier: Apache-2.0 */
/* What a search for the commit that changed a time found, and by which steps. */
#ifndef ASSAY_MODEL_BISECT_REPORT_H
#define ASSAY_MODEL_BISECT_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "model/case.h"
#include "model/verdict.h"

#define ASSAY_COMMIT_MAX  65
#define ASSAY_SUBJECT_MAX 160

enum assay_bisect_end {
	ASSAY_BISECT_FOUND,   /* one commit, and a comparison with what is before it agrees */
	ASSAY_BISECT_RANGE,   /* one of several: those before the last cannot be measured */
	ASSAY_BISECT_SAME,    /* good and bad were not shown to differ */
	ASSAY_BISECT_UNSURE,  /* the comparisons did not decide */
	ASSAY_BISECT_UNTAKEN, /* the bad side is wrong, or was not measured */
};

/* One comparison, or a commit that could not be compared. Numbers are NaN where they do not apply. */
struct assay_bisect_step {
	char base[ASSAY_COMMIT_MAX], commit[ASSAY_COMMIT_MAX];
	bool skipped;
	enum assay_verdict verdict; /* of a step that is not skipped */
	double ratio, ci_lo, ci_hi;
	int64_t comparison_id; /* 0: none was stored */
	char reason[512];
};

/* Release it. */
struct assay_bisect_report {
	char key[ASSAY_KEY_MAX];
	char good[ASSAY_COMMIT_MAX], bad[ASSAY_COMMIT_MAX];
	size_t n_commits; /* after the good one, up to the bad one */
	enum assay_bisect_end end;
	enum assay_exit exit;
	char reason[640];                                       /* why no commit is named; "": one is */
	char first[ASSAY_COMMIT_MAX], commit[ASSAY_COMMIT_MAX]; /* of a range; of one commit they are the same */
	char before[ASSAY_COMMIT_MAX];                          /* what the last comparison held it against */
	char subject[ASSAY_SUBJECT_MAX];
	double probability;         /* that it is there; NaN where nothing was searched */
	double ratio, ci_lo, ci_hi; /* commit over before */
	double whole_ratio, whole_ci_lo, whole_ci_hi;
	unsigned comparisons;
	struct assay_bisect_step *steps; /* malloc'ed */
	size_t n_steps;
};

void assay_bisect_report_release(struct assay_bisect_report *r);
/* "found", "range", "same", "unsure", "not measured". */
const char *assay_bisect_end_name(enum assay_bisect_end e);

#endif
