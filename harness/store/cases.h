/* SPDX-License-Identifier: Apache-2.0 */
/* Cases and series, found again within a transaction without asking the database. Inside of the store. */
#ifndef ASSAY_STORE_CASES_H
#define ASSAY_STORE_CASES_H

#include "model/case.h"
#include "store/db.h"

/* A stored case: what it was when it was stored first. */
struct assay_store_case {
	int64_t id;
	struct assay_axis_value *axes;
	unsigned n_axes;
};

/* Those of this transaction; all-zero knows none. */
struct assay_store_cases;
void assay_store_cases_forget(struct assay_store *s);
/* The run at hand has ended. */
void assay_store_cases_forget_run(struct assay_store *s);

/* Add the row unless it is there; inside a transaction. @out is the store's and lasts until the next call. */
int assay_store_put_case(struct assay_store *s, const struct assay_case *c, const struct assay_store_case **out,
			 struct assay_err *err);
/*
 * The series of case @c, which assay_store_put_case() gave and whose key is @key, on the machine of the run; inside the
 * same transaction. ASSAY_ENOTFOUND where there is no such run, ASSAY_ESTORE where it has ended.
 */
int assay_store_put_series(struct assay_store *s, const char *key, const struct assay_store_case *c, int64_t run_id,
			   int64_t *series, struct assay_err *err);

#endif
