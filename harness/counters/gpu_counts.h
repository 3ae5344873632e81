/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CUPTI counts of calls on a GPU, each time in a run of its own: how long kernels take, and hardware counters over
 * a range that is the call. Knows no cases; the caller has no other work on the device meanwhile.
 */
#ifndef ASSAY_COUNTERS_GPU_COUNTS_H
#define ASSAY_COUNTERS_GPU_COUNTS_H

#include <stdbool.h>

enum assay_gpu_count {
	ASSAY_GPU_KERNELS,
	ASSAY_GPU_KERNEL_NS, /* sum over the kernels of a call */
	ASSAY_GPU_OCCUPANCY, /* warps that were active of those that fit, while a multiprocessor was active */
	ASSAY_GPU_DRAM_READ, /* bytes */
	ASSAY_GPU_DRAM_WRITTEN,
	ASSAY_GPU_L2_HIT_RATE, /* sectors that the second cache served */
	ASSAY_N_GPU_COUNTS,
};

struct assay_gpu_counted {
	bool counted; /* otherwise see reason */
	double value;
	char how[160];
	char reason[256]; /* "": nobody tried */
};

/* What became of the runs of a case. */
struct assay_gpu_case {
	bool wanted; /* an event of the case asks for it */
	struct assay_gpu_counted v[ASSAY_N_GPU_COUNTS];
};

/*
 * Call run(arg), which makes one call and waits for it, once for the kernels and as often as each counter has passes.
 * The device is that of the CUDA context of this thread. A run that does not return 0 ends it.
 */
void assay_gpu_counts_take(struct assay_gpu_case *c, int (*run)(void *arg), void *arg);

#endif
