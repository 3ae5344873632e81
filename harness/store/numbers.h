/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics, counts and missing ones of a result: their names in a table, their values in a blob. Inside of the store. */
#ifndef ASSAY_STORE_NUMBERS_H
#define ASSAY_STORE_NUMBERS_H

#include "model/result.h"
#include "store/db.h"

/* Names that were looked up, by themselves and by their id; all-zero knows none. */
struct assay_store_names;
void assay_store_names_forget(struct assay_store *s);

/* Add those of @r to the result number @id; inside a transaction. ASSAY_ESTORE where a name stands twice. */
int assay_store_put_result_numbers(struct assay_store *s, int64_t id, const struct assay_result *r,
				   struct assay_err *err);
/* Read the numbers in @blob into @r, which has none yet. */
int assay_store_read_numbers(struct assay_store *s, const void *blob, size_t len, struct assay_result *r,
			     struct assay_err *err);

#endif
