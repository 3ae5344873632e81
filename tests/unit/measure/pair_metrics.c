/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run measures of a case a pair measures of each side: the same metrics and counts, and what the policy demands
 * of them holds or fails alike, in a gate and in a comparison.
 */
#include "pair_world.h"

#include "judge/comparison_judge.h"
#include "judge/gate.h"

#define KEPT_BYTES 12345 /* of compare_keeps */

/* The head measured alone, and in a pair with the base. */
static void measure_both(struct world *w, bool verify_only, struct measured *m)
{
	struct assay_pair_lessons lessons = { 0 };
	struct assay_measure_options o;
	struct assay_err err = { 0 };

	plan(w, (const char *const[2]){ "compare_base", "compare_keeps" }, m);
	o = options_of(w, m);
	o.verify_only = verify_only;
	if (assay_measure_case(&m->c, assay_inventory_catalog(m->inv), &m->facts, &o, &m->of_run, &err))
		fail_msg("%s", err.text);
	take_pair(&o, &lessons, m);
	if (m->of_run.status || m->pair.side[0].status || m->pair.side[1].status)
		fail_msg("'%s', '%s', '%s'", m->of_run.reason, m->pair.side[0].reason, m->pair.side[1].reason);
}

/* Name by name, in the same order. */
static void same_names(const struct assay_result *r, const struct assay_pair_side *s)
{
	assert_int_equal(r->n_metrics, s->n_metrics);
	for (size_t i = 0; i < r->n_metrics; i++) {
		assert_string_equal(r->metrics[i].tag, s->metrics[i].tag);
		assert_string_equal(r->metrics[i].unit, s->metrics[i].unit);
		assert_int_equal(r->metrics[i].better, s->metrics[i].better);
	}
	assert_int_equal(r->counters.n, s->counters.n);
	for (size_t i = 0; i < r->counters.n; i++) {
		assert_string_equal(r->counters.v[i].name, s->counters.v[i].name);
		assert_string_equal(r->counters.v[i].source, s->counters.v[i].source);
	}
	assert_int_equal(r->counters.n_missing, s->counters.n_missing);
	for (size_t i = 0; i < r->counters.n_missing; i++)
		assert_string_equal(r->counters.missing[i].name, s->counters.missing[i].name);
}

TEST(a_side_has_what_a_case_has)
{
	/* what takes other cases or a device, what only cold cases have, and counts under a simulator, is not here */
	static const char *const not_here[] = { "roof_frac", "parallel_efficiency", "rotated_bytes" };
	const struct assay_pair_side *head, *base;
	struct measured m;

	measure_both(*state, false, &m);
	base = &m.pair.side[ASSAY_BASE];
	head = &m.pair.side[ASSAY_HEAD];
	same_names(&m.of_run, head);
	same_names(&m.of_run, base);
	for (size_t i = 0; i < assay_n_metrics; i++) {
		const char *tag = assay_metrics[i].tag;
		bool here = !assay_exact_is_metric(tag) && strncmp(tag, "device_", 7) && strcmp(tag, not_here[0]) &&
			    strcmp(tag, not_here[1]) && strcmp(tag, not_here[2]);

		if (here != isfinite(side_value(head, tag)))
			fail_msg("%s", tag);
	}
	/* what does not depend on the time is the same */
	assert_true(side_value(head, "prepare_bytes") == KEPT_BYTES && side_value(base, "prepare_bytes") == 0);
	assert_true(assay_result_metric(&m.of_run, "prepare_bytes")->value == KEPT_BYTES);
	assert_true(side_value(head, "op_bytes") == assay_result_metric(&m.of_run, "op_bytes")->value);
	assert_true(side_value(head, "arith_intensity") == assay_result_metric(&m.of_run, "arith_intensity")->value);
	/* and rates follow from it */
	for (int i = 0; i < 2; i++) {
		const struct assay_pair_side *s = &m.pair.side[i];

		assert_true(side_value(s, "time_s") > 0 && side_value(s, "rss_peak_bytes") > 1e6);
		assert_true(fabs(side_value(s, "ops_per_s") * side_value(s, "time_s") - N) < 1e-6);
		assert_true(fabs(side_value(s, "bytes_per_s") * side_value(s, "time_s") - 8 * N) < 1e-6);
		assert_true(fabs(side_value(s, "items_per_s") * side_value(s, "time_s") - N) < 1e-6);
		assert_true(assay_counters_find(&s->counters, "disturbed_samples") != NULL);
	}
	release(&m);
}

/* Without samples there is no time, but what making the case took. */
TEST(verifying_measures_memory)
{
	struct measured m;

	measure_both(*state, true, &m);
	assert_true(assay_result_metric(&m.of_run, "prepare_bytes")->value == KEPT_BYTES);
	assert_non_null(assay_result_metric(&m.of_run, "rss_peak_bytes"));
	assert_non_null(assay_result_metric(&m.of_run, "machine_total_bytes"));
	assert_null(assay_result_metric(&m.of_run, "time_s"));
	assert_int_equal(m.of_run.counters.n, 0);
	release(&m);
}

/* ---- from the measurement to the verdict ---- */

static enum assay_verdict demand_verdict(const struct assay_gate_report *r, const char *metric)
{
	enum assay_verdict found = ASSAY_N_VERDICTS;

	for (size_t i = 0; i < r->n_cases; i++)
		if (!strcmp(r->cases[i].metric, metric)) {
			assert_int_equal(found, ASSAY_N_VERDICTS);
			found = r->cases[i].verdict;
		}
	return found;
}

static enum assay_verdict gated(const struct measured *m, const struct assay_policy *p, const char *metric)
{
	struct assay_result results[] = { m->of_run };
	const struct assay_run run = { .results = results, .n_results = 1 };
	const struct assay_manifest manifest = { .n_entries = 0 };
	const struct assay_gate_input in = {
		.run = &run, .manifest = &manifest, .policy = p, .allow_no_baseline = true
	};
	struct assay_gate_report r;
	struct assay_err err = { 0 };
	enum assay_verdict v;

	if (assay_gate_judge(&in, &r, &err))
		fail_msg("%s", err.text);
	v = demand_verdict(&r, metric);
	assay_gate_report_release(&r);
	return v;
}

static enum assay_verdict compared(const struct measured *m, const struct assay_policy *p, const char *metric)
{
	struct assay_pair pairs[] = { m->pair };
	struct assay_comparison_case c = { .c = m->c, .in_base = true, .in_head = true, .pairs = pairs, .n_pairs = 1 };
	const struct assay_comparison cmp = {
		.alpha = 0.01, .family = 1, .max_pairs = 64, .rule = ASSAY_JUDGE_RULE, .cases = &c, .n_cases = 1
	};
	struct assay_gate_report r;
	struct assay_err err = { 0 };
	enum assay_verdict v;

	if (assay_comparison_judge(&cmp, p, &(struct assay_comparison_judging){ 0 }, &r, &err))
		fail_msg("%s", err.text);
	v = demand_verdict(&r, metric);
	assay_gate_report_release(&r);
	return v;
}

TEST(memory_is_judged_alike)
{
	static const struct {
		const char *metric, *holds, *fails;
	} rows[] = {
		{ "prepare_bytes", "<= 12345", "<= 0" },   { "op_bytes", "<= 1e9", "<= 0" },
		{ "rss_peak_bytes", "<= 1e12", "<= 0" },   { "machine_used_bytes", ">= 1", "<= 0" },
		{ "machine_total_bytes", ">= 1", "<= 0" }, { "prepare_s", "<= 100", "<= -1" },
		{ "arith_intensity", ">= 0.1", ">= 1" },   { "items_per_s", ">= 1", ">= 1e18" },
	};
	struct measured m;

	measure_both(*state, false, &m);
	for (size_t i = 0; i < N_OF(rows); i++)
		for (int fails = 0; fails < 2; fails++) {
			enum assay_verdict want = fails ? ASSAY_REGRESSED : ASSAY_PASS, got[2];
			struct assay_policy p;
			char text[128];

			snprintf(text, sizeof(text), "limit \"lenient.*\" { require = {\"%s %s\"} }\n", rows[i].metric,
				 fails ? rows[i].fails : rows[i].holds);
			assert_int_equal(assay_policy_parse(&p, text, "p.conf", NULL), 0);
			got[0] = gated(&m, &p, rows[i].metric);
			got[1] = compared(&m, &p, rows[i].metric);
			if (got[0] != want || got[1] != want)
				fail_msg("%s: gate %s, comparison %s", text, assay_verdict_name(got[0]),
					 assay_verdict_name(got[1]));
			assay_policy_release(&p);
		}
	release(&m);
}

MEASURE_GROUP
