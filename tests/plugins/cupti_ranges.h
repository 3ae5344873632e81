/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of the CUPTI that cupti_standin.c stands for, and the CUDA context that they need. It knows one chip and four
 * metrics; each function is refused out of its order, so that a caller who leaves a step out gets no value.
 * CUPTI_STANDIN=forbidden: no counter may be seen; =late: that is told when a pass starts; =lacks: the chip has no
 * metric of its second cache, and new names for DRAM; =endless: no pass is ever the last.
 */
#ifndef TESTS_PLUGINS_CUPTI_RANGES_H
#define TESTS_PLUGINS_CUPTI_RANGES_H

enum { BAD_ORDER = 7, BAD_SIZE = 10, NO_METRIC = 17 };

static char the_context, the_host, the_range;

EXPORT int cuCtxGetCurrent(void **context);
EXPORT int cuCtxGetDevice(int *device);

int cuCtxGetCurrent(void **context)
{
	*context = is("no-context") ? NULL : &the_context;
	return 0;
}

int cuCtxGetDevice(int *device)
{
	*device = 0;
	return 0;
}

static const struct {
	const char *name, *other; /* as a newer chip calls it; NULL: that has none */
	double value;
	unsigned passes;
} metrics[] = {
	{ "sm__warps_active.avg.pct_of_peak_sustained_active", "sm__warps_active.avg.pct_of_peak_sustained_active",
	  62.5, 1 },
	{ "dram__bytes_read.sum", "dram__bytes_op_read.sum", 1048576, 2 },
	{ "dram__bytes_write.sum", "dram__bytes_op_write.sum", 4096, 3 },
	{ "lts__t_sector_hit_rate.pct", NULL, 87.5, 1 },
};

static struct {
	bool ready, configured, image_ready, started, pushed, popped, decoded;
	size_t metric, range_metric;
	unsigned runs;
} now;

/* The number of a metric; that of none is beyond them. */
static size_t metric_of(const char *name)
{
	size_t i = 0;

	for (; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		const char *known = is("lacks") ? metrics[i].other : metrics[i].name;

		if (known && !strcmp(known, name))
			break;
	}
	return i;
}

static bool known(size_t metric)
{
	return metric < sizeof(metrics) / sizeof(metrics[0]);
}

#define FUNCTION(name, type, last, allowed)                                                                            \
	EXPORT int name(struct type *p);                                                                               \
	static int do_##name(struct type *p);                                                                          \
	int name(struct type *p)                                                                                       \
	{                                                                                                              \
		if (p->size != CUPTI_SIZE(type, last) || p->priv)                                                      \
			return BAD_SIZE;                                                                               \
		return (allowed) ? do_##name(p) : BAD_ORDER;                                                           \
	}                                                                                                              \
	static int do_##name(struct type *p)

FUNCTION(cuptiProfilerInitialize, cupti_init, priv, true)
{
	(void)p;
	now.ready = true;
	return CUPTI_OK;
}

FUNCTION(cuptiDeviceGetChipName, cupti_chip, name, p->device == 0)
{
	p->name = "gh100";
	return CUPTI_OK;
}

FUNCTION(cuptiProfilerGetCounterAvailability, cupti_availability, image, now.ready && p->context == &the_context)
{
	if (is("forbidden"))
		return CUPTI_NOT_PERMITTED;
	if (is("vgpu"))
		return CUPTI_VGPU_NOT_PERMITTED;
	if (p->image)
		memset(p->image, 0x5a, p->bytes);
	else
		p->bytes = 32;
	return CUPTI_OK;
}

FUNCTION(cuptiProfilerHostInitialize, cupti_host, host,
	 p->type == CUPTI_TYPE_RANGE && !strcmp(p->chip, "gh100") && p->availability[31] == 0x5a)
{
	p->host = &the_host;
	now.metric = SIZE_MAX;
	return CUPTI_OK;
}

FUNCTION(cuptiProfilerHostDeinitialize, cupti_host_end, host, p->host == &the_host)
{
	(void)p;
	return CUPTI_OK;
}

FUNCTION(cuptiProfilerHostConfigAddMetrics, cupti_host_metrics, n, p->host == &the_host && p->n == 1)
{
	now.metric = metric_of(p->names[0]);
	return known(now.metric) ? CUPTI_OK : NO_METRIC;
}

FUNCTION(cuptiProfilerHostGetConfigImageSize, cupti_host_size, bytes, p->host == &the_host && known(now.metric))
{
	p->bytes = 100;
	return CUPTI_OK;
}

FUNCTION(cuptiProfilerHostGetConfigImage, cupti_host_image, image, p->host == &the_host && p->bytes == 100)
{
	memset(p->image, (int)now.metric, p->bytes);
	return CUPTI_OK;
}

FUNCTION(cuptiProfilerHostGetNumOfPasses, cupti_host_passes, passes, p->bytes == 100)
{
	p->passes = metrics[p->image[0]].passes;
	return CUPTI_OK;
}

FUNCTION(cuptiRangeProfilerEnable, cupti_range_open, range, now.ready && p->context == &the_context)
{
	p->range = &the_range;
	now.configured = now.image_ready = now.started = now.decoded = false;
	return CUPTI_OK;
}

FUNCTION(cuptiRangeProfilerDisable, cupti_range, range, p->range == &the_range && !now.started)
{
	(void)p;
	return CUPTI_OK;
}

FUNCTION(cuptiRangeProfilerGetCounterDataSize, cupti_range_size, bytes,
	 p->range == &the_range && p->n == 1 && p->ranges == 1 && p->nodes >= p->ranges)
{
	now.range_metric = metric_of(p->names[0]);
	p->bytes = 200;
	return CUPTI_OK;
}

FUNCTION(cuptiRangeProfilerCounterDataImageInitialize, cupti_range_image, image,
	 p->range == &the_range && p->bytes == 200)
{
	memset(p->image, 0x11, p->bytes);
	now.image_ready = true;
	return CUPTI_OK;
}

FUNCTION(cuptiRangeProfilerSetConfig, cupti_range_config, level,
	 now.image_ready && p->range == &the_range && p->kind == CUPTI_USER_RANGE && p->replay == CUPTI_USER_REPLAY &&
		 p->ranges == 1 && p->levels == 1 && p->least_level == 1 && p->level == 1 && p->data[199] == 0x11 &&
		 p->config_bytes == 100 && p->config[99] == now.range_metric)
{
	(void)p;
	now.configured = true;
	now.runs = 0;
	return CUPTI_OK;
}

FUNCTION(cuptiRangeProfilerStart, cupti_range, range, now.configured && !now.started)
{
	(void)p;
	if (is("late"))
		return CUPTI_NOT_PERMITTED;
	now.started = true;
	now.pushed = now.popped = false;
	return CUPTI_OK;
}

FUNCTION(cuptiRangeProfilerPushRange, cupti_range_push, name, now.started && !now.pushed && p->name)
{
	(void)p;
	now.pushed = true;
	return CUPTI_OK;
}

FUNCTION(cuptiRangeProfilerPopRange, cupti_range, range, now.pushed && !now.popped)
{
	(void)p;
	now.popped = true;
	return CUPTI_OK;
}

FUNCTION(cuptiRangeProfilerStop, cupti_range_stop, all, now.started)
{
	now.started = false;
	now.runs += now.popped;
	p->all = !is("endless") && now.runs >= metrics[now.range_metric].passes;
	return CUPTI_OK;
}

FUNCTION(cuptiRangeProfilerDecodeData, cupti_range_decode, dropped,
	 p->range == &the_range && now.runs >= metrics[now.range_metric].passes)
{
	p->dropped = is("drops");
	now.decoded = true;
	return CUPTI_OK;
}

FUNCTION(cuptiProfilerHostEvaluateToGpuValues, cupti_host_values, values,
	 now.decoded && p->host == &the_host && p->n == 1 && p->range == 0 && p->bytes == 200 &&
		 metric_of(p->names[0]) == now.range_metric)
{
	*p->values = metrics[now.range_metric].value;
	return CUPTI_OK;
}

#endif
