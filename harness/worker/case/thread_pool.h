/* SPDX-License-Identifier: Apache-2.0 */
/* The pinned threads of a case: fork-join regions with a barrier, in pthreads and atomics. The caller is thread 0. */
#ifndef ASSAY_WORKER_CASE_THREAD_POOL_H
#define ASSAY_WORKER_CASE_THREAD_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "assay/plugin.h"

#include "base/err.h"
#include "machine/topology.h"

/* Of the cache, where threads tell each other something. */
#define ASSAY_POOL_LINE 64

/*
 * Words by which threads communicate. Those that different threads write lie on separate lines. How long a line
 * takes from core to core depends on its address, so two pools that are compared have these words in common, in turns.
 */
struct assay_pool_words {
	_Alignas(ASSAY_POOL_LINE) _Atomic uint32_t generation; /* of regions: a new one begins */
	_Alignas(ASSAY_POOL_LINE) _Atomic uint32_t pending;    /* threads that are not done with it */
	_Alignas(ASSAY_POOL_LINE) _Atomic uint32_t arrived;    /* at the barrier */
	_Alignas(ASSAY_POOL_LINE) _Atomic uint32_t barrier_round;
	_Alignas(ASSAY_POOL_LINE) _Atomic uint32_t sleepers; /* on any of these words */
};

struct assay_pool;

/*
 * Bind the caller to cpus[0] and n - 1 new threads to the others; *bound (n entries) gets the CPUs read back. The pool
 * lies at @pages, as assay_layout_calloc() says.
 */
int assay_pool_new(struct assay_pool **pool, const struct assay_topology *t, const int *cpus, uint32_t n, int *bound,
		   uintptr_t *pages, struct assay_err *err);
void assay_pool_free(struct assay_pool *pool);
/* Draw anew the physical pages of a pool of one thread. Threads of others may write to theirs. */
void assay_pool_draw_pages(struct assay_pool *pool);

/* fn(arg, tid, n) on all threads; returns when the last is done. No nesting. */
void assay_pool_run(struct assay_pool *pool, assay_parallel_fn fn, void *arg);
/* Between regions: returns when all other threads sleep instead of spinning. They use the pool's own words again. */
void assay_pool_park(struct assay_pool *pool);
/*
 * Likewise, and from the next region on until the pool is parked again they use @words, which may hold anything, and
 * which others may have used meanwhile.
 */
void assay_pool_borrow(struct assay_pool *pool, struct assay_pool_words *words);
/* From inside a region: wait for all threads. */
void assay_pool_barrier(struct assay_pool *pool);
/* Between regions: from here on threads spin wherever they wait, so that the pool makes no system call; or no more. */
void assay_pool_stay_awake(struct assay_pool *pool, bool on);

#endif
