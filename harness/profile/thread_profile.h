/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of threads from what their processes wrote: stacks, waits and the timeline. */
#ifndef ASSAY_PROFILE_THREAD_PROFILE_H
#define ASSAY_PROFILE_THREAD_PROFILE_H

#include "model/profile.h"
#include "model/trace.h"
#include "profile/thread_logs.h"

/* Fill @into from @l: its kind, unit, threads, stacks, waits and timeline. */
int assay_thread_profile_make(const struct assay_thread_logs *l, struct assay_profile *into, struct assay_err *err);

/* ---- span trace ---- */

/* A trace from what processes wrote of their threads, with what the harness did meanwhile. */

/* The span of a timed sample, outermost on each thread of a case. */
#define ASSAY_SPAN_SAMPLE "sample"
/* The outermost of a program's thread. */
#define ASSAY_SPAN_RUNNING "running"

/*
 * Add all threads, spans and counts of @l to @t, whose tracks so far are the harness's, nest it and find its critical
 * path: that of the timed samples of a case, or of the first thread of a program.
 */
int assay_span_trace_make(const struct assay_thread_logs *l, bool is_case, struct assay_trace *t,
			  struct assay_err *err);
/*
 * Fill @into from @t: its kind, unit, and the stacks of spans by thread, then those of the critical path, with the time
 * that each span took without those within it.
 */
int assay_span_trace_profile(const struct assay_trace *t, struct assay_profile *into, struct assay_err *err);

#endif
