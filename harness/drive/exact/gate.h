/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts in `assay gate` and `assay baseline`: the stored counts against the committed file. */
#ifndef ASSAY_DRIVE_EXACT_GATE_H
#define ASSAY_DRIVE_EXACT_GATE_H

#include <stdint.h>

#include "drive/gate/request.h"
#include "drive/watch.h"
#include "judge/policy.h"
#include "model/exact.h"
#include "model/gate_report.h"
#include "store/store.h"

/* Judge stored counts by themselves. */
int assay_exact_gate_alone(struct assay_store *store, const struct assay_gate_request *q,
			   struct assay_gate_report *report, struct assay_err *err);
/*
 * Add the counts beside a timed run to its report. Where none are recorded for this build, nothing is added and a
 * warning says how to record them.
 */
int assay_exact_gate_beside(const struct assay_exact_run *run, const struct assay_policy *policy,
			    const struct assay_gate_request *q, const struct assay_watch *w,
			    struct assay_gate_report *report, struct assay_err *err);
/*
 * A run without counts: warn when the file has some of its cases, so that what is not judged is not taken for judged.
 */
int assay_exact_gate_none(const struct assay_run *run, const struct assay_gate_request *q, const struct assay_watch *w,
			  struct assay_err *err);
/*
 * Record the newest counts, or those beside q->run_id, in the file. *path (@size bytes) gets its name, *n the number of
 * cases recorded, *kept that of others that stay in it, none with @prune.
 */
int assay_exact_baseline_update(struct assay_store *store, const struct assay_gate_request *q, bool prune, char *path,
				size_t size, size_t *n, size_t *kept, struct assay_err *err);

#endif
