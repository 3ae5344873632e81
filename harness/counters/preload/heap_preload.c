/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands before malloc and its like in a worker. Unwatched, a call costs one jump more than without it; watched, each block is
 * kept in a table until it is given back. What valloc() and pvalloc() give passes uncounted.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counters/heap.h"

#define EXPORT __attribute__((visibility("default")))

struct functions {
	void *(*malloc)(size_t n);
	void *(*calloc)(size_t n, size_t size);
	void *(*realloc)(void *p, size_t n);
	void (*free)(void *p);
	int (*posix_memalign)(void **p, size_t align, size_t n);
	void *(*aligned_alloc)(size_t align, size_t n);
	void *(*memalign)(size_t align, size_t n);
};

/* ---- blocks that were taken while watched ----------------------------------------------------------------------- */

struct block {
	_Atomic uintptr_t at; /* FREE, ERASED, or where it begins */
	size_t bytes;
};

#define FREE 0u
#define ERASED 1u

/* Open addressing. Changed under the lock; looked into without it by those who give back while nobody watches. */
struct table {
	size_t mask;    /* entries less one */
	unsigned shift; /* of the hash */
	size_t used;    /* entries that are not FREE */
	size_t held;    /* of them, blocks */
	struct block v[];
};

#define FIRST_BITS 12

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table *_Atomic table;
static struct assay_heap_counts counts;

static inline size_t hash(const struct table *t, uintptr_t at)
{
	return (size_t)((uint64_t)(at >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> t->shift);
}

/* The entry of the block at @at, or NULL. */
static inline struct block *look_up(uintptr_t at)
{
	struct table *t = atomic_load_explicit(&table, memory_order_acquire);
	uintptr_t there;

	if (!t || at == FREE)
		return NULL;
	for (size_t i = hash(t, at); (there = atomic_load_explicit(&t->v[i].at, memory_order_relaxed)) != FREE;
	     i = (i + 1) & t->mask)
		if (there == at)
			return &t->v[i];
	return NULL;
}

static void insert(struct table *t, uintptr_t at, size_t bytes)
{
	size_t i = hash(t, at);

	while (t->v[i].at > ERASED)
		i = (i + 1) & t->mask;
	t->used += t->v[i].at == FREE;
	t->held++;
	t->v[i].at = at;
	t->v[i].bytes = bytes;
}

/* Not from malloc. Without it counts would be wrong from here on. */
static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

/* The blocks of @from into @to, which is empty. */
static void insert_all(struct table *to, const struct block *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (from[i].at > ERASED)
			insert(to, from[i].at, from[i].bytes);
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
	struct block *copy = map(n * sizeof(*copy));

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

static void keep(void *p, size_t bytes)
{
	pthread_mutex_lock(&lock);
	make_room();
	insert(table, (uintptr_t)p, bytes);
	counts.live_bytes += bytes;
	if (counts.live_bytes > counts.peak_bytes)
		counts.peak_bytes = counts.live_bytes;
	pthread_mutex_unlock(&lock);
}

/* A call asked for @bytes and got @p. */
static void taken(void *p, size_t bytes)
{
	if (!p)
		return;
	keep(p, bytes);
	pthread_mutex_lock(&lock);
	counts.allocations++;
	counts.bytes += bytes;
	if (bytes > counts.largest_bytes)
		counts.largest_bytes = bytes;
	pthread_mutex_unlock(&lock);
}

/* @p will be given back. True, and *bytes, when it was in the table: what was taken unwatched is not. */
static bool erase(void *p, size_t *bytes)
{
	struct block *b;

	pthread_mutex_lock(&lock);
	b = look_up((uintptr_t)p);
	if (b) {
		*bytes = b->bytes;
		counts.live_bytes -= b->bytes;
		table->held--;
		b->at = ERASED;
	}
	pthread_mutex_unlock(&lock);
	return b;
}

static void given(void *p)
{
	size_t bytes;

	erase(p, &bytes);
}

/* ---- the watched functions -------------------------------------------------------------------------------------- */

static struct functions behind; /* what would be called without this object */

static void *watched_malloc(size_t n)
{
	void *p = behind.malloc(n);

	taken(p, n);
	return p;
}

static void *watched_calloc(size_t n, size_t size)
{
	void *p = behind.calloc(n, size);

	taken(p, n * size); /* a product that overflows gave no block */
	return p;
}

/* The old entry goes first, since another thread may get its address. */
static void *watched_realloc(void *p, size_t n)
{
	size_t before;
	bool known = erase(p, &before);
	void *q = behind.realloc(p, n);

	taken(q, n);
	if (!q && n && known)
		keep(p, before);
	return q;
}

static void watched_free(void *p)
{
	given(p);
	behind.free(p);
}

static int watched_posix_memalign(void **p, size_t align, size_t n)
{
	int rc = behind.posix_memalign(p, align, n);

	if (!rc)
		taken(*p, n);
	return rc;
}

static void *watched_aligned_alloc(size_t align, size_t n)
{
	void *p = behind.aligned_alloc(align, n);

	taken(p, n);
	return p;
}

static void *watched_memalign(size_t align, size_t n)
{
	void *p = behind.memalign(align, n);

	taken(p, n);
	return p;
}

static const struct functions watched = {
	.malloc = watched_malloc,
	.calloc = watched_calloc,
	.realloc = watched_realloc,
	.free = watched_free,
	.posix_memalign = watched_posix_memalign,
	.aligned_alloc = watched_aligned_alloc,
	.memalign = watched_memalign,
};

/* ---- while blocks are held that were watched: samples may give them back ----------------------------------------- */

static void erasing_free(void *p)
{
	if (look_up((uintptr_t)p))
		given(p);
	behind.free(p);
}

/* What comes of such a block is not followed further. */
static void *erasing_realloc(void *p, size_t n)
{
	if (look_up((uintptr_t)p))
		given(p);
	return behind.realloc(p, n);
}

/* ---- until the functions behind are known ----------------------------------------------------------------------- */

static struct functions active; /* what is called */

/* Without them the program cannot even say what is wrong. */
static void *find(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f)
		_exit(127);
	return f;
}

/* On the first call, while the program is loaded and has one thread. dlsym() allocates only to explain a failure. */
static void find_all(void)
{
	*(void **)&behind.malloc = find("malloc");
	*(void **)&behind.calloc = find("calloc");
	*(void **)&behind.realloc = find("realloc");
	*(void **)&behind.free = find("free");
	*(void **)&behind.posix_memalign = find("posix_memalign");
	*(void **)&behind.aligned_alloc = find("aligned_alloc");
	*(void **)&behind.memalign = find("memalign");
	active = behind;
}

static void *first_malloc(size_t n)
{
	find_all();
	return active.malloc(n);
}

static void *first_calloc(size_t n, size_t size)
{
	find_all();
	return active.calloc(n, size);
}

static void *first_realloc(void *p, size_t n)
{
	find_all();
	return active.realloc(p, n);
}

static void first_free(void *p)
{
	find_all();
	active.free(p);
}

static int first_posix_memalign(void **p, size_t align, size_t n)
{
	find_all();
	return active.posix_memalign(p, align, n);
}

static void *first_aligned_alloc(size_t align, size_t n)
{
	find_all();
	return active.aligned_alloc(align, n);
}

static void *first_memalign(size_t align, size_t n)
{
	find_all();
	return active.memalign(align, n);
}

static struct functions active = {
	.malloc = first_malloc,
	.calloc = first_calloc,
	.realloc = first_realloc,
	.free = first_free,
	.posix_memalign = first_posix_memalign,
	.aligned_alloc = first_aligned_alloc,
	.memalign = first_memalign,
};

/* ---- what stands before ----------------------------------------------------------------------------------------- */

EXPORT void *malloc(size_t n)
{
	return active.malloc(n);
}

EXPORT void *calloc(size_t n, size_t size)
{
	return active.calloc(n, size);
}

EXPORT void *realloc(void *p, size_t n)
{
	return active.realloc(p, n);
}

EXPORT void free(void *p)
{
	active.free(p);
}

EXPORT int posix_memalign(void **p, size_t align, size_t n)
{
	return active.posix_memalign(p, align, n);
}

EXPORT void *aligned_alloc(size_t align, size_t n)
{
	return active.aligned_alloc(align, n);
}

EXPORT void *memalign(size_t align, size_t n)
{
	return active.memalign(align, n);
}

/* ---- for the worker --------------------------------------------------------------------------------------------- */

static bool watch(bool on)
{
	bool before = active.malloc == watched_malloc;

	if (!behind.malloc)
		find_all();
	active = on ? watched : behind;
	if (on || !table)
		return before;
	pthread_mutex_lock(&lock);
	if (table->held) {
		if (table->used > 2 * table->held) /* so that look-ups meet a FREE entry soon */
			purge(table);
		active.free = erasing_free;
		active.realloc = erasing_realloc;
	}
	pthread_mutex_unlock(&lock);
	return before;
}

static void read_counts(struct assay_heap_counts *out)
{
	pthread_mutex_lock(&lock);
	*out = counts;
	pthread_mutex_unlock(&lock);
}

extern const struct assay_heap assay_heap_v1;
EXPORT const struct assay_heap assay_heap_v1 = {
	.size = sizeof(struct assay_heap),
	.watch = watch,
	.taken = taken,
	.given = given,
	.read = read_counts,
};
