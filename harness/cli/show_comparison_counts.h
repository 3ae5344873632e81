/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was counted on the two sides of a case of a comparison, what was derived from it, and what could not be counted.
 */
#ifndef ASSAY_CLI_SHOW_COMPARISON_COUNTS_H
#define ASSAY_CLI_SHOW_COMPARISON_COUNTS_H

#include <jansson.h>

#include "base/text.h"
#include "model/comparison.h"
#include "reports/emit.h"

/*
 * Values are what the judge takes: the median over the pairs of a side; rung and means are those of the first pair that
 * has the count.
 */

/*
 * A row for each count, metric derived from counts, and reason; nothing where nothing was asked for. 0 or ASSAY_ENOMEM.
 */
int assay_show_counts(const struct assay_comparison_case *c, const struct assay_emit_style *style,
		      struct assay_text *out, struct assay_err *err);
/*
 * Add "metrics", "counters" and "unavailable" to @o, each {"base": {…}, "head": {…}} of what a case of a run has there.
 * 0 or ASSAY_ENOMEM.
 */
int assay_show_counts_json(const struct assay_comparison_case *c, json_t *o, struct assay_err *err);

#endif
