/* SPDX-License-Identifier: Apache-2.0 */
/* A glob or a metric with a typing error would guard nothing, so it is an error wherever that can be known. */
#include "judge/policy_names.h"

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

static bool in_run(const char *glob, const struct assay_run *run)
{
	for (size_t i = 0; i < run->n_results; i++)
		if (assay_policy_selects(glob, &run->results[i].c))
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

static int fail_metric(const struct assay_policy *p, const struct assay_limit *l, const char *const *names, size_t n,
		       struct assay_err *err)
{
	char hint[256];

	return assay_conf_fail(err, p->path, l->line, "no case that '%s' selects has a metric '%s'%s", l->cases,
			       l->metric, assay_conf_hint(l->metric, names, n, hint, sizeof(hint)));
}

static int check_glob(const struct assay_gate_input *in, const char *glob, unsigned line, struct assay_err *err)
{
	const char *names[MAX_KNOWN];
	size_t n = 0;

	if (in_run(glob, in->run) || in_manifest(glob, in->manifest))
		return 0;
	for (size_t i = 0; i < in->n_other_manifests; i++)
		if (in_manifest(glob, in->other_manifests[i]))
			return 0;
	for (size_t i = 0; i < in->run->n_results; i++)
		n = add_name(names, n, in->run->results[i].c.op);
	return fail_glob(in->policy, glob, line, names, n, err);
}

static int check_metric(const struct assay_gate_input *in, const struct assay_limit *l, struct assay_err *err)
{
	const char *names[MAX_KNOWN];
	size_t n = 0, cases = 0;

	/*
	 * The harness's own, and what this run did not count, are missing for a reason, which is a matter of the cases.
	 */
	if (assay_metric_find(l->metric) ||
	    (in->countable ? assay_strings_has(&in->countable->names, l->metric) : l->where_counted))
		return 0;
	for (size_t i = 0; i < in->run->n_results; i++) {
		const struct assay_result *r = &in->run->results[i];

		if (r->status != ASSAY_STATUS_OK || !assay_policy_selects(l->cases, &r->c))
			continue;
		if (assay_result_metric(r, l->metric) || assay_counters_find(&r->counters, l->metric) ||
		    assay_counters_find_missing(&r->counters, l->metric))
			return 0;
		cases++;
		for (size_t k = 0; k < r->n_metrics; k++)
			n = add_name(names, n, r->metrics[k].tag);
		for (size_t k = 0; k < r->counters.n; k++)
			n = add_name(names, n, r->counters.v[k].name);
	}
	for (size_t i = 0; in->countable && i < in->countable->names.n; i++)
		n = add_name(names, n, in->countable->names.v[i]);
	return cases ? fail_metric(in->policy, l, names, n, err) : 0;
}

int assay_policy_check_names(const struct assay_gate_input *in, struct assay_err *err)
{
	const struct assay_policy *p = in->policy;
	int rc = 0;

	for (size_t i = 0; !rc && i < p->n_margins; i++)
		rc = check_glob(in, p->margins[i].cases, p->margins[i].line, err);
	for (size_t i = 0; !rc && i < p->n_limits; i++)
		rc = check_glob(in, p->limits[i].cases, p->limits[i].line, err);
	for (size_t i = 0; !rc && i < p->n_limits; i++)
		rc = check_metric(in, &p->limits[i], err);
	return rc;
}

/* ---- before anything is measured ---- */

static bool is_known(const char *glob, const struct assay_policy_known *k)
{
	for (size_t i = 0; i < k->n_cases; i++)
		if (assay_policy_selects(glob, &k->cases[i]))
			return true;
	for (size_t i = 0; i < k->n_manifests; i++)
		if (in_manifest(glob, k->manifests[i]))
			return true;
	return false;
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

static int check_known_glob(const struct assay_policy *p, const struct assay_policy_known *k, const char *glob,
			    unsigned line, struct assay_err *err)
{
	const char *names[MAX_KNOWN];
	size_t n = 0;

	if (is_known(glob, k))
		return 0;
	for (size_t i = 0; i < k->catalog->n_ops; i++)
		n = add_name(names, n, k->catalog->ops[i].name);
	return fail_glob(p, glob, line, names, n, err);
}

static int check_known_metric(const struct assay_policy *p, const struct assay_policy_known *k,
			      const struct assay_limit *l, struct assay_err *err)
{
	const char *names[MAX_KNOWN];
	size_t n = 0;

	if (assay_metric_find(l->metric) || (k->counted && assay_strings_has(k->counted, l->metric)))
		return 0;
	for (size_t i = 0; i < k->catalog->n_ops; i++) {
		const struct assay_catalog_op *op = &k->catalog->ops[i];

		if (!selects_op(l->cases, k, op->name))
			continue;
		if (assay_strings_has(&op->counters, l->metric))
			return 0;
		for (size_t m = 0; m < op->n_metrics; m++) {
			if (!strcmp(op->metrics[m].tag, l->metric))
				return 0;
			n = add_name(names, n, op->metrics[m].tag);
		}
	}
	for (size_t i = 0; i < assay_n_metrics; i++)
		n = add_name(names, n, assay_metrics[i].tag);
	for (size_t i = 0; k->counted && i < k->counted->n; i++)
		n = add_name(names, n, k->counted->v[i]);
	return fail_metric(p, l, names, n, err);
}

int assay_policy_check_known(const struct assay_policy *p, const struct assay_policy_known *known,
			     struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < p->n_margins; i++)
		rc = check_known_glob(p, known, p->margins[i].cases, p->margins[i].line, err);
	for (size_t i = 0; !rc && i < p->n_limits; i++)
		rc = check_known_glob(p, known, p->limits[i].cases, p->limits[i].line, err);
	for (size_t i = 0; !rc && i < p->n_limits; i++)
		rc = check_known_metric(p, known, &p->limits[i], err);
	return rc;
}
