/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks of this process, each unwound once. */
#ifndef ASSAY_COUNTERS_PRELOAD_HEAP_STACKS_H
#define ASSAY_COUNTERS_PRELOAD_HEAP_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "counters/heap_sites.h"

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

/* The site of this stack if it is known and still the same, else UINT32_MAX. Not from two threads at once. */
uint32_t assay_heap_stack_known(struct assay_heap_caller from);
void assay_heap_stack_remember(struct assay_heap_caller from, const struct assay_heap_stack *s, uint32_t site);
bool assay_heap_stacks_init(void);
/* For a child after fork(2): its sites are others. */
void assay_heap_stacks_forget(void);

#endif
