/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/case/memory.h"

#include <stdlib.h>

/* A chunk is a huge page; what is smaller than a few small ones gains nothing. */
#define CHUNK_BYTES ((size_t)2 << 20)
#define LEAST_BYTES ((size_t)16 << 10)

struct assay_pool_chunk {
	struct assay_pool_chunk *next;
	struct assay_arena arena;
	size_t used, parts;
};

bool assay_alloc_pool_many(struct assay_alloc_pool *p, size_t bytes)
{
	if (bytes >= LEAST_BYTES && bytes < CHUNK_BYTES)
		p->asked += bytes;
	return p->asked >= CHUNK_BYTES;
}

bool assay_alloc_pool_takes(size_t bytes)
{
	return bytes >= LEAST_BYTES && bytes < CHUNK_BYTES / 2;
}

static int add_chunk(struct assay_alloc_pool *p, const struct assay_arena_options *o, struct assay_err *err)
{
	struct assay_arena_options of_chunk = *o;
	struct assay_pool_chunk *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a page of buffers");
	of_chunk.bytes = CHUNK_BYTES - 2 * assay_arena_stride(0);
	of_chunk.copies = 1;
	of_chunk.whole_huge = true;
	rc = assay_arena_init(&c->arena, &of_chunk, err);
	if (rc) {
		free(c);
		return rc;
	}
	c->next = p->chunks;
	p->chunks = c;
	return 0;
}

int assay_alloc_pool_add(struct assay_alloc_pool *p, const struct assay_arena_options *o, struct assay_arena *a,
			 struct assay_err *err)
{
	const size_t stride = assay_arena_stride(o->bytes);
	struct assay_pool_chunk *c = p->chunks;

	while (c && c->arena.bytes - c->used < stride)
		c = c->next;
	if (!c) {
		int rc = add_chunk(p, o, err);

		if (rc)
			return rc;
		c = p->chunks;
	}
	*a = assay_arena_part(&c->arena, c->used, o->bytes);
	c->used += stride;
	c->parts++;
	return 0;
}

const struct assay_arena *assay_alloc_pool_newest(const struct assay_alloc_pool *p)
{
	return p->chunks ? &p->chunks->arena : NULL;
}

void assay_alloc_pool_remove(struct assay_alloc_pool *p, const struct assay_arena *a)
{
	for (struct assay_pool_chunk *c = p->chunks; c; c = c->next)
		if (a->base >= c->arena.base && a->base < c->arena.base + c->arena.bytes && !--c->parts)
			c->used = 0;
}

void assay_alloc_pool_release(struct assay_alloc_pool *p)
{
	while (p->chunks) {
		struct assay_pool_chunk *c = p->chunks;

		p->chunks = c->next;
		assay_arena_release(&c->arena);
		free(c);
	}
}
