/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A case of N threads uses N: the processor time of the worker's process is compared with that of its pool's threads. A
 * kernel that quietly uses further CPUs would pass for a faster one, and one that works while its partner is timed
 * slows the partner down. Only processor times are compared, so a busy machine cannot fail an honest kernel.
 */
#ifndef ASSAY_WORKER_CASE_PROCESSOR_TIME_H
#define ASSAY_WORKER_CASE_PROCESSOR_TIME_H

#include "worker/case/state.h"

/* Before the first sample of a series; both run the pool, so the partner must not be measuring. */
void assay_processor_time_begin(struct assay_case_job *j);
/* After the last one: FAILED, with the thread's name, if the case's process has used more than its threads can. */
struct assay_outcome assay_processor_time_end(struct assay_case_job *j);

/* While this side waits for its turn. */
void assay_processor_time_leave(struct assay_case_job *j);
void assay_processor_time_return(struct assay_case_job *j);

#endif
