/* SPDX-License-Identifier: Apache-2.0 */
/* The harness's own metrics and the check of ranges. */
#include "model/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* An iteration below a picosecond is a broken clock, not a fast kernel. */
#define TIME_MIN_S 1e-12

/* Of a limit. */
#define EXCEEDED_FRAC 1.05

const struct assay_metric_info assay_metrics[] = {
	{ "time_s", "s", "time per call, median of the samples", -1, TIME_MIN_S, INFINITY },
	{ "ops_per_s", "op/s", "arithmetic operations per second", +1, 0, INFINITY },
	{ "bytes_per_s", "B/s", "compulsory bytes read and written per second", +1, 0, INFINITY },
	{ "items_per_s", "1/s", "items of the op per second: elements, tokens", +1, 0, INFINITY },
	{ "tokens_per_ms", "tok/ms", "tokens_per_s of an op that has it, per millisecond", +1, 0, INFINITY },
	{ "arith_intensity", "op/B", "arithmetic operations per compulsory byte", 0, 0, INFINITY },
	/* The limit is a measurement, too: a good kernel may end a little above it. See assay_result_above_limit(). */
	{ "roof_frac", "1", "share of the measured limit (bandwidth or arithmetic peak) of this machine", +1, 0,
	  INFINITY },
	{ "parallel_efficiency", "1", "work per second against that many times what one thread does in the same run",
	  +1, 0, INFINITY },
	{ "rss_peak_bytes", "B", "peak resident set of the worker", -1, 0, INFINITY },
	{ "op_bytes", "B", "memory the op allocated, all copies of its tensors", 0, 0, INFINITY },
	{ "rotated_bytes", "B", "bytes that a cold case reads before it returns to the same copy of its inputs", 0, 0,
	  INFINITY },
	{ "prepare_s", "s", "time the variant took to prepare, all copies", -1, 0, INFINITY },
	{ "prepare_bytes", "B", "memory the variant took to prepare, all copies", -1, 0, INFINITY },
	{ "machine_used_bytes", "B", "memory in use on the machine or in its container after the last sample", 0, 0,
	  INFINITY },
	{ "machine_total_bytes", "B", "memory of the machine or its container", 0, 0, INFINITY },
	{ "machine_busy_frac", "1", "share of the time of all CPUs that was busy while the case was sampled", 0, 0, 1 },
	/* Of cases on a device, see worker/case/device.h. Memory is in use by everybody who uses the device. */
	{ "device_total_bytes", "B", "memory of the device", 0, 0, INFINITY },
	{ "device_used_before_bytes", "B", "memory of the device in use before the case", 0, 0, INFINITY },
	{ "device_used_bytes", "B", "memory of the device in use with the prepared case", 0, 0, INFINITY },
	{ "device_used_after_bytes", "B", "memory of the device in use when the variant gave back what it prepared", 0,
	  0, INFINITY },
	{ "device_made_bytes", "B", "inputs that were made on the device, not uploaded", 0, 0, INFINITY },
	{ "device_peak_bytes", "B", "most memory of the device that the case was seen to take", -1, 0, INFINITY },
	{ "device_leaked_bytes", "B", "memory of the device that the variant did not give back", -1, 0, INFINITY },
	{ "device_launch_s", "s", "time to launch a kernel that does nothing and to wait for it", -1, 0, INFINITY },
	{ "device_clock_hz", "Hz", "lowest clock of the device that was seen between samples", 0, 0, INFINITY },
	{ "device_in_bytes", "B", "inputs that a call copies to the device: those that vary, else all", 0, 0,
	  INFINITY },
	{ "device_out_bytes", "B", "outputs that a call brings back from the device", 0, 0, INFINITY },
	{ "device_in_bytes_per_s", "B/s", "rate of copying them to the device from pageable memory", +1, 0, INFINITY },
	{ "device_out_bytes_per_s", "B/s", "rate of copying them back to pageable memory", +1, 0, INFINITY },
	{ "device_in_pinned_bytes_per_s", "B/s", "rate of copying them to the device from pinned memory", +1, 0,
	  INFINITY },
	{ "device_out_pinned_bytes_per_s", "B/s", "rate of copying them back to pinned memory", +1, 0, INFINITY },
	{ "device_end_to_end_s", "s", "time per call with its copies, by the fastest kind of memory", -1, 0, INFINITY },
	/* Of one run on a simulated processor, see model/exact.h. */
	{ "exact_instructions", "1", "instructions", -1, 0, INFINITY },
	{ "exact_data_reads", "1", "instructions that read memory", -1, 0, INFINITY },
	{ "exact_data_writes", "1", "instructions that write memory", -1, 0, INFINITY },
	{ "exact_i1_misses", "1", "misses of the level-1 instruction cache", -1, 0, INFINITY },
	{ "exact_d1_misses", "1", "misses of the level-1 data cache", -1, 0, INFINITY },
	{ "exact_ll_misses", "1", "misses of the last-level cache", -1, 0, INFINITY },
	{ "exact_branches", "1", "branches", -1, 0, INFINITY },
	{ "exact_mispredictions", "1", "mispredicted branches", -1, 0, INFINITY },
	{ "exact_d1_hit_rate", "1", "share of data accesses that hit the level-1 cache", +1, 0, 1 },
	{ "exact_ll_hit_rate", "1", "share of data accesses that do not go to memory", +1, 0, 1 },
	{ "exact_branch_hit_rate", "1", "share of branches that were predicted", +1, 0, 1 },
	{ "exact_imbalance", "1", "instructions of the busiest thread over their mean", -1, 1, INFINITY },
};
const size_t assay_n_metrics = sizeof(assay_metrics) / sizeof(assay_metrics[0]);

const struct assay_metric_info *assay_metric_find(const char *tag)
{
	for (size_t i = 0; i < assay_n_metrics; i++)
		if (!strcmp(assay_metrics[i].tag, tag))
			return &assay_metrics[i];
	return NULL;
}

int assay_metric_check(const char *tag, double value, double lo, double hi, struct assay_err *err)
{
	char allowed[64];

	if (isfinite(value) && value >= lo && value <= hi)
		return 0;

	if (isinf(lo) && isinf(hi))
		snprintf(allowed, sizeof(allowed), "any finite number");
	else if (isinf(hi))
		snprintf(allowed, sizeof(allowed), "%.12g or more", lo);
	else if (isinf(lo))
		snprintf(allowed, sizeof(allowed), "%.12g or less", hi);
	else
		snprintf(allowed, sizeof(allowed), "%.12g to %.12g", lo, hi);
	/* The sign of a NaN means nothing, yet printf shows it. */
	if (isnan(value))
		value = NAN;
	return assay_err_set(err, ASSAY_ELIMIT, "metric '%s' is %.12g, allowed %s", tag, value, allowed);
}

bool assay_limit_exceeded(double share)
{
	return share > EXCEEDED_FRAC;
}

const char *assay_limit_mark(double share)
{
	return assay_limit_exceeded(share) ? " wrong" : "";
}
