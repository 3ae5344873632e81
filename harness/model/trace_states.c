/* SPDX-License-Identifier: Apache-2.0 */
#include "model/trace_states.h"

#include <stdlib.h>
#include <string.h>

static const struct assay_frame *frame(const struct assay_profile *p, const struct assay_stack *s, uint32_t at)
{
	return &p->stacks.frames[p->stacks.order[s->first + at]];
}

bool assay_trace_on_path(const struct assay_profile *p, const struct assay_stack *s)
{
	return s->n > 2 && !strcmp(frame(p, s, 0)->name, ASSAY_TRACE_PATH);
}

static int by_path(const void *a, const void *b)
{
	const struct assay_trace_share *x = a, *y = b;

	if (x->path_ns != y->path_ns)
		return x->path_ns < y->path_ns ? 1 : -1;
	if (x->self_ns != y->self_ns)
		return x->self_ns < y->self_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static struct assay_trace_share *find(struct assay_trace_share *v, size_t *n, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(v[i].name, name))
			return &v[i];
	v[*n].name = name;
	return &v[(*n)++];
}

/* Is the frame at @at the outermost of its name? */
static bool is_first(const struct assay_profile *p, const struct assay_stack *s, uint32_t from, uint32_t at)
{
	for (uint32_t i = from; i < at; i++)
		if (!strcmp(frame(p, s, i)->name, frame(p, s, at)->name))
			return false;
	return true;
}

int assay_trace_shares(const struct assay_profile *p, struct assay_trace_share **out, size_t *n, uint64_t *path_ns,
		       struct assay_err *err)
{
	struct assay_trace_share *v = calloc(p->stacks.n_frames + 1, sizeof(*v));

	*n = 0;
	*path_ns = 0;
	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a trace");
	for (size_t k = 0; k < p->stacks.n_stacks; k++) {
		const struct assay_stack *s = &p->stacks.stacks[k];
		const bool path = assay_trace_on_path(p, s);
		const uint32_t from = path ? 2 : 1;

		*path_ns += path ? s->weight : 0;
		for (uint32_t i = from; i < s->n; i++) {
			struct assay_trace_share *x = find(v, n, frame(p, s, i)->name);
			const bool last = i + 1 == s->n;

			*(path ? &x->path_ns : &x->self_ns) += last ? s->weight : 0;
			x->times += last && !path && p->waits ? p->waits[k].waits : 0;
			*(path ? &x->path_total_ns : &x->total_ns) += is_first(p, s, from, i) ? s->weight : 0;
		}
	}
	if (*n)
		qsort(v, *n, sizeof(*v), by_path);
	*out = v;
	return 0;
}

uint64_t assay_trace_path_of(const struct assay_profile *p, const char *name)
{
	uint64_t ns = 0;

	for (size_t k = 0; k < p->stacks.n_stacks; k++)
		if (assay_trace_on_path(p, &p->stacks.stacks[k]) &&
		    !strcmp(frame(p, &p->stacks.stacks[k], 1)->name, name))
			ns += p->stacks.stacks[k].weight;
	return ns;
}
