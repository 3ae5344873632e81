/* SPDX-License-Identifier: Apache-2.0 */
/* Adds what another database holds. Rows are recognised by their contents, never by their numbers. */
#ifndef ASSAY_STORE_MERGE_H
#define ASSAY_STORE_MERGE_H

#include "store/store.h"

/* Counts of what was merged and of what could not be. */
struct assay_store_merged {
	size_t runs, results, comparisons, counts, profiles, baselines; /* that were added */
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

/* ---- prune ---- */

/* Removes runs from the database. */

struct assay_store_pruned {
	size_t runs, results, comparisons; /* that went */
	uint64_t before_bytes, after_bytes;
};

struct assay_store_prune_rule {
	const int64_t *ids; /* of the runs that go, with all that belongs to them */
	size_t n;
	uint64_t older_ns; /* comparisons that began before and did not end go, too; 0: none */
	bool dry;          /* nothing changes */
};

/*
 * Remove what @rule says in one transaction. Then the file is made smaller. ASSAY_ESTORE, and nothing is removed, when
 * a baseline holds one of the runs. With @rule->dry, after_bytes is what the share of results that stay makes likely.
 */
int assay_store_prune(struct assay_store *s, const struct assay_store_prune_rule *rule, struct assay_store_pruned *out,
		      struct assay_err *err);

#endif
