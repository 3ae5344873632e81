/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, with a filter before it for those who nearly always look for what is not there. */
#include "counters/preload/heap_recorder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FREE   0u
#define ERASED 1u

struct table {
	size_t mask;    /* entries less one */
	unsigned shift; /* of the hash */
	size_t used;    /* entries that are not FREE */
	size_t held;    /* of them, blocks */
	struct assay_heap_block v[];
};

#define FIRST_BITS 12

static struct table *_Atomic table;
_Atomic uint64_t assay_heap_filter[ASSAY_HEAP_FILTER_WORDS];

struct assay_heap_block *assay_heap_blocks_find(const void *p)
{
	struct table *t = atomic_load_explicit(&table, memory_order_acquire);
	uintptr_t at = (uintptr_t)p, there;

	if (!t || at == FREE)
		return NULL;
	for (size_t i = assay_heap_hash(at) >> t->shift;
	     (there = atomic_load_explicit(&t->v[i].at, memory_order_relaxed)) != FREE; i = (i + 1) & t->mask)
		if (there == at)
			return &t->v[i];
	return NULL;
}

static void pass_filter(uintptr_t at)
{
	uint64_t h = assay_heap_hash(at);

	atomic_fetch_or_explicit(&assay_heap_filter[h >> 55], UINT64_C(1) << (h >> 49 & 63), memory_order_relaxed);
}

static struct assay_heap_block *insert(struct table *t, const struct assay_heap_block *b)
{
	size_t i = assay_heap_hash(b->at) >> t->shift;

	while (t->v[i].at > ERASED)
		i = (i + 1) & t->mask;
	t->used += t->v[i].at == FREE;
	t->held++;
	t->v[i].bytes = b->bytes;
	t->v[i].site = b->site;
	t->v[i].born_bytes = b->born_bytes;
	t->v[i].at = b->at;
	return &t->v[i];
}

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

/* The blocks of @from into @to, which is empty. */
static void insert_all(struct table *to, const struct assay_heap_block *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (from[i].at > ERASED)
			insert(to, &from[i]);
}

/* A thread may still be looking into the old one, so it stays; all old ones together are smaller than the next. */
static void grow(void)
{
	struct table *old = table, *t;
	unsigned bits = old ? 65 - old->shift : FIRST_BITS;

	t = map(sizeof(*t) + (sizeof(t->v[0]) << bits));
	t->mask = ((size_t)1 << bits) - 1;
	t->shift = 64 - bits;
	if (old)
		insert_all(t, old->v, old->mask + 1);
	atomic_store_explicit(&table, t, memory_order_release);
}

/* Make what was erased FREE again. */
static void purge(struct table *t)
{
	size_t n = t->mask + 1;
	struct assay_heap_block *copy = map(n * sizeof(*copy));

	memcpy(copy, t->v, n * sizeof(*copy));
	memset(t->v, 0, n * sizeof(*copy));
	t->used = t->held = 0;
	insert_all(t, copy, n);
	munmap(copy, n * sizeof(*copy));
}

/* For one more, half of the entries staying FREE. */
static void make_room(void)
{
	struct table *t = table;

	if (t && 2 * (t->used + 1) <= t->mask)
		return;
	if (t && 4 * t->held <= t->mask)
		purge(t);
	else
		grow();
}

struct assay_heap_block *assay_heap_blocks_put(const void *p, size_t bytes)
{
	struct assay_heap_block *b;

	make_room();
	b = insert(table, &(struct assay_heap_block){ .at = (uintptr_t)p, .bytes = bytes });
	pass_filter((uintptr_t)p);
	return b;
}

void assay_heap_blocks_erase(struct assay_heap_block *b)
{
	struct table *t = table;

	t->held--;
	b->at = ERASED;
}

bool assay_heap_blocks_settle(void)
{
	struct table *t = table;

	if (!t || !t->held)
		return false;
	if (t->used > 2 * t->held)
		purge(t);
	for (size_t i = 0; i < ASSAY_HEAP_FILTER_WORDS; i++)
		atomic_store_explicit(&assay_heap_filter[i], 0, memory_order_relaxed);
	for (size_t i = 0; i <= t->mask; i++)
		if (t->v[i].at > ERASED)
			pass_filter(t->v[i].at);
	return true;
}

void assay_heap_blocks_forget(void)
{
	struct table *t = table;

	table = NULL;
	memset(assay_heap_filter, 0, sizeof(assay_heap_filter));
	if (t)
		munmap(t, sizeof(*t) + (t->mask + 1) * sizeof(t->v[0]));
}
