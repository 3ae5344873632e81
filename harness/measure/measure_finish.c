/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only the whole run can say of a case: whether all variants of an exact op agree bit by bit, which share of the
 * measured roof (Williams, Waterman and Patterson, "Roofline", CACM 2009) it reached, and how well it scales with threads.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/measure.h"

enum level { LEVEL_L1, LEVEL_L2, LEVEL_L3, LEVEL_DRAM };

static const char *const level_names[] = { "l1", "l2", "l3", "dram" };

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

/* Which of two that disagree is to be believed? Both passed their oracle, so the reference variant, else the earlier one. */
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
			snprintf(r->reason, sizeof(r->reason), "output %.8s… differs from %.8s… of '%.200s'", r->digest, ref->digest,
				 ref->c.key);
			changed[i] = true;
		}
}

/*
 * Best value of @metric among the ok cases of @op with these threads; @level NULL: any. 0: not measured, or not so well that
 * the others could be held against it.
 */
static double best(const struct assay_run *run, const char *op, const char *level, unsigned threads, const char *metric)
{
	double top = 0;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];
		const struct assay_metric *m = assay_result_metric(r, metric);

		if (r->status != ASSAY_STATUS_OK || !r->ci95_reached || r->c.threads != threads || !m ||
		    strncmp(r->c.op, op, strlen(op)) || (level && (!r->c.n_axes || strcmp(r->c.axes[0].text, level))))
			continue;
		top = fmax(top, m->value);
	}
	return top;
}

/* Where the data of a case lives while it is repeated. */
static enum level level_of(const struct assay_case *c, const struct assay_case_facts *f, const struct assay_host_info *host)
{
	if (c->cache == ASSAY_CACHE_COLD || f->tensor_bytes > host->llc_bytes)
		return LEVEL_DRAM;
	if (f->tensor_bytes > host->l2_bytes * c->threads)
		return LEVEL_L3;
	return f->tensor_bytes > host->l1d_bytes * c->threads ? LEVEL_L2 : LEVEL_L1;
}

static bool is_roof(const char *op)
{
	return !strncmp(op, "stream.", 7) || !strncmp(op, "peak.", 5);
}

/* Seconds that the roof allows; 0 with @why when there is none to hold the case against. */
static double roof_s(const struct assay_run *run, const struct assay_case *c, const struct assay_case_facts *f,
		     const struct assay_host_info *host, struct assay_err *why)
{
	const char *level = level_names[level_of(c, f, host)];
	const char *peak_op = f->cost.arith == ASSAY_ARITH_F32 ? "peak.f32_fma" : f->cost.arith == ASSAY_ARITH_I8 ? "peak.i8_dot" : NULL;
	double bandwidth = best(run, "stream.", level, c->threads, "bytes_per_s");
	double peak = peak_op ? best(run, peak_op, NULL, c->threads, "ops_per_s") : 0;
	double bytes = f->cost.bytes_read + f->cost.bytes_written, seconds = 0;

	if (is_roof(c->op)) {
		assay_err_set(why, ASSAY_EUNAVAILABLE, "it is itself what others are held against");
	} else if (bytes > 0 && !(bandwidth > 0)) {
		assay_err_set(why, ASSAY_EUNAVAILABLE, "the run has no 95 %% interval of stream.* at %s on %u thread%s", level, c->threads,
			      c->threads == 1 ? "" : "s");
	} else if (peak_op && !(peak > 0)) {
		assay_err_set(why, ASSAY_EUNAVAILABLE, "the run has no 95 %% interval of %s on %u thread%s", peak_op, c->threads,
			      c->threads == 1 ? "" : "s");
	} else if (!peak_op && !(bytes > 0)) {
		assay_err_set(why, ASSAY_EUNAVAILABLE, "op '%s' states no work that bandwidth or arithmetic bounds", c->op);
	} else {
		seconds = fmax(bytes > 0 ? bytes / bandwidth : 0, peak_op ? f->cost.ops / peak : 0);
	}
	return seconds;
}

/* Compulsory work of a call: what ops measure their threads by; 0 where it has none. */
static double work_of(const struct assay_case_facts *f)
{
	return f->cost.ops > 0 ? f->cost.ops : f->cost.bytes_read + f->cost.bytes_written;
}

/*
 * Work per second and thread against that of the same variant on one thread. Some ops give each thread work of its own, so
 * that times alone do not compare. 0: one thread, or the run has no such case.
 */
static double efficiency(const struct assay_run *run, size_t i, const struct assay_case_facts *facts)
{
	const struct assay_result *r = &run->results[i];

	for (size_t k = 0; k < run->n_results && r->c.threads > 1; k++) {
		const struct assay_result *one = &run->results[k];

		if (one->c.threads == 1 && one->status == ASSAY_STATUS_OK && one->median_ns > 0 && work_of(&facts[k]) > 0 &&
		    one->c.cache == r->c.cache && !strcmp(one->c.variant, r->c.variant) && same_problem(&one->c, &r->c))
			return work_of(&facts[i]) / r->median_ns / (work_of(&facts[k]) / one->median_ns) / r->c.threads;
	}
	return 0;
}

/* Adds @tag, or the reason why it is no number. */
static int add_share(struct assay_result *r, const char *tag, double value)
{
	const struct assay_metric_info *m = assay_metric_find(tag);
	struct assay_err why = { 0 };

	if (!assay_metric_check(tag, value, m->lo, m->hi, &why))
		return assay_result_add_metric(r, m->tag, m->unit, m->better, value);
	snprintf(r->reason, sizeof(r->reason), "%.400s", why.text);
	return 0;
}

int assay_measure_finish(struct assay_run *run, const struct assay_case_facts *facts, const struct assay_host_info *host,
			 const struct assay_catalog *cat, bool *changed, struct assay_err *err)
{
	memset(changed, 0, run->n_results * sizeof(*changed));
	compare_digests(run, cat, changed);
	for (size_t i = 0; i < run->n_results; i++) {
		struct assay_result *r = &run->results[i];
		struct assay_err why = { 0 };
		double roof, frac;
		int rc;

		if (r->status != ASSAY_STATUS_OK || r->median_ns <= 0)
			continue;
		changed[i] = true;
		roof = roof_s(run, &r->c, &facts[i], host, &why);
		frac = efficiency(run, i, facts);
		if (roof > 0)
			rc = add_share(r, "roof_frac", roof * 1e9 / r->median_ns);
		else
			rc = assay_counters_add_missing(&r->counters, "roof_frac", ASSAY_SOURCE_ASSAY, why.text);
		if (!rc && frac > 0)
			rc = add_share(r, "parallel_efficiency", frac);
		if (rc)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	return 0;
}
