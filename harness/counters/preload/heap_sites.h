/* SPDX-License-Identifier: Apache-2.0 */
/* Where blocks are allocated, by call stack, in the file of heap_sites.h. All blocks, or a Poisson sample of them. */
#ifndef ASSAY_COUNTERS_PRELOAD_HEAP_SITES_H
#define ASSAY_COUNTERS_PRELOAD_HEAP_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The frame that called malloc or its like. */
struct assay_heap_caller {
	uintptr_t to, at, frame; /* where the call returns to; of the callee: where its frame lies; of the caller: its base */
};

/* Of the function it stands in, which malloc or its like has jumped to. */
#define ASSAY_HEAP_CALLER()                                                                                            \
	((struct assay_heap_caller){ (uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0),    \
				     *(uintptr_t *)__builtin_frame_address(0) })

/* Are sites wanted of this process? Opens its file. */
bool assay_heap_sites_begin(void);
/* After all libraries are there: children that are forked get files of their own. */
void assay_heap_sites_follow_forks(void);
/* Record allocations from here on, or no more. What is given back is recorded in either case. */
void assay_heap_sites_watch(bool on);
bool assay_heap_sites_watched(void);

void assay_heap_sites_taken(void *p, size_t bytes, struct assay_heap_caller from);
/* True, and how large it was, of a block that was recorded. */
bool assay_heap_sites_given(const void *p, size_t *bytes);

#endif
