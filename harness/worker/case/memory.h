/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers of a case: every copy of every tensor between canaries and guard pages, on the right NUMA node, pre-faulted.
 */
#ifndef ASSAY_WORKER_CASE_MEMORY_H
#define ASSAY_WORKER_CASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/plugin.h"
#include "base/err.h"
#include "machine/topology.h"

/*
 * A file that several processes map, each with the same arenas in the same order. Or, from dealt_from on, two processes
 * with arenas of their own, which are dealt its huge pages in pairs: of each pair, @seed draws the one of @side 0.
 */
struct assay_arena_file {
	int fd;
	size_t end;        /* where the next arena may begin, as if there were no other process */
	size_t dealt_from; /* a multiple of a huge page; 0: nothing is dealt */
	uint64_t seed;
	unsigned side; /* 0 or 1 */
};

/* All copies of one tensor. Copy i begins at base + i * stride. */
struct assay_arena {
	unsigned char *map; /* with the guard pages */
	size_t map_bytes;
	unsigned char *base;
	size_t stride, bytes; /* of a copy, with and without padding */
	uint64_t copies;
};

struct assay_arena_options {
	size_t bytes;
	uint64_t copies;
	uintptr_t address; /* where the mapping must begin; 0: anywhere */
	uintptr_t near;    /* it begins there, or at the next boundary of a huge page, if there is room; 0: anywhere */
	size_t offset_bytes;                   /* moves all copies down by so much, a multiple of 64 below 4096 */
	const struct assay_topology *topology; /* NULL: no binding */
	int cpu;                               /* whose node; -1: leave to first touch */
	/* writes to every page first, from the threads that will use them; NULL: the caller's thread does */
	void (*touch)(void *arg, unsigned char *p, size_t bytes);
	void *touch_arg;
	bool whole_huge;               /* what fills half a huge page takes whole ones: see map_pages() */
	struct assay_arena_file *file; /* holds the memory; NULL: it is private */
	bool keep;                     /* what the file holds, canaries included */
	bool first_only;               /* zeros in the first copy; the others are written by whoever fills them */
};

/*
 * Memory that starts on a page: what plugins and the timed loop read besides tensors. Its place within a page decides
 * cache conflicts.
 */
#define ASSAY_LAYOUT_ALIGN 4096
/*
 * As calloc(), but on pages of its own, from @at on, which is then where they end. They lie elsewhere where @at is NULL
 * or 0, or names what assay_layout_pages() never does, or is taken.
 */
void *assay_layout_calloc(uintptr_t *at, size_t n, size_t size);
/* With the same @n and @size. */
void assay_layout_free(void *p, size_t n, size_t size);
/* Where such pages begin, and the arenas of a layout: the same for all processes that have drawn @seed. */
uintptr_t assay_layout_pages(uint64_t seed);
uintptr_t assay_layout_address(uint64_t seed);
/*
 * Move what this process maps or takes from the heap from now on, such as plugins and stacks of threads, by the pages
 * that @seed draws. Where the kernel draws no addresses (ADDR_NO_RANDOMIZE), processes with one seed then lie alike.
 */
void assay_layout_shift(uint64_t seed);

uint64_t assay_dtype_bytes(uint32_t dtype);
/* Bytes of the elements of @t; false for too many dimensions, a negative one or an overflow. */
bool assay_tensor_size(const struct assay_tensor_spec *t, uint64_t *bytes);
/* As above, but 0 instead of false. */
uint64_t assay_tensor_bytes(const struct assay_tensor_spec *t);

/* Does an arena of so many bytes lie on huge pages? @whole_huge: see struct assay_arena_options. */
bool assay_arena_is_huge(size_t bytes, bool whole_huge);
/* The room of a copy of so many bytes, with its canary. */
size_t assay_arena_stride(size_t bytes);
/*
 * ASSAY_ENOMEM or ASSAY_EUNAVAILABLE (binding refused). Memory is zero, if it is not kept, and resident, but for what
 * first_only says.
 */
int assay_arena_init(struct assay_arena *a, const struct assay_arena_options *o, struct assay_err *err);
void assay_arena_release(struct assay_arena *a);
/*
 * @bytes of zeros, then a canary, from byte @at of the first copy of @whole on, which has assay_arena_stride(@bytes) of
 * them there. What lies before has to be a canary already. The part has no mapping of its own.
 */
struct assay_arena assay_arena_part(const struct assay_arena *whole, size_t at, size_t bytes);
void *assay_arena_copy(const struct assay_arena *a, uint64_t copy);
/*
 * Were the canaries around all copies left alone? *where gets the offset of the first bad byte from the copy's start.
 */
bool assay_arena_intact(const struct assay_arena *a, uint64_t *copy, int64_t *where);

/* ---- branch memory ---- */

/* Clears what a processor has learnt about branches. */

/*
 * Run branches on bits drawn from @seed, until the calling core's predictor has no room for what it had learnt. It
 * touches no memory. Takes about 0.3 ms.
 */
void assay_branch_memory_clear(uint64_t seed);

/* ---- page layout ---- */

/*
 * The physical pages of what a process has to itself. They decide how well loads pass the stores before them: on Zen 4
 * one page in 15 makes a kernel in L1 that reads there slower by 1 to 2 %, whatever its address.
 */

/*
 * Put the pages that hold @bytes from @at on new physical ones, at the same addresses and with the same content. They
 * are private memory that may be read and written, and no other thread writes to them meanwhile. Where the system
 * refuses, and where pages are not of ASSAY_LAYOUT_ALIGN, they stay. Each draw keeps as many pages until the process
 * ends, since the kernel gives first what it got back last.
 */
void assay_pages_remap(void *at, size_t bytes);

/* ---- code ---- */

/*
 * Give what is read-only in a loaded plugin, code and constants, new pages of this process, at the same addresses and
 * under the name of the file. The pages of the file are the same for every process until it is written again, and their
 * place in the caches can favour one build over the other by 2 % in all pairs. Where the system forbids that, the pages
 * stay those of the file.
 */
void assay_code_pages_draw(void *dl);

/* ---- alloc pool ---- */

/*
 * Buffers that lie one behind the other on huge pages, for what a plugin allocates in many parts: on small pages of
 * their own, parts lie differently from process to process. Canaries are between them, and no guard pages.
 */

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
