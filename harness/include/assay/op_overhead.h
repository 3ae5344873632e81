/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What variants of the overhead ops may rely on. These ops measure what threads cost before they do any work; with one
 * thread they show what is left of that.
 *
 * overhead.dispatch       run ASSAY_OVERHEAD_ROUNDS parallel regions; a thread counts those it took part in
 * overhead.barrier        one region with ASSAY_OVERHEAD_ROUNDS barriers; after each, a thread counts it if the next
 *                         thread had arrived
 * overhead.false_sharing  each thread adds 1 to its counter in memory, `adds` times; the counters lie on
 *                         cache lines of their own, or as close as they fit
 *
 * count is I64 [threads][8], a cache line a thread. The counter of thread t is word 8·t, and word t where lines are
 * shared; all others are 0.
 */
#ifndef ASSAY_OP_OVERHEAD_H
#define ASSAY_OP_OVERHEAD_H

#include "plugin.h"

enum { ASSAY_OVERHEAD_COUNT = 0 }; /* index into assay_job.tensors */

/* Axes of overhead.false_sharing: indices into assay_shape.axis, and values of the lines. The second is of work. */
enum { ASSAY_OVERHEAD_LINES = 0, ASSAY_OVERHEAD_WORK = 1 };
enum { ASSAY_LINES_OWN = 0, ASSAY_LINES_SHARED = 1 };

#define ASSAY_OVERHEAD_ROUNDS 256
#define ASSAY_OVERHEAD_ADDS   65536 /* where the shape names none */
#define ASSAY_OVERHEAD_WORDS  8     /* of a cache line */

static inline int64_t assay_overhead_adds(const struct assay_shape *shape)
{
	return shape->axis[ASSAY_OVERHEAD_WORK] ? shape->axis[ASSAY_OVERHEAD_WORK] : ASSAY_OVERHEAD_ADDS;
}

#endif
