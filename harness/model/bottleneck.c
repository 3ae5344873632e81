/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bottleneck.h"

const char *assay_bound_by_name(enum assay_bound_by b)
{
	static const char *const names[ASSAY_N_BOUND_BY] = {
		[ASSAY_BOUND_BY_UNKNOWN] = "unknown",     [ASSAY_BOUND_BY_MEMORY] = "memory",
		[ASSAY_BOUND_BY_COMPUTE] = "compute",     [ASSAY_BOUND_BY_LATENCY] = "latency",
		[ASSAY_BOUND_BY_OVERHEAD] = "overhead",   [ASSAY_BOUND_BY_ALLOCATION] = "allocation",
		[ASSAY_BOUND_BY_IMBALANCE] = "imbalance",
	};

	return names[b];
}
