/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers that lie one behind the other on huge pages, for what a plugin allocates in many parts: on small pages of
 * their own, parts lie differently from process to process. Canaries are between them, and no guard pages.
 */
#ifndef ASSAY_WORKER_CASE_ALLOC_POOL_H
#define ASSAY_WORKER_CASE_ALLOC_POOL_H

#include "worker/case/memory.h"

struct assay_pool_chunk;

/* All-zero has none. */
struct assay_alloc_pool {
	struct assay_pool_chunk *chunks; /* the newest first */
	size_t asked;                    /* bytes of all parts that assay_alloc_pool_many() was asked about */
};

/*
 * Is @bytes one of so many parts that they fill a huge page? The first ones are not: few small parts may lie in a
 * cache, where luck with one page moves processes more than luck with many.
 */
bool assay_alloc_pool_many(struct assay_alloc_pool *p, size_t bytes);
/* May a buffer of so many bytes lie in a pool? Larger ones take huge pages of their own. */
bool assay_alloc_pool_takes(size_t bytes);
/*
 * A buffer of @o->bytes, zeros between canaries, as an arena without a mapping of its own; @o says where its chunk
 * lies, if it needs a new one. Errors as of assay_arena_init().
 */
int assay_alloc_pool_add(struct assay_alloc_pool *p, const struct assay_arena_options *o, struct assay_arena *a,
			 struct assay_err *err);
/* The chunk that was made last; NULL: there is none. */
const struct assay_arena *assay_alloc_pool_newest(const struct assay_alloc_pool *p);
/* Give back @a, if it is of the pool. A chunk is used again when all of it was given back. */
void assay_alloc_pool_remove(struct assay_alloc_pool *p, const struct assay_arena *a);
void assay_alloc_pool_release(struct assay_alloc_pool *p);

#endif
