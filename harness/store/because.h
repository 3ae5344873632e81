/* SPDX-License-Identifier: Apache-2.0 */
/* Why cases of a comparison changed, in the store. The same handle, errors and promises as store.h. */
#ifndef ASSAY_STORE_BECAUSE_H
#define ASSAY_STORE_BECAUSE_H

#include "model/comparison.h"
#include "store/store.h"

/*
 * Keep @e as that of the case @case_id, in one transaction. ASSAY_ESTORE where it has one already, ASSAY_ENOTFOUND
 * where there is no such case.
 */
int assay_store_because_add(struct assay_store *s, int64_t case_id, const struct assay_because_evidence *e,
			    struct assay_err *err);
/* That of the case @case_id as a new one; NULL: it has none. ASSAY_ESTORE where it is not what was stored. */
int assay_store_because_load(struct assay_store *s, int64_t case_id, struct assay_because_evidence **out,
			     struct assay_err *err);

#endif
