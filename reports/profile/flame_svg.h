/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as one SVG, of a profile or of the difference of two. */
#ifndef ASSAY_REPORTS_PROFILE_FLAME_SVG_H
#define ASSAY_REPORTS_PROFILE_FLAME_SVG_H

#include <stdbool.h>

#include "base/text.h"
#include "model/profile.h"
#include "model/profile_diff.h"

/* ---- flame tree ---- */

/* The stacks of a profile as a tree: what a flame graph draws. */

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

/* This name replaces the frames of the harness that lead to the call of the op or the variant. */
extern const struct assay_frame assay_flame_harness;

/*
 * @before: of the other side of a difference; NULL: none. @fold: the frames of the harness are one. Frames stay
 * borrowed. ASSAY_ENOMEM leaves nothing to release.
 */
int assay_flame_tree_make(struct assay_flame_tree *t, const struct assay_stack_table *stacks,
			  const struct assay_stack_table *before, bool fold, struct assay_err *err);
void assay_flame_tree_release(struct assay_flame_tree *t);

/* Of @diff where that is not NULL, else of @p. @in_page: style and script of reports/profile/flame are the page's. */
void assay_flame_svg(const struct assay_profile *p, const struct assay_profile_diff *diff, bool in_page,
		     struct assay_text *out);

/* The picture of a profile: of threads a timeline, else a flame graph. */
void assay_profile_svg(const struct assay_profile *p, bool in_page, struct assay_text *out);
/* Style and script of pictures, by the name of the file in reports/profile/flame. */
const char *assay_flame_file(const char *name);

#endif
