/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a line of the run table: the shape of a case, and the metrics that its op publishes. */
#ifndef ASSAY_REPORTS_RUN_CELLS_H
#define ASSAY_REPORTS_RUN_CELLS_H

#include "reports/emit.h"

/*
 * "m=2560,n=1": of the axes of @c those on which the cases of its op in @run differ, or with @common those that are the
 * same in all of them and so need to be said only once.
 */
void assay_run_cells_shape(const struct assay_run *run, const struct assay_case *c, bool common, char *buf,
			   size_t size);

/* @m says again what the op's own count of the same items says: items_per_s beside tokens_per_s. */
bool assay_run_cells_repeats(const struct assay_result *r, const struct assay_metric *m);

/* "ttft 1.80 ms · tpot p50 71.1 µs, p95 100 µs · …": the op's own metrics, with style->verbose also the harness's. */
void assay_run_cells_metrics(const struct assay_result *r, const struct assay_emit_style *style,
			     struct assay_text *out);

#endif
