/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts in the store. */
#ifndef ASSAY_STORE_EXACT_H
#define ASSAY_STORE_EXACT_H

#include "model/comparison.h"
#include "model/exact.h"
#include "store/store.h"

/*
 * Keep @run in one transaction and set run->id. ASSAY_ESTORE when it contradicts itself: a case twice, one that is not
 * ok without a reason, a timed run (run->run_id) that has counts already.
 */
int assay_store_exact_add(struct assay_store *s, struct assay_exact_run *run, struct assay_err *err);
/*
 * Keep the counts of both sides (by enum assay_side) of the open comparison that their comparison_id names, in one
 * transaction, and set their ids. ASSAY_ESTORE as above, and when it has ended or has counts already.
 */
int assay_store_exact_add_sides(struct assay_store *s, struct assay_exact_run run[2], struct assay_err *err);
/*
 * The newest of @suite, whether beside a timed run or alone, but not of a comparison. ASSAY_ENOTFOUND when there is
 * none. Release @out with assay_exact_run_release; it is untouched on error.
 */
int assay_store_exact_newest(struct assay_store *s, const char *suite, struct assay_exact_run *out,
			     struct assay_err *err);
/* Set @suite (@size bytes) to that of the newest that were taken without a timed run; "" where there are none. */
int assay_store_exact_suite_alone(struct assay_store *s, char *suite, size_t size, struct assay_err *err);
/* The counts that belong to the timed run @run_id; ASSAY_ENOTFOUND when it has none. */
int assay_store_exact_of_run(struct assay_store *s, int64_t run_id, struct assay_exact_run *out, struct assay_err *err);
/* The counts with this @id. */
int assay_store_exact_load(struct assay_store *s, int64_t id, struct assay_exact_run *out, struct assay_err *err);
/* The ids of all that counted the case @key, beside a timed run or alone, oldest first. The caller frees *ids. */
int assay_store_exact_of_case(struct assay_store *s, const char *key, int64_t **ids, size_t *n, struct assay_err *err);
/* The counts of one side of a comparison; ASSAY_ENOTFOUND when it has none. */
int assay_store_exact_of_side(struct assay_store *s, int64_t comparison_id, enum assay_side side,
			      struct assay_exact_run *out, struct assay_err *err);

#endif
