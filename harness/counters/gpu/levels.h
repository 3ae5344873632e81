/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a GPU as seen between the samples of a case: clock, power, temperature, use. */
#ifndef ASSAY_COUNTERS_GPU_LEVELS_H
#define ASSAY_COUNTERS_GPU_LEVELS_H

#include "assay/plugin.h"

#include "machine/nvml.h"

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
