/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a suite together: which benches, with which of their fields replaced, and which of their cases. */
#include "plan/plan.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "plan/benchfile.h"
#include "plan/expand.h"

#define MAX_KNOWN 256

struct planning {
	const struct assay_plan_options *o;
	const struct assay_catalog *cat;
	const struct assay_suite *suite;
	struct assay_planned_list cases;
	struct assay_bench **merged; /* benches with the suite's fields in them; cases point to these */
	size_t n_merged;
	struct assay_err *err;
};

/* Globs see a case under both its names, so that "*t=all*" means the same on every machine, one core included. */
static bool matches(const struct planning *p, const char *glob, const struct assay_case *c,
		    bool (*match)(const char *, const char *))
{
	struct assay_case all;
	char portable[ASSAY_KEY_MAX];

	if (match(glob, c->key))
		return true;
	if (c->threads != p->o->all_threads)
		return false;
	all = *c;
	all.all_threads = true;
	assay_case_portable_key(&all, portable);
	return match(glob, portable);
}

static bool selects(const struct planning *p, const char *glob, const struct assay_case *c)
{
	return matches(p, glob, c, assay_glob_match);
}

static bool equals(const char *name, const char *key)
{
	return !strcmp(name, key);
}

/* A whole key means that case alone, though it is also a part of another's: quantize.… of dequantize.… */
static bool names_case(const struct planning *p, const char *glob)
{
	for (size_t i = 0; i < p->cases.n; i++)
		if (matches(p, glob, &p->cases.v[i].c, equals))
			return true;
	return false;
}

static bool any_selects(const struct planning *p, const struct assay_conf_entry *globs, const struct assay_case *c)
{
	for (size_t i = 0; i < globs->n; i++)
		if (selects(p, globs->values[i].text, c))
			return true;
	return false;
}

static int check_only(const struct planning *p, const struct assay_conf_entry *only, const struct assay_planned_list *l,
		      const char *bench)
{
	for (size_t i = 0; only && i < only->n; i++) {
		bool found = false;

		for (size_t k = 0; !found && k < l->n; k++)
			found = selects(p, only->values[i].text, &l->v[k].c);
		if (!found)
			return assay_conf_fail(p->err, only->path, only->values[i].line,
					       "'%s' selects none of the %zu cases of '%s', such as '%s'",
					       only->values[i].text, l->n, bench, l->n ? l->v[0].c.key : "");
	}
	return 0;
}

/* One glob may stand for a variant that is not built everywhere; all of them together must select something. */
static int check_exact(const struct planning *p)
{
	const struct assay_suite_exact *e = &p->suite->exact;

	for (size_t i = 0; e->model && i < p->cases.n; i++)
		if (!p->cases.v[i].other_arch && any_selects(p, e->cases, &p->cases.v[i].c))
			return 0;
	return e->model ? assay_conf_fail(p->err, p->suite->file.path, e->line,
					  "exact \"%s\" selects none of the %zu cases of suite '%s'", e->model,
					  p->cases.n, p->suite->name)
			: 0;
}

static struct assay_bench *merge(struct planning *p, const struct assay_bench *bench, const struct assay_suite_use *use)
{
	struct assay_bench **v = realloc(p->merged, (p->n_merged + 1) * sizeof(*v));
	struct assay_bench *b = malloc(sizeof(*b));

	if (v)
		p->merged = v;
	if (!v || !b) {
		free(b);
		return NULL;
	}
	*b = *bench;
	for (int f = 0; f < ASSAY_BENCH_N_FIELDS; f++)
		if (use->field[f])
			b->field[f] = use->field[f];
	v[p->n_merged++] = b;
	return b;
}

/* One bench of one use: @all gets everything it makes, the plan what `only` and `skip` leave. */
static int plan_bench(struct planning *p, const struct assay_bench *bench, const struct assay_suite_use *use,
		      struct assay_planned_list *all)
{
	struct assay_bench *b = merge(p, bench, use);
	struct assay_planned_list l = { 0 };
	int rc;

	if (!b)
		return assay_err_set(p->err, ASSAY_ENOMEM, "out of memory for bench '%s'", bench->name);
	rc = assay_plan_expand(b, p->o, p->cat, &l, p->err);
	for (size_t i = 0; !rc && i < l.n; i++) {
		const struct assay_case *c = &l.v[i].c;

		rc = assay_planned_add(all, &l.v[i], p->err);
		if (rc || (use->only && !any_selects(p, use->only, c)) || (use->skip && any_selects(p, use->skip, c)))
			continue;
		rc = assay_planned_add(&p->cases, &l.v[i], p->err);
	}
	assay_planned_release(&l);
	return rc;
}

static int plan_use(struct planning *p, const struct assay_suite_use *use, const struct assay_benches *benches)
{
	struct assay_planned_list all = { 0 };
	const char *names[MAX_KNOWN];
	bool found = false;
	size_t n = 0;
	char hint[256];
	int rc = 0;

	for (size_t i = 0; !rc && i < benches->n; i++) {
		if (n < MAX_KNOWN)
			names[n++] = benches->v[i].name;
		if (fnmatch(use->glob, benches->v[i].name, 0))
			continue;
		found = true;
		rc = plan_bench(p, &benches->v[i], use, &all);
	}
	if (!rc && !found)
		rc = assay_conf_fail(p->err, p->suite->file.path, use->line, "no bench matches '%s'%s", use->glob,
				     assay_conf_hint(use->glob, names, n, hint, sizeof(hint)));
	if (!rc)
		rc = check_only(p, use->only, &all, use->glob);
	assay_planned_release(&all);
	return rc;
}

/* The cases that @glob selects; those of variants for another architecture only where it selects no others. */
static bool want(const struct planning *p, const char *glob, bool *wanted)
{
	bool one = names_case(p, glob), found = false;

	for (int other_arch = 0; other_arch < 2 && !found; other_arch++)
		for (size_t i = 0; i < p->cases.n; i++)
			if (p->cases.v[i].other_arch == other_arch &&
			    matches(p, glob, &p->cases.v[i].c, one ? equals : assay_glob_match))
				wanted[i] = found = true;
	return found;
}

/*
 * What stands in @glob between slashes, from @at on, may be meant for: the nearest of the ops or variants; NULL where
 * it is one.
 */
static const char *near_name(const struct planning *p, const char *at, bool variant)
{
	const char **names = calloc(p->cases.n, sizeof(*names)), *near = NULL;
	size_t len = strcspn(at, "/");
	char *text = strndup(at, len);

	if (names && text && strcspn(text, "*?[") == len) {
		for (size_t i = 0; i < p->cases.n; i++)
			names[i] = variant ? p->cases.v[i].c.variant : p->cases.v[i].c.op;
		near = assay_nearest(text, names, p->cases.n);
		if (near && !strcmp(near, text))
			near = NULL;
	}
	free(text);
	free(names);
	return near;
}

static int no_match(const struct planning *p, const char *glob)
{
	const char *slash = strchr(glob, '/'), *near = near_name(p, glob, false);

	if (!near && slash)
		near = near_name(p, slash + 1, true);
	if (near)
		return assay_err_set(p->err, ASSAY_ENOTFOUND, "no case of suite '%s' matches '%s', did you mean '%s'?",
				     p->suite->name, glob, near);
	return assay_err_set(p->err, ASSAY_ENOTFOUND,
			     "no case of suite '%s' matches '%s', expected a glob over keys such as '%s'",
			     p->suite->name, glob, p->cases.v[0].c.key);
}

/* Which of all cases are asked for: @wanted has one element a case, all false. */
static int choose(const struct planning *p, bool *wanted)
{
	size_t n_globs = p->cases.n ? p->o->only.n : 0;
	bool any = n_globs;

	for (size_t g = 0; g < n_globs; g++)
		if (!want(p, p->o->only.v[g], wanted))
			return no_match(p, p->o->only.v[g]);
	for (size_t i = 0; !n_globs && i < p->cases.n; i++) {
		wanted[i] = !p->cases.v[i].other_arch;
		any |= wanted[i];
	}
	if (any)
		return 0;
	if (p->cases.n)
		return assay_conf_fail(p->err, p->suite->file.path, p->suite->file.root.sections[0].line,
				       "all cases of suite '%s' are for another architecture, such as '%s'",
				       p->suite->name, p->cases.v[0].c.key);
	return assay_conf_fail(p->err, p->suite->file.path, p->suite->file.root.sections[0].line,
			       "suite '%s' selects no case", p->suite->name);
}

/* Do they differ by the variant alone? Results of such cases are compared with each other. */
static bool is_same_problem(const struct assay_case *a, const struct assay_case *b)
{
	const char *x = strchr(a->key + strlen(a->op) + 1, '/'), *y = strchr(b->key + strlen(b->op) + 1, '/');

	return !strcmp(a->op, b->op) && x && y && !strcmp(x, y);
}

/* Keep the part of the cases that is asked for: neighbours, and problems with all their variants. */
static int keep_shard(const struct planning *p, bool *wanted)
{
	const struct assay_case *last = NULL;
	size_t n = 0, at = 0, part = 0, kept = 0;

	for (size_t i = 0; i < p->cases.n; i++)
		n += wanted[i];
	for (size_t i = 0; i < p->cases.n && p->o->n_shards; i++) {
		const struct assay_case *c = &p->cases.v[i].c;

		if (!wanted[i])
			continue;
		if (!last || !is_same_problem(last, c))
			part = at * p->o->n_shards / n + 1;
		last = c;
		at++;
		wanted[i] = part == p->o->shard;
		kept += wanted[i];
	}
	if (!p->o->n_shards || kept)
		return 0;
	return assay_err_set(p->err, ASSAY_EUSAGE, "no case of suite '%s' is in part %u of %u: ask for fewer parts",
			     p->suite->name, p->o->shard, p->o->n_shards);
}

/* The cases of @bench with its exact_shapes in the place of its shapes. */
static int expand_smaller(const struct planning *p, const struct assay_bench *bench, struct assay_planned_list *l)
{
	struct assay_bench b = *bench;

	b.field[ASSAY_BENCH_SHAPES] = bench->field[ASSAY_BENCH_EXACT_SHAPES];
	b.field[ASSAY_BENCH_SWEEP] = NULL;
	return b.field[ASSAY_BENCH_SHAPES] ? assay_plan_expand(&b, p->o, p->cat, l, p->err) : 0;
}

static bool is_same_but_shape(const struct assay_case *a, const struct assay_case *b)
{
	return !strcmp(a->op, b->op) && !strcmp(a->variant, b->variant) && a->threads == b->threads &&
	       a->all_threads == b->all_threads && a->cache == b->cache && !strcmp(a->device, b->device) &&
	       a->own_threads == b->own_threads;
}

/* Of case @of of the plan, which @bench makes. */
static int add_smaller(struct planning *p, struct assay_plan *plan, size_t of, const struct assay_bench *bench)
{
	struct assay_planned_list l = { 0 };
	int rc = expand_smaller(p, bench, &l);

	for (size_t i = 0; i < l.n && !rc; i++) {
		if (!is_same_but_shape(&l.v[i].c, &plan->cases[of]))
			continue;
		if (assay_grow(&plan->smaller, plan->n_smaller, sizeof(*plan->smaller)))
			rc = assay_err_set(p->err, ASSAY_ENOMEM, "out of memory for the plan");
		else
			plan->smaller[plan->n_smaller++] = (struct assay_plan_smaller){ l.v[i].c, of };
	}
	assay_planned_release(&l);
	return rc;
}

static int take(struct planning *p, struct assay_plan *plan)
{
	const struct assay_suite_exact *e = &p->suite->exact;
	struct assay_case *v = calloc(p->cases.n + 1, sizeof(*v));
	bool *exact = calloc(p->cases.n + 1, sizeof(*exact)), *wanted = calloc(p->cases.n + 1, sizeof(*wanted));
	bool *small = calloc(p->cases.n + 1, sizeof(*small));
	size_t n = 0;
	int rc = v && exact && wanted && small ? choose(p, wanted)
					       : assay_err_set(p->err, ASSAY_ENOMEM, "out of memory for the plan");

	if (!rc)
		rc = keep_shard(p, wanted);
	if (rc)
		goto out;
	for (size_t i = 0; i < p->cases.n; i++) {
		const struct assay_case *c = &p->cases.v[i].c;

		if (!wanted[i])
			continue;
		exact[n] = e->model && any_selects(p, e->cases, c);
		small[n] = exact[n] && e->small && any_selects(p, e->small, c);
		v[n++] = *c;
	}
	snprintf(plan->suite, sizeof(plan->suite), "%s", p->suite->name);
	snprintf(plan->exact_model, sizeof(plan->exact_model), "%s", e->model ? e->model : "");
	plan->exact = exact;
	plan->exact_small = small;
	plan->exact_steps = e->max_steps;
	plan->exact_budget_ns = e->budget_ns;
	plan->rounds = p->o->rounds ? p->o->rounds : p->suite->rounds;
	plan->cases = v;
	plan->n_cases = n;
	v = NULL;
	exact = small = NULL;
	for (size_t i = 0, of = 0; i < p->cases.n && !rc; i++)
		if (wanted[i])
			rc = add_smaller(p, plan, of++, p->cases.v[i].bench);
	if (rc)
		assay_plan_release(plan);
out:
	free(v);
	free(exact);
	free(small);
	free(wanted);
	return rc;
}

int assay_plan_load(struct assay_plan *plan, const struct assay_plan_options *o, const struct assay_catalog *cat,
		    struct assay_err *err)
{
	struct assay_benches benches = { 0 };
	struct assay_suite suite = { 0 };
	struct planning p = { .o = o, .cat = cat, .suite = &suite, .err = err };
	int rc;

	if (!o->suite)
		return assay_err_set(err, ASSAY_EUSAGE, "no suite is named, expected the name of a suite");
	rc = assay_suite_load(&suite, o->bench_dir, o->suite, err);
	if (!rc)
		rc = assay_benches_load(&benches, o->bench_dir, err);
	for (size_t i = 0; !rc && i < suite.n_uses; i++)
		rc = plan_use(&p, &suite.uses[i], &benches);
	if (!rc)
		rc = check_exact(&p);
	if (!rc)
		rc = take(&p, plan);
	for (size_t i = 0; i < p.n_merged; i++)
		free(p.merged[i]);
	free(p.merged);
	assay_planned_release(&p.cases);
	assay_benches_release(&benches);
	assay_suite_release(&suite);
	return rc;
}

void assay_plan_release(struct assay_plan *plan)
{
	free(plan->cases);
	free(plan->exact);
	free(plan->exact_small);
	free(plan->smaller);
	memset(plan, 0, sizeof(*plan));
}
