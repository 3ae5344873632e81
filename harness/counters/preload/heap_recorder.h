/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where blocks are allocated, by call stack, in the file of counters/heap/sites.h. All blocks, or a Poisson sample of
 * them.
 */
#ifndef ASSAY_COUNTERS_PRELOAD_HEAP_RECORDER_H
#define ASSAY_COUNTERS_PRELOAD_HEAP_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/preload/heap_stacks.h"

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
