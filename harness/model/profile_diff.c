/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks are condensed first, to what both sides can have in common: functions by their names in the source. */
#include "model/profile_diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "model/profile.h"
#include "stats/distributions.h"

size_t assay_function_name_length(const char *symbol)
{
	static const char *const suffixes[] = { ".constprop", ".isra", ".part", ".cold", ".lto_priv", ".llvm" };
	size_t least = strlen(symbol);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *at = strstr(symbol, suffixes[i]);
		const char *after = at ? at + strlen(suffixes[i]) : NULL;

		if (at && at > symbol && (*after == '.' || !*after) && (size_t)(at - symbol) < least)
			least = (size_t)(at - symbol);
	}
	return least;
}

static int out_of_memory(struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the difference of two profiles");
}

/* ---- functions -------------------------------------------------------------------------------------------------- */

/* A function without a name is known by its object. */
static int index_of(struct assay_name_index *index, const struct assay_frame *f, size_t n, size_t *at, bool *found,
		    struct assay_err *err)
{
	struct assay_text key = { 0 };
	int rc;

	if (f->name[0])
		assay_text_addn(&key, f->name, assay_function_name_length(f->name));
	else
		assay_text_addf(&key, "\n%s", f->object);
	rc = key.failed ? out_of_memory(err) : assay_name_index_put(index, key.s, n, at, found, err);
	assay_text_release(&key);
	return rc;
}

static void take_place(struct assay_profile_change *c, const struct assay_frame *f, bool anew)
{
	if (anew) {
		c->name = f->name;
		c->length = assay_function_name_length(f->name);
		c->object = f->object;
		c->file = f->file;
		c->line = c->last_line = f->line;
	} else if (f->line && !strcmp(f->file, c->file)) {
		if (!c->line || f->line < c->line)
			c->line = f->line;
		if (f->line > c->last_line)
			c->last_line = f->line;
	}
}

/*
 * Which function each frame of a side is; labels are none (SIZE_MAX), but those of traces, where spans are labels, too.
 * Places in the source are the head's.
 */
static int group(struct assay_profile_diff *d, unsigned side, struct assay_name_index *index, size_t *of,
		 struct assay_err *err)
{
	const struct assay_stack_table *t = &d->side[side]->stacks;
	bool *here = calloc(t->n_frames + d->n + 1, sizeof(*here));
	int rc = here ? 0 : out_of_memory(err);

	for (size_t i = 0; i < t->n_frames && !rc; i++) {
		const struct assay_frame *f = &t->frames[i];
		bool found = false;

		of[i] = SIZE_MAX;
		if (f->kind == ASSAY_FRAME_LABEL && !d->spans)
			continue;
		rc = index_of(index, f, d->n, &of[i], &found, err);
		if (rc)
			break;
		d->n += !found;
		take_place(&d->v[of[i]], f, !here[of[i]]);
		here[of[i]] = true;
	}
	free(here);
	return rc;
}

/* ---- stacks ----------------------------------------------------------------------------------------------------- */

static bool counts(const struct assay_profile_diff *d, unsigned side, const struct assay_stack *s)
{
	const struct assay_stack_table *t = &d->side[side]->stacks;
	bool timed = !d->per_iteration;

	if (d->spans) /* the critical path is made of spans that the threads have */
		return !assay_trace_on_path(d->side[side], s);

	for (uint32_t i = 0; i < s->n && !timed; i++) {
		const struct assay_frame *f = &t->frames[t->order[s->first + i]];

		timed = f->kind == ASSAY_FRAME_LABEL && !strcmp(f->name, ASSAY_PROFILE_TIMED);
	}
	return timed;
}

/* Frames of the condensed stacks, one a function. */
static int function_frames(struct assay_profile_diff *d, unsigned side, uint32_t *frames, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < d->n && !rc; i++) {
		const struct assay_profile_change *c = &d->v[i];
		char *name = strndup(c->name, c->length);
		/* what is without a name would be one function whatever its object */
		const struct assay_frame f = { .name = name && name[0] ? name : c->object, .object = c->object };

		rc = name ? assay_stack_table_frame(&d->stacks[side], &f, &frames[i], err) : out_of_memory(err);
		free(name);
	}
	return rc;
}

/* Stack @s counts for each span that it lies in, and the last is counted. */
static void add_spans(struct assay_profile_diff *d, unsigned side, const size_t *of, const struct assay_stack *s)
{
	const struct assay_profile *p = d->side[side];
	const uint32_t *frames = &p->stacks.order[s->first];

	for (uint32_t i = 1; i < s->n; i++) {
		bool first = true;

		for (uint32_t k = 1; k < i && first; k++)
			first = frames[k] != frames[i];
		if (first)
			d->v[of[frames[i]]].total[side] += (double)s->weight;
	}
	if (s->n > 1 && p->waits)
		d->v[of[frames[s->n - 1]]].times[side] += (double)p->waits[s - p->stacks.stacks].waits;
}

static int condense(struct assay_profile_diff *d, unsigned side, const size_t *of, struct assay_err *err)
{
	const struct assay_stack_table *t = &d->side[side]->stacks;
	uint32_t *frames = calloc(d->n + 1, sizeof(*frames)), *stack = calloc(t->n_order + 1, sizeof(*stack));
	int rc = frames && stack ? 0 : out_of_memory(err);

	if (!rc)
		rc = function_frames(d, side, frames, err);
	for (size_t i = 0; i < t->n_stacks && !rc; i++) {
		const struct assay_stack *s = &t->stacks[i];
		size_t leaf = SIZE_MAX;
		uint32_t n = 0;

		if (!counts(d, side, s))
			continue;
		if (d->spans)
			add_spans(d, side, of, s);
		for (uint32_t k = d->spans; k < s->n; k++) /* the first is the thread */
			if (of[t->order[s->first + k]] != SIZE_MAX) {
				leaf = of[t->order[s->first + k]];
				stack[n++] = frames[leaf];
			}
		d->weight[side] += s->weight;
		if (leaf != SIZE_MAX)
			d->v[leaf].self[side] += s->weight;
		rc = assay_stack_table_add(&d->stacks[side], stack, n, s->weight, err);
	}
	free(frames);
	free(stack);
	return rc;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static int check(const struct assay_profile *base, const struct assay_profile *head, struct assay_err *err)
{
	if (strcmp(base->kind, head->kind) || strcmp(base->unit, head->unit))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "one is a %s profile, the other a %s profile: take two of a kind", base->kind,
				     head->kind);
	if (base->is_case != head->is_case)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "one is a profile of a case, the other of a program: take two of a kind");
	return 0;
}

/* How long the critical path of a trace is. */
static uint64_t path_of(const struct assay_profile *p)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < p->stacks.n_stacks; i++)
		ns += assay_trace_on_path(p, &p->stacks.stacks[i]) ? p->stacks.stacks[i].weight : 0;
	return ns;
}

static bool has_iterations(const struct assay_profile_diff *d, const struct assay_profile *p)
{
	return isfinite(p->iteration_ns) && (d->spans ? p->is_case && path_of(p) : p->timed_weight);
}

static void choose_unit(struct assay_profile_diff *d)
{
	const struct assay_profile *b = d->side[0], *h = d->side[1];

	d->sampled = !strcmp(h->unit, "samples");
	d->spans = !strcmp(h->kind, "trace");
	d->per_iteration = (d->sampled || d->spans) && has_iterations(d, b) && has_iterations(d, h);
	d->two_machines = b->machine.id[0] && h->machine.id[0] && strcmp(b->machine.id, h->machine.id);
	snprintf(d->unit, sizeof(d->unit), "%s", d->sampled ? "ns" : h->unit);
}

static void scale(struct assay_profile_diff *d)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct assay_profile *p = d->side[i];

		d->scale[i] = d->spans           ? (d->per_iteration ? p->iteration_ns / (double)path_of(p) : 1)
			      : !d->sampled      ? 1
			      : d->per_iteration ? (d->weight[i] ? p->iteration_ns / (double)d->weight[i] : 0)
			      : p->rate_hz > 0   ? 1e9 / p->rate_hz
						 : 1;
		d->whole[i] = d->scale[i] * (double)d->weight[i];
	}
}

static struct assay_interval profile_change_ci(const struct assay_profile_diff *d, const struct assay_profile_change *c,
					       double level)
{
	struct assay_interval ci[2];

	if (!d->sampled || !d->weight[0] || !d->weight[1])
		return (struct assay_interval){ NAN, NAN };
	for (unsigned i = 0; i < 2; i++) {
		ci[i] = assay_stats_binomial_ci(c->self[i], d->weight[i], level);
		ci[i].lo *= d->whole[i];
		ci[i].hi *= d->whole[i];
	}
	return assay_stats_difference_ci(c->own[1], ci[1], c->own[0], ci[0]);
}

static void find_change(const struct assay_profile_diff *d, struct assay_profile_change *c)
{
	for (unsigned i = 0; i < 2; i++) {
		c->own[i] = d->scale[i] * (double)c->self[i];
		c->total[i] = d->spans ? d->scale[i] * c->total[i] : NAN;
		c->times[i] = d->spans && d->side[i]->waits ? d->scale[i] * c->times[i] : NAN;
	}
	c->change = c->own[1] - c->own[0];
	c->ci = profile_change_ci(d, c, 0.95);
}

/* Those that take something themselves on either side. */
static void keep_takers(struct assay_profile_diff *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].self[0] || d->v[i].self[1] || d->v[i].times[0] > 0 || d->v[i].times[1] > 0)
			d->v[kept++] = d->v[i];
	d->n = kept;
}

static int by_change(const void *a, const void *b)
{
	const struct assay_profile_change *x = a, *y = b;
	const double p = fabs(x->change), q = fabs(y->change);

	if (p != q)
		return p < q ? 1 : -1;
	return strcmp(x->name, y->name);
}

int assay_profile_diff_make(struct assay_profile_diff *d, const struct assay_profile *base,
			    const struct assay_profile *head, struct assay_err *err)
{
	struct assay_name_index index = { 0 };
	size_t *of[2] = { NULL, NULL };
	int rc;

	*d = (struct assay_profile_diff){ .side = { base, head } };
	rc = check(base, head, err);
	if (rc)
		return rc;
	choose_unit(d);
	d->v = calloc(base->stacks.n_frames + head->stacks.n_frames + 1, sizeof(*d->v));
	of[0] = calloc(base->stacks.n_frames + 1, sizeof(*of[0]));
	of[1] = calloc(head->stacks.n_frames + 1, sizeof(*of[1]));
	if (!d->v || !of[0] || !of[1])
		rc = out_of_memory(err);
	for (unsigned i = 0; i < 2 && !rc; i++)
		rc = group(d, i, &index, of[i], err);
	for (unsigned i = 0; i < 2 && !rc; i++)
		rc = condense(d, i, of[i], err);
	if (!rc) {
		scale(d);
		keep_takers(d);
		for (size_t i = 0; i < d->n; i++)
			find_change(d, &d->v[i]);
		qsort(d->v, d->n, sizeof(*d->v), by_change);
	}
	free(of[0]);
	free(of[1]);
	assay_name_index_release(&index);
	return rc;
}

void assay_profile_diff_release(struct assay_profile_diff *d)
{
	free(d->v);
	for (unsigned i = 0; i < 2; i++)
		assay_stack_table_release(&d->stacks[i]);
	*d = (struct assay_profile_diff){ .n = 0 };
}
