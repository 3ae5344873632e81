/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CHECKs of the schema in C. tests/unit/store/store.c holds the two against each other: what SQLite refuses is
 * refused here, too.
 */
#include "store/rules.h"

#include <math.h>
#include <stddef.h>

struct rule {
	const char *name; /* as the schema calls it, or its column */
	bool kept;
};

static const char *first_broken(const struct rule *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!v[i].kept)
			return v[i].name;
	return NULL;
}

static bool is_time(double ns)
{
	return ns >= 0 && isfinite(ns);
}

static const char *of_numbers(const struct assay_result *r)
{
	const struct assay_counters *c = &r->counters;

	for (size_t i = 0; i < r->n_metrics; i++)
		if (!r->metrics[i].tag[0] || r->metrics[i].better < -1 || r->metrics[i].better > 1)
			return "number_name";
	for (size_t i = 0; i < c->n; i++)
		if (!c->v[i].name[0])
			return "number_name";
	for (size_t i = 0; i < c->n_missing; i++)
		if (!c->missing[i].name[0] || !c->missing[i].reason[0])
			return "missing_says_why";
	return NULL;
}

static const char *of_case(const struct assay_case *c)
{
	for (unsigned i = 0; i < c->n_axes; i++)
		if (!c->axes[i].name[0])
			return "case_axis";
	return !c->key[0] || !c->op[0] || !c->variant[0] || c->cache >= ASSAY_N_CACHE ? "bench_case" : NULL;
}

const char *assay_store_broken_rule(const struct assay_result *r)
{
	const bool ok = r->status == ASSAY_STATUS_OK;
	const struct rule rules[] = {
		{ "status", r->status < ASSAY_N_STATUS },
		{ "median_ns", is_time(r->median_ns) },
		{ "ci95_lo_ns", is_time(r->ci95_lo_ns) },
		{ "ci95_hi_ns", is_time(r->ci95_hi_ns) && r->ci95_hi_ns >= r->ci95_lo_ns },
		{ "min_ns", is_time(r->min_ns) },
		{ "mad_ns", is_time(r->mad_ns) },
		{ "dropped_frac", r->dropped_frac >= 0 && r->dropped_frac <= 1 },
		{ "numa_node", r->numa_node >= -1 },
		{ "roof_bound", r->roof.bound < ASSAY_N_BOUNDS },
		{ "roof_least_frac", is_time(r->roof.in_turn.least_frac) },
		{ "roof_most_frac", is_time(r->roof.in_turn.most_frac) },
		{ "ok_is_measured", !ok || (r->n_samples && r->median_ns > 0) },
		{ "ok_is_correct", !ok || !r->checked || r->correct },
		{ "other_than_ok_says_why", ok || r->reason[0] },
	};
	const char *broken = first_broken(rules, sizeof(rules) / sizeof(rules[0]));

	if (!broken)
		broken = of_case(&r->c);
	return broken ? broken : of_numbers(r);
}

static bool are_named(const struct assay_fact *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!v[i].name[0])
			return false;
	return true;
}

const char *assay_store_broken_run_rule(const struct assay_run *run)
{
	const struct rule rules[] = {
		{ "suite", run->suite[0] },
		{ "started_ns", run->started_ns },
		{ "machine", run->machine.id[0] && are_named(run->machine.facts, run->machine.n_facts) },
		{ "build", run->build.id[0] },
		{ "environment", are_named(run->environment, run->n_environment) },
	};

	return first_broken(rules, sizeof(rules) / sizeof(rules[0]));
}
