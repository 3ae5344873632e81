/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/profile/flame_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "reports/profile/parts.h"

/* Frames of one name are one; those without a name are told apart by their objects. */
static int order_of(const struct assay_frame *a, const struct assay_frame *b)
{
	return strcmp(assay_profile_name(a->name, a->object), assay_profile_name(b->name, b->object));
}

static int add_node(struct assay_flame_tree *t, uint32_t parent, const struct assay_frame *f, uint32_t *out)
{
	const uint32_t at = (uint32_t)t->n;
	uint32_t *link;

	if (assay_grow(&t->nodes, t->n, sizeof(*t->nodes)))
		return ASSAY_ENOMEM;
	t->nodes[t->n++] = (struct assay_flame_node){ .frame = f, .parent = parent };
	*out = at;
	if (!f)
		return 0;
	t->nodes[at].depth = t->nodes[parent].depth + 1;
	if (t->nodes[at].depth > t->depth)
		t->depth = t->nodes[at].depth;
	link = &t->nodes[parent].child;
	while (*link && order_of(t->nodes[*link].frame, f) < 0)
		link = &t->nodes[*link].next;
	t->nodes[at].next = *link;
	*link = at;
	return 0;
}

static int child_of(struct assay_flame_tree *t, uint32_t parent, const struct assay_frame *f, uint32_t *out)
{
	for (uint32_t i = t->nodes[parent].child; i; i = t->nodes[i].next)
		if (t->nodes[i].frame->kind == f->kind && !order_of(t->nodes[i].frame, f)) {
			*out = i;
			return 0;
		}
	return add_node(t, parent, f, out);
}

static void grow(struct assay_flame_node *n, uint64_t weight, bool before)
{
	*(before ? &n->before : &n->weight) += weight;
}

const struct assay_frame assay_flame_harness = {
	.kind = ASSAY_FRAME_LABEL, .name = "harness", .object = "", .file = ""
};

static const struct assay_frame *frame_at(const struct assay_stack_table *stacks, const struct assay_stack *k,
					  uint32_t d)
{
	return &stacks->frames[stacks->order[k->first + d]];
}

static int add_stacks(struct assay_flame_tree *t, const struct assay_stack_table *stacks, bool before, bool fold)
{
	int rc = 0;

	for (size_t i = 0; i < stacks->n_stacks && !rc; i++) {
		const struct assay_stack *k = &stacks->stacks[i];
		uint32_t at = 0, from = 0, end = fold ? assay_stack_harness(stacks, k, &from) : 0;

		grow(&t->nodes[at], k->weight, before);
		for (uint32_t d = 0; d < k->n && !rc; d++) {
			const bool folded = d >= from && d < end;

			rc = child_of(t, at, folded ? &assay_flame_harness : frame_at(stacks, k, d), &at);
			if (folded)
				d = end - 1;
			if (!rc)
				grow(&t->nodes[at], k->weight, before);
		}
	}
	return rc;
}

int assay_flame_tree_make(struct assay_flame_tree *t, const struct assay_stack_table *stacks,
			  const struct assay_stack_table *before, bool fold, struct assay_err *err)
{
	uint32_t at;
	int rc;

	*t = (struct assay_flame_tree){ 0 };
	rc = add_node(t, 0, NULL, &at);
	if (!rc)
		rc = add_stacks(t, stacks, false, fold);
	if (!rc && before)
		rc = add_stacks(t, before, true, fold);
	if (!rc)
		return 0;
	assay_flame_tree_release(t);
	return assay_err_set(err, rc, "out of memory for a flame graph");
}

void assay_flame_tree_release(struct assay_flame_tree *t)
{
	free(t->nodes);
	*t = (struct assay_flame_tree){ 0 };
}
