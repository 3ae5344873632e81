/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only the whole run can say of a case: whether all variants of an exact op agree bit by bit, which share of its
 * roof it reached, and how well it scales with threads.
 */
#include <stdio.h>
#include <string.h>

#include "measure/measure.h"
#include "measure/roof.h"

/* Do two cases solve the same problem, whatever the variant, threads and cache state? */
static bool same_problem(const struct assay_case *a, const struct assay_case *b)
{
	if (strcmp(a->op, b->op) || a->n_axes != b->n_axes)
		return false;
	for (unsigned i = 0; i < a->n_axes; i++)
		if (a->axes[i].value != b->axes[i].value)
			return false;
	return true;
}

static bool disagree(const struct assay_result *a, const struct assay_result *b)
{
	return a->status == ASSAY_STATUS_OK && b->status == ASSAY_STATUS_OK && a->digest[0] && b->digest[0] &&
	       same_problem(&a->c, &b->c) && strcmp(a->digest, b->digest);
}

static bool is_reference(const struct assay_catalog *cat, const struct assay_case *c)
{
	const struct assay_catalog_variant *v = assay_catalog_variant(cat, c->op, c->variant);

	return v && v->reference;
}

/*
 * Which of two that disagree is to be believed? Both passed their oracle, so the reference variant, else the earlier
 * one.
 */
static void compare_digests(struct assay_run *run, const struct assay_catalog *cat, bool *changed)
{
	for (size_t i = 0; i < run->n_results; i++)
		for (size_t k = 0; k < run->n_results; k++) {
			struct assay_result *r = &run->results[i];
			const struct assay_result *ref = &run->results[k];
			bool own, other;

			if (i == k || !disagree(r, ref))
				continue;
			own = is_reference(cat, &r->c);
			other = is_reference(cat, &ref->c);
			if (own == other ? k > i : own)
				continue;
			r->status = ASSAY_STATUS_WRONG;
			r->correct = false;
			snprintf(r->reason, sizeof(r->reason), "output %.8s… differs from %.8s… of '%.200s'", r->digest,
				 ref->digest, ref->c.key);
			changed[i] = true;
		}
}

/* Compulsory work of a call: what ops measure their threads by; 0 where it has none. */
static double work_of(const struct assay_case_facts *f)
{
	return f->cost.ops > 0 ? f->cost.ops : f->cost.bytes_read + f->cost.bytes_written;
}

/*
 * Work per second and thread against that of the same variant on one thread. Some ops give each thread work of its own,
 * so that times alone do not compare. 0: one thread, or the run has no such case.
 */
static double efficiency(const struct assay_run *run, size_t i, const struct assay_case_facts *facts)
{
	const struct assay_result *r = &run->results[i];

	for (size_t k = 0; k < run->n_results && r->c.threads > 1; k++) {
		const struct assay_result *one = &run->results[k];

		if (one->c.threads == 1 && one->status == ASSAY_STATUS_OK && one->median_ns > 0 &&
		    work_of(&facts[k]) > 0 && one->c.cache == r->c.cache && !strcmp(one->c.variant, r->c.variant) &&
		    same_problem(&one->c, &r->c))
			return work_of(&facts[i]) / r->median_ns / (work_of(&facts[k]) / one->median_ns) / r->c.threads;
	}
	return 0;
}

int assay_measure_finish(struct assay_run *run, const struct assay_case_facts *facts,
			 const struct assay_host_info *host, const struct assay_catalog *cat, bool *changed,
			 struct assay_err *err)
{
	memset(changed, 0, run->n_results * sizeof(*changed));
	compare_digests(run, cat, changed);
	for (size_t i = 0; i < run->n_results; i++) {
		struct assay_result *r = &run->results[i];
		double frac;
		int rc;

		if (r->status != ASSAY_STATUS_OK || r->median_ns <= 0)
			continue;
		changed[i] = true;
		frac = efficiency(run, i, facts);
		rc = assay_roof_has(r) ? 0 : assay_roof_add_of_run(run, facts, &facts[i], host, r);
		if (!rc && frac > 0)
			rc = assay_roof_add_share(r, "parallel_efficiency", frac);
		if (rc)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	return 0;
}
