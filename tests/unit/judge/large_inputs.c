/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs of the largest size that is taken, and those beyond it. They take a moment where work grows with their size,
 * and minutes where it grows with its square.
 */
#include "judge_fixture.h"
#include "plan_fixture.h"

#include "counters/groups.h"
#include "judge/gate.h"
#include "judge/policy.h"

#define N_LINES 200000
/* libconfuse moves lists for every value, which takes sanitizers long. */
#define N_VALUES 20000

static struct assay_text text;

static int forget(void **state)
{
	assay_text_release(&text);
	return 0;
}

static void write_text(struct text_file *t)
{
	assert_false(text.failed);
	text_file_write(t, text.s);
}

TEST_WITH(test_manifest, NULL, forget)
{
	struct assay_manifest m = { 0 };
	struct assay_err err = { 0 };
	struct text_file t;
	char want[256];
	size_t len;

	for (unsigned i = 0; i < 99999; i++)
		assay_text_addf(&text, "required a.b/ref/n=%u/t=1/warm\n", i);
	len = text.len;
	assay_text_add(&text, "optional a.b/ref/n=77/t=1/warm\n");
	write_text(&t);
	assert_int_equal(assay_manifest_load(&m, t.path, &err), ASSAY_EUSAGE);
	unlink(t.path);
	snprintf(want, sizeof(want), "%s:100000: 'a.b/ref/n=77/t=1/warm' is already in line 78", t.path);
	assert_string_equal(err.text, want);

	text.len = len;
	assay_text_add(&text, "optional a.b/ref/n=99999/t=1/warm\n");
	write_text(&t);
	assert_int_equal(assay_manifest_load(&m, t.path, &err), 0);
	unlink(t.path);
	assert_int_equal(m.n_entries, 100000);
	assert_string_equal(m.entries[99999].key, "a.b/ref/n=99999/t=1/warm");
	assay_manifest_release(&m);

	for (unsigned i = 100000; i < N_LINES; i++)
		assay_text_addf(&text, "required a.b/ref/n=%u/t=1/warm\n", i);
	write_text(&t);
	assert_int_equal(assay_manifest_load(&m, t.path, &err), ASSAY_EUSAGE);
	unlink(t.path);
	snprintf(want, sizeof(want), "%s:100001: more than 100000 cases in one manifest", t.path);
	assert_string_equal(err.text, want);
}

/* A few lines can stand for more cases than anybody measures, also on another architecture. */
TEST_WITH(test_manifest_of_lists, NULL, forget)
{
	struct assay_manifest m = { 0 };
	struct assay_err err = { 0 };
	struct text_file t;

	for (unsigned i = 0; i < 11; i++) {
		assay_text_addf(&text, "required a.b/ref/i=%u,n={", i);
		for (unsigned k = 0; k < 100; k++)
			assay_text_addf(&text, "%s%u", k ? "," : "", k);
		assay_text_add(&text, "},m={");
		for (unsigned k = 0; k < 100; k++)
			assay_text_addf(&text, "%s%u", k ? "," : "", k);
		assay_text_addf(&text, "}/t=1/warm%s\n", i % 2 ? "" : " on other");
	}
	write_text(&t);
	assert_int_equal(assay_manifest_load(&m, t.path, &err), ASSAY_EUSAGE);
	unlink(t.path);
	assert_non_null(strstr(err.text, ":11: more than 100000 cases in one manifest"));
}

TEST_WITH(test_policies, NULL, forget)
{
	static const struct {
		const char *head, *each, *tail, *kind;
	} rows[] = {
		{ "", "margin \"a*%u\" { stored = 5%% }\n", "", "margin" },
		{ "", "limit \"a*%u\" { require = \"time_s <= 1\" }\n", "", "limit" },
		{ "limit \"*\" { require = {\"time_s <= 1\"", ",\n\"time_s <= %u\"", "} }\n", "limit" },
		{ "exact \"*\" { allow = {\"d1_misses 1\"", ",\n\"d1_misses %u\"", "} }\n", "exact" },
	};
	char want[128];

	for (size_t i = 0; i < N_OF(rows); i++) {
		unsigned more = rows[i].head[0] ? 1 : 0;

		for (unsigned at = 0; at < 3; at++) {
			const unsigned n = (unsigned[]){ 5000, 5001, N_VALUES }[at] - more;
			struct assay_policy p = { .n_limits = 0 };
			struct assay_err err = { 0 };
			int rc;

			assay_text_add(&text, rows[i].head);
			for (unsigned k = 0; k < n; k++) {
				char each[128];

				snprintf(each, sizeof(each), rows[i].each, k);
				assay_text_add(&text, each);
			}
			assay_text_add(&text, rows[i].tail);
			assert_false(text.failed);
			rc = assay_policy_parse(&p, text.s, "p.conf", &err);
			snprintf(want, sizeof(want), ": more than 5000 rules of kind '%s' in one policy", rows[i].kind);
			assert_int_equal(rc, n + more > 5000 ? ASSAY_EUSAGE : 0);
			if (rc)
				assert_non_null(strstr(err.text, want));
			else
				assert_int_equal(p.n_margins + p.n_limits + p.n_allowances, 5000);
			assay_policy_release(&p);
			assay_text_release(&text);
		}
	}
}

static int load_group(const char *name, struct assay_err *err)
{
	struct assay_counter_groups g = { 0 };
	struct bench_dir d;
	int rc;

	bench_dir_make(&d);
	bench_dir_write(&d, name, text.s);
	rc = assay_counter_groups_load(&g, d.path, "", err);
	bench_dir_remove(&d, &name, 1);
	assay_counter_groups_release(&g);
	assay_text_release(&text);
	return rc;
}

TEST_WITH(test_groups, NULL, forget)
{
	static const unsigned counts[] = { 1000, 1001, N_VALUES };

	for (size_t i = 0; i < N_OF(counts); i++) {
		struct assay_err err = { 0 };

		assay_text_add(&text, "group \"g\" { events = {\"e\"");
		for (unsigned k = 1; k < counts[i]; k++)
			assay_text_addf(&text, ", \"e%u\"", k);
		assay_text_add(&text, "} }\n");
		assert_int_equal(load_group("g.group", &err), counts[i] > 1000 ? ASSAY_EUSAGE : 0);
		if (counts[i] > 1000)
			assert_non_null(strstr(err.text, "group 'g' has more than 1000 events"));

		assay_text_add(&text, "group \"g\" { events = {\"e\"}\n");
		for (unsigned k = 0; k < counts[i]; k++)
			assay_text_addf(&text, "metric \"m%u\" { formula = \"e\" }\n", k);
		assay_text_add(&text, "}\n");
		assert_int_equal(load_group("g.group", &err), counts[i] > 1000 ? ASSAY_EUSAGE : 0);
		if (counts[i] > 1000)
			assert_non_null(strstr(err.text, ":1002: group 'g' has more than 1000 metrics"));
	}
}

TEST_WITH(test_formulas, NULL, forget)
{
	struct assay_formula f;
	struct assay_err err = { 0 };

	assay_text_add(&text, "1");
	while (text.len < 3999)
		assay_text_add(&text, "+a");
	assert_int_equal(assay_formula_parse(&f, text.s, &err), 0);
	assay_formula_release(&f);
	assay_text_add(&text, "+a");
	assert_int_equal(assay_formula_parse(&f, text.s, &err), ASSAY_EUSAGE);
	assert_non_null(strstr(err.text, "has more than 4000 characters"));
	assert_null(f.text);
}

/* A list of the numbers from 1 to @n. */
static void add_numbers(unsigned n)
{
	for (unsigned i = 1; i <= n; i++)
		assay_text_addf(&text, "%s%u", i > 1 ? "," : "", i);
}

static int plan_sweep(unsigned m, unsigned n, const char *threads, struct assay_plan *p, struct assay_err *err,
		      char *said, size_t size)
{
	struct assay_plan_options o = options(NULL, NULL);
	int rc;

	assay_text_add(&text, "bench \"a\" { op = \"toy.matmul\" variants = {\"fast\"} sweep = {\"m=");
	add_numbers(m);
	assay_text_add(&text, "\", \"n=");
	add_numbers(n);
	assay_text_addf(&text, "\"} threads = {%s} }\n", threads);
	rc = plan_text(text.s, "suite \"s\" { use \"*\" { } }\n", &o, p, err, said, size);
	assay_text_release(&text);
	return rc;
}

/* Planned, written as a manifest that can be read, and judged. */
TEST_WITH(test_sweep, NULL, forget)
{
	struct assay_gate_report report = { .n_cases = 0 };
	struct assay_policy policy = assay_policy_default();
	struct assay_run run = { .id = 1, .ended_ns = 1, .all_threads = 2 };
	struct assay_manifest m = { 0 };
	struct assay_plan p = { 0 };
	struct assay_err err = { 0 };
	struct text_file t;
	char said[600];

	assert_int_equal(plan_sweep(200, 200, "\"1\"", &p, &err, said, sizeof(said)), 0);
	assert_int_equal(p.n_cases, 40000);
	assert_int_equal(assay_manifest_format("s", p.cases, p.n_cases, &toy_catalog, &text, &err), 0);
	write_text(&t);
	if (assay_manifest_load(&m, t.path, &err))
		fail_msg("%s", err.text);
	unlink(t.path);
	assert_int_equal(m.n_entries, 40000);

	assert_int_equal(assay_gate_judge(&(struct assay_gate_input){ .run = &run,
								      .manifest = &m,
								      .policy = &policy,
								      .allow_no_baseline = true,
								      .all_threads = 2 },
					  &report, &err),
			 0);
	assert_int_equal(report.n_cases, 40000);
	assert_int_equal(report.exit, ASSAY_EXIT_NOT_MEASURED);
	assay_gate_report_release(&report);
	assay_manifest_release(&m);
	assay_plan_release(&p);
}

TEST_WITH(test_plans_that_are_too_large, NULL, forget)
{
	struct assay_plan p = { 0 };
	struct assay_err err = { 0 };
	char said[600];
	struct assay_text threads = { 0 };

	assert_int_equal(plan_sweep(400, 251, "\"1\"", &p, &err, said, sizeof(said)), ASSAY_EUSAGE);
	assert_non_null(strstr(err.text, "makes 100400 shapes, at most 100000 are allowed"));
	assay_text_add(&threads, "\"1\"");
	for (unsigned i = 0; i < 100; i++)
		assay_text_add(&threads, ", \"1\"");
	assert_int_equal(plan_sweep(100, 100, threads.s, &p, &err, said, sizeof(said)), ASSAY_EUSAGE);
	assert_string_equal(said,
			    "x.bench:1: bench 'a' combines its shapes, threads and variants in more than 1000000 ways");
	assay_text_release(&threads);
}

UNIT_GROUP(NULL, NULL)
