/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of a profile as a tree: what a flame graph draws. */
#ifndef ASSAY_REPORTS_PROFILE_FLAME_TREE_H
#define ASSAY_REPORTS_PROFILE_FLAME_TREE_H

#include <stdbool.h>

#include "model/profile.h"

struct assay_flame_node {
	const struct assay_frame *frame; /* the first of its name; NULL: the root */
	uint32_t parent, child, next;    /* first child and next of the same parent, by name; 0: none */
	uint32_t depth;
	uint64_t weight, before; /* with all that it calls: in the stacks, and in those of the other side */
};

/* nodes[0] is the root; parents stand before their children. */
struct assay_flame_tree {
	struct assay_flame_node *nodes;
	size_t n;
	uint32_t depth;
};

/* What stands for the frames of the harness that start a case, down to the call of the op or the variant. */
extern const struct assay_frame assay_flame_harness;

/*
 * @before: of the other side of a difference; NULL: none. @fold: the frames of the harness are one. Frames stay
 * borrowed. ASSAY_ENOMEM leaves nothing to release.
 */
int assay_flame_tree_make(struct assay_flame_tree *t, const struct assay_stack_table *stacks,
			  const struct assay_stack_table *before, bool fold, struct assay_err *err);
void assay_flame_tree_release(struct assay_flame_tree *t);

#endif
