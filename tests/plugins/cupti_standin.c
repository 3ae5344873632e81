/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In the place of libcupti.so.13: what it records is known. Two configurations of a kernel, another kernel, copies, a
 * set, and a device; buffers are filled one after the other, and one record is dropped. CUPTI_STANDIN=old: version 9;
 * =forbidden: it does not allow to watch, where it runs injected; =dropping: one is dropped from each buffer; =whole
 * and others: none is. CUPTI_STANDIN_KERNEL names the other kernel. Each flush gives the same again.
 * cupti_older_standin is a CUPTI from before CUDA 12.6, which watches kernels and knows no ranges.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counters/gpu/cupti_abi.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuptiGetVersion(uint32_t *v);
EXPORT int cuptiGetResultString(int result, const char **text);
EXPORT int cuptiActivityRegisterCallbacks(cupti_wants_buffer *w, cupti_gives_buffer *g);
EXPORT int cuptiActivityEnable(int kind);
EXPORT int cuptiActivityDisable(int kind);
EXPORT int cuptiActivityFlushAll(uint32_t flag);
EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t used, void **record);
EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n);
EXPORT int cuptiGetTimestamp(uint64_t *ns);

static cupti_wants_buffer *wants;
static cupti_gives_buffer *gives;
static bool enabled[64];
static size_t dropped = 1;

static bool is(const char *how)
{
	const char *v = getenv("CUPTI_STANDIN");

	return v && !strcmp(v, how);
}

#ifndef PLUGIN_cupti_older_standin
/*
 * Ranges, and the CUDA context that they need. It knows one chip and four
 * metrics; each function is refused out of its order, so that a caller who leaves a step out gets no value.
 * CUPTI_STANDIN=forbidden: no counter may be seen; =late: that is told when a pass starts; =lacks: the chip has no
 * metric of its second cache, and new names for DRAM; =endless: no pass is ever the last.
 */
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

int cuptiGetVersion(uint32_t *v)
{
	*v = is("old") ? 9 : 130000;
	return CUPTI_OK;
}

/* A clock of its own, by which CUDA started 1 ms ago when it is asked first. */
int cuptiGetTimestamp(uint64_t *ns)
{
	static uint64_t zero;
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	*ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	zero = zero ? zero : *ns - 1000000;
	*ns -= zero;
	return CUPTI_OK;
}

int cuptiGetResultString(int result, const char **text)
{
	*text = result == CUPTI_NOT_PERMITTED ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_SUCCESS";
	return CUPTI_OK;
}

int cuptiActivityRegisterCallbacks(cupti_wants_buffer *w, cupti_gives_buffer *g)
{
	wants = w;
	gives = g;
	return CUPTI_OK;
}

int cuptiActivityEnable(int kind)
{
	if (is("forbidden") && getenv("ASSAY_GPU_RECORDS") && kind == CUPTI_KIND_CONCURRENT_KERNEL)
		return CUPTI_NOT_PERMITTED;
	enabled[kind] = true;
	return CUPTI_OK;
}

int cuptiActivityDisable(int kind)
{
	enabled[kind] = false;
	return CUPTI_OK;
}

/* Records stand one behind the other, as long as their kind's are in version 13. */
static size_t size_of(uint32_t kind)
{
	return kind == CUPTI_KIND_CONCURRENT_KERNEL ? 216
	       : kind == CUPTI_KIND_DEVICE          ? 184
	       : kind == CUPTI_KIND_MEMCPY          ? 96
						    : 88;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t used, void **record)
{
	uint8_t *at = *record ? (uint8_t *)*record + size_of(*(uint32_t *)*record) : buffer;

	if (at >= buffer + used)
		return CUPTI_NO_MORE_RECORDS;
	*record = at;
	return CUPTI_OK;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
	(void)context;
	(void)stream;
	*n = is("dropping") ? 1 : getenv("CUPTI_STANDIN") ? 0 : dropped;
	dropped = 0;
	return CUPTI_OK;
}

struct buffer {
	uint8_t *at;
	size_t size, used;
};

static void put(struct buffer *b, uint32_t kind, const void *record, size_t size)
{
	if (!enabled[kind])
		return;
	memset(b->at + b->used, 0xa5, size_of(kind)); /* what is behind the part that is read */
	memcpy(b->at + b->used, record, size);
	b->used += size_of(kind);
}

static void put_kernel(struct buffer *b, const char *name, uint32_t stream, int blocks, int threads, unsigned registers,
		       int shared, uint64_t start, uint64_t ns)
{
	const struct cupti_kernel k = { .kind = CUPTI_KIND_CONCURRENT_KERNEL,
					.registers = (uint16_t)registers,
					.start = start,
					.end = start + ns,
					.stream = stream,
					.grid_x = blocks,
					.grid_y = 1,
					.grid_z = 1,
					.block_x = threads,
					.block_y = 1,
					.block_z = 1,
					.static_shared = shared / 2,
					.dynamic_shared = shared - shared / 2,
					.name = name };

	put(b, k.kind, &k, sizeof(k));
}

static void put_copy(struct buffer *b, uint8_t copy_kind, uint64_t bytes, uint64_t ns)
{
	const struct cupti_copy c = { .kind = CUPTI_KIND_MEMCPY,
				      .copy_kind = copy_kind,
				      .bytes = bytes,
				      .start = 5000,
				      .end = 5000 + ns,
				      .stream = 7 };

	put(b, c.kind, &c, sizeof(c));
}

static void fill_first(struct buffer *b)
{
	const struct cupti_device d = { .kind = CUPTI_KIND_DEVICE,
					.warp_threads = 32,
					.multiprocessors = 132,
					.warps = 64,
					.blocks = 32,
					.shared_bytes = 228 << 10,
					.registers = 65536,
					.major = 9,
					.name = "Standin <GPU>" };

	put(b, d.kind, &d, sizeof(d));
	for (unsigned i = 0; i < 100; i++)
		put_kernel(b, "gemv<float>", 7, 4096, 256, 40, 0, 1000 * i, 600 + i % 2 * 100);
	put_kernel(b, "gemv<float>", 7, 64, 1024, 128, 96 << 10, 200000, 1000);
}

static void fill_second(struct buffer *b)
{
	const char *name = getenv("CUPTI_STANDIN_KERNEL");
	const struct cupti_set s = { .kind = CUPTI_KIND_MEMSET, .bytes = 4096, .start = 1, .end = 51, .stream = 7 };

	put_kernel(b, name ? name : "softmax", 9, 10, 64, 16, 0, 300000, 24000);
	put_copy(b, 1, 1 << 20, 50000);
	put_copy(b, 1, 1 << 20, 30000);
	put_copy(b, 2, 1000, 200);
	put(b, s.kind, &s, sizeof(s));
}

int cuptiActivityFlushAll(uint32_t flag)
{
	(void)flag;
	for (unsigned i = 0; i < 2; i++) {
		struct buffer b = { .used = 0 };
		size_t most = 0;

		wants(&b.at, &b.size, &most);
		if (!b.at)
			return CUPTI_OK;
		(i ? fill_second : fill_first)(&b);
		gives(NULL, 0, b.at, b.size, b.used);
	}
	return CUPTI_OK;
}
