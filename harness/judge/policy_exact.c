/* SPDX-License-Identifier: Apache-2.0 */
/* Tolerances of exact counts. */
#include "judge/policy_exact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool find_event(const char *s, size_t len, enum assay_exact_event *out)
{
	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++) {
		const char *name = assay_exact_event_name((enum assay_exact_event)e);

		if (strlen(name) == len && !strncmp(s, name, len)) {
			*out = (enum assay_exact_event)e;
			return true;
		}
	}
	return false;
}

/* "d1_misses 1%", "ll_misses 64" */
static int read_allowance(const struct assay_conf_entry *e, size_t i, struct assay_allowance *out,
			  struct assay_err *err)
{
	const char *s = e->values[i].text, *value;
	size_t len = strcspn(s, " \t");
	uint64_t count;

	out->frac = out->count = -1;
	value = s + len + strspn(s + len, " \t");
	if (!find_event(s, len, &out->event)) {
		const char *names[ASSAY_N_EXACT_EVENTS];
		char name[64], hint[256];

		for (unsigned k = 0; k < ASSAY_N_EXACT_EVENTS; k++)
			names[k] = assay_exact_event_name((enum assay_exact_event)k);
		snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name) - 1), s);
		return assay_conf_fail(err, e->path, e->values[i].line, "unknown count '%s'%s", name,
				       assay_conf_hint(name, names, ASSAY_N_EXACT_EVENTS, hint, sizeof(hint)));
	}
	if (!assay_parse_u64(value, "allow", 0, UINT32_MAX, &count, NULL)) {
		out->count = (double)count;
		return 0;
	}
	if (strchr(value, '%') && !assay_parse_frac(value, "allow", 0.0, 1.0, &out->frac, NULL))
		return 0;
	return assay_conf_fail(
		err, e->path, e->values[i].line,
		"cannot read '%s', expected a count and what it may differ by, such as \"d1_misses 1%%\" or "
		"\"d1_misses 64\"",
		s);
}

int assay_policy_add_exact(struct assay_policy *p, const struct assay_conf_section *s, struct assay_err *err)
{
	const struct assay_conf_entry *e = assay_conf_entry(s, "allow");
	struct assay_allowance *v;
	int rc = 0;

	if (!e)
		return assay_conf_fail(err, p->path, s->line,
				       "exact \"%s\" allows nothing, expected allow = {\"d1_misses 1%%\"}", s->title);
	v = realloc(p->allowances, (p->n_allowances + e->n) * sizeof(*v));
	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", p->path);
	p->allowances = v;
	for (size_t i = 0; i < e->n && !rc; i++) {
		rc = assay_policy_read_glob(p->path, s, v[p->n_allowances].cases, err);
		if (!rc)
			rc = read_allowance(e, i, &v[p->n_allowances], err);
		if (!rc)
			p->n_allowances++;
	}
	return rc;
}

double assay_policy_exact_allowed(const struct assay_policy *p, const char *key, enum assay_exact_event event,
				  uint64_t count)
{
	double frac = 0, most = 0;

	for (size_t i = 0; i < p->n_allowances; i++) {
		const struct assay_allowance *a = &p->allowances[i];

		if (a->event != event || !assay_glob_match(a->cases, key))
			continue;
		if (a->frac >= 0)
			frac = a->frac;
		if (a->count >= 0)
			most = a->count;
	}
	return frac * (double)count + most;
}
