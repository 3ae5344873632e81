/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file in which a process with the heap's object preloaded (preload/heap_recorder.c) keeps where it allocates: a
 * header, then records. It is mapped by both sides and right at any moment, whichever way the process ends.
 */
#ifndef ASSAY_COUNTERS_HEAP_SITES_H
#define ASSAY_COUNTERS_HEAP_SITES_H

#include <stdint.h>

#define ASSAY_HEAP_SITES_FOLDER "ASSAY_HEAP_SITES"  /* variable: where the files go; absolute */
#define ASSAY_HEAP_SITES_SAMPLE "ASSAY_HEAP_SAMPLE" /* variable: mean bytes from sample to sample; 0: all */
#define ASSAY_HEAP_SITES_WAIT   "ASSAY_HEAP_WAIT"   /* variable: record nothing before heap.h's watch() says so */
#define ASSAY_HEAP_SITES_ENDING ".sites"
#define ASSAY_HEAP_SITES_MAGIC  UINT64_C(0x3165746973797361)
#define ASSAY_HEAP_SITES_DEPTH  64                   /* frames of a stack; the callers of deeper ones are cut off */
#define ASSAY_HEAP_SITES_BYTES  (UINT64_C(64) << 20) /* the most of a file */

/* Sampled values are estimates, hence no integers; exact ones are whole numbers. */
struct assay_heap_numbers {
	double blocks, bytes; /* that were allocated */
	double live_blocks, live_bytes;
	double most_blocks, most_bytes; /* the most that lived at once */
	double age_bytes;               /* allocated by all while a block lived, summed over those given back */
	uint64_t largest_bytes;
	uint64_t samples; /* allocations that were seen */
};

struct assay_heap_sites_header {
	uint64_t magic;
	uint64_t sample_bytes;
	uint64_t used;     /* bytes of the file that hold something */
	uint64_t epoch;    /* peaks that ended so far */
	uint64_t lost;     /* allocations that there was no room for */
	double peak_clock; /* what had been allocated when the most lived */
	struct assay_heap_numbers all;
	int64_t pid;
	char name[32]; /* of the program */
};

enum assay_heap_record { ASSAY_HEAP_RECORD_SITE = 1, ASSAY_HEAP_RECORD_MAP };

/* Records begin at multiples of 8. */
struct assay_heap_record_head {
	uint32_t kind, bytes; /* with this head */
};

struct assay_heap_site {
	struct assay_heap_record_head head;
	struct assay_heap_numbers its;
	/* Blocks that lived at the end of peak `epoch`. If that is not the last one, nothing has changed since. */
	uint64_t epoch;
	double peak_blocks, peak_bytes;
	uint32_t n_frames;
	uint32_t whole;    /* 0: its outermost callers are missing */
	uint64_t frames[]; /* where calls return to, the innermost first */
};

struct assay_heap_map {
	struct assay_heap_record_head head;
	uint64_t start, end, file_offset;
	char path[]; /* ends with NUL */
};

#endif
