/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running out of memory while judging is an error, never a shorter report: each allocation of the harness fails once,
 * one after the other. Linked with --wrap for malloc, calloc and realloc; those of libraries are not touched.
 */
#include "gate_world.h"

#include "exact_fixture.h"
#include "judge/comparison_judge.h"
#include "judge/exact_baseline.h"
#include "judge/exact_judge.h"
#include "judge/stopping.h"
#include "paired_fixture.h"

/* ---- allocations that fail ---- */

static long left = -1; /* until one fails; negative: none does */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

/* Let each allocation of @judge fail in turn, until it needs no more of them; how many there were. */
static long try_all(int (*judge)(void *arg, struct assay_err *err), void *arg)
{
	for (long n = 0;; n++) {
		struct assay_err err = { 0 };
		int rc;

		left = n;
		rc = judge(arg, &err);
		if (left >= 0) { /* it was not reached */
			left = -1;
			if (rc)
				fail_msg("%s", err.text);
			return n;
		}
		if (rc != ASSAY_ENOMEM || !strstr(err.text, "out of memory"))
			fail_msg("allocation %ld failed: %d, '%s'", n, rc, err.text);
	}
}

/* ---- a policy that asks for everything ---- */

static const char policy_text[] = "margin \"*\" { stored = \"10%\" paired = \"0.5%\" }\n"
				  "exact \"*\" { allow = {\"branches 64\"} }\n"
				  "limit \"*\" {\n"
				  "	require = {\"op_bytes <= base + 2%\", \"prepare_bytes <= 0\", "
				  "\"exact_instructions <= base\", \"time_s >= 0\"}\n"
				  "	where_counted = {\"syscalls <= 0\"}\n"
				  "}\n";

static int read_policy(void *arg, struct assay_err *err)
{
	struct assay_policy p;
	int rc = assay_policy_parse(&p, policy_text, "p.conf", err);

	if (!rc)
		assay_policy_release(&p);
	return rc;
}

TEST(policies)
{
	assert_true(try_all(read_policy, NULL) >= 4);
}

static int read_manifest(void *arg, struct assay_err *err)
{
	struct assay_manifest m;
	int rc = assay_manifest_load(&m, arg, err);

	if (!rc)
		assay_manifest_release(&m);
	return rc;
}

TEST(manifests)
{
	struct text_file f;

	text_file_write(&f, "required m.a/ref/n=1/t=1/warm\nmay-skip m.a/avx2/n=1/t=all/warm\n");
	assert_true(try_all(read_manifest, f.path) >= 2);
	unlink(f.path);
}

/* ---- runs ---- */

static int judge_run(void *arg, struct assay_err *err)
{
	struct world *w = arg;
	struct assay_gate_report r = { 0 };
	int rc = assay_gate_judge(&w->in, &r, err);

	if (rc)
		assert_null(r.cases);
	/* 3 times and as many rows as cases for each of the four demands */
	else
		assert_int_equal(r.n_cases, 3 + 3 * 4);
	assay_gate_report_release(&r);
	return rc;
}

TEST(runs)
{
	struct assay_policy p;
	struct world w;

	world_make(&w);
	assert_int_equal(assay_policy_parse(&p, policy_text, "p.conf", NULL), 0);
	w.in.policy = &p;
	w.in.countable = &(struct assay_countable){ .names = { .n = 1, .v = (char *[]){ (char[]){ "syscalls" } } },
						    .units = { .n = 1, .v = (char *[]){ (char[]){ "1" } } },
						    .groups = { .n = 1, .v = (char *[]){ (char[]){ "calls" } } } };
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(assay_result_add_metric(&w.head_results[i], "op_bytes", "B", 0, 5), 0);
		assert_int_equal(assay_result_add_metric(&w.base_results[i], "op_bytes", "B", 0, 5), 0);
	}
	assert_true(try_all(judge_run, &w) >= 8);
	metrics_release(&w);
	assay_policy_release(&p);
}

/* ---- comparisons ---- */

#define PAIRS 8

struct comparing {
	struct assay_comparison cmp;
	struct assay_policy policy;
};

static void comparison_make(struct comparing *k)
{
	*k = (struct comparing){ .cmp = { .base = "v1",
					  .alpha = 0.01,
					  .family = 1,
					  .max_pairs = PAIRS,
					  .budget_ns = 1000000000,
					  .n_cases = 2 } };
	assert_int_equal(assay_policy_parse(&k->policy, policy_text, "p.conf", NULL), 0);
	k->cmp.cases = calloc(2, sizeof(*k->cmp.cases));
	assert_non_null(k->cmp.cases);
	for (int i = 0; i < 2; i++) {
		paired_make(&k->cmp.cases[i], KEY_A, PAIRS, 2);
		k->cmp.cases[i].control = i ? ASSAY_CONTROL_AA : ASSAY_CONTROL_NONE;
	}
	k->cmp.exact[ASSAY_HEAD] = exact_run();
	k->cmp.exact[ASSAY_BASE] = exact_run();
	k->cmp.exact[ASSAY_HEAD].cases[0].total.v[ASSAY_EXACT_INSTRUCTIONS]++;
	k->cmp.exact[ASSAY_HEAD].cases[0].functions[0].counts.v[ASSAY_EXACT_INSTRUCTIONS]++;
}

static void comparison_release(struct comparing *k)
{
	for (int i = 0; i < 2; i++)
		paired_release(&k->cmp.cases[i]);
	free(k->cmp.cases);
	for (int i = 0; i < 2; i++)
		assay_exact_run_release(&k->cmp.exact[i]);
	assay_policy_release(&k->policy);
}

static int judge_comparison(void *arg, struct assay_err *err)
{
	static const struct assay_comparison_judging how;
	const struct comparing *k = arg;
	struct assay_gate_report r = { 0 };
	int rc = assay_comparison_judge(&k->cmp, &k->policy, &how, &r, err);

	if (rc) {
		assert_null(r.cases);
		assert_null(r.controls);
	} else {
		/* a time and two counts, and four demands on what was timed and on what was only counted */
		assert_int_equal(r.n_cases, 3 + 2 * 4);
		assert_int_equal(r.n_controls, 1);
	}
	assay_gate_report_release(&r);
	return rc;
}

static int ask_to_stop(void *arg, struct assay_err *err)
{
	const struct comparing *k = arg;
	bool stop;

	return assay_stopping_ask(&k->cmp, &k->cmp.cases[0], &k->policy, 1, &stop, err);
}

TEST(comparisons)
{
	struct comparing k;

	comparison_make(&k);
	assert_true(try_all(judge_comparison, &k) >= 10);
	assert_true(try_all(ask_to_stop, &k) >= 1);
	comparison_release(&k);
}

/* ---- counts ---- */

static int judge_counts(void *arg, struct assay_err *err)
{
	const struct comparing *k = arg;
	const struct assay_exact_judge_input in = { .head = &k->cmp.exact[ASSAY_HEAD],
						    .base = &k->cmp.exact[ASSAY_BASE],
						    .base_name = "a record",
						    .record = "record it",
						    .policy = &k->policy,
						    .limits = true };
	struct assay_gate_report r = { 0 };
	int rc = assay_exact_judge(&in, &r, err);

	if (!rc)
		assert_int_equal(r.n_cases, 2 + 2 * 4);
	assay_gate_report_release(&r);
	return rc;
}

static int record_counts(void *arg, struct assay_err *err)
{
	const struct comparing *k = arg;
	struct assay_exact_baseline b = { 0 };
	struct assay_text text = { 0 };
	size_t kept;
	int rc = assay_exact_baseline_put(&b, &k->cmp.exact[ASSAY_HEAD], false, &kept, err);

	if (!rc)
		rc = assay_exact_baseline_format(&b, &text, err);
	assay_text_release(&text);
	assay_exact_baseline_release(&b);
	return rc;
}

static int read_counts(void *arg, struct assay_err *err)
{
	struct assay_exact_baseline b;
	int rc = assay_exact_baseline_load(&b, arg, err);

	if (!rc)
		assay_exact_baseline_release(&b);
	return rc;
}

TEST(counts)
{
	struct assay_exact_baseline b = { 0 };
	struct assay_text text = { 0 };
	struct text_file f;
	struct comparing k;
	size_t kept;

	comparison_make(&k);
	assert_true(try_all(judge_counts, &k) >= 4);
	assert_true(try_all(record_counts, &k) >= 4);
	assert_int_equal(assay_exact_baseline_put(&b, &k.cmp.exact[ASSAY_HEAD], false, &kept, NULL), 0);
	assert_int_equal(assay_exact_baseline_format(&b, &text, NULL), 0);
	text_file_write(&f, text.s);
	assert_true(try_all(read_counts, f.path) >= 4);
	unlink(f.path);
	assay_text_release(&text);
	assay_exact_baseline_release(&b);
	comparison_release(&k);
}

UNIT_GROUP(NULL, NULL)
