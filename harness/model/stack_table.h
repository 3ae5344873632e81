/* SPDX-License-Identifier: Apache-2.0 */
/* Distinct call stacks with weights, and the frames that they are made of. Must not know where they come from. */
#ifndef ASSAY_MODEL_STACK_TABLE_H
#define ASSAY_MODEL_STACK_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/name_index.h"

enum assay_frame_kind {
	ASSAY_FRAME_CODE,
	ASSAY_FRAME_INLINED, /* code that the compiler put into the frame above it */
	ASSAY_FRAME_LABEL,   /* no code: what the harness knows, such as the case, its phase, the thread */
};

/* Texts are "" and numbers 0 where something is not known. */
struct assay_frame {
	enum assay_frame_kind kind;
	const char *name;   /* of the function, as its symbol says; of a label its text */
	const char *object; /* name of the program or library, without folders */
	const char *file;   /* of the source, without folders */
	unsigned line;      /* that runs, or that holds the call */
	uint64_t offset;    /* of the instruction, as the object's disassembly has it; only where stacks end */
};

struct assay_stack {
	size_t first; /* of its frames, in `order` */
	uint32_t n;
	uint64_t weight;
};

/* All-zero is empty. Texts of frames are owned. */
struct assay_stack_table {
	struct assay_frame *frames;
	size_t n_frames;
	struct assay_stack *stacks;
	size_t n_stacks;
	uint32_t *order; /* frames of all stacks, each from the outermost to the innermost */
	size_t n_order, cap_order;
	uint64_t weight; /* of all stacks */
	struct assay_name_index frame_index, stack_index;
};

/* The number of a frame like @f, which is added where there is none. */
int assay_stack_table_frame(struct assay_stack_table *t, const struct assay_frame *f, uint32_t *out,
			    struct assay_err *err);
/* The number of the stack of these @n frames, the outermost first, which is added with weight 0 where there is none. */
int assay_stack_table_put(struct assay_stack_table *t, const uint32_t *frames, uint32_t n, size_t *at,
			  struct assay_err *err);
/* Add @weight to the stack of these @n frames, the outermost first. */
int assay_stack_table_add(struct assay_stack_table *t, const uint32_t *frames, uint32_t n, uint64_t weight,
			  struct assay_err *err);
void assay_stack_table_release(struct assay_stack_table *t);

#endif
