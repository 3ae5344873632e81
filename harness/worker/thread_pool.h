/* SPDX-License-Identifier: Apache-2.0 */
/* The pinned threads of a case: fork-join regions with a barrier, in pthreads and atomics. The caller is thread 0. */
#ifndef ASSAY_WORKER_THREAD_POOL_H
#define ASSAY_WORKER_THREAD_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/plugin.h"

#include "base/err.h"
#include "machine/topology.h"

struct assay_pool;

/* Bind the caller to cpus[0] and n - 1 new threads to the others; *bound (n entries) gets the CPUs read back. */
int assay_pool_new(struct assay_pool **pool, const struct assay_topology *t, const int *cpus, uint32_t n, int *bound,
		   struct assay_err *err);
void assay_pool_free(struct assay_pool *pool);

/* fn(arg, tid, n) on all threads; returns when the last is done. No nesting. */
void assay_pool_run(struct assay_pool *pool, assay_parallel_fn fn, void *arg);
/* Between regions: returns when all other threads sleep instead of spinning. */
void assay_pool_park(struct assay_pool *pool);
/* From inside a region: wait for all threads. */
void assay_pool_barrier(struct assay_pool *pool);
/* Between regions: from here on threads spin wherever they wait, so that the pool makes no system call; or no more. */
void assay_pool_stay_awake(struct assay_pool *pool, bool on);

#endif
