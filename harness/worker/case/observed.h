/* SPDX-License-Identifier: Apache-2.0 */
/* The histograms of a case inside its worker. */
#ifndef ASSAY_WORKER_CASE_OBSERVED_H
#define ASSAY_WORKER_CASE_OBSERVED_H

#include "worker/case/state.h"

/* Room for what the op of @j declares. 0 or ASSAY_ENOMEM; release in either case. */
int assay_case_observed_init(struct assay_case_job *j);
void assay_case_observed_release(struct assay_case_job *j);
/* See assay_observe() in plugin.h. Callable from any thread, and from a signal handler. */
void assay_case_observe(struct assay_case_job *j, uint32_t metric, double value);
/* Do values that are observed from here on count? Not while calls are under way. */
void assay_case_observed_count(struct assay_case_job *j, bool counts);
/* FAILED where a value was refused. */
struct assay_outcome assay_case_observed_check(const struct assay_case_job *j);
/* Write those that have values to @out, which has room for ASSAY_MAX_HISTOGRAMS; returns how many. */
uint32_t assay_case_observed_take(const struct assay_case_job *j, struct assay_page_histogram *out);

#endif
