/* SPDX-License-Identifier: Apache-2.0 */
#include "model/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "stats/distributions.h"

void assay_profile_release(struct assay_profile *p)
{
	assay_stack_table_release(&p->stacks);
	free(p->threads);
	free(p->heap.sites);
	free(p->gpu.devices);
	free(p->gpu.work);
	free(p->waits);
	free(p->timeline.cells);
	assay_trace_release(&p->trace);
	*p = (struct assay_profile){ 0 };
}

static int out_of_memory(struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the functions of a profile");
}

void assay_profile_site_weigh(struct assay_profile *p, size_t at)
{
	const uint64_t weight = (uint64_t)llround(p->heap.sites[at].bytes);

	p->stacks.weight += weight - p->stacks.stacks[at].weight;
	p->stacks.stacks[at].weight = weight;
}

static int by_self(const void *a, const void *b)
{
	const struct assay_profile_function *f = a, *g = b;

	if (f->timed_self != g->timed_self)
		return f->timed_self < g->timed_self ? 1 : -1;
	if (f->self != g->self)
		return f->self < g->self ? 1 : -1;
	if (f->total != g->total)
		return f->total < g->total ? 1 : -1;
	return strcmp(f->name, g->name);
}

/* Which function each frame is of; labels are of none (SIZE_MAX). */
static int group_frames(const struct assay_stack_table *t, size_t *of, struct assay_profile_function *v, size_t *n,
			struct assay_err *err)
{
	struct assay_name_index index = { 0 };
	int rc = 0;

	for (size_t i = 0; i < t->n_frames && !rc; i++) {
		const struct assay_frame *f = &t->frames[i];
		struct assay_text key = { 0 };
		bool found = false;

		of[i] = SIZE_MAX;
		if (f->kind == ASSAY_FRAME_LABEL)
			continue;
		assay_text_addf(&key, "%s\n%s", f->name, f->object);
		rc = key.failed ? out_of_memory(err) : assay_name_index_put(&index, key.s, *n, &of[i], &found, err);
		assay_text_release(&key);
		if (rc)
			break;
		if (!found)
			v[(*n)++] = (struct assay_profile_function){ .name = f->name,
								     .object = f->object,
								     .file = f->file,
								     .line = f->line,
								     .last_line = f->line,
								     .inlined = true };
		v[of[i]].inlined &= f->kind == ASSAY_FRAME_INLINED;
		if (f->line && !strcmp(f->file, v[of[i]].file)) {
			if (!v[of[i]].line || f->line < v[of[i]].line)
				v[of[i]].line = f->line;
			if (f->line > v[of[i]].last_line)
				v[of[i]].last_line = f->line;
		}
	}
	assay_name_index_release(&index);
	return rc;
}

/* Does this function belong to the variant's timed iterations, and not to the harness around its calls? */
static void mark_kernel(const struct assay_stack_table *t, const struct assay_stack *s, const size_t *of,
			struct assay_profile_function *v)
{
	uint32_t from, end = assay_stack_harness(t, s, &from);

	if (!assay_stack_leaves_harness(t, s, end))
		return;
	for (uint32_t i = end; i < s->n; i++)
		v[of[t->order[s->first + i]]].kernel = true;
}

static bool is_timed(const struct assay_stack_table *t, const struct assay_stack *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct assay_frame *f = &t->frames[t->order[s->first + i]];

		if (f->kind == ASSAY_FRAME_LABEL && !strcmp(f->name, ASSAY_PROFILE_TIMED))
			return true;
	}
	return false;
}

/* A function that calls itself counts once a stack. */
static void add_stack(const struct assay_stack_table *t, size_t stack, const size_t *of,
		      struct assay_profile_function *v, size_t *seen)
{
	const struct assay_stack *s = &t->stacks[stack];
	const bool timed = is_timed(t, s);
	size_t leaf = SIZE_MAX;

	for (uint32_t i = 0; i < s->n; i++) {
		const size_t f = of[t->order[s->first + i]];

		if (f == SIZE_MAX)
			continue;
		leaf = f;
		if (seen[f] == stack + 1)
			continue;
		seen[f] = stack + 1;
		v[f].total += s->weight;
		v[f].timed_total += timed ? s->weight : 0;
	}
	if (leaf == SIZE_MAX)
		return;
	v[leaf].self += s->weight;
	v[leaf].timed_self += timed ? s->weight : 0;
	if (timed)
		mark_kernel(t, s, of, v);
}

int assay_profile_functions(const struct assay_profile *p, struct assay_profile_function **out, size_t *n,
			    struct assay_err *err)
{
	const struct assay_stack_table *t = &p->stacks;
	size_t *of = calloc(t->n_frames + 1, sizeof(*of)), *seen = calloc(t->n_frames + 1, sizeof(*seen));
	int rc = 0;

	*n = 0;
	*out = calloc(t->n_frames + 1, sizeof(**out));
	if (!of || !seen || !*out)
		rc = out_of_memory(err);
	if (!rc)
		rc = group_frames(t, of, *out, n, err);
	for (size_t i = 0; i < t->n_stacks && !rc; i++)
		add_stack(t, i, of, *out, seen);
	if (!rc)
		qsort(*out, *n, sizeof(**out), by_self);
	free(of);
	free(seen);
	if (rc) {
		free(*out);
		*out = NULL;
	}
	return rc;
}

double assay_profile_function_ns(const struct assay_profile *p, const struct assay_profile_function *f,
				 struct assay_interval *ci)
{
	*ci = (struct assay_interval){ NAN, NAN };
	if (!p->timed_weight || !isfinite(p->iteration_ns) || strcmp(p->unit, "samples"))
		return NAN;
	*ci = assay_stats_binomial_ci(f->timed_self, p->timed_weight, 0.95);
	ci->lo *= p->iteration_ns;
	ci->hi *= p->iteration_ns;
	return (double)f->timed_self / (double)p->timed_weight * p->iteration_ns;
}

static bool allocates(const char *name)
{
	static const char *const names[] = { "malloc",
					     "calloc",
					     "realloc",
					     "free",
					     "cfree",
					     "posix_memalign",
					     "aligned_alloc",
					     "memalign",
					     "reallocarray",
					     "operator new",
					     "operator new[]",
					     "operator delete",
					     "operator delete[]",
					     "_Znwm",
					     "_Znam",
					     "_ZdlPv",
					     "_ZdlPvm",
					     "_ZdaPv",
					     "__libc_malloc",
					     "__libc_calloc",
					     "__libc_free",
					     "__libc_realloc",
					     "_int_malloc",
					     "_int_free" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

double assay_profile_allocation_frac(const struct assay_profile *p)
{
	const struct assay_stack_table *t = &p->stacks;
	uint64_t inside = 0, all = 0;

	if (strcmp(p->unit, "samples"))
		return NAN;
	for (size_t i = 0; i < t->n_stacks; i++) {
		const bool timed = !p->timed_weight || is_timed(t, &t->stacks[i]);
		bool found = false;

		for (uint32_t k = 0; k < t->stacks[i].n; k++) {
			const struct assay_frame *f = &t->frames[t->order[t->stacks[i].first + k]];

			found |= f->kind != ASSAY_FRAME_LABEL && allocates(f->name);
		}
		all += timed ? t->stacks[i].weight : 0;
		inside += timed && found ? t->stacks[i].weight : 0;
	}
	return all ? (double)inside / (double)all : NAN;
}

static int by_line_self(const void *a, const void *b)
{
	const struct assay_profile_line *f = a, *g = b;

	if (f->timed_self != g->timed_self)
		return f->timed_self < g->timed_self ? 1 : -1;
	if (f->self != g->self)
		return f->self < g->self ? 1 : -1;
	return f->frame < g->frame ? -1 : f->frame > g->frame;
}

/* Find the row of @f, or begin it. */
static int find_line(struct assay_name_index *index, const struct assay_frame *f, bool instructions,
		     struct assay_profile_line *v, size_t *n, size_t *at, struct assay_err *err)
{
	struct assay_text key = { 0 };
	bool found = false;
	int rc;

	if (instructions)
		assay_text_addf(&key, "%s\n%" PRIx64, f->object, f->offset);
	else
		assay_text_addf(&key, "%s\n%s\n%s\n%u", f->object, f->name, f->file, f->line);
	rc = key.failed ? out_of_memory(err) : assay_name_index_put(index, key.s, *n, at, &found, err);
	assay_text_release(&key);
	if (!rc && !found)
		v[(*n)++] = (struct assay_profile_line){ .frame = f };
	return rc;
}

int assay_profile_lines(const struct assay_profile *p, bool instructions, struct assay_profile_line **out, size_t *n,
			struct assay_err *err)
{
	const struct assay_stack_table *t = &p->stacks;
	struct assay_name_index index = { 0 };
	int rc = 0;

	*n = 0;
	*out = calloc(t->n_frames + 1, sizeof(**out));
	if (!*out)
		return out_of_memory(err);
	for (size_t i = 0; i < t->n_stacks && !rc; i++) {
		const struct assay_stack *s = &t->stacks[i];
		const struct assay_frame *f = s->n ? &t->frames[t->order[s->first + s->n - 1]] : NULL;

		size_t at;

		if (!f || f->kind == ASSAY_FRAME_LABEL)
			continue;
		rc = find_line(&index, f, instructions, *out, n, &at, err);
		if (rc)
			break;
		(*out)[at].self += s->weight;
		(*out)[at].timed_self += is_timed(t, s) ? s->weight : 0;
	}
	assay_name_index_release(&index);
	if (!rc) {
		qsort(*out, *n, sizeof(**out), by_line_self);
		return 0;
	}
	free(*out);
	*out = NULL;
	return rc;
}
