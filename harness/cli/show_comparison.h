/* SPDX-License-Identifier: Apache-2.0 */
/* assay show comparisons: the list of stored comparisons, one of them, or a case of it pair by pair. */
#ifndef ASSAY_CLI_SHOW_COMPARISON_H
#define ASSAY_CLI_SHOW_COMPARISON_H

#include "cli/cli_options.h"
#include "store/store_comparison.h"

/* Newest first. */
int assay_show_comparisons(struct assay_store *store, bool json, struct assay_text *out, struct assay_err *err);

/*
 * One comparison, @id 0 the newest: a row for each case; with @only, a glob over keys, the pairs of the cases it
 * selects; with @samples the blocks of each pair, too. JSON always has the pairs. ASSAY_ENOTFOUND; ASSAY_EUSAGE when no
 * case matches.
 */
int assay_show_comparison(struct assay_store *store, int64_t id, const char *only, bool samples, bool json,
			  struct assay_text *out, struct assay_err *err);

#endif
