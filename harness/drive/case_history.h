/* SPDX-License-Identifier: Apache-2.0 */
/* The stored runs of the machine that measured last, case by case. */
#ifndef ASSAY_DRIVE_CASE_HISTORY_H
#define ASSAY_DRIVE_CASE_HISTORY_H

#include "model/history.h"

struct assay_store;

/* All-zero is closed. */
struct assay_history {
	const char *db; /* borrowed */
	struct assay_store *store;
	struct assay_run_info newest; /* run of the machine */
	struct assay_case *cases;     /* all that it measured */
	size_t n;
};

/* ASSAY_EUSAGE where no run is stored. Close in either case. */
int assay_history_open(struct assay_history *h, const char *db, struct assay_err *err);
void assay_history_close(struct assay_history *h);
/*
 * The case that is called @pattern, with its number of threads or with t=all, or the only one that it selects as a glob
 * or a part of the key. ASSAY_EUSAGE where there is none or more than one.
 */
int assay_history_find(const struct assay_history *h, const char *pattern, const struct assay_case **out,
		       struct assay_err *err);
/* The runs of a case in order of time. The caller frees *out. */
int assay_history_points(const struct assay_history *h, const struct assay_case *c, struct assay_trend_point **out,
			 size_t *n, struct assay_err *err);

#endif
