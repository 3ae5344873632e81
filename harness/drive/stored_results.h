/* SPDX-License-Identifier: Apache-2.0 */
/* What is stored, for commands that show it. */
#ifndef ASSAY_DRIVE_STORED_RESULTS_H
#define ASSAY_DRIVE_STORED_RESULTS_H

#include "model/comparison.h"
#include "model/history.h"
#include "model/verdict.h"

/* All stored runs, newest first. The caller frees *out. */
int assay_stored_runs(const char *db, struct assay_run_info **out, size_t *n, struct assay_err *err);
/*
 * The run @id (0: the newest) with the cases that @only selects (a glob or a part of a key; NULL: all). ASSAY_EUSAGE
 * with the nearest key where there is none. Release @out in either case.
 */
int assay_stored_run(const char *db, int64_t id, const char *only, struct assay_run *out, struct assay_err *err);

/* All stored comparisons, newest first. The caller frees *out. */
int assay_stored_comparisons(const char *db, struct assay_comparison_info **out, size_t *n, struct assay_err *err);

struct assay_stored_comparison {
	struct assay_comparison cmp;         /* with the cases that were selected */
	struct assay_case_reading *readings; /* one a case */
	char verdict[ASSAY_VERDICT_MAX];     /* "" unless finished */
};
/* The comparison @id (0: the newest). ASSAY_EUSAGE where @only selects no case. Release @out in either case. */
int assay_stored_comparison(const char *db, int64_t id, const char *only, struct assay_stored_comparison *out,
			    struct assay_err *err);
void assay_stored_comparison_release(struct assay_stored_comparison *c);

#endif
