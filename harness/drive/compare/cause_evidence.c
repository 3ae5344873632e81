/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sample counts for the function at its end, also where that was inlined: then it is the machine code of the function
 * around it that may differ.
 */
#include "drive/compare/cause_profiles.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/profile_diff.h"

static int no_memory(struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the functions of a comparison");
}

int assay_side_codes_read(struct assay_side_codes *c, const struct assay_strings *plugins, struct assay_err *err)
{
	int rc = 0;

	*c = (struct assay_side_codes){ .v = calloc(plugins->n + 1, sizeof(*c->v)) };
	if (!c->v)
		return no_memory(err);
	for (size_t i = 0; i < plugins->n && !rc; i++) {
		const char *path = plugins->v[i], *slash = strrchr(path, '/');

		snprintf(c->v[c->n].object, sizeof(c->v[c->n].object), "%s", slash ? slash + 1 : path);
		rc = assay_function_codes_read(&c->v[c->n].codes, path, err);
		c->n++;
		if (rc != ASSAY_ENOMEM)
			rc = 0;
	}
	return rc;
}

void assay_side_codes_release(struct assay_side_codes *c)
{
	for (size_t i = 0; i < c->n; i++)
		assay_function_codes_release(&c->v[i].codes);
	free(c->v);
	*c = (struct assay_side_codes){ .n = 0 };
}

static const struct assay_function_codes *codes_of(const struct assay_side_codes *c, const char *object)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].object, object))
			return &c->v[i].codes;
	return NULL;
}

/* The same function of the other side; its plugin may have another name there. */
static uint64_t find_anywhere(const struct assay_side_codes *c, const char *object, const char *name)
{
	const struct assay_function_codes *own = codes_of(c, object);
	uint64_t found = own ? assay_function_codes_find(own, name) : 0;

	for (size_t i = 0; i < c->n && !found; i++)
		found = assay_function_codes_find(&c->v[i].codes, name);
	return found;
}

/* This process has loaded it, too, and so has any worker: the same file on both sides. */
static int is_own(struct dl_phdr_info *o, size_t size, void *object)
{
	const char *slash = strrchr(o->dlpi_name, '/');

	(void)size;
	return !strcmp(slash ? slash + 1 : o->dlpi_name[0] ? o->dlpi_name : program_invocation_short_name, object);
}

/* Has the function of @f, which side @side has, changed? Code of other libraries is not known, so it may differ. */
static enum assay_code_change code_of(const struct assay_side_codes codes[2], unsigned side,
				      const struct assay_frame *f)
{
	const struct assay_function_codes *own = codes_of(&codes[side], f->object);
	const uint64_t here = own && f->name[0] ? assay_function_codes_find(own, f->name) : 0;
	const uint64_t there = here ? find_anywhere(&codes[!side], f->object, f->name) : 0;

	if (!own && f->object[0] && dl_iterate_phdr(is_own, (void *)f->object))
		return ASSAY_CODE_SAME;
	if (!here || !there)
		return ASSAY_CODE_UNKNOWN;
	return here == there ? ASSAY_CODE_SAME : ASSAY_CODE_DIFFERS;
}

static void take_place(struct assay_because_function *to, const struct assay_frame *f, unsigned side)
{
	const bool of_head = side == 1;

	if (!to->file[0] || (of_head && strcmp(to->file, f->file))) {
		snprintf(to->object, sizeof(to->object), "%s", f->object);
		snprintf(to->file, sizeof(to->file), "%s", f->file);
		to->line = to->last_line = f->line;
	} else if (of_head && f->line) {
		if (!to->line || f->line < to->line)
			to->line = f->line;
		if (f->line > to->last_line)
			to->last_line = f->line;
	}
}

struct gathering {
	struct assay_because_evidence *e;
	const struct assay_side_codes *codes;
	size_t pair;
	struct assay_err *err;
};

/* A stack of timed iterations: its end, and the function of the machine code there. */
static int add_stack(const struct gathering *k, unsigned side, const struct assay_profile *p,
		     const struct assay_stack *s)
{
	const struct assay_frame *end = NULL, *around = NULL;
	struct assay_because_function *f;
	enum assay_code_change code;
	bool timed = false, anew;
	size_t before;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct assay_frame *at = &p->stacks.frames[p->stacks.order[s->first + i]];

		if (at->kind == ASSAY_FRAME_LABEL) {
			timed |= !strcmp(at->name, ASSAY_PROFILE_TIMED);
			continue;
		}
		end = at;
		if (at->kind == ASSAY_FRAME_CODE)
			around = at;
	}
	if (!timed || !end)
		return 0;
	before = k->e->n;
	f = assay_because_function_at(k->e, end->name, assay_function_name_length(end->name), end->object);
	if (!f)
		return no_memory(k->err);
	anew = k->e->n > before;
	f->weight[side][k->pair] += s->weight;
	take_place(f, end, side);
	code = around ? code_of(k->codes, side, around) : ASSAY_CODE_UNKNOWN;
	if (anew || code == ASSAY_CODE_DIFFERS || f->code == ASSAY_CODE_SAME)
		f->code = code;
	return 0;
}

int assay_because_add_pair(struct assay_because_evidence *e, const struct assay_profile side[2], const double ns[2],
			   const struct assay_side_codes codes[2], struct assay_err *err)
{
	const struct gathering k = { .e = e, .codes = codes, .pair = e->n_pairs, .err = err };
	int rc = 0;

	if (e->n_pairs == ASSAY_BECAUSE_PAIRS_MAX)
		return 0;
	if (assay_grow(&e->pairs, e->n_pairs, sizeof(*e->pairs)))
		return no_memory(err);
	e->pairs[e->n_pairs++] = (struct assay_because_pair){ ns[0], ns[1] };
	e->rate_hz = side[1].rate_hz;
	snprintf(e->source, sizeof(e->source), "%s", side[1].source);
	for (unsigned i = 0; i < 2; i++)
		for (size_t n = 0; n < side[i].stacks.n_stacks && !rc; n++)
			rc = add_stack(&k, i, &side[i], &side[i].stacks.stacks[n]);
	return rc;
}

void assay_because_add_counts(struct assay_because_evidence *e, const struct assay_exact_run exact[2], const char *key)
{
	const struct assay_exact_case *c[2] = { assay_exact_case_find(&exact[0], key),
						assay_exact_case_find(&exact[1], key) };

	if (!c[0] || !c[1] || c[0]->status != ASSAY_STATUS_OK || c[1]->status != ASSAY_STATUS_OK)
		return;
	for (size_t i = 0; i < e->n; i++)
		for (unsigned side = 0; side < 2; side++) {
			double sum = 0;

			for (size_t f = 0; f < c[side]->n_functions; f++) {
				const char *name = c[side]->functions[f].name;
				const size_t length = assay_function_name_length(name);

				if (strlen(e->functions[i].name) == length &&
				    !strncmp(name, e->functions[i].name, length))
					sum += (double)c[side]->functions[f].counts.v[ASSAY_EXACT_INSTRUCTIONS];
			}
			e->functions[i].counted[side] = e->functions[i].name[0] ? sum : -1;
		}
}
