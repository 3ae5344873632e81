/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers that lie one behind the other on huge pages, for what a plugin allocates in many parts. On small pages of
 * their own, where they lie differs from process to process as much as their addresses do.
 */
#ifndef ASSAY_WORKER_ALLOC_POOL_H
#define ASSAY_WORKER_ALLOC_POOL_H

#include "worker/case_memory.h"

struct assay_pool_chunk;

/* All-zero has none. */
struct assay_alloc_pool {
	struct assay_pool_chunk *chunks; /* the newest first, which is the one that is filled */
};

/* May a buffer of so many bytes lie in a pool? */
bool assay_alloc_pool_takes(size_t bytes);
/*
 * A buffer of @o->bytes, zeros between canaries, as an arena without a mapping of its own; @o says where its page lies,
 * if it needs a new one. Errors as of assay_arena_init().
 */
int assay_alloc_pool_add(struct assay_alloc_pool *p, const struct assay_arena_options *o, struct assay_arena *a,
			 struct assay_err *err);
/* The arena that was made last, for the place of the next one; NULL: there is none. */
const struct assay_arena *assay_alloc_pool_newest(const struct assay_alloc_pool *p);
/* Give back @a. Its bytes are used again once nothing lies behind them. */
void assay_alloc_pool_remove(struct assay_alloc_pool *p, const struct assay_arena *a);
void assay_alloc_pool_release(struct assay_alloc_pool *p);

#endif
