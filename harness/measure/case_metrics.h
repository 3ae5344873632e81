/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics and counts of a case, in a run and on each side of a pair alike: what the worker reported and what follows
 * from the samples. What needs other cases of the same run is computed in measure/finish.c.
 */
#ifndef ASSAY_MEASURE_CASE_METRICS_H
#define ASSAY_MEASURE_CASE_METRICS_H

#include "counters/groups.h"
#include "model/catalog.h"
#include "model/result.h"
#include "worker/protocol.h"

/* A worker that has answered ASSAY_CMD_REPORT, and what its numbers are read with. */
struct assay_case_report {
	const struct assay_worker_reply *reply;
	const struct assay_catalog_op *op;
	const struct assay_cost *cost;
	double rotated_bytes;                      /* 0: the case is warm */
	const struct assay_counter_choice *choice; /* what was counted */
	const char *pace_untold; /* why nothing can be said of the pace of the cores; NULL: it was tried */
	bool twice; /* it had two copies of everything where a run has one; its memory is reported as that of a run */
	double busy_frac; /* of the machine's CPUs while it was sampled; 0: unknown */
};

/*
 * Add all metrics and counts of one case to @r, whose samples are summed up (assay_summary_fill). If there are no
 * samples, only what making and checking the case took. 0; 1, with status and reason in @r, if a value is out of its
 * range; negative: ASSAY_ENOMEM.
 */
int assay_case_metrics(const struct assay_case_report *from, struct assay_result *r, struct assay_err *err);

/* Record where the threads of @r ran, as the worker read it back. ASSAY_ENOMEM. */
int assay_case_cpus(const struct assay_worker_reply *reply, struct assay_result *r, struct assay_err *err);

/*
 * These compute what follows from the samples alone, so call them again whenever the samples change; each replaces what
 * an earlier call recorded.
 */

/* The time of a call, and operations, bytes and items a second by @cost; returns as assay_case_metrics(). */
int assay_time_metrics(struct assay_result *r, const struct assay_cost *cost, struct assay_err *err);
/*
 * Count the samples that were disturbed, by each kind that this host shows. The other kinds are unavailable with the
 * reason, and so are samples of slow cores if @r says that already. 0 or ASSAY_ENOMEM.
 */
int assay_disturbance_counts(struct assay_result *r, struct assay_err *err);

#endif
