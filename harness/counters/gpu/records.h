/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file in which a process with the GPU's object injected (injected/gpu_recorder.c) keeps what its GPUs do: a
 * header, then records of a fixed size, one a kernel and configuration, kind of copy, or device. It is mapped and right
 * at any moment, whichever way the process ends.
 */
#ifndef ASSAY_COUNTERS_GPU_RECORDS_H
#define ASSAY_COUNTERS_GPU_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#define ASSAY_GPU_INJECTION      "CUDA_INJECTION64_PATH" /* variable of CUDA's driver: an object that it loads */
#define ASSAY_GPU_RECORDS_FOLDER "ASSAY_GPU_RECORDS"     /* variable: where the files go; absolute */
#define ASSAY_GPU_RECORDS_ENDING ".gpu"
#define ASSAY_GPU_RECORDS_MAGIC  UINT64_C(0x3175706779617361)
#define ASSAY_GPU_RECORDS_BYTES  (UINT64_C(16) << 20) /* the most of a file */
#define ASSAY_GPU_NAME           256                  /* longer names are cut */

struct assay_gpu_header {
	uint64_t magic;
	uint64_t used;    /* bytes of the file that hold something */
	uint64_t lost;    /* records that CUPTI or the file had no room for */
	uint32_t version; /* of CUPTI; 0: it did not start, and why says why */
	uint32_t bytes;   /* of a record */
	int64_t pid;
	char name[32]; /* of the program */
	char why[256];
	/* CUPTI's clock and CLOCK_MONOTONIC at the same time, first and last; 0: CUPTI does not tell its own. */
	struct {
		uint64_t gpu_ns, own_ns;
	} clock[2];
};

enum assay_gpu_kind { ASSAY_GPU_KERNEL = 1, ASSAY_GPU_COPY, ASSAY_GPU_SET, ASSAY_GPU_DEVICE };

/* The key of a record; members that do not belong to its kind are 0. */
struct assay_gpu_key {
	uint32_t kind, device, stream;
	uint32_t registers, shared_bytes; /* a thread; a block, static and dynamic */
	uint32_t grid, block;             /* blocks of a launch, threads of a block */
	uint32_t copy_kind;               /* CUPTI's number */
	char name[ASSAY_GPU_NAME];        /* of a kernel as its symbol says, of a device */
};

/* Of a device: what bounds how many blocks a multiprocessor holds. */
struct assay_gpu_limits {
	uint32_t multiprocessors, warps, blocks, shared_bytes, registers; /* the last four a multiprocessor */
	uint32_t warp_threads, major, minor;
	uint8_t uuid[16];
};

struct assay_gpu_record {
	struct assay_gpu_key key;
	uint64_t count, ns, least_ns, most_ns, bytes;
	struct assay_gpu_limits limits; /* of a device */
};

/*
 * For traces, a second file of the same name but for its ending: a span for each kernel, copy and set of memory. The
 * variable says how many at most.
 */
#define ASSAY_GPU_SPANS        "ASSAY_GPU_SPANS"
#define ASSAY_GPU_SPANS_ENDING ".gpuspans"
#define ASSAY_GPU_SPANS_MOST   UINT64_C(100000000)

struct assay_gpu_span {
	uint64_t begin_ns, end_ns; /* of CUPTI's clock */
	uint64_t record;           /* number of its record in the other file */
};

struct assay_gpu_spans {
	uint64_t magic, n, lost;
	struct assay_gpu_span v[];
};

#endif
