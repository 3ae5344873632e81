/* SPDX-License-Identifier: Apache-2.0 */
/* Counting around a worker's samples. */
#ifndef ASSAY_WORKER_CASE_COUNTS_H
#define ASSAY_WORKER_CASE_COUNTS_H

#include "counters/counting.h"
#include "worker/case/job.h"

struct assay_case_counts {
	struct assay_counter_context ctx;
	struct assay_counting *counting; /* NULL: nothing is counted */
	struct assay_syscall_case syscalls;
	struct assay_gpu_case gpu;
};

/* Find providers for the events of the spec; the case is prepared. An event that cannot be counted is no failure. */
struct assay_outcome assay_case_counts_open(struct assay_case_counts *c, struct assay_case_job *j);
void assay_case_counts_close(struct assay_case_counts *c);
/*
 * If system calls are asked for, make one more run, traced. Not being able to trace it is not a failure; no sample
 * comes after it.
 */
struct assay_outcome assay_case_counts_trace(struct assay_case_counts *c, struct assay_case_job *j);
/* If CUPTI is asked for, make some more runs on the device. What cannot be counted is not a failure either. */
struct assay_outcome assay_case_counts_gpu(struct assay_case_counts *c, struct assay_case_job *j);
/* Put means and reasons into @r; @note, if it is not empty, is the reason of ASSAY_STATE_NAME. */
struct assay_outcome assay_case_counts_report(const struct assay_case_counts *c, const char *note,
					      struct assay_worker_reply *r);

#endif
