/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where blocks are allocated, by call stack, in the file of counters/heap/sites.h. All blocks, or a Poisson sample of
 * them.
 */
#ifndef ASSAY_COUNTERS_PRELOAD_HEAP_RECORDER_H
#define ASSAY_COUNTERS_PRELOAD_HEAP_RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/preload/recording.h"

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

/* ---- heap blocks ---- */

/*
 * The blocks that are held: where each begins and how many bytes were asked for. Takes its own memory from mmap, never
 * from malloc. Changed by one thread at a time; looked into by all, also meanwhile.
 */

struct assay_heap_block {
	_Atomic uintptr_t at; /* where it begins; small values are no addresses */
	size_t bytes;
	/* of whoever records call sites: which, and how much had been allocated before */
	uint32_t site;
	double born_bytes;
};

static inline uint64_t assay_heap_hash(uintptr_t at)
{
	return (uint64_t)(at >> 4) * UINT64_C(0x9E3779B97F4A7C15);
}

/*
 * A bit for each value of the hash's first 15 bits, set where a block may be held: small enough to stay in the
 * first-level cache.
 */
#define ASSAY_HEAP_FILTER_WORDS 512
extern _Atomic uint64_t assay_heap_filter[ASSAY_HEAP_FILTER_WORDS];

/* False: the block at @p is not held. */
static inline bool assay_heap_blocks_may_hold(const void *p)
{
	uint64_t h = assay_heap_hash((uintptr_t)p);

	return atomic_load_explicit(&assay_heap_filter[h >> 55], memory_order_relaxed) >> (h >> 49 & 63) & 1;
}

/* The block at @p, or NULL. */
struct assay_heap_block *assay_heap_blocks_find(const void *p);
/*
 * @p is not held; the entry is valid until the next is put. Ends the program when there is no memory: counts would be
 * wrong from here on.
 */
struct assay_heap_block *assay_heap_blocks_put(const void *p, size_t bytes);
void assay_heap_blocks_erase(struct assay_heap_block *b);
/* Make look-ups as short as they can be, before nothing is put for a while. True when anything is held. */
bool assay_heap_blocks_settle(void);
/* Forget all. For a child after fork(2), which has one thread. */
void assay_heap_blocks_forget(void);

/* ---- heap sampling ---- */

/*
 * Poisson sampling by bytes: each byte that is allocated is drawn with the same small probability, and a block is seen
 * if any of its bytes is. Seen blocks weigh one over their probability to be, which makes sums unbiased (D. G. Horvitz
 * and D. J. Thompson, "A generalization of sampling without replacement from a finite universe", JASA 47, 1952).
 */

#endif
