/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings of a GPU: CUPTI's counts of calls, each time in a run of its own, and the state of the GPU between
 * samples. Knows no cases; the caller has no other work on the device meanwhile.
 */
#ifndef ASSAY_COUNTERS_GPU_COUNTS_H
#define ASSAY_COUNTERS_GPU_COUNTS_H

#include <stdbool.h>

#include "assay/plugin.h"
#include "machine/nvml.h"

enum assay_gpu_count {
	ASSAY_GPU_KERNELS,   /* of a call */
	ASSAY_GPU_KERNEL_NS, /* sum over the kernels of a call */
	ASSAY_GPU_OCCUPANCY, /* share of the warps that fit that were active, while a multiprocessor was; 0 … 1 */
	ASSAY_GPU_DRAM_READ, /* bytes of a call */
	ASSAY_GPU_DRAM_WRITTEN,
	ASSAY_GPU_L2_HIT_RATE, /* share of the sectors that the L2 served; 0 … 1 */
	ASSAY_N_GPU_COUNTS,
};

struct assay_gpu_counted {
	bool counted; /* otherwise see reason */
	double value;
	char how[160];    /* the tool, the metric and the calls that it took */
	char reason[256]; /* "": nobody tried */
};

/* The outcome of the runs of a case. */
struct assay_gpu_case {
	bool wanted; /* an event of the case asks for it */
	struct assay_gpu_counted v[ASSAY_N_GPU_COUNTS];
};

/*
 * Fill in the counts of @c, each with its value or its reason. run(arg) makes one call and waits for it: it is run once
 * for the kernels and once for each pass of each counter, on the device of this thread's CUDA context. Where it does
 * not return 0, counting ends.
 */
void assay_gpu_counts_take(struct assay_gpu_case *c, int (*run)(void *arg), void *arg);

/* ---- levels ---- */

/* A sum over looks, and how many of them had a value. */
struct assay_gpu_mean {
	double sum;
	uint64_t n;
};

/* All-zero: nobody looked. */
struct assay_gpu_levels {
	uint64_t looks, throttled; /* those at which a throttle reason was set */
	uint32_t reasons;          /* enum assay_device_throttle, of all looks */
	struct assay_gpu_mean busy, memory_busy, watts;
	double least_core_hz, most_celsius; /* 0: not told */
	uint64_t most_used_bytes;           /* by all processes; 0: not told */
};

void assay_gpu_levels_add(struct assay_gpu_levels *l, const struct assay_device_state *s,
			  const struct assay_nvml_use *u);

#endif
