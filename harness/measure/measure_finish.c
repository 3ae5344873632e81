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

static const char *const peak_ops[] = {
	[ASSAY_ARITH_NONE] = NULL,
	[ASSAY_ARITH_F32] = "peak.f32_fma",
	[ASSAY_ARITH_I8] = "peak.i8_dot",
	[ASSAY_ARITH_TERNARY] = "peak.ternary_dot",
};

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

/*
 * Where the data of a case lives while it is repeated. Of data little larger than a core's own caches much stays in them, so
 * that only the faster level bounds it.
 */
static enum level level_of(const struct assay_case *c, const struct assay_case_facts *f, const struct assay_host_info *host)
{
	double bytes = (double)f->tensor_bytes, own = 1.25 * c->threads;

	if (c->cache == ASSAY_CACHE_COLD || bytes > (double)host->llc_bytes)
		return LEVEL_DRAM;
	if (bytes > own * (double)host->l2_bytes)
		return LEVEL_L3;
	return bytes > own * (double)host->l1d_bytes ? LEVEL_L2 : LEVEL_L1;
}

static bool is_roof(const char *op)
{
	return !strncmp(op, "stream.", 7) || !strncmp(op, "peak.", 5);
}

/*
 * Seconds that moving @cost takes at @level: as many bytes as are both read and written at the rate of stream.copy, the rest at
 * the rate of stream.read (bytes only written: of stream.copy). Where one of them was not measured the other stands for it; 0: neither was.
 * @what: that which most of the bytes were held against.
 */
static double moving_s(const struct assay_run *run, const char *level, unsigned threads, const struct assay_cost *cost, const char **what)
{
	double read = best(run, "stream.read", level, threads, "bytes_per_s");
	double copy = best(run, "stream.copy", level, threads, "bytes_per_s");
	double both = fmin(cost->bytes_read, cost->bytes_written);

	if (!(read > 0) && !(copy > 0))
		return 0;
	*what = !(read > 0) || (copy > 0 && both + cost->bytes_written > cost->bytes_read - both) ? "stream.copy" : "stream.read";
	read = read > 0 ? read : copy;
	copy = copy > 0 ? copy : read;
	return (both + cost->bytes_written) / copy + (cost->bytes_read - both) / read;
}

/* The least time of a case, and what bounds it. */
struct roof {
	double seconds; /* 0: there is nothing to hold the case against */
	char name[64];  /* "stream.read at l3", "peak.i8_dot" */
	struct assay_err why;
};

static void find_roof(const struct assay_run *run, const struct assay_case *c, const struct assay_case_facts *f,
		      const struct assay_host_info *host, struct roof *out)
{
	const char *level = level_names[level_of(c, f, host)];
	const char *peak_op = f->cost.arith < sizeof(peak_ops) / sizeof(peak_ops[0]) ? peak_ops[f->cost.arith] : NULL;
	bool moves = f->cost.bytes_read + f->cost.bytes_written > 0;
	const char *what = NULL;
	double moving = moving_s(run, level, c->threads, &f->cost, &what);
	double peak = peak_op ? best(run, peak_op, NULL, c->threads, "ops_per_s") : 0;
	double computing = peak > 0 ? f->cost.ops / peak : 0;

	*out = (struct roof){ 0 };
	if (is_roof(c->op)) {
		assay_err_set(&out->why, ASSAY_EUNAVAILABLE, "it is itself what others are held against");
	} else if (moves && !(moving > 0)) {
		assay_err_set(&out->why, ASSAY_EUNAVAILABLE, "the run has no 95 %% interval of stream.read or stream.copy at %s on %u thread%s", level,
			      c->threads, c->threads == 1 ? "" : "s");
	} else if (peak_op && !(peak > 0)) {
		assay_err_set(&out->why, ASSAY_EUNAVAILABLE, "the run has no 95 %% interval of %s on %u thread%s", peak_op, c->threads,
			      c->threads == 1 ? "" : "s");
	} else if (!(f->cost.ops > 0 && peak_op) && !moves) {
		assay_err_set(&out->why, ASSAY_EUNAVAILABLE, "op '%s' states no work that bandwidth or arithmetic bounds", c->op);
	} else if (computing > moving) {
		out->seconds = computing;
		snprintf(out->name, sizeof(out->name), "%s", peak_op);
	} else {
		out->seconds = moving;
		snprintf(out->name, sizeof(out->name), "%s at %s", what, level);
	}
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
	return assay_counters_add_missing(&r->counters, tag, ASSAY_SOURCE_ASSAY, why.text);
}

/* The share, and beside it the time that the roof allows and which roof that is. */
static int add_roof(struct assay_result *r, const struct roof *roof)
{
	struct assay_count c = { .name = "roof_ns", .source = ASSAY_SOURCE_ASSAY, .per_iteration = true, .running_frac = 1 };

	c.value = roof->seconds * 1e9;
	snprintf(c.how, sizeof(c.how), "%s", roof->name);
	return add_share(r, "roof_frac", c.value / r->median_ns) || assay_counters_add(&r->counters, &c);
}

int assay_measure_finish(struct assay_run *run, const struct assay_case_facts *facts, const struct assay_host_info *host,
			 const struct assay_catalog *cat, bool *changed, struct assay_err *err)
{
	memset(changed, 0, run->n_results * sizeof(*changed));
	compare_digests(run, cat, changed);
	for (size_t i = 0; i < run->n_results; i++) {
		struct assay_result *r = &run->results[i];
		struct roof roof;
		double frac;
		int rc;

		if (r->status != ASSAY_STATUS_OK || r->median_ns <= 0)
			continue;
		changed[i] = true;
		find_roof(run, &r->c, &facts[i], host, &roof);
		frac = efficiency(run, i, facts);
		if (roof.seconds > 0)
			rc = add_roof(r, &roof);
		else
			rc = assay_counters_add_missing(&r->counters, "roof_frac", ASSAY_SOURCE_ASSAY, roof.why.text);
		if (!rc && frac > 0)
			rc = add_share(r, "parallel_efficiency", frac);
		if (rc)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	return 0;
}
