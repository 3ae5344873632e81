/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides load the same plugins; what differs is the variant of the case that each runs. */
#include "drive/compare/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/compare/plan.h"
#include "drive/run/build_identity.h"
#include "worker/plugin/loader.h"

struct named {
	const char *text; /* "OP/NAME", as the user wrote it */
	char op[ASSAY_NAME_MAX], name[ASSAY_NAME_MAX];
};

/* ---- what the user named ---- */

static int split(const char *text, struct named *out, struct assay_err *err)
{
	const char *slash = strchr(text, '/');
	size_t op = slash ? (size_t)(slash - text) : 0, name = slash ? strlen(slash + 1) : 0;

	if (!op || !name || op >= sizeof(out->op) || name >= sizeof(out->name) || strchr(slash + 1, '/'))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "'%s' names no variant: expected OP/VARIANT, such as quantize.q8_0/avx2", text);
	out->text = text;
	memcpy(out->op, text, op);
	memcpy(out->name, slash + 1, name);
	return 0;
}

static int parse(const struct assay_compare_request *q, struct named v[2], struct assay_err *err)
{
	int rc = split(q->base, &v[ASSAY_BASE], err);

	if (!rc)
		rc = split(q->head, &v[ASSAY_HEAD], err);
	if (!rc && strcmp(v[ASSAY_BASE].op, v[ASSAY_HEAD].op))
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "'%s' and '%s' solve different problems: --variants takes two variants of one op",
				   q->base, q->head);
	if (!rc && !strcmp(v[ASSAY_BASE].name, v[ASSAY_HEAD].name))
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "'%s' is named twice: two builds of a variant are compared by their plugins, "
				   "'assay compare A.so B.so'",
				   q->base);
	return rc;
}

/* Which of the two does @path bring? NULL: neither, or it cannot be loaded alone either. */
static const struct named *brings(const char *path, const struct assay_host_info *host, const struct named v[2])
{
	struct assay_strings alone = { 0 };
	struct assay_inventory *inv = NULL;
	const struct named *found = NULL;

	if (!assay_strings_add(&alone, path, NULL) && !assay_inventory_open(&inv, &alone, NULL, host, NULL))
		for (int i = 0; i < 2 && !found; i++)
			if (assay_catalog_variant(assay_inventory_catalog(inv), v[i].op, v[i].name))
				found = &v[i];
	assay_inventory_close(inv);
	assay_strings_release(&alone);
	return found;
}

/* The loader refuses what brings a variant for the second time, so that it is not known whose is meant. */
static int require_plugins(const struct assay_session *s, const struct named v[2], const struct assay_strings *asked,
			   struct assay_err *err)
{
	const struct assay_catalog *cat = s->catalog;

	for (size_t i = 0; i < cat->n_plugins; i++) {
		const struct assay_catalog_plugin *refused = &cat->plugins[i];
		const struct assay_catalog_variant *first;
		const struct named *twice;

		if (!refused->error)
			continue;
		twice = brings(refused->path, &s->host, v);
		first = twice ? assay_catalog_variant(cat, twice->op, twice->name) : NULL;
		if (first)
			return assay_err_set(
				err, ASSAY_EUSAGE,
				"variant '%s' is in '%s' and in '%s': load one of them, or compare the two "
				"with 'assay compare %s %s'",
				twice->text, cat->plugins[first->plugin].path, refused->path,
				cat->plugins[first->plugin].path, refused->path);
		if (assay_strings_has(asked, refused->path))
			return assay_err_set(err, ASSAY_EUSAGE, "cannot use plugin: %s", refused->error);
	}
	return 0;
}

static int no_such_variant(const struct assay_catalog *cat, const struct named *v, struct assay_err *err)
{
	const char **names = calloc(cat->n_variants + cat->n_ops + 1, sizeof(*names)), *near;
	const bool has_op = assay_catalog_op(cat, v->op) != NULL;
	size_t n = 0;
	int rc;

	if (!names)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < cat->n_variants && has_op; i++)
		if (!strcmp(cat->variants[i].op, v->op))
			names[n++] = cat->variants[i].name;
	for (size_t i = 0; i < cat->n_ops && !has_op; i++)
		names[n++] = cat->ops[i].name;
	near = assay_nearest(has_op ? v->name : v->op, names, n);
	rc = assay_err_set(err, ASSAY_EUSAGE, "no plugin has variant '%s': %s%s%s", v->text,
			   near ? "did you mean '" : "--plugin FILE loads more, 'assay list variants' shows all",
			   near ? near : "", near ? "'?" : "");
	free(names);
	return rc;
}

static int require_variant(const struct assay_catalog *cat, const struct named *v, struct assay_err *err)
{
	const struct assay_catalog_variant *found = assay_catalog_variant(cat, v->op, v->name);

	if (!found || !assay_catalog_op(cat, v->op))
		return no_such_variant(cat, v, err);
	if (found->unavailable || found->defect)
		return assay_err_set(err, ASSAY_EUSAGE, "variant '%s' cannot run here: %s", v->text,
				     found->unavailable ? found->unavailable : found->defect);
	return 0;
}

/* ---- cases ---- */

static bool is_of(const struct assay_case *c, const struct named *v)
{
	return !strcmp(c->op, v->op) && !strcmp(c->variant, v->name);
}

static size_t find_case(const struct assay_plan *plan, const char *key)
{
	size_t i = 0;

	while (i < plan->n_cases && strcmp(plan->cases[i].key, key))
		i++;
	return i;
}

/* Of the plan only the cases of the two are kept, and none for counts. */
static void keep_cases(struct assay_plan *plan, const struct named v[2])
{
	size_t n = 0;

	for (size_t i = 0; i < plan->n_cases; i++) {
		if (!is_of(&plan->cases[i], &v[ASSAY_BASE]) && !is_of(&plan->cases[i], &v[ASSAY_HEAD]))
			continue;
		plan->exact[n] = plan->exact[i];
		plan->cases[n++] = plan->cases[i];
	}
	plan->n_cases = n;
	plan->n_smaller = 0;
}

/* The same case of the other variant; where the suite does not plan that, it is added. */
static int add_twin(struct assay_session *s, size_t i, const struct named *other, struct assay_err *err)
{
	const struct assay_catalog_variant *v = assay_catalog_variant(s->catalog, other->op, other->name);
	struct assay_plan *plan = &s->plan;
	struct assay_case twin = plan->cases[i], *cases;
	bool *exact;
	int rc;

	memcpy(twin.variant, other->name, sizeof(twin.variant));
	twin.reference = v->reference;
	if (v->one_thread && twin.threads > 1)
		return 0;
	rc = assay_case_make_key(&twin, err);
	if (rc || find_case(plan, twin.key) < plan->n_cases)
		return rc;
	cases = realloc(plan->cases, (plan->n_cases + 1) * sizeof(*cases));
	if (cases)
		plan->cases = cases;
	exact = realloc(plan->exact, (plan->n_cases + 1) * sizeof(*exact));
	if (exact)
		plan->exact = exact;
	if (!cases || !exact)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	exact[plan->n_cases] = false;
	cases[plan->n_cases++] = twin;
	return 0;
}

static int add_twins(struct assay_session *s, const struct named v[2], struct assay_err *err)
{
	const size_t n = s->plan.n_cases;
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		if (!s->plan.cases[i].skip_reason[0])
			rc = add_twin(s, i, &v[is_of(&s->plan.cases[i], &v[ASSAY_BASE]) ? ASSAY_HEAD : ASSAY_BASE],
				      err);
	return rc;
}

/* A case for each that both run; *why is the reason of the last that one of them does not. */
static int add_pairs(struct assay_compare_plan *p, const struct named v[2], size_t *n_left_out, const char **why,
		     struct assay_err *err)
{
	const struct assay_plan *plan = &p->session.plan;

	for (size_t i = 0; i < plan->n_cases; i++) {
		struct assay_comparison_case *to, head = { .c = plan->cases[i] };
		struct assay_case base;
		const char *reason;
		size_t at;
		int rc;

		if (!is_of(&plan->cases[i], &v[ASSAY_HEAD]))
			continue;
		memcpy(head.base_variant, v[ASSAY_BASE].name, sizeof(head.base_variant));
		rc = assay_comparison_base_case(&head, &base, err);
		if (rc)
			return rc;
		at = find_case(plan, base.key);
		reason = assay_compare_plan_refusal(&p->session, i);
		if (!reason && at == plan->n_cases)
			reason = "the other one runs on one thread only";
		if (!reason)
			reason = assay_compare_plan_refusal(&p->session, at);
		if (reason) {
			*why = reason;
			(*n_left_out)++;
			continue;
		}
		to = assay_compare_plan_add(p, &plan->cases[i], &p->session.facts[i], false);
		if (!to)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		memcpy(to->base_variant, head.base_variant, sizeof(to->base_variant));
	}
	return 0;
}

static int plan_cases(struct assay_compare_plan *p, const struct assay_compare_request *q, const struct named v[2],
		      const struct assay_watch *w, struct assay_err *err)
{
	struct assay_session *s = &p->session;
	size_t n_left_out = 0;
	const char *why = "";
	int rc = assay_session_plan(s, q->what, err);

	if (rc)
		return rc;
	keep_cases(&s->plan, v);
	if (!s->plan.n_cases)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "nothing to compare: no case of suite '%s' that is selected runs '%s' or '%s'; "
				     "--suite names another",
				     s->plan.suite, v[ASSAY_BASE].text, v[ASSAY_HEAD].text);
	rc = add_twins(s, v, err);
	if (!rc)
		rc = assay_session_facts(s, err);
	if (!rc)
		rc = add_pairs(p, v, &n_left_out, &why, err);
	if (rc)
		return rc;
	if (!p->cmp.n_cases)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "nothing to compare: '%s' and '%s' have no case of suite '%s' in common: %s",
				     v[ASSAY_BASE].text, v[ASSAY_HEAD].text, s->plan.suite, why);
	if (n_left_out)
		assay_watch_warn(w, "%zu case%s left out that only one of the two runs: %s", n_left_out,
				 n_left_out == 1 ? " is" : "s are", why);
	return 0;
}

/* ---- both sides ---- */

static int load_sides(struct assay_compare_plan *p, const struct named v[2], struct assay_err *err)
{
	const struct assay_catalog *cat = p->session.catalog;
	const char all[2] = { ASSAY_PART_ALL, '\0' };

	for (int side = 0; side < 2; side++) {
		const struct assay_catalog_variant *of = assay_catalog_variant(cat, v[side].op, v[side].name);

		for (size_t i = 0; i < cat->n_plugins; i++) {
			int rc;

			if (cat->plugins[i].error)
				continue;
			rc = assay_strings_add(&p->side[side].plugins, cat->plugins[i].path, err);
			assay_text_add(&p->side[side].parts, all);
			if (rc || p->side[side].parts.failed)
				return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		}
		snprintf(p->source[side].name, sizeof(p->source[side].name), "%s", v[side].text);
		assay_build_identity_of(cat, of->plugin, 1, &p->cmp.build[side]);
	}
	return 0;
}

int assay_compare_variants_make(struct assay_compare_plan *p, const struct assay_compare_request *q,
				const struct assay_watch *w, struct assay_err *err)
{
	struct named v[2] = { 0 };
	int rc = parse(q, v, err);

	if (!rc)
		rc = assay_compare_policy_load(p, q, err);
	p->cmp.same_code = true; /* how fast they are was asked, whatever their code is */
	if (!rc)
		rc = assay_session_open(&p->session, q->what, err);
	if (!rc)
		rc = require_plugins(&p->session, v, &q->what->plugins, err);
	for (int side = 0; side < 2 && !rc; side++)
		rc = require_variant(p->session.catalog, &v[side], err);
	if (!rc)
		rc = load_sides(p, v, err);
	if (!rc)
		rc = plan_cases(p, q, v, w, err);
	return rc ? rc : assay_compare_plan_complete(p, q, err);
}
