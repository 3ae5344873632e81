/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of CUPTI in use, since no free package has its headers: its APIs for activities and profiling ranges.
 * Names, numbers and layouts are those of NVIDIA's "CUPTI Reference". Records grow at their ends alone, and these are
 * their beginnings, the same from version 12 (CUDA 10) on. tests/cli/profile_gpu.bats holds all of them against the
 * toolkit's headers where there are any.
 */
#ifndef ASSAY_COUNTERS_GPU_CUPTI_ABI_H
#define ASSAY_COUNTERS_GPU_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_LEAST_VERSION 12

/* The library, best first: where the loader looks, then where the toolkit is installed. */
#define CUPTI_LIBRARIES                                                                                                \
	"libcupti.so.13", "libcupti.so.12", "libcupti.so.11", "libcupti.so", "/usr/local/cuda/lib64/libcupti.so",      \
		"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"

enum cupti_kind {
	CUPTI_KIND_MEMCPY = 1,
	CUPTI_KIND_MEMSET = 2,
	CUPTI_KIND_DEVICE = 8,
	CUPTI_KIND_CONCURRENT_KERNEL = 10,
};
/* Results of functions. */
enum {
	CUPTI_OK = 0,
	CUPTI_NO_MORE_RECORDS = 12,
	CUPTI_NOT_PERMITTED = 35,     /* the driver shows counters to administrators only */
	CUPTI_VGPU_NOT_PERMITTED = 40 /* the same of a virtual GPU */
};
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

/*
 * Ranges, since version 24 (CUDA 12.6). Each function takes a pointer to one structure, whose first member is how much
 * of it the caller knows: CUPTI_SIZE(). The second one is NULL.
 */
#define CUPTI_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)NULL)->last))

enum { CUPTI_TYPE_RANGE = 0, CUPTI_USER_RANGE = 2, CUPTI_USER_REPLAY = 3 };

struct cupti_init { /* cuptiProfilerInitialize */
	size_t size;
	void *priv;
};

struct cupti_chip { /* cuptiDeviceGetChipName */
	size_t size;
	void *priv;
	size_t device;
	const char *name; /* out */
};

struct cupti_availability { /* cuptiProfilerGetCounterAvailability */
	size_t size;
	void *priv, *context;
	size_t bytes;   /* out where there is no image */
	uint8_t *image; /* out; NULL: only its size is wanted */
};

struct cupti_host { /* cuptiProfilerHostInitialize */
	size_t size;
	void *priv;
	int32_t type;
	const char *chip;
	const uint8_t *availability;
	void *host; /* out */
};

struct cupti_host_end { /* cuptiProfilerHostDeinitialize */
	size_t size;
	void *priv, *host;
};

struct cupti_host_metrics { /* cuptiProfilerHostConfigAddMetrics */
	size_t size;
	void *priv, *host;
	const char **names;
	size_t n;
};

struct cupti_host_size { /* cuptiProfilerHostGetConfigImageSize */
	size_t size;
	void *priv, *host;
	size_t bytes; /* out */
};

struct cupti_host_image { /* cuptiProfilerHostGetConfigImage */
	size_t size;
	void *priv, *host;
	size_t bytes;
	uint8_t *image; /* filled */
};

struct cupti_host_passes { /* cuptiProfilerHostGetNumOfPasses */
	size_t size;
	void *priv;
	size_t bytes;
	uint8_t *image;
	size_t passes; /* out */
};

struct cupti_host_values { /* cuptiProfilerHostEvaluateToGpuValues */
	size_t size;
	void *priv, *host;
	const uint8_t *data;
	size_t bytes, range;
	const char **names;
	size_t n;
	double *values; /* filled */
};

struct cupti_range_open { /* cuptiRangeProfilerEnable */
	size_t size;
	void *priv, *context;
	void *range; /* out */
};

struct cupti_range { /* cuptiRangeProfilerDisable, …Start, …PopRange */
	size_t size;
	void *priv, *range;
};

struct cupti_range_push { /* cuptiRangeProfilerPushRange */
	size_t size;
	void *priv, *range;
	const char *name;
};

struct cupti_range_stop { /* cuptiRangeProfilerStop */
	size_t size;
	void *priv, *range;
	size_t pass, level; /* out */
	uint8_t all;        /* out: every pass was run */
};

struct cupti_range_decode { /* cuptiRangeProfilerDecodeData */
	size_t size;
	void *priv, *range;
	size_t dropped; /* out */
};

struct cupti_range_size { /* cuptiRangeProfilerGetCounterDataSize */
	size_t size;
	void *priv, *range;
	const char **names;
	size_t n, ranges;
	uint32_t nodes;
	size_t bytes; /* out */
};

struct cupti_range_image { /* cuptiRangeProfilerCounterDataImageInitialize */
	size_t size;
	void *priv, *range;
	size_t bytes;
	uint8_t *image; /* filled */
};

struct cupti_range_config { /* cuptiRangeProfilerSetConfig */
	size_t size;
	void *priv, *range;
	size_t config_bytes;
	const uint8_t *config;
	size_t data_bytes;
	uint8_t *data;
	int32_t kind, replay;
	size_t ranges;
	uint16_t levels, least_level;
	size_t pass;
	uint16_t level;
};

#endif
