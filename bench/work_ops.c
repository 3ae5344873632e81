/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the counters of work. */
#include "work_ops.h"

const char *const assay_work_counters[ASSAY_WORK_N_COUNTERS] = {
	[ASSAY_WORK_CPU_OPS] = "cpu_ops",
	[ASSAY_WORK_FALLBACKS] = "fallbacks",
};
