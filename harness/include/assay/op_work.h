/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What variants of the matmul, quantize and dequantize ops publish with assay_counter(), once in each run(). A variant
 * that publishes nothing reads 0.
 */
#ifndef ASSAY_OP_WORK_H
#define ASSAY_OP_WORK_H

#include "plugin.h"

/* Indices into assay_job.counters. */
enum {
	/* Operations of the call that were done on the CPU, counted as assay_cost.ops counts them. */
	ASSAY_WORK_CPU_OPS,
	/*
	 * 1 for a call of which the shape or the alignment did not fit the variant's own way, so that all of it or a
	 * thread's share went to another variant, to a plain loop, or to plain stores where the output should have
	 * been stored around the caches. What is left over at the end of a vector loop is not a fallback.
	 */
	ASSAY_WORK_FALLBACKS,
	ASSAY_WORK_N_COUNTERS,
};

#endif
