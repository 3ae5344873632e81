/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts: rates and models, the committed file, the verdicts and their tolerances. */
#include "exact_fixture.h"

#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "judge/exact_baseline.h"
#include "judge/exact_judge.h"

static void numbers_are_grouped(void **state)
{
	static const struct {
		uint64_t n;
		const char *text;
	} cases[] = { { 0, "0" }, { 999, "999" }, { 1000, "1 000" }, { 40985, "40 985" }, { 1234567, "1 234 567" } };
	char buf[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assay_exact_count_text(cases[i].n, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].text);
	}
}

static void changes_are_told(void **state)
{
	static const struct {
		uint64_t base, head;
		const char *want;
	} cases[] = {
		{ 40985, 42256, "+3.1 %" },
		{ 42256, 40985, "-3.0 %" },
		{ 40985, 40986, "+0.002 %" },
		{ 100000, 99999, "-0.001 %" },
		{ 0, 5, "new" },
		{ 5, 0, "gone" },
		{ 7, 7, "=" },
		{ 0, 0, "=" },
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assay_exact_change_text(cases[i].base, cases[i].head, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].want);
	}
}

static void cases_are_kept_by_a_glob(void **state)
{
	struct assay_exact_run run = exact_run();

	(void)state;
	assert_int_equal(assay_exact_run_keep(&run, "op.*"), 2);
	assert_int_equal(assay_exact_run_keep(&run, "op.b/*"), 1);
	assert_string_equal(run.cases[0].key, KEY_B);
	assert_string_equal(run.cases[0].functions[0].name, "memcpy");
	assert_int_equal(assay_exact_run_keep(&run, "other"), 0);
	assay_exact_run_release(&run);
}

static void rates_follow_from_counts(void **state)
{
	const struct assay_exact_counts c = { .v = { 1000, 60, 40, 1, 25, 5, 200, 10 } }, none = { .v = { 1000 } };

	(void)state;
	assert_true(fabs(assay_exact_metric(&c, "exact_d1_hit_rate") - 0.75) < 1e-12);
	assert_true(fabs(assay_exact_metric(&c, "exact_ll_hit_rate") - 0.95) < 1e-12);
	assert_true(fabs(assay_exact_metric(&c, "exact_branch_hit_rate") - 0.95) < 1e-12);
	assert_true(assay_exact_metric(&c, "exact_mispredictions") == 10);
	assert_true(isnan(assay_exact_metric(&c, "mispredictions")));
	assert_true(isnan(assay_exact_metric(&c, "exact_nothing")));
	assert_true(isnan(assay_exact_metric(&none, "exact_d1_hit_rate")));
	assert_true(isnan(assay_exact_metric(&none, "exact_branch_hit_rate")));
}

/* Every event and rate is a metric that policies can name, and the other way round. */
static void metrics_are_declared(void **state)
{
	const struct assay_exact_counts c = { .v = { 8, 7, 6, 5, 4, 3, 2, 1 } };
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < assay_n_metrics; i++)
		n += !isnan(assay_exact_metric(&c, assay_metrics[i].tag));
	assert_int_equal(n, ASSAY_N_EXACT_EVENTS + 3);
}

static void caches_are_rounded(void **state)
{
	static const struct {
		uint64_t bytes;
		unsigned ways;
		uint64_t want;
	} cases[] = {
		{ 48 << 10, 12, 48 << 10 }, /* 64 sets */
		{ 32 << 10, 8, 32 << 10 },  { 20 << 20, 16, 16 << 20 },
		{ 30 << 20, 16, 32 << 20 }, { 100, 12, 768 }, /* smaller than one set */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct assay_cache_level l = assay_cache_level_round(cases[i].bytes, cases[i].ways, 64);
		uint64_t sets = l.bytes / l.ways / 64;

		assert_int_equal(sets & (sets - 1), 0);
		assert_int_equal(l.bytes, cases[i].want);
	}
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static char path[] = "/tmp/assay-exact-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void write_text(const char *text)
{
	assert_int_equal(assay_file_write(path, text, strlen(text), NULL), 0);
}

static char *format(const struct assay_exact_baseline *b)
{
	struct assay_text out = { 0 };

	assert_int_equal(assay_exact_baseline_format(b, &out, NULL), 0);
	return assay_text_take(&out);
}

static void what_is_written_is_read(void **state)
{
	size_t kept;
	struct assay_exact_baseline b = { 0 }, again = { 0 };
	struct assay_exact_run run = exact_run(), other = exact_run();
	const struct assay_exact_run *base;
	struct assay_err err = { 0 };
	char *first, *second, why[512];

	(void)state;
	strcpy(other.build.compiler, "clang version 14");
	add_exact_case(&run, "op.c/avx512/n=1/t=1/warm", ASSAY_STATUS_SKIPPED, "needs avx512f");
	assert_int_equal(assay_exact_baseline_put(&b, &run, false, &kept, &err), 0);
	assert_int_equal(assay_exact_baseline_put(&b, &other, false, &kept, &err), 0);
	assert_int_equal(assay_exact_baseline_put(&b, &run, false, &kept, &err), 0); /* takes the place of itself */
	assert_int_equal(b.n_builds, 2);
	first = format(&b);
	write_text(first);
	assert_int_equal(assay_exact_baseline_load(&again, path, &err), 0);
	second = format(&again);
	assert_string_equal(first, second);
	/* one line a function */
	assert_non_null(
		strstr(first, "\n          \"matmul_ternary_avx2\": [40985, 10246, 5123, 0, 500, 250, 4098, 3],\n"));
	assert_non_null(strstr(first, "\n          \"memcpy (libc.so.6)\": [800, 200, 100, 0, 10, 5, 80, 3]\n"));
	assert_null(strstr(first, "op.c"));

	base = assay_exact_baseline_match(&again, &run, why, sizeof(why));
	assert_non_null(base);
	assert_int_equal(base->n_cases, 2);
	strcpy(run.build.compiler, "cc (Debian 12.2.0-14) 12.2.0"); /* the same by another name */
	assert_non_null(assay_exact_baseline_match(&again, &run, why, sizeof(why)));
	strcpy(run.build.compiler, "gcc (Debian 13.0) 13.0");
	assert_null(assay_exact_baseline_match(&again, &run, why, sizeof(why)));
	assert_non_null(strstr(why, "no exact counts of gcc (Debian 13.0) 13.0 with '-O2 -g' on x86_64 are recorded"));
	run = (assay_exact_run_release(&run), exact_run());
	run.seed = 7;
	assert_null(assay_exact_baseline_match(&again, &run, why, sizeof(why)));
	assert_non_null(strstr(why, "seed 42, this has 7"));
	run.seed = 42;
	strcpy(run.setting.cache, "host: I1");
	assert_null(assay_exact_baseline_match(&again, &run, why, sizeof(why)));
	assert_non_null(strstr(why, "other caches: canon"));
	free(first);
	free(second);
	assay_exact_baseline_release(&b);
	assay_exact_baseline_release(&again);
	assay_exact_run_release(&run);
	assay_exact_run_release(&other);
}

/* A run of a part of the suite leaves the records of the rest alone. */
static void other_records_are_kept(void **state)
{
	struct assay_exact_baseline b = { 0 };
	struct assay_exact_run run = exact_run(), part = exact_run();
	size_t kept = 99;

	(void)state;
	assert_int_equal(assay_exact_baseline_put(&b, &run, false, &kept, NULL), 0);
	assert_int_equal(kept, 0);
	assay_exact_case_release(&part.cases[1]);
	part.n_cases = 1;
	part.cases[0].functions[0].counts.v[0] += 5;
	part.cases[0].total.v[0] += 5;
	assert_int_equal(assay_exact_baseline_put(&b, &part, false, &kept, NULL), 0);
	assert_int_equal(kept, 1);
	assert_int_equal(b.builds[0].n_cases, 2);
	assert_true(b.builds[0].cases[0].total.v[0] == part.cases[0].total.v[0]);
	assert_string_equal(b.builds[0].cases[1].key, run.cases[1].key);
	assert_true(b.builds[0].cases[1].total.v[0] == run.cases[1].total.v[0]);
	/* but not with counts that were taken otherwise, nor against the user's word */
	assert_int_equal(assay_exact_baseline_put(&b, &part, true, &kept, NULL), 0);
	assert_int_equal(kept, 0);
	assert_int_equal(b.builds[0].n_cases, 1);
	assert_int_equal(assay_exact_baseline_put(&b, &run, false, &kept, NULL), 0);
	strcpy(part.setting.cache, "host: I1");
	assert_int_equal(assay_exact_baseline_put(&b, &part, false, &kept, NULL), 0);
	assert_int_equal(kept, 0);
	assert_int_equal(b.builds[0].n_cases, 1);
	assay_exact_baseline_release(&b);
	assay_exact_run_release(&run);
	assay_exact_run_release(&part);
}

static void a_bad_file_is_refused(void **state)
{
	static const struct {
		const char *find, *put, *says;
	} cases[] = {
		{ "\"schema\": 1", "\"schema\": 2", "expected \"schema\": 1" },
		{ "\"data_reads\", ", "", "its events are not those" },
		{ "[800, 200", "[801, 200", "the (total) is not the sum of the functions of '" KEY_B "'" },
		{ "[800, 200, ", "[800, ", "expected as many counts as events for" },
		{ "[800, 200", "[-800, 200", "expected as many counts as events for" },
		{ "\"arch\": \"x86_64\"", "\"arc\": \"\"", "a build lacks arch" },
		{ "],\n", "\n", ":" }, /* the reader of JSON says where */
	};
	struct assay_exact_baseline b = { 0 };
	struct assay_exact_run run = exact_run();
	size_t kept;
	char *good;

	(void)state;
	assert_int_equal(assay_exact_baseline_put(&b, &run, false, &kept, NULL), 0);
	good = format(&b);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct assay_exact_baseline bad = { 0 };
		struct assay_err err = { 0 };
		char *at = strstr(good, cases[i].find), *text;

		assert_non_null(at);
		assert_true(asprintf(&text, "%.*s%s%s", (int)(at - good), good, cases[i].put,
				     at + strlen(cases[i].find)) > 0);
		write_text(text);
		assert_int_equal(assay_exact_baseline_load(&bad, path, &err), ASSAY_EUSAGE);
		if (!strstr(err.text, cases[i].says) || !strstr(err.text, path))
			fail_msg("case %zu says: %s", i, err.text);
		assert_null(bad.builds);
		free(text);
	}
	assert_int_equal(assay_exact_baseline_load(&b, "/nowhere/at/all.json", NULL), ASSAY_ENOTFOUND);
	free(good);
	assay_exact_baseline_release(&b);
	assay_exact_run_release(&run);
}

/* ---- verdicts --------------------------------------------------------------------------------------------------- */

static struct assay_policy policy_of(const char *text)
{
	struct assay_policy p;
	struct assay_err err = { 0 };

	if (assay_policy_parse(&p, text, "p.conf", &err))
		fail_msg("%s", err.text);
	return p;
}

/* Judge counts in which the first function of KEY_A has these instructions and misses against the fixture. */
static struct assay_gate_report judge(uint64_t instructions, uint64_t misses, const char *policy_text, bool base,
				      const char *record)
{
	struct assay_policy policy = policy_of(policy_text);
	struct assay_exact_run recorded = exact_run(), head = exact_run();
	struct assay_gate_report r = { 0 };
	const struct assay_exact_judge_input in = { .head = &head,
						    .base = base ? &recorded : NULL,
						    .no_base_reason = "nothing recorded",
						    .base_name = "quick.json",
						    .policy = &policy,
						    .limits = true,
						    .record = record };

	assay_exact_case_release(&head.cases[0]);
	add_function(&head.cases[0], "matmul_ternary_avx2", "", 40985, 500);
	head.cases[0].functions[0].counts.v[ASSAY_EXACT_INSTRUCTIONS] = instructions;
	head.cases[0].total.v[ASSAY_EXACT_INSTRUCTIONS] += instructions - 40985;
	head.cases[0].functions[0].counts.v[ASSAY_EXACT_D1_MISSES] = misses;
	head.cases[0].total.v[ASSAY_EXACT_D1_MISSES] += misses - 500;
	add_function(&head.cases[0], "sum", "", 1000, 20);
	assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
	assay_exact_run_release(&recorded);
	assay_exact_run_release(&head);
	assay_policy_release(&policy);
	return r;
}

static void counts_are_judged(void **state)
{
	static const struct {
		const char *name, *policy;
		uint64_t instructions, misses;
		enum assay_verdict verdict;
		enum assay_exit exit;
		const char *metric, *reason; /* of the first row */
	} cases[] = {
		{ "equal", "", 40985, 500, ASSAY_PASS, ASSAY_EXIT_OK, "exact", "counts are those of quick.json" },
		{ "more", "", 42256, 500, ASSAY_REGRESSED, ASSAY_EXIT_REGRESSED, "exact_instructions",
		  "matmul_ternary_avx2: instructions +3.1 % (40 985 → 42 256)" },
		{ "one more", "", 40986, 500, ASSAY_REGRESSED, ASSAY_EXIT_REGRESSED, "exact_instructions",
		  "matmul_ternary_avx2: instructions +0.002 % (40 985 → 40 986)" },
		{ "fewer", "", 30000, 500, ASSAY_PASS, ASSAY_EXIT_OK, "exact_instructions",
		  "matmul_ternary_avx2: instructions -26.8 % (40 985 → 30 000)" },
		{ "a share is allowed", "exact \"*\" { allow = {\"instructions 5%\"} }", 42256, 500, ASSAY_PASS,
		  ASSAY_EXIT_OK, "exact", "within the tolerance" },
		{ "of other cases", "exact \"op.b/*\" { allow = {\"instructions 5%\"} }", 42256, 500, ASSAY_REGRESSED,
		  ASSAY_EXIT_REGRESSED, "exact_instructions", "+3.1 %" },
		{ "of another count", "exact \"*\" { allow = {\"branches 5%\"} }", 42256, 500, ASSAY_REGRESSED,
		  ASSAY_EXIT_REGRESSED, "exact_instructions", "+3.1 %" },
		{ "the last match wins", "exact \"*\" { allow = {\"instructions 5%\", \"instructions 1%\"} }", 42256,
		  500, ASSAY_REGRESSED, ASSAY_EXIT_REGRESSED, "exact_instructions", "+3.1 %" },
		{ "a number is allowed", "exact \"*\" { allow = {\"d1_misses 8\"} }", 40985, 508, ASSAY_PASS,
		  ASSAY_EXIT_OK, "exact", "" },
		{ "and no more", "exact \"*\" { allow = {\"d1_misses 8\"} }", 40985, 509, ASSAY_REGRESSED,
		  ASSAY_EXIT_REGRESSED, "exact_d1_misses", "matmul_ternary_avx2: d1_misses +1.8 % (500 → 509)" },
		{ "both add up", "exact \"*\" { allow = {\"d1_misses 1%\", \"d1_misses 4\"} }", 40985, 509, ASSAY_PASS,
		  ASSAY_EXIT_OK, "exact", "" },
		{ "a floor", "limit \"op.a*\" { require = {\"exact_d1_hit_rate >= 99.9%\"} }", 40985, 500,
		  ASSAY_REGRESSED, ASSAY_EXIT_REGRESSED, "exact", "those of" },
		{ "a ceiling that is kept", "limit \"op.a*\" { require = {\"exact_instructions <= 50000\"} }", 40985,
		  500, ASSAY_PASS, ASSAY_EXIT_OK, "exact", "those of" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct assay_gate_report r = judge(cases[i].instructions, cases[i].misses, cases[i].policy, true, NULL);

		if (r.verdict != cases[i].verdict || r.exit != cases[i].exit ||
		    strcmp(r.cases[0].metric, cases[i].metric) || !strstr(r.cases[0].reason, cases[i].reason) ||
		    r.cases[0].evidence != ASSAY_EVIDENCE_EXACT)
			fail_msg("%s: %s, exit %d, %s: %s", cases[i].name, assay_verdict_name(r.verdict), r.exit,
				 r.cases[0].metric, r.cases[0].reason);
		if (strcmp(cases[i].metric, "exact"))
			assert_int_equal(r.cases[0].verdict,
					 cases[i].instructions < 40985 ? ASSAY_IMPROVED : ASSAY_REGRESSED);
		assay_gate_report_release(&r);
	}
}

/* Fewer than recorded is nothing to be proud of yet: the record describes other code, and says how it is replaced. */
static void a_record_that_is_out_of_date_fails(void **state)
{
	static const struct {
		const char *policy;
		uint64_t instructions;
		enum assay_verdict verdict;
		enum assay_exit exit;
	} cases[] = {
		{ "", 40984, ASSAY_INCOMPARABLE, ASSAY_EXIT_INCOMPARABLE },
		{ "exact \"*\" { allow = {\"instructions 1\"} }", 40984, ASSAY_PASS, ASSAY_EXIT_OK },
		{ "exact \"*\" { allow = {\"instructions 1\"} }", 40983, ASSAY_INCOMPARABLE, ASSAY_EXIT_INCOMPARABLE },
		{ "", 40986, ASSAY_REGRESSED, ASSAY_EXIT_REGRESSED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct assay_gate_report r =
			judge(cases[i].instructions, 500, cases[i].policy, true, "assay baseline update --exact");

		assert_int_equal(r.verdict, cases[i].verdict);
		assert_int_equal(r.exit, cases[i].exit);
		if (r.verdict == ASSAY_INCOMPARABLE) {
			assert_non_null(strstr(r.cases[0].reason,
					       "fewer than in quick.json, which is out of date: 'assay baseline update "
					       "--exact' records these; matmul_ternary_avx2: instructions -0.0"));
			assert_true(r.cases[0].limit <= 41985 && r.cases[0].limit > r.cases[0].value);
		}
		assay_gate_report_release(&r);
	}
}

static void without_a_record_nothing_is_comparable(void **state)
{
	struct assay_gate_report r = judge(40985, 500, "", false, "assay baseline update --exact");

	(void)state;
	assert_int_equal(r.verdict, ASSAY_INCOMPARABLE);
	assert_int_equal(r.exit, ASSAY_EXIT_INCOMPARABLE);
	assert_int_equal(r.n_cases, 2);
	assert_string_equal(r.cases[0].reason, "nothing recorded");
	assay_gate_report_release(&r);
}

/* A case that cannot be counted any more, one that vanished, a new one, and one that was never counted. */
static void cases_come_and_go(void **state)
{
	static const struct {
		const char *key, *reason;
		enum assay_verdict verdict;
	} want[] = {
		{ KEY_A, "crashed: killed by signal 9", ASSAY_NOT_MEASURED },
		{ "op.new/ref/t=1/warm", "counted, not in quick.json", ASSAY_PASS },
		{ "op.d/avx512/t=1/warm", "skipped: needs avx512f", ASSAY_PASS },
		{ "op.e/ref/t=1/warm", "wrong output", ASSAY_WRONG_RESULT },
		{ KEY_B, "in quick.json, but not counted", ASSAY_NOT_MEASURED },
	};
	struct assay_policy policy = assay_policy_default();
	struct assay_exact_run base = exact_run(), head = { 0 };
	struct assay_gate_report r = { 0 };
	const struct assay_exact_judge_input in = {
		.head = &head, .base = &base, .base_name = "quick.json", .policy = &policy
	};

	(void)state;
	add_exact_case(&head, KEY_A, ASSAY_STATUS_CRASHED, "killed by signal 9");
	add_function(add_exact_case(&head, "op.new/ref/t=1/warm", ASSAY_STATUS_OK, ""), "f", "", 10, 0);
	add_exact_case(&head, "op.d/avx512/t=1/warm", ASSAY_STATUS_SKIPPED, "needs avx512f");
	add_exact_case(&head, "op.e/ref/t=1/warm", ASSAY_STATUS_WRONG, "wrong output");
	assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
	assert_int_equal(r.n_cases, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < r.n_cases; i++) {
		assert_string_equal(r.cases[i].key, want[i].key);
		assert_int_equal(r.cases[i].verdict, want[i].verdict);
		if (!strstr(r.cases[i].reason, want[i].reason))
			fail_msg("%s: %s", r.cases[i].key, r.cases[i].reason);
	}
	assert_int_equal(r.exit, ASSAY_EXIT_WRONG_RESULT);
	assay_gate_report_release(&r);
	assay_exact_run_release(&base);
	assay_exact_run_release(&head);
}

/* A demand on what cannot be counted is not met, unless it holds only where something is counted. */
static void demands_on_what_was_skipped(void **state)
{
	static const struct {
		const char *policy, *record;
		size_t rows;
		enum assay_exit exit;
	} cases[] = {
		{ "limit \"op.d*\" { require = {\"exact_d1_hit_rate >= 90%\"} }", "update", 2,
		  ASSAY_EXIT_NOT_MEASURED },
		{ "limit \"op.d*\" { where_counted = {\"exact_d1_hit_rate >= 90%\"} }", "update", 1, ASSAY_EXIT_OK },
		{ "limit \"op.d*\" { require = {\"exact_d1_hit_rate >= 90%\"} }", NULL, 2, ASSAY_EXIT_NOT_MEASURED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct assay_policy policy = policy_of(cases[i].policy);
		struct assay_exact_run base = { 0 }, head = { 0 };
		struct assay_gate_report r = { 0 };
		const struct assay_exact_judge_input in = { .head = &head,
							    .base = &base,
							    .base_name = "quick.json",
							    .policy = &policy,
							    .limits = true,
							    .record = cases[i].record };

		add_exact_case(&head, "op.d/avx512/t=1/warm", ASSAY_STATUS_SKIPPED, "needs avx512f");
		assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
		assert_int_equal(r.n_cases, cases[i].rows);
		assert_int_equal(r.exit, cases[i].exit);
		if (r.n_cases > 1)
			assert_string_equal(r.cases[1].reason,
					    "exact_d1_hit_rate was not measured (needs avx512f), floor 90.0 %");
		assay_gate_report_release(&r);
		assay_exact_run_release(&head);
		assay_policy_release(&policy);
	}
}

/* What only another build can be: not countable itself, or of another output. */
static void two_builds_are_compared(void **state)
{
	static const struct {
		const char *name, *base_digest, *head_digest;
		enum assay_status base, head;
		bool nothing_counted;
		enum assay_verdict verdict;
		const char *reason;
	} cases[] = {
		{ "equal", "ab", "ab", ASSAY_STATUS_OK, ASSAY_STATUS_OK, false, ASSAY_PASS,
		  "counts are those of main" },
		{ "outputs differ", "ab", "cd", ASSAY_STATUS_OK, ASSAY_STATUS_OK, false, ASSAY_WRONG_RESULT,
		  "digests ab and cd" },
		{ "no digest", "", "cd", ASSAY_STATUS_OK, ASSAY_STATUS_OK, false, ASSAY_PASS,
		  "counts are those of main" },
		{ "base crashed", "", "", ASSAY_STATUS_CRASHED, ASSAY_STATUS_OK, false, ASSAY_INCOMPARABLE,
		  "base crashed: why" },
		{ "base wrong", "", "", ASSAY_STATUS_WRONG, ASSAY_STATUS_OK, false, ASSAY_INCOMPARABLE,
		  "base wrong: why" },
		{ "head wrong", "", "", ASSAY_STATUS_CRASHED, ASSAY_STATUS_WRONG, false, ASSAY_WRONG_RESULT, "why" },
		{ "head skipped", "", "", ASSAY_STATUS_OK, ASSAY_STATUS_SKIPPED, false, ASSAY_NOT_MEASURED,
		  "skipped: why" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct assay_policy policy = assay_policy_default();
		struct assay_exact_run base = exact_run(), head = exact_run();
		struct assay_gate_report r = { 0 };
		const struct assay_exact_judge_input in = {
			.head = &head, .base = &base, .base_name = "main", .policy = &policy
		};

		base.cases[0].status = cases[i].base;
		head.cases[0].status = cases[i].head;
		strcpy(base.cases[0].reason, "why");
		strcpy(head.cases[0].reason, "why");
		strcpy(base.cases[0].digest, cases[i].base_digest);
		strcpy(head.cases[0].digest, cases[i].head_digest);
		assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
		if (r.cases[0].verdict != cases[i].verdict || !strstr(r.cases[0].reason, cases[i].reason))
			fail_msg("%s: %s, %s", cases[i].name, assay_verdict_name(r.cases[0].verdict),
				 r.cases[0].reason);
		assay_gate_report_release(&r);
		assay_exact_run_release(&base);
		assay_exact_run_release(&head);
	}
}

/* Cases that are skipped may be, unless that is all there is. */
static void counting_nothing_is_no_pass(void **state)
{
	struct assay_policy policy = assay_policy_default();
	struct assay_exact_run base = { 0 }, head = { 0 };

	(void)state;
	add_exact_case(&head, KEY_A, ASSAY_STATUS_SKIPPED, "no valgrind");
	for (int nothing = 0; nothing < 2; nothing++) {
		const struct assay_exact_judge_input in = {
			.head = &head, .base = &base, .base_name = "main", .policy = &policy, .nothing_counted = nothing
		};
		struct assay_gate_report r = { 0 };

		assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
		assert_int_equal(r.verdict, nothing ? ASSAY_NOT_MEASURED : ASSAY_PASS);
		assert_string_equal(r.cases[0].reason, "skipped: no valgrind");
		assay_gate_report_release(&r);
	}
	assay_exact_run_release(&head);
}

/* The head has 3.1 % more instructions, which an allowance of 5 % lets pass: what fails is the demand. */
static void limits_against_the_base_hold(void **state)
{
	static const struct {
		const char *demand, *reason;
		enum assay_verdict verdict;
	} cases[] = {
		{ "exact_instructions <= base + 4%", "(base 41985 + 4 %)", ASSAY_PASS },
		{ "exact_instructions <= base + 2%", "(base 41985 + 2 %)", ASSAY_REGRESSED },
		{ "exact_instructions == base", "must be 41985 as in the base", ASSAY_REGRESSED },
		{ "exact_data_writes == base +- 4%", "as in the base (within 4 %)", ASSAY_PASS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct assay_gate_case *c;
		struct assay_gate_report r;
		char policy[256];

		snprintf(policy, sizeof(policy),
			 "exact \"*\" { allow = {\"instructions 5%%\", \"data_reads 5%%\", \"data_writes 5%%\", "
			 "\"branches 5%%\"} }\n"
			 "limit \"op.a*\" { require = {\"%s\"} }",
			 cases[i].demand);
		r = judge(42256, 500, policy, true, NULL);
		c = &r.cases[1];
		if (c->verdict != cases[i].verdict || !strstr(c->reason, cases[i].reason) ||
		    c->evidence != ASSAY_EVIDENCE_EXACT)
			fail_msg("%s: %s, %s", cases[i].demand, assay_verdict_name(c->verdict), c->reason);
		assert_int_equal(r.verdict, cases[i].verdict);
		assay_gate_report_release(&r);
	}
}

/* Exact rows never make better what others found. */
static void a_graver_verdict_stays(void **state)
{
	struct assay_policy policy = assay_policy_default();
	struct assay_exact_run base = exact_run(), head = exact_run();
	const struct assay_exact_judge_input in = {
		.head = &head, .base = &base, .base_name = "quick.json", .policy = &policy
	};
	struct assay_gate_report r = { .verdict = ASSAY_REGRESSED,
				       .exit = ASSAY_EXIT_REGRESSED,
				       .cases = calloc(1, sizeof(*r.cases)),
				       .n_cases = 1 };

	(void)state;
	assert_int_equal(assay_exact_judge(&in, &r, NULL), 0);
	assert_int_equal(r.verdict, ASSAY_REGRESSED);
	assert_int_equal(r.exit, ASSAY_EXIT_REGRESSED);
	assert_int_equal(r.n_cases, 3);
	assay_gate_report_release(&r);
	assay_exact_run_release(&base);
	assay_exact_run_release(&head);
}

static void bad_tolerances_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "exact \"*\" { }", "p.conf:1: exact \"*\" allows nothing" },
		{ "exact \"*\" {\n allow = {\"d1_mises 1%\"} }",
		  "p.conf:2: unknown count 'd1_mises', did you mean 'd1_misses'?" },
		{ "exact \"*\" { allow = {\"d1_misses\"} }",
		  "cannot read 'd1_misses', expected a count and what it may differ by" },
		{ "exact \"*\" { allow = {\"d1_misses 0.5\"} }", "cannot read 'd1_misses 0.5'" },
		{ "exact \"*\" { allow = {\"d1_misses 200%\"} }", "cannot read 'd1_misses 200%'" },
		{ "exact \"*\" { allow = {\"d1_misses -1\"} }", "cannot read 'd1_misses -1'" },
		{ "exact \"\" { allow = {\"d1_misses 1\"} }", "bad glob ''" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct assay_policy p;
		struct assay_err err = { 0 };

		assert_int_equal(assay_policy_parse(&p, cases[i].text, "p.conf", &err), ASSAY_EUSAGE);
		if (!strstr(err.text, cases[i].says))
			fail_msg("case %zu says: %s", i, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_grouped),
		cmocka_unit_test(changes_are_told),
		cmocka_unit_test(cases_are_kept_by_a_glob),
		cmocka_unit_test(rates_follow_from_counts),
		cmocka_unit_test(metrics_are_declared),
		cmocka_unit_test(caches_are_rounded),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(other_records_are_kept),
		cmocka_unit_test(a_bad_file_is_refused),
		cmocka_unit_test(counts_are_judged),
		cmocka_unit_test(a_record_that_is_out_of_date_fails),
		cmocka_unit_test(without_a_record_nothing_is_comparable),
		cmocka_unit_test(cases_come_and_go),
		cmocka_unit_test(two_builds_are_compared),
		cmocka_unit_test(demands_on_what_was_skipped),
		cmocka_unit_test(counting_nothing_is_no_pass),
		cmocka_unit_test(limits_against_the_base_hold),
		cmocka_unit_test(a_graver_verdict_stays),
		cmocka_unit_test(bad_tolerances_are_refused),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
