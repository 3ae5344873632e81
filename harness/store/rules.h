/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must be so of a row before it is stored: what the CHECKs of the schema say, for transactions of many results,
 * in which SQLite does not look at them (store/db.c). Inside of the store.
 */
#ifndef ASSAY_STORE_RULES_H
#define ASSAY_STORE_RULES_H

#include "model/result.h"

/* The rule that the result breaks, or its case or numbers: "ok_is_measured", "dropped_frac". NULL: none. */
const char *assay_store_broken_rule(const struct assay_result *r);
/* Likewise of a run without its results. */
const char *assay_store_broken_run_rule(const struct assay_run *run);

#endif
