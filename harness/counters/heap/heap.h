/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations of variants. A worker that counts it is started with a small object preloaded (preload/heap_preload.c)
 * that stands before malloc and its kin. This header is what the two share, and what the worker keeps about a case.
 */
#ifndef ASSAY_COUNTERS_HEAP_HEAP_H
#define ASSAY_COUNTERS_HEAP_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "counters/preloaded.h"

/* Of all threads, while they were watched. */
struct assay_heap_counts {
	uint64_t allocations;   /* calls that gave a block, realloc() included */
	uint64_t bytes;         /* that they asked for */
	uint64_t largest_bytes; /* the most that one of them asked for */
	uint64_t live_bytes;    /* bytes not yet given back */
	uint64_t peak_bytes;    /* the largest live_bytes so far */
};

/* The one symbol of the preloaded object. */
#define ASSAY_HEAP_SYMBOL "assay_heap_v1"
struct assay_heap {
	uint32_t size;
	/* Start or stop counting in all threads; return whether it was on. No other thread may allocate meanwhile. */
	bool (*watch)(bool on);
	/* Memory that comes from elsewhere than malloc; counted whether it is watched or not. */
	void (*taken)(void *p, size_t bytes);
	/* Forget a block. No-op for one that is not known: neither through taken(), nor allocated while watched. */
	void (*given)(void *p);
	void (*read)(struct assay_heap_counts *out);
};

/* Does @events, as assay_counter_choice_text() writes it, ask for an event of the heap? */
bool assay_heap_wanted(const char *events);

/* The object to preload, as assay_preloaded_path() (preloaded.h). */
int assay_heap_library(char *path, size_t size, struct assay_err *err);

/* The heap of one case. All-zero: nothing was preloaded, and every function does nothing. */
struct assay_heap_case {
	const struct assay_heap *heap;
	struct assay_heap_counts before, now;      /* at the last begin and end */
	uint64_t runs, run_allocations, run_bytes; /* of the last calls that were runs */
};

void assay_heap_case_init(struct assay_heap_case *h);
/* Around calls of a variant: @runs of its run(), or 0 when it prepared or released. Never around samples. */
void assay_heap_case_begin(struct assay_heap_case *h);
void assay_heap_case_end(struct assay_heap_case *h, uint64_t runs);
/* Inside such a call, around allocations of the harness itself: true when it is to be resumed. */
bool assay_heap_case_pause(struct assay_heap_case *h);
/* @p: what the variant gets, NULL for nothing. */
void assay_heap_case_resume(struct assay_heap_case *h, bool paused, void *p, size_t bytes);
/* The variant gives back what it got that way, in such a call or in a sample. */
void assay_heap_case_given(struct assay_heap_case *h, void *p);

#endif
