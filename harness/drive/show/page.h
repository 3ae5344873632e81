/* SPDX-License-Identifier: Apache-2.0 */
/* One stored run or comparison with all that a page about it says: verdicts, the past of its cases, what to do next. */
#ifndef ASSAY_DRIVE_SHOW_PAGE_H
#define ASSAY_DRIVE_SHOW_PAGE_H

#include "base/text.h"
#include "drive/compare/compare.h"
#include "drive/show/results.h"
#include "model/bottleneck.h"
#include "model/gate_report.h"
#include "model/profile.h"

struct assay_page_request {
	const char *db;
	bool of_run; /* else of a comparison */
	int64_t id;
};

/* All-zero is empty. */
struct assay_result_page {
	bool of_run; /* else of a comparison */
	struct assay_run run;
	struct assay_stored_comparison comparison;
	bool judged; /* else the last note says why not */
	struct assay_gate_report gate;
	struct assay_strings notes;     /* warnings, such as that it did not finish */
	struct assay_text next, repeat; /* see struct assay_report_page */
	struct assay_case_point *past;  /* malloc'ed */
	size_t n_past;
	struct assay_bottleneck *bottlenecks; /* of a run; malloc'ed */
	size_t n_bottlenecks;
	struct assay_profile *profiles; /* of its cases and builds, the newest of each kind; malloc'ed */
	size_t n_profiles;
};

/*
 * Load and judge. ASSAY_ENOTFOUND where there is no such run or comparison. Release @out in either case.
 */
int assay_result_page(const struct assay_page_request *q, struct assay_result_page *out, struct assay_err *err);
void assay_result_page_release(struct assay_result_page *p);

/* ---- verdicts ---- */

/* The verdicts of a stored comparison, of all its cases or of some. */

/*
 * Judge the comparison @id (0: the newest) again and keep the cases that @only selects (a glob or a part of a key;
 * NULL: all); the verdict stays that of the whole. ASSAY_EUSAGE with the nearest key where there is none. Warns as
 * assay_compare_replay() does. Release @out in either case.
 */
int assay_stored_verdicts(const char *db, int64_t id, const char *only, const struct assay_watch *w,
			  struct assay_compare_outcome *out, struct assay_err *err);

#endif
