/* SPDX-License-Identifier: Apache-2.0 */
/* A glob or a metric with a typing error would guard nothing, so it is an error wherever that can be known. */
#include "judge/limits.h"

#include <stdio.h>
#include <string.h>

#include "base/conf.h"

#define MAX_KNOWN 256

static bool in_manifest(const char *glob, const struct assay_manifest *m)
{
	for (size_t i = 0; i < m->n_entries; i++)
		if (assay_glob_match(glob, m->entries[i].key))
			return true;
	return false;
}

/* Append @name unless it is there. */
static size_t add_name(const char **names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return n;
	if (n < MAX_KNOWN)
		names[n++] = name;
	return n;
}

/* The part of a key or glob before its first slash: the op. */
static void op_of(const char *key, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)strcspn(key, "/"), key);
}

/* @names are the ops that there are. */
static int fail_glob(const struct assay_policy *p, const char *glob, unsigned line, const char *const *names, size_t n,
		     struct assay_err *err)
{
	char op[ASSAY_KEY_MAX], hint[256] = "";

	op_of(glob, op, sizeof(op));
	if (assay_nearest(op, names, n))
		assay_conf_hint(op, names, n, hint, sizeof(hint));
	return assay_conf_fail(err, p->path, line, "'%s' selects no case of any suite%s", glob, hint);
}

static bool is_known(const char *glob, const struct assay_policy_known *k)
{
	for (size_t i = 0; i < k->n_cases; i++)
		if (assay_policy_selects(glob, &k->cases[i]))
			return true;
	for (size_t i = 0; k->run && i < k->run->n_results; i++)
		if (assay_policy_selects(glob, &k->run->results[i].c))
			return true;
	for (size_t i = 0; i < k->n_manifests; i++)
		if (in_manifest(glob, k->manifests[i]))
			return true;
	return k->manifest && in_manifest(glob, k->manifest);
}

/* Does any case of @op match @glob? */
static bool selects_op(const char *glob, const struct assay_policy_known *k, const char *op)
{
	for (size_t i = 0; i < k->n_cases; i++)
		if (!strcmp(k->cases[i].op, op) && assay_policy_selects(glob, &k->cases[i]))
			return true;
	for (size_t i = 0; i < k->n_manifests; i++)
		for (size_t e = 0; e < k->manifests[i]->n_entries; e++) {
			const char *key = k->manifests[i]->entries[e].key;
			char of[ASSAY_KEY_MAX];

			op_of(key, of, sizeof(of));
			if (!strcmp(of, op) && assay_glob_match(glob, key))
				return true;
		}
	return false;
}

static int check_glob(const struct assay_policy *p, const struct assay_policy_known *k, const char *glob, unsigned line,
		      struct assay_err *err)
{
	const char *names[MAX_KNOWN];
	size_t n = 0;

	if (is_known(glob, k))
		return 0;
	for (size_t i = 0; k->catalog && i < k->catalog->n_ops; i++)
		n = add_name(names, n, k->catalog->ops[i].name);
	for (size_t i = 0; k->run && i < k->run->n_results; i++)
		n = add_name(names, n, k->run->results[i].c.op);
	for (size_t i = 0; i < k->n_cases; i++)
		n = add_name(names, n, k->cases[i].op);
	return fail_glob(p, glob, line, names, n, err);
}

/* The names that the selected cases have, for who looks for one of them. */
struct offered {
	const char *names[MAX_KNOWN];
	size_t n, cases; /* cases that were asked */
	bool found;
	const char *unit; /* of the metric that was found */
};

static void found(struct offered *o, const char *unit)
{
	o->found = true;
	o->unit = unit;
}

static void ask_catalog(const struct assay_policy_known *k, const struct assay_limit *l, struct offered *o)
{
	for (size_t i = 0; k->catalog && i < k->catalog->n_ops; i++) {
		const struct assay_catalog_op *op = &k->catalog->ops[i];

		if (!selects_op(l->cases, k, op->name))
			continue;
		if (assay_strings_has(&op->counters, l->metric))
			found(o, "1");
		for (size_t m = 0; m < op->n_metrics; m++) {
			if (!strcmp(op->metrics[m].tag, l->metric))
				found(o, op->metrics[m].unit);
			o->n = add_name(o->names, o->n, op->metrics[m].tag);
		}
	}
	o->cases += k->catalog != NULL;
}

static int check_metric(const struct assay_policy *p, const struct assay_policy_known *k, const struct assay_limit *l,
			struct assay_err *err)
{
	struct offered o = { .n = 0 };
	char hint[256];

	/*
	 * The harness's own, and what was not counted, are missing for a reason, which is a matter of the cases. The
	 * policy itself knows the units of the former.
	 */
	if (assay_metric_find(l->metric) || (!k->counted && l->where_counted && !k->catalog))
		return 0;
	for (size_t i = 0; k->counted && i < k->counted->names.n; i++)
		if (!strcmp(k->counted->names.v[i], l->metric))
			return assay_limit_check_unit(p, l, k->counted->units.v[i], err);
	ask_catalog(k, l, &o);
	for (size_t i = 0; k->run && i < k->run->n_results; i++) {
		const struct assay_result *r = &k->run->results[i];

		if (r->status != ASSAY_STATUS_OK || !assay_policy_selects(l->cases, &r->c))
			continue;
		if (assay_counters_find(&r->counters, l->metric) ||
		    assay_counters_find_missing(&r->counters, l->metric))
			found(&o, "1");
		if (assay_result_metric(r, l->metric))
			found(&o, assay_result_metric(r, l->metric)->unit);
		o.cases++;
		for (size_t m = 0; m < r->n_metrics; m++)
			o.n = add_name(o.names, o.n, r->metrics[m].tag);
		for (size_t m = 0; m < r->counters.n; m++)
			o.n = add_name(o.names, o.n, r->counters.v[m].name);
	}
	if (o.found)
		return assay_limit_check_unit(p, l, o.unit, err);
	if (!o.cases)
		return 0;
	for (size_t i = 0; k->catalog && i < assay_n_metrics; i++)
		o.n = add_name(o.names, o.n, assay_metrics[i].tag);
	for (size_t i = 0; k->counted && i < k->counted->names.n; i++)
		o.n = add_name(o.names, o.n, k->counted->names.v[i]);
	return assay_conf_fail(err, p->path, l->line, "no case that '%s' selects has a metric '%s'%s", l->cases,
			       l->metric, assay_conf_hint(l->metric, o.names, o.n, hint, sizeof(hint)));
}

int assay_policy_check_known(const struct assay_policy *p, const struct assay_policy_known *known,
			     struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < p->n_edges; i++)
		rc = check_glob(p, known, p->edges[i], p->edges_line, err);
	for (size_t i = 0; !rc && i < p->n_margins; i++)
		rc = check_glob(p, known, p->margins[i].cases, p->margins[i].line, err);
	for (size_t i = 0; !rc && i < p->n_limits; i++)
		rc = check_glob(p, known, p->limits[i].cases, p->limits[i].line, err);
	for (size_t i = 0; !rc && i < p->n_allowances; i++)
		rc = check_glob(p, known, p->allowances[i].cases, p->allowances[i].line, err);
	for (size_t i = 0; !rc && i < p->n_limits; i++)
		rc = check_metric(p, known, &p->limits[i], err);
	return rc;
}
