/* SPDX-License-Identifier: Apache-2.0 */
/* Adds what another database holds. Rows are recognised by their contents, never by their numbers. */
#ifndef ASSAY_STORE_MERGE_H
#define ASSAY_STORE_MERGE_H

#include "store/store.h"

/* What was done, and what could not be. */
struct assay_store_merged {
	size_t runs, results, comparisons, counts, certifications, profiles, baselines; /* that were added */
	size_t completed;           /* runs and comparisons that were there unfinished, and are whole now */
	size_t known;               /* all of these but results and baselines that were there */
	struct assay_strings notes; /* a line each: baselines that changed, or could not be taken */
};
void assay_store_merged_release(struct assay_store_merged *m);

/*
 * Add what @from holds to @to, in one transaction of @to; @from only reads. Rows are copied as they are. A run that is
 * there is not added again; one that is there unfinished, and in @from has more results, is replaced by that. A
 * baseline of the same name, suite and machine gets the runs of both; one of another stays, which a note says.
 * ASSAY_ESTORE when a key stands for different cases, ASSAY_EINTERRUPTED. On error @to is as before. @m is added to.
 */
int assay_store_merge(struct assay_store *to, struct assay_store *from, struct assay_store_merged *m,
		      struct assay_err *err);

#endif
