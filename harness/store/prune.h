/* SPDX-License-Identifier: Apache-2.0 */
/* Removes runs from the database. */
#ifndef ASSAY_STORE_PRUNE_H
#define ASSAY_STORE_PRUNE_H

#include "store/store.h"

struct assay_store_pruned {
	size_t runs, results, comparisons; /* that went */
	uint64_t before_bytes, after_bytes;
};

/*
 * Remove the @n runs @ids with all that belongs to them, and comparisons that began before @older_ns and did not end
 * (0: none), in one transaction. Then the file is made smaller. ASSAY_ESTORE, and nothing is removed, when a baseline
 * holds one of the runs. With @dry nothing changes; after_bytes is then what the share of results that stay makes
 * likely.
 */
int assay_store_prune(struct assay_store *s, const int64_t *ids, size_t n, uint64_t older_ns, bool dry,
		      struct assay_store_pruned *out, struct assay_err *err);

#endif
