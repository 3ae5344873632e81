/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In the place of libcupti.so.13: what it records is known. Two configurations of a kernel, another kernel, copies, a
 * set, and a device; buffers are filled one after the other, and one record is dropped. CUPTI_STANDIN=old: version 9;
 * =forbidden: it does not allow to watch, where it runs injected; =dropping: one is dropped from each buffer; =whole
 * and others: none is. CUPTI_STANDIN_KERNEL names the other kernel. Each flush gives the same again.
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

#ifndef CUPTI_STANDIN_OLDER
#include "cupti_ranges.h"
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
