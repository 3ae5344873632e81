/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by recorders of heaps and threads, without an allocation: a mapped file that grows, which code is mapped,
 * and call stacks, each unwound once.
 */
#ifndef ASSAY_COUNTERS_PRELOAD_RECORDING_H
#define ASSAY_COUNTERS_PRELOAD_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/heap/sites.h"

/* The frame that called malloc or its like. */
struct assay_heap_caller {
	uintptr_t to, at,
		frame; /* where the call returns to; of the callee: where its frame lies; of the caller: its base */
};

/* Of the function it stands in, which malloc or its like has jumped to. */
#define ASSAY_HEAP_CALLER()                                                                                            \
	((struct assay_heap_caller){ (uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0),    \
				     *(uintptr_t *)__builtin_frame_address(0) })

struct assay_heap_stack {
	uint32_t n;
	bool whole;
	bool kept;                                /* every frame's return address was found where its call left it */
	uintptr_t frames[ASSAY_HEAP_SITES_DEPTH]; /* where calls return to, the innermost first */
	uintptr_t slots[ASSAY_HEAP_SITES_DEPTH];  /* where in the stack these addresses lie */
};

/* Unwind by the tables of the compiler. No lock may be held that others take while they load libraries. */
void assay_heap_stack_unwind(struct assay_heap_caller from, struct assay_heap_stack *out);

/* Stacks that were unwound, by their callers: for one thread at a time. */
struct assay_known_stacks {
	struct assay_known_stack *v; /* NULL: none */
	unsigned bits;
};
/* Room for 1 << @bits of them, from the kernel; false where there is none. */
bool assay_known_stacks_init(struct assay_known_stacks *k, unsigned bits);
void assay_known_stacks_release(struct assay_known_stacks *k);
/* For a child after fork(2): its sites are others. */
void assay_known_stacks_forget(struct assay_known_stacks *k);
/* The site of this stack if it is known and still the same, else UINT32_MAX. */
uint32_t assay_known_stacks_find(const struct assay_known_stacks *k, struct assay_heap_caller from);
void assay_known_stacks_add(struct assay_known_stacks *k, struct assay_heap_caller from,
			    const struct assay_heap_stack *s, uint32_t site);

/* ---- files ---- */

/* A file that a recorder writes by mapping it, with room reserved before it is used. */

#define ASSAY_GROWING_FILE_PATH 4096

struct assay_growing_file {
	char path[ASSAY_GROWING_FILE_PATH];
	uint64_t room_bytes, most_bytes;
};

/*
 * A file of this process alone, @dir/PID.N@ending, mapped for @most_bytes. NULL where there can be none, or @dir is
 * NULL. @before, which may be NULL, has room for a path: of the program that this process was before, "" for none.
 */
void *assay_growing_file_new(struct assay_growing_file *f, const char *dir, const char *ending, uint64_t most_bytes,
			     char *before);
/* Reserve room for its first @bytes; false on a full disk, or beyond its most. */
bool assay_growing_file_reserve(struct assay_growing_file *f, uint64_t bytes);
/* The name of this program from /proc/self/comm, cut off at @size; "" if it cannot be read. */
void assay_growing_file_program(char *name, size_t size);

/* ---- mapped code ---- */

/* Which files' code this process has mapped, each told once. */

#define ASSAY_MAPPED_MOST 1024

/* All-zero: nothing is known. Not for two threads at once. */
struct assay_mapped_code {
	struct {
		uint64_t start, end;
	} maps[ASSAY_MAPPED_MOST];
	size_t n;
	char text[8192]; /* what was read of /proc last */
};

/* Keep a map; false where there is no room, and it is told again. @path "": code of no file. */
typedef bool (*assay_mapped_fn)(uint64_t start, uint64_t end, uint64_t file_offset, const char *path);

bool assay_mapped_code_has(const struct assay_mapped_code *m, uint64_t address);
/* Tell @keep of all that is mapped and was not told yet. */
void assay_mapped_code_read(struct assay_mapped_code *m, assay_mapped_fn keep);

#endif
