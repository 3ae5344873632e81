/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops, inputs and seed are the head's on both sides, variants each side's own: the base's workers load the head's
 * plugins for their ops and the base's for their variants.
 */
#include "drive/compare/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/installed.h"
#include "drive/project.h"
#include "drive/run/build_identity.h"
#include "judge/comparison_judge.h"
#include "machine/environment.h"
#include "worker/plugin/loader.h"

#define CONTROL_FRAC        0.02
#define CONTROL_MARGINS     4.0
#define CONTROL_LEAST_BYTES 4096

static int add_plugin(struct assay_compare_side *side, const char *path, enum assay_plugin_part part,
		      struct assay_err *err)
{
	const char letter[2] = { (char)part, '\0' };
	int rc = assay_strings_add(&side->plugins, path, err);

	assay_text_add(&side->parts, letter);
	return rc ? rc : side->parts.failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory") : 0;
}

/*
 * Benches name variants of all ops, so the rest comes from plugins named with --plugin and from the installed ones; it
 * is planned with, and not compared.
 */
static int add_rest(struct assay_compare_side *side, const struct assay_request *r, struct assay_err *err)
{
	struct assay_strings installed = { 0 };
	int rc = r->no_default_plugins ? 0 : assay_installed_plugins(&installed, err);

	for (size_t i = 0; i < r->plugins.n && !rc; i++)
		rc = add_plugin(side, r->plugins.v[i], ASSAY_PART_REST, err);
	for (size_t i = 0; i < installed.n && !rc; i++)
		rc = add_plugin(side, installed.v[i], ASSAY_PART_REST, err);
	assay_strings_release(&installed);
	return rc;
}

/* Programs run in the checkout that they were built in. */
static int take_folder(struct assay_compare_plan *p, int side, struct assay_session *s, struct assay_err *err)
{
	p->side[side].folder = p->source[side].top;
	if (p->source[side].top &&
	    snprintf(s->folder, sizeof(s->folder), "%s", p->source[side].top) >= (int)sizeof(s->folder))
		return assay_err_set(err, ASSAY_EUSAGE, "the folder '%.200s…' is too long", p->source[side].top);
	return 0;
}

static int load_head(struct assay_compare_plan *p, const struct assay_request *r, struct assay_err *err)
{
	struct assay_compare_side *head = &p->side[ASSAY_HEAD];
	int rc = 0;

	for (size_t i = 0; i < p->source[ASSAY_HEAD].plugins.n && !rc; i++)
		rc = add_plugin(head, p->source[ASSAY_HEAD].plugins.v[i], ASSAY_PART_ALL, err);
	if (!rc)
		rc = add_rest(head, r, err);
	if (!rc)
		rc = assay_session_open_with(&p->session, r, &head->plugins, head->parts.s, err);
	return rc ? rc : take_folder(p, ASSAY_HEAD, &p->session, err);
}

static int require_head(const struct assay_compare_plan *p, struct assay_err *err)
{
	const struct assay_catalog *cat = p->session.catalog;

	for (size_t i = 0; i < p->source[ASSAY_HEAD].plugins.n; i++)
		if (cat->plugins[i].error)
			return assay_err_set(err, ASSAY_EUSAGE, "cannot use plugin '%s' of the head: %s",
					     cat->plugins[i].path, cat->plugins[i].error);
	return 0;
}

static bool offers(const struct assay_catalog *cat, size_t plugin, bool *variants)
{
	bool ops = false;

	*variants = false;
	for (size_t i = 0; i < cat->n_ops; i++)
		ops |= cat->ops[i].plugin == plugin;
	for (size_t i = 0; i < cat->n_variants; i++)
		*variants |= cat->variants[i].plugin == plugin;
	return ops;
}

/* Plan with what the base's workers load, and with the head's variants beyond, since benches may name those. */
static int open_base(const struct assay_compare_plan *p, const struct assay_request *r, struct assay_session *base,
		     struct assay_err *err)
{
	const struct assay_compare_side *side = &p->side[ASSAY_BASE];
	struct assay_compare_side all = { 0 };
	int rc = 0;

	for (size_t i = 0; i < side->plugins.n && !rc; i++)
		rc = add_plugin(&all, side->plugins.v[i], (enum assay_plugin_part)side->parts.s[i], err);
	for (size_t i = 0; i < p->source[ASSAY_HEAD].plugins.n && !rc; i++)
		rc = add_plugin(&all, p->source[ASSAY_HEAD].plugins.v[i], ASSAY_PART_REST, err);
	if (!rc)
		rc = assay_session_open_with(base, r, &all.plugins, all.parts.s, err);
	assay_strings_release(&all.plugins);
	assay_text_release(&all.parts);
	return rc;
}

/* The head's ops first, so that they win; then the base's variants. *own gets where those begin. */
static int load_base(struct assay_compare_plan *p, const struct assay_request *r, struct assay_session *base,
		     size_t *own, struct assay_err *err)
{
	const struct assay_catalog *cat = p->session.catalog;
	struct assay_compare_side *side = &p->side[ASSAY_BASE];
	int rc = 0;

	for (size_t i = 0; i < p->source[ASSAY_HEAD].plugins.n && !rc; i++) {
		bool variants;

		/* what offers neither brings a device */
		if (offers(cat, i, &variants) || !variants)
			rc = add_plugin(side, cat->plugins[i].path, ASSAY_PART_OPS, err);
	}
	*own = side->plugins.n;
	for (size_t i = 0; i < p->source[ASSAY_BASE].plugins.n && !rc; i++)
		rc = add_plugin(side, p->source[ASSAY_BASE].plugins.v[i], ASSAY_PART_VARIANTS, err);
	if (!rc)
		rc = add_rest(side, r, err);
	if (!rc)
		rc = open_base(p, r, base, err);
	return rc ? rc : take_folder(p, ASSAY_BASE, base, err);
}

/* A plugin of the base that cannot be loaded for its ABI makes its cases incomparable; any other fault is the user's.
 */
static int require_base(const struct assay_session *base, size_t own, size_t n, char *abi, size_t size,
			struct assay_err *err)
{
	abi[0] = '\0';
	for (size_t i = own; i < own + n; i++) {
		const struct assay_catalog_plugin *pl = &base->catalog->plugins[i];

		if (!pl->error)
			continue;
		if (pl->error_code != ASSAY_EABI)
			return assay_err_set(err, ASSAY_EUSAGE, "cannot use plugin '%s' of the base: %s", pl->path,
					     pl->error);
		snprintf(abi, size, "%s", pl->error);
	}
	return 0;
}

/* ---- cases ---- */

struct assay_comparison_case *assay_compare_plan_add(struct assay_compare_plan *p, const struct assay_case *c,
						     const struct assay_case_facts *f, bool exact)
{
	const struct assay_catalog_op *op = assay_catalog_op(p->session.catalog, c->op);
	struct assay_comparison *cmp = &p->cmp;
	struct assay_comparison_case *cases = realloc(cmp->cases, (cmp->n_cases + 1) * sizeof(*cases));
	struct assay_case_facts *facts;
	bool *named;

	if (!cases)
		return NULL;
	cmp->cases = cases;
	facts = realloc(p->facts, (cmp->n_cases + 1) * sizeof(*facts));
	if (!facts)
		return NULL;
	p->facts = facts;
	named = realloc(p->exact, (cmp->n_cases + 1) * sizeof(*named));
	if (!named)
		return NULL;
	p->exact = named;
	named[cmp->n_cases] = exact;
	facts[cmp->n_cases] = f ? *f : (struct assay_case_facts){ 0 };
	cases[cmp->n_cases] = (struct assay_comparison_case){ .c = *c, .in_base = true, .in_head = true };
	if (op && op->program)
		memcpy(cases[cmp->n_cases].judged, op->program->judged, sizeof(op->program->judged));
	return &cases[cmp->n_cases++];
}

static bool is_program(const struct assay_case *c)
{
	return c->cache == ASSAY_CACHE_NONE;
}

/*
 * Only variants that the compared plugins bring; the others stand on both sides alike. Programs are compared where both
 * sides have a checkout that they are in.
 */
static bool compared(const struct assay_compare_plan *p, const struct assay_case *c)
{
	const struct assay_catalog_variant *v = assay_catalog_variant(p->session.catalog, c->op, c->variant);

	if (is_program(c))
		return p->source[ASSAY_BASE].top && p->source[ASSAY_HEAD].top;
	return v && v->plugin < p->source[ASSAY_HEAD].plugins.n;
}

static size_t planned(const struct assay_plan *plan, const char *key)
{
	for (size_t i = 0; i < plan->n_cases; i++)
		if (!strcmp(plan->cases[i].key, key))
			return i;
	return SIZE_MAX;
}

const char *assay_compare_plan_refusal(const struct assay_session *s, size_t i)
{
	if (s->plan.cases[i].skip_reason[0] && !s->facts[i].failed)
		return s->plan.cases[i].skip_reason;
	return s->facts[i].timed ? NULL : s->facts[i].reason;
}

/* Does the base's own code run @c? Plugins that only fill up do not count. */
static bool base_runs(const struct assay_compare_plan *p, const struct assay_session *base, size_t own,
		      const struct assay_case *c)
{
	const struct assay_catalog_variant *v = assay_catalog_variant(base->catalog, c->op, c->variant);
	size_t i = planned(&base->plan, c->key);

	if (is_program(c))
		return p->source[ASSAY_BASE].top && i != SIZE_MAX && !assay_compare_plan_refusal(base, i);
	return v && v->plugin >= own && v->plugin < own + p->source[ASSAY_BASE].plugins.n && i != SIZE_MAX &&
	       !assay_compare_plan_refusal(base, i);
}

static int add_head_cases(struct assay_compare_plan *p, const struct assay_session *base, size_t own, const char *abi,
			  struct assay_err *err)
{
	for (size_t i = 0; i < p->session.plan.n_cases; i++) {
		const struct assay_case *c = &p->session.plan.cases[i];
		struct assay_comparison_case *to;

		if (!compared(p, c) || assay_compare_plan_refusal(&p->session, i))
			continue;
		to = assay_compare_plan_add(p, c, &p->session.facts[i], p->session.plan.exact[i]);
		if (!to)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		to->in_base = base_runs(p, base, own, c);
		if (!to->in_base)
			snprintf(to->reason, sizeof(to->reason), "%s", abi);
	}
	return 0;
}

/* Cases that the base runs and the head lost, or refuses. */
static int add_lost_cases(struct assay_compare_plan *p, const struct assay_session *base, size_t own,
			  struct assay_err *err)
{
	for (size_t i = 0; i < base->plan.n_cases; i++) {
		const struct assay_case *c = &base->plan.cases[i];
		size_t at = planned(&p->session.plan, c->key);
		const char *why = at != SIZE_MAX && compared(p, c) ? assay_compare_plan_refusal(&p->session, at) : NULL;
		struct assay_comparison_case *to;

		if (!base_runs(p, base, own, c) || (at != SIZE_MAX && compared(p, c) && !why))
			continue;
		to = assay_compare_plan_add(p, c, NULL, base->plan.exact[i]);
		if (!to)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		to->in_head = why;
		if (why)
			snprintf(to->reason, sizeof(to->reason), "the head does not run it, the base does: %s", why);
	}
	return 0;
}

/*
 * Cases that neither side runs, where the head's plugin is at fault or the policy demands something: whoever demands it
 * of what needs AVX-512 must hear that this machine cannot tell. Of all others nothing is owed.
 */
static int add_owing_cases(struct assay_compare_plan *p, const struct assay_session *base, size_t own,
			   struct assay_err *err)
{
	for (size_t i = 0; i < p->session.plan.n_cases; i++) {
		const struct assay_case *c = &p->session.plan.cases[i];
		const char *why = compared(p, c) ? assay_compare_plan_refusal(&p->session, i) : NULL;
		const bool failed = p->session.facts[i].failed;
		struct assay_comparison_case *to;

		if (!why || base_runs(p, base, own, c) || !(failed || assay_limits_require(&p->policy, c, false)))
			continue;
		to = assay_compare_plan_add(p, c, NULL, p->session.plan.exact[i]);
		if (!to)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		to->in_base = to->in_head = false;
		snprintf(to->reason, sizeof(to->reason), "neither side runs it here%s: %s",
			 failed ? ""
				: ", and the policy sets a limit for it, which no manifest excuses in a "
				  "comparison",
			 why);
	}
	return 0;
}

/* Add the control @kind of case @of, by its metric of that name (NULL: its time). */
static int add_control(struct assay_compare_plan *p, size_t of, enum assay_control kind, double injected_frac,
		       const char *metric, struct assay_err *err)
{
	const struct assay_case_facts f = p->facts[of];
	struct assay_case c = p->cmp.cases[of].c;
	struct assay_comparison_case *to;
	int rc = kind == ASSAY_CONTROL_AA ? assay_comparison_base_case(&p->cmp.cases[of], &c, err) : 0;

	if (rc)
		return rc;
	to = assay_compare_plan_add(p, &c, &f, false);
	if (!to)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	to->control = kind;
	snprintf(to->judged, sizeof(to->judged), "%s", metric ? metric : "");
	if (kind == ASSAY_CONTROL_SLOWER)
		to->injected_frac =
			injected_frac > 0
				? injected_frac
				: fmax(CONTROL_FRAC, CONTROL_MARGINS * assay_policy_paired_margin(&p->policy, &c));
	return 0;
}

/*
 * Of programs, one that is judged by its time has both controls, as a head can be kept busy for longer. What a program
 * measures by itself cannot be made worse, so that one of those has the first control alone.
 */
static int add_program_controls(struct assay_compare_plan *p, double injected_frac, struct assay_err *err)
{
	size_t timed = SIZE_MAX, own = SIZE_MAX, n = p->cmp.n_cases;
	char tag[ASSAY_METRIC_TAG_MAX];
	int rc = 0;

	for (size_t i = n; i-- > 0;) {
		const struct assay_comparison_case *c = &p->cmp.cases[i];
		const struct assay_catalog_op *op = assay_catalog_op(p->session.catalog, c->c.op);
		bool by_time = false;

		if (!is_program(&c->c) || !c->in_base || !c->in_head || c->reason[0])
			continue;
		for (size_t k = 0; assay_comparison_judged(c, k, tag); k++)
			by_time |= !strcmp(tag, "time_s") && !(op && op->program->reads);
		*(by_time ? &timed : &own) = i;
	}
	if (timed != SIZE_MAX)
		rc = add_control(p, timed, ASSAY_CONTROL_AA, 0, NULL, err);
	if (!rc && timed != SIZE_MAX)
		rc = add_control(p, timed, ASSAY_CONTROL_SLOWER, injected_frac, NULL, err);
	if (rc || own == SIZE_MAX)
		return rc;
	assay_comparison_judged(&p->cmp.cases[own], 0, tag);
	return add_control(p, own, ASSAY_CONTROL_AA, 0, tag, err);
}

/* Controls run on the quickest case that both sides have: the extra work must be a whole number of its iterations. */
static int add_controls(struct assay_compare_plan *p, double injected_frac, struct assay_err *err)
{
	size_t best = SIZE_MAX, n = p->cmp.n_cases;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		const struct assay_comparison_case *c = &p->cmp.cases[i];

		if (!c->in_base || !c->in_head || p->facts[i].tensor_bytes < CONTROL_LEAST_BYTES)
			continue;
		if (best == SIZE_MAX || p->facts[i].tensor_bytes * p->cmp.cases[i].c.threads <
						p->facts[best].tensor_bytes * p->cmp.cases[best].c.threads)
			best = i;
	}
	if (best == SIZE_MAX)
		return 0;
	for (int kind = ASSAY_CONTROL_AA; kind <= ASSAY_CONTROL_SLOWER && !rc; kind++)
		rc = add_control(p, best, (enum assay_control)kind, injected_frac, NULL, err);
	return rc;
}

/* ---- both sides ---- */

/* Commit and changes from git, the rest from what was loaded. */
static void take_builds(struct assay_compare_plan *p, const struct assay_session *base, size_t own)
{
	for (int i = 0; i < 2; i++)
		p->cmp.build[i] = p->source[i].build;
	assay_build_identity_of(base->catalog, own, p->source[ASSAY_BASE].plugins.n, &p->cmp.build[ASSAY_BASE]);
	assay_build_identity_of(p->session.catalog, 0, p->source[ASSAY_HEAD].plugins.n, &p->cmp.build[ASSAY_HEAD]);
}

/* A case that a manifest demands and nobody plans. Its key is all that is known of it, and no kind of evidence has it.
 */
static int add_demanded(struct assay_compare_plan *p, const char *key, struct assay_err *err)
{
	struct assay_case c = { .threads = 1 };
	struct assay_comparison_case *to;

	if (sscanf(key, "%63[^/]/%63[^/]", c.op, c.variant) != 2)
		return 0;
	snprintf(c.key, sizeof(c.key), "%s", key);
	to = assay_compare_plan_add(p, &c, NULL, true);
	if (!to)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	to->in_head = false;
	snprintf(to->reason, sizeof(to->reason),
		 "the manifest requires it, but the suite no longer has it; if that is meant, 'assay list --manifest "
		 "--suite %s > FILE' writes a manifest of what the suite has",
		 p->session.plan.suite);
	return 0;
}

static int plan_cases(struct assay_compare_plan *p, const struct assay_compare_request *q, const struct assay_watch *w,
		      struct assay_err *err)
{
	struct assay_session *base = &p->base;
	char abi[512];
	size_t own;
	int rc = load_base(p, q->what, base, &own, err);

	if (!rc)
		rc = require_base(base, own, p->source[ASSAY_BASE].plugins.n, abi, sizeof(abi), err);
	if (!rc)
		rc = assay_session_plan(&p->session, q->what, err);
	if (!rc)
		rc = assay_session_facts(&p->session, err);
	if (!rc)
		rc = assay_session_plan(base, q->what, err);
	if (!rc)
		rc = assay_session_facts(base, err);
	if (!rc)
		rc = add_head_cases(p, base, own, abi, err);
	if (!rc)
		take_builds(p, base, own);
	if (!rc)
		rc = add_lost_cases(p, base, own, err);
	if (!rc)
		rc = add_owing_cases(p, base, own, err);
	if (!rc)
		rc = assay_compare_manifest_check(p, q->what, w, add_demanded, err);
	if (!rc && !p->cmp.n_cases)
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "nothing to compare: no case of suite '%s' runs a variant of '%s' here",
				   p->session.plan.suite, p->source[ASSAY_HEAD].name);
	return rc;
}

static int resolve_sides(struct assay_compare_plan *p, const struct assay_compare_request *q,
			 const struct assay_watch *w, struct assay_err *err)
{
	const struct assay_commit *stated = q->revision;
	int rc = assay_revision_resolve_watched(q->base, q->cache_dir, &stated[ASSAY_BASE], w, &p->source[ASSAY_BASE],
						err);

	if (!rc)
		rc = assay_side_source_copy(&p->source[ASSAY_BASE], err);
	if (!rc)
		rc = assay_revision_resolve_watched(q->head, q->cache_dir, &stated[ASSAY_HEAD], w,
						    &p->source[ASSAY_HEAD], err);
	if (!rc)
		rc = assay_side_source_copy(&p->source[ASSAY_HEAD], err);
	/* what the build of the head left of the base */
	return rc ? rc : assay_side_source_unchanged(&p->source[ASSAY_BASE], false, err);
}

int assay_compare_plan_complete(struct assay_compare_plan *p, const struct assay_compare_request *q,
				struct assay_err *err)
{
	struct assay_comparison *cmp = &p->cmp;
	int rc = 0;

	for (size_t i = 0; i < cmp->n_cases; i++)
		cmp->family += (unsigned)assay_comparison_n_judged(&cmp->cases[i]);
	if (!q->no_controls)
		rc = add_controls(p, q->injected_frac, err);
	if (!rc && !q->no_controls)
		rc = add_program_controls(p, q->injected_frac, err);
	if (!rc)
		rc = assay_compare_policy_check(p, &q->what->events, err);
	if (!rc)
		rc = assay_fingerprint_take(p->session.topology, &cmp->machine, err);
	if (rc)
		return rc;
	snprintf(cmp->suite, sizeof(cmp->suite), "%s", p->session.plan.suite);
	cmp->seed = q->what->settings.seed;
	cmp->rule = ASSAY_JUDGE_RULE;
	cmp->started_ns = assay_clock_unix_ns();
	cmp->program = assay_build_identity_program();
	assay_side_label(&p->source[ASSAY_BASE], cmp->base, sizeof(cmp->base));
	assay_side_label(&p->source[ASSAY_HEAD], cmp->head, sizeof(cmp->head));
	return 0;
}

int assay_compare_plan_make(struct assay_compare_plan *p, const struct assay_compare_request *q,
			    const struct assay_watch *w, struct assay_err *err)
{
	int rc = assay_compare_policy_load(p, q, err);

	p->session.interrupted = p->base.interrupted = w->interrupted;
	if (!rc)
		rc = assay_session_suite_check(q->what, err);
	if (!rc)
		rc = resolve_sides(p, q, w, err);
	if (!rc)
		rc = load_head(p, q->what, err);
	if (!rc)
		rc = require_head(p, err);
	if (!rc)
		rc = plan_cases(p, q, w, err);
	return rc ? rc : assay_compare_plan_complete(p, q, err);
}

int assay_compare_plan_make_same(struct assay_compare_plan *p, const struct assay_compare_request *q,
				 const struct assay_watch *w, struct assay_err *err)
{
	struct assay_compare_request same = *q;
	char own[ASSAY_INSTALLED_PATH_MAX];
	int rc = q->base ? 0 : assay_project_plugin_dir(own, sizeof(own), err);

	if (!q->base)
		same.base = own;
	same.head = same.base;
	same.no_controls = true;
	return rc ? rc : assay_compare_plan_make(p, &same, w, err);
}

void assay_compare_plan_release(struct assay_compare_plan *p)
{
	for (int i = 0; i < 2; i++) {
		assay_side_source_release(&p->source[i]);
		assay_strings_release(&p->side[i].plugins);
		assay_text_release(&p->side[i].parts);
	}
	assay_session_close(&p->session);
	assay_session_close(&p->base);
	assay_comparison_release(&p->cmp);
	assay_policy_release(&p->policy);
	assay_countable_release(&p->countable);
	free(p->facts);
	free(p->exact);
}

struct assay_pair_loop assay_compare_plan_loop(struct assay_compare_plan *p, const struct assay_request *r,
					       const struct assay_clock *clock, const struct assay_watch *w)
{
	struct assay_pair_loop loop = {
		.cmp = &p->cmp,
		.facts = p->facts,
		.catalog = p->session.catalog,
		.inventory = p->session.inventory,
		.side = { &p->side[ASSAY_BASE], &p->side[ASSAY_HEAD] },
		.policy = &p->policy,
		.uncounted = r->counter_groups || r->events.n ? NULL : &p->countable,
		.measure = assay_session_measure(&p->session, r, clock, w),
		.watch = w,
	};

	loop.measure.worker.plugins = &p->side[ASSAY_HEAD].plugins;
	loop.measure.worker.parts = p->side[ASSAY_HEAD].parts.s;
	return loop;
}
