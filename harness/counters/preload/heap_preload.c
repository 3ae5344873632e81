/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands before malloc and its like in a worker. Unwatched, a call costs a jump and a branch more than without it;
 * watched, each block is kept (heap_recorder.h) until it is given back. Blocks of valloc() and pvalloc() are not
 * counted.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "counters/heap/heap.h"
#include "counters/preload/heap_recorder.h"

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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the blocks and the counts */
static struct assay_heap_counts counts;

/* Under the lock. */
static void keep(const void *p, size_t bytes)
{
	assay_heap_blocks_put(p, bytes);
	counts.live_bytes += bytes;
	if (counts.live_bytes > counts.peak_bytes)
		counts.peak_bytes = counts.live_bytes;
}

/* A call asked for @bytes and got @p. */
static void taken(void *p, size_t bytes)
{
	if (!p)
		return;
	pthread_mutex_lock(&lock);
	keep(p, bytes);
	counts.allocations++;
	counts.bytes += bytes;
	if (bytes > counts.largest_bytes)
		counts.largest_bytes = bytes;
	pthread_mutex_unlock(&lock);
}

/* @p will be given back. True, and *bytes, when it is held: what was taken unwatched is not. */
static bool erase(const void *p, size_t *bytes)
{
	struct assay_heap_block *b;

	pthread_mutex_lock(&lock);
	b = assay_heap_blocks_find(p);
	if (b) {
		*bytes = b->bytes;
		counts.live_bytes -= b->bytes;
		assay_heap_blocks_erase(b);
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
	if (!q && n && known) {
		pthread_mutex_lock(&lock);
		keep(p, before);
		pthread_mutex_unlock(&lock);
	}
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

static bool held(const void *p)
{
	return assay_heap_blocks_may_hold(p) && assay_heap_blocks_find(p);
}

static void erasing_free(void *p)
{
	if (held(p))
		given(p);
	behind.free(p);
}

/* The block that realloc returns is not followed further. */
static void *erasing_realloc(void *p, size_t n)
{
	if (held(p))
		given(p);
	return behind.realloc(p, n);
}

/* ---- where every call is recorded with its caller: heap_recorder.h ---------------------------------------------- */

static void *recorded_malloc(size_t n)
{
	void *p = behind.malloc(n);

	assay_heap_sites_taken(p, n, ASSAY_HEAP_CALLER());
	return p;
}

static void *recorded_calloc(size_t n, size_t size)
{
	void *p = behind.calloc(n, size);

	assay_heap_sites_taken(p, n * size, ASSAY_HEAP_CALLER());
	return p;
}

/* Refused, the block stays where it was; its site is then this one. */
static void *recorded_realloc(void *p, size_t n)
{
	size_t before = 0;
	bool known = assay_heap_sites_given(p, &before);
	void *q = behind.realloc(p, n);

	assay_heap_sites_taken(q, n, ASSAY_HEAP_CALLER());
	if (!q && n && known)
		assay_heap_sites_taken(p, before, ASSAY_HEAP_CALLER());
	return q;
}

static void recorded_free(void *p)
{
	size_t bytes;

	assay_heap_sites_given(p, &bytes);
	behind.free(p);
}

static int recorded_posix_memalign(void **p, size_t align, size_t n)
{
	int rc = behind.posix_memalign(p, align, n);

	if (!rc)
		assay_heap_sites_taken(*p, n, ASSAY_HEAP_CALLER());
	return rc;
}

static void *recorded_aligned_alloc(size_t align, size_t n)
{
	void *p = behind.aligned_alloc(align, n);

	assay_heap_sites_taken(p, n, ASSAY_HEAP_CALLER());
	return p;
}

static void *recorded_memalign(size_t align, size_t n)
{
	void *p = behind.memalign(align, n);

	assay_heap_sites_taken(p, n, ASSAY_HEAP_CALLER());
	return p;
}

static const struct functions recorded = {
	.malloc = recorded_malloc,
	.calloc = recorded_calloc,
	.realloc = recorded_realloc,
	.free = recorded_free,
	.posix_memalign = recorded_posix_memalign,
	.aligned_alloc = recorded_aligned_alloc,
	.memalign = recorded_memalign,
};

/* ---- what stands before ----------------------------------------------------------------------------------------- */

static struct functions active; /* what is called; all-zero until the first call */

/* Without them the program cannot even say what is wrong. */
static void *find(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f)
		_exit(127);
	return f;
}

/* On the first call, while the program is loaded and has one thread. dlsym() allocates only to explain a failure. */
static __attribute__((noinline, cold)) void find_all(void)
{
	*(void **)&behind.malloc = find("malloc");
	*(void **)&behind.calloc = find("calloc");
	*(void **)&behind.realloc = find("realloc");
	*(void **)&behind.free = find("free");
	*(void **)&behind.posix_memalign = find("posix_memalign");
	*(void **)&behind.aligned_alloc = find("aligned_alloc");
	*(void **)&behind.memalign = find("memalign");
	active = assay_heap_sites_begin() ? recorded : behind;
}

static inline const struct functions *called(void)
{
	if (__builtin_expect(!active.malloc, 0))
		find_all();
	return &active;
}

EXPORT void *malloc(size_t n)
{
	return called()->malloc(n);
}

EXPORT void *calloc(size_t n, size_t size)
{
	return called()->calloc(n, size);
}

EXPORT void *realloc(void *p, size_t n)
{
	return called()->realloc(p, n);
}

EXPORT void free(void *p)
{
	called()->free(p);
}

EXPORT int posix_memalign(void **p, size_t align, size_t n)
{
	return called()->posix_memalign(p, align, n);
}

EXPORT void *aligned_alloc(size_t align, size_t n)
{
	return called()->aligned_alloc(align, n);
}

EXPORT void *memalign(size_t align, size_t n)
{
	return called()->memalign(align, n);
}

/* A program that allocates nothing has a file of sites, too. */
static __attribute__((constructor)) void begin(void)
{
	if (called()->malloc == recorded_malloc)
		assay_heap_sites_follow_forks();
}

/* ---- for the worker --------------------------------------------------------------------------------------------- */

static bool watch(bool on)
{
	bool before = called()->malloc == watched_malloc;

	if (active.malloc == recorded_malloc) {
		before = assay_heap_sites_watched();
		assay_heap_sites_watch(on);
		return before;
	}
	active = on ? watched : behind;
	if (on)
		return before;
	pthread_mutex_lock(&lock);
	if (assay_heap_blocks_settle()) {
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

static void foreign_taken(void *p, size_t bytes)
{
	if (active.malloc == recorded_malloc)
		assay_heap_sites_taken(p, bytes, ASSAY_HEAP_CALLER());
	else
		taken(p, bytes);
}

static void foreign_given(void *p)
{
	size_t bytes;

	if (active.malloc == recorded_malloc)
		assay_heap_sites_given(p, &bytes);
	else
		given(p);
}

extern const struct assay_heap assay_heap_v1;
EXPORT const struct assay_heap assay_heap_v1 = {
	.size = sizeof(struct assay_heap),
	.watch = watch,
	.taken = foreign_taken,
	.given = foreign_given,
	.read = read_counts,
};
