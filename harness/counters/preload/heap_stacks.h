/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks of this process, each unwound once. Also what stands before calls that wait (../waits) uses them. */
#ifndef ASSAY_COUNTERS_PRELOAD_HEAP_STACKS_H
#define ASSAY_COUNTERS_PRELOAD_HEAP_STACKS_H

#include <stdbool.h>
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

#endif
