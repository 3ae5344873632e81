/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and hardware counters of the GPU that a case runs on, in runs of their own after its last sample. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "counters/gpu/cupti_library.h"
#include "counters/gpu/counts.h"
#include "counters/provider.h"
#include "machine/nvml.h"

static const char *const events[] = {
	[ASSAY_GPU_KERNELS] = "gpu_kernels",
	[ASSAY_GPU_KERNEL_NS] = "gpu_kernel_ns",
	[ASSAY_GPU_OCCUPANCY] = "gpu_occupancy",
	[ASSAY_GPU_DRAM_READ] = "gpu_dram_read_bytes",
	[ASSAY_GPU_DRAM_WRITTEN] = "gpu_dram_written_bytes",
	[ASSAY_GPU_L2_HIT_RATE] = "gpu_l2_hit_rate",
	[ASSAY_N_GPU_COUNTS] = NULL,
};

/* Is there a GPU at all? Libraries may be there without one. */
static int find_gpu(struct assay_err *why)
{
	struct assay_nvml *n;
	int rc = assay_nvml_open(&n, why);

	if (!rc && !assay_nvml_count(n))
		rc = assay_err_set(why, ASSAY_EUNAVAILABLE, "this machine has no GPU");
	assay_nvml_close(n);
	return rc;
}

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	struct assay_cupti cupti;
	struct assay_err why = { 0 };

	(void)ctx;
	*out = (struct assay_counter_probe){ .works = !find_gpu(&why) && !assay_cupti_open(&cupti, &why) };
	if (!out->works) {
		snprintf(out->value, sizeof(out->value), "%.255s", why.text);
		snprintf(out->advice, sizeof(out->advice), "without it, kernels and counters of GPUs are unavailable");
	} else if (assay_cupti_has_ranges(&cupti, &why) || assay_cupti_is_forbidden("", geteuid() == 0, &why)) {
		snprintf(out->value, sizeof(out->value), "CUPTI %u counts kernels alone", cupti.version);
		snprintf(out->advice, sizeof(out->advice), "%.199s", why.text);
	} else {
		snprintf(out->value, sizeof(out->value), "CUPTI %u counts kernels, occupancy, DRAM and L2",
			 cupti.version);
	}
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	(void)set;
	if (!ctx->gpu)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, ASSAY_REASON_NO_GPU " of NVIDIA's");
	ctx->gpu->wanted = true;
	return 0;
}

static int total(const struct assay_counter_context *ctx, size_t event, double *value, bool *per_iteration,
		 struct assay_err *why)
{
	const struct assay_gpu_counted *v = &ctx->gpu->v[event];

	*per_iteration = event != ASSAY_GPU_OCCUPANCY && event != ASSAY_GPU_L2_HIT_RATE;
	*value = v->value;
	if (v->counted)
		return 0;
	return assay_err_set(why, ASSAY_EUNAVAILABLE, "%s", v->reason[0] ? v->reason : "no call was counted");
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; events[i]; i++)
		if (!strcmp(events[i], event))
			snprintf(buf, size, "%s", ctx->gpu->v[i].how);
}

const struct assay_counter_provider assay_provider_cupti = {
	.name = "cupti",
	.source = ASSAY_SOURCE_PMU,
	.shared = true,
	.events = events,
	.probe = probe,
	.open = open_set,
	.total = total,
	.how = how,
};
