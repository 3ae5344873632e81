/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is used of CUPTI's activity API, whose headers are in no free package. Names, numbers and layouts are those of
 * NVIDIA's "CUPTI Reference"; records grow at their ends alone, and these are their beginnings, the same from version
 * 12 (CUDA 10) on. tests/cli/profile_gpu.bats holds them against the toolkit's headers where there are any.
 */
#ifndef ASSAY_COUNTERS_INJECTED_CUPTI_ABI_H
#define ASSAY_COUNTERS_INJECTED_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_LEAST_VERSION 12

enum cupti_kind {
	CUPTI_KIND_MEMCPY = 1,
	CUPTI_KIND_MEMSET = 2,
	CUPTI_KIND_DEVICE = 8,
	CUPTI_KIND_CONCURRENT_KERNEL = 10,
};
/* Both are results of functions. */
enum { CUPTI_OK = 0, CUPTI_NO_MORE_RECORDS = 12 };
enum { CUPTI_FLUSH_FORCED = 1 };

#define CUPTI_RECORD __attribute__((packed, aligned(8)))

struct CUPTI_RECORD cupti_kernel {
	uint32_t kind;
	uint8_t cache_config, shared_memory_config;
	uint16_t registers;
	uint32_t partitioned_requested, partitioned_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid_x, grid_y, grid_z, block_x, block_y, block_z;
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total, correlation;
	int64_t grid_id;
	const char *name;
};

struct CUPTI_RECORD cupti_copy {
	uint32_t kind;
	uint8_t copy_kind, source_kind, target_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
};

struct CUPTI_RECORD cupti_set {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
};

struct CUPTI_RECORD cupti_device {
	uint32_t kind, flags;
	uint64_t memory_bandwidth, memory_bytes;
	uint32_t constant_bytes, l2_bytes, warp_threads, core_khz, copy_engines, multiprocessors, most_ipc;
	uint32_t warps, blocks, shared_bytes, registers; /* the most of a multiprocessor */
	uint32_t block_registers, block_shared_bytes, block_threads, block_x, block_y, block_z, grid_x, grid_y, grid_z;
	uint32_t major, minor, id, ecc;
	uint8_t uuid[16];
	const char *name;
};

/* Buffers that CUPTI asks for, and gives back filled. */
typedef void cupti_wants_buffer(uint8_t **buffer, size_t *size, size_t *most_records);
typedef void cupti_gives_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used);

#endif
