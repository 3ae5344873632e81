/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts of the gate but for time, its exit codes, and what it refuses to judge. */
#include "gate_world.h"

static void other_machine(struct world *w)
{
	w->base.machine.id[0] = 'b';
}
static void other_machine_allowed(struct world *w)
{
	other_machine(w);
	w->in.allow_no_baseline = true;
}
static void no_baseline(struct world *w)
{
	w->in.n_base = 0;
	w->in.no_base_reason = "no run of suite 'quick' on this machine yet";
}
static void no_baseline_allowed(struct world *w)
{
	no_baseline(w);
	w->in.allow_no_baseline = true;
}
static void empty_baseline(struct world *w)
{
	w->base.n_results = 0;
}
static void added_case(struct world *w)
{
	w->base.n_results = 2;
}
static void missing(struct world *w)
{
	w->run.n_results = 2;
}
static void missing_interrupted(struct world *w)
{
	missing(w);
	w->run.ended_ns = 0;
}
static void interrupted(struct world *w)
{
	w->run.ended_ns = 0;
}
static void skipped(struct world *w)
{
	fail_as(w, 0, ASSAY_STATUS_SKIPPED, "needs avx9");
}
static void may_skip(struct world *w)
{
	fail_as(w, 1, ASSAY_STATUS_SKIPPED, "needs avx9");
}
static void crashed(struct world *w)
{
	fail_as(w, 0, ASSAY_STATUS_CRASHED, "killed by signal 11 (SIGSEGV)");
}
static void timed_out(struct world *w)
{
	fail_as(w, 0, ASSAY_STATUS_TIMEOUT, "no end after 120 s");
}
static void failed(struct world *w)
{
	fail_as(w, 1, ASSAY_STATUS_FAILED, "over its memory limit");
}
static void wrong(struct world *w)
{
	fail_as(w, 0, ASSAY_STATUS_WRONG, "out[3]: got 3, want 4");
}
static void fast_and_wrong(struct world *w)
{
	faster(w);
	w->head_results[0].correct = false;
}
static void unchecked(struct world *w)
{
	w->head_results[0].checked = false;
}
static void optional_absent(struct world *w)
{
	add_entry(w, "m.a/openblas/n=1/t=1/warm", ASSAY_MANIFEST_OPTIONAL);
}
static void optional_vanished(struct world *w)
{
	add_entry(w, "m.a/avx2/n=2/t=1/warm", ASSAY_MANIFEST_OPTIONAL);
}
static void may_skip_absent(struct world *w)
{
	add_entry(w, "m.a/avx512/n=2/t=1/warm", ASSAY_MANIFEST_MAY_SKIP);
}
static void unlisted(struct world *w)
{
	w->manifest.n_entries = 2;
}
static void unlisted_crashed(struct world *w)
{
	unlisted(w);
	fail_as(w, 2, ASSAY_STATUS_CRASHED, "killed by signal 6 (SIGABRT)");
}
static void below_floor(struct world *w)
{
	add_limit(w, "m.b/*", "tokens_per_s", true, 50);
	assert_int_equal(assay_result_add_metric(&w->head_results[2], "tokens_per_s", "1/s", 1, 41.2), 0);
}
static void above_floor(struct world *w)
{
	add_limit(w, "m.b/*", "tokens_per_s", true, 50);
	assert_int_equal(assay_result_add_metric(&w->head_results[2], "tokens_per_s", "1/s", 1, 50), 0);
}
static void above_ceiling(struct world *w)
{
	add_limit(w, "*", "rss_peak_bytes", false, 1000);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(
			assay_result_add_metric(&w->head_results[i], "rss_peak_bytes", "B", -1, 999.0 + (double)i), 0);
}
static void absent_metric(struct world *w)
{
	add_limit(w, "m.*", "tokens_per_s", true, 50);
	assert_int_equal(assay_result_add_metric(&w->head_results[2], "tokens_per_s", "1/s", 1, 60), 0);
}
static void limit_of_other_suite(struct world *w)
{
	add_limit(w, "o.chat/*", "kv_cache_hit_rate", true, 0.5);
}
static void limit_on_crashed(struct world *w)
{
	crashed(w);
	add_limit(w, "m.a/ref*", "kv_cache_hit_rate", true, 0.5);
}

static const struct gate_row gates[] = {
	{ "other machine", other_machine, ASSAY_INCOMPARABLE, 5, 5, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCOMPARABLE, "run 11 of the baseline was measured on another machine: baaa (), this is aaaa ()" },
	{ "other machine is not no baseline", other_machine_allowed, ASSAY_INCOMPARABLE, 5, 5, CASE_A, "time_s",
	  ASSAY_EVIDENCE_STORED, ASSAY_INCOMPARABLE, NULL },
	{ "no baseline", no_baseline, ASSAY_INCOMPARABLE, 5, 5, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCOMPARABLE, "no run of suite 'quick' on this machine yet" },
	{ "no baseline, allowed", no_baseline_allowed, ASSAY_PASS, 0, 0, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCOMPARABLE, NULL },
	{ "baseline of other cases", empty_baseline, ASSAY_INCOMPARABLE, 5, 5, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCOMPARABLE, "the baseline has none of the cases of this run" },
	{ "added case", added_case, ASSAY_PASS, 0, 0, CASE_B, "status", ASSAY_EVIDENCE_NONE, ASSAY_PASS,
	  "measured and right, but not in the baseline" },
	{ "missing", missing, ASSAY_NOT_MEASURED, 4, 4, CASE_B, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
	  "in the manifest (baselines/quick.manifest:3) but not in the run"
	  "; if that is meant, 'assay list --manifest --suite s > FILE' writes what the suite has, and --manifest "
	  "FILE judges by it" },
	{ "missing, interrupted", missing_interrupted, ASSAY_NOT_MEASURED, 4, 4, CASE_B, "status", ASSAY_EVIDENCE_NONE,
	  ASSAY_NOT_MEASURED, "in the manifest (baselines/quick.manifest:3) but not in the run, which did not finish" },
	{ "all there, interrupted", interrupted, ASSAY_NOT_MEASURED, 4, 4, "run 12", "status", ASSAY_EVIDENCE_NONE,
	  ASSAY_NOT_MEASURED,
	  "it did not finish: outputs of variants were not compared with each other, and cases may lack rounds; "
	  "measure "
	  "a whole run" },
	{ "skipped", skipped, ASSAY_NOT_MEASURED, 4, 4, CASE_A, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
	  "skipped, but the manifest requires it: needs avx9" },
	{ "skipped, allowed", may_skip, ASSAY_PASS, 0, 0, "m.a/avx2/n=1/t=2/warm", "status", ASSAY_EVIDENCE_NONE,
	  ASSAY_PASS, "skipped: needs avx9" },
	{ "crashed", crashed, ASSAY_NOT_MEASURED, 4, 4, CASE_A, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
	  "crashed: killed by signal 11 (SIGSEGV)" },
	{ "timed out", timed_out, ASSAY_NOT_MEASURED, 4, 4, CASE_A, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
	  "timeout: no end after 120 s" },
	{ "failed, though it may be skipped", failed, ASSAY_NOT_MEASURED, 4, 4, "m.a/avx2/n=1/t=2/warm", "status",
	  ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED, "failed: over its memory limit" },
	{ "wrong", wrong, ASSAY_WRONG_RESULT, 3, 3, CASE_A, "status", ASSAY_EVIDENCE_NONE, ASSAY_WRONG_RESULT,
	  "out[3]: got 3, want 4" },
	{ "fast and wrong", fast_and_wrong, ASSAY_WRONG_RESULT, 3, 3, CASE_A, "status", ASSAY_EVIDENCE_NONE,
	  ASSAY_WRONG_RESULT, "wrong output" },
	{ "unchecked", unchecked, ASSAY_NOT_MEASURED, 4, 4, CASE_A, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
	  "its output was never compared with the right one" },
	{ "optional plugin absent", optional_absent, ASSAY_PASS, 0, 0, "m.a/openblas/n=1/t=1/warm", "status",
	  ASSAY_EVIDENCE_NONE, ASSAY_PASS, "not in this build, which the manifest allows" },
	{ "case of an optional plugin vanished", optional_vanished, ASSAY_NOT_MEASURED, 4, 4, "m.a/avx2/n=2/t=1/warm",
	  "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
	  "in the manifest (baselines/quick.manifest:4) but not in the run"
	  "; if that is meant, 'assay list --manifest --suite s > FILE' writes what the suite has, and --manifest "
	  "FILE judges by it" },
	{ "may be skipped, yet is absent", may_skip_absent, ASSAY_NOT_MEASURED, 4, 4, "m.a/avx512/n=2/t=1/warm",
	  "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED, NULL },
	{ "not in the manifest", unlisted, ASSAY_PASS, 0, 0, CASE_B, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_PASS,
	  "+0.0 % (-1.0 % to +1.0 %), allowed +10 %; not in the manifest" },
	{ "not in the manifest, crashed", unlisted_crashed, ASSAY_NOT_MEASURED, 4, 4, CASE_B, "status",
	  ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED, "crashed: killed by signal 6 (SIGABRT); not in the manifest" },
	{ "below a floor", below_floor, ASSAY_REGRESSED, 1, 1, CASE_B, "tokens_per_s", ASSAY_EVIDENCE_NONE,
	  ASSAY_REGRESSED, "tokens_per_s is 41.2 tok/s, below the floor of 50 tok/s" },
	{ "on a floor", above_floor, ASSAY_PASS, 0, 0, CASE_B, "tokens_per_s", ASSAY_EVIDENCE_NONE, ASSAY_PASS,
	  "tokens_per_s is 50 tok/s, floor 50 tok/s" },
	{ "above a ceiling", above_ceiling, ASSAY_REGRESSED, 1, 1, CASE_B, "rss_peak_bytes", ASSAY_EVIDENCE_NONE,
	  ASSAY_REGRESSED, "rss_peak_bytes is 1001 B, above the ceiling of 1000 B" },
	{ "metric absent", absent_metric, ASSAY_NOT_MEASURED, 4, 4, CASE_A, "tokens_per_s", ASSAY_EVIDENCE_NONE,
	  ASSAY_NOT_MEASURED, "tokens_per_s was not measured, floor 50" },
	{ "limit of another suite", limit_of_other_suite, ASSAY_PASS, 0, 0, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_PASS, NULL },
	{ "limit on what crashed", limit_on_crashed, ASSAY_NOT_MEASURED, 4, 4, CASE_A, "status", ASSAY_EVIDENCE_NONE,
	  ASSAY_NOT_MEASURED, NULL },
};

/* Demands on a case that may be skipped go with it, and are counted; without a line of the manifest it may not be. */
TEST(test_demands_on_skipped)
{
	static const struct {
		bool listed, demanded;
		int exit;
		size_t unjudged;
		const char *reason;
	} rows[] = {
		{ true, true, 0, 2, "skipped: needs avx9; what the policy demands of it was not judged" },
		{ true, false, 0, 0, "skipped: needs avx9" },
		{ false, true, 4, 0, "skipped, but the policy sets a limit for it: needs avx9; not in the manifest" },
		{ false, false, 0, 0, "skipped: needs avx9; not in the manifest" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_gate_report r = { 0 };
		struct world w;

		world_make(&w);
		may_skip(&w);
		for (int k = 0; k < 2 && rows[i].demanded; k++)
			add_limit(&w, "m.a/avx2*", "time_s", false, 1);
		if (!rows[i].listed)
			w.manifest.entries[1] = w.manifest.entries[--w.manifest.n_entries];
		assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
		assert_string_equal(find_row(&r, "m.a/avx2/n=1/t=2/warm", "status")->reason, rows[i].reason);
		assert_int_equal(r.exit, rows[i].exit);
		assert_int_equal(r.n_unjudged, rows[i].unjudged);
		assert_int_equal(find_row(&r, "m.a/avx2/n=1/t=2/warm", "status")->skipped, !rows[i].exit);
		assay_gate_report_release(&r);
	}
}

TEST(test_gates)
{
	for (size_t i = 0; i < N_OF(gates); i++) {
		struct world w;

		world_make(&w);
		gates[i].change(&w);
		check_gate(&w, &gates[i]);
	}
}

/* The gravest wins: each pair of findings, whatever their order in the run. */
TEST(test_order_of_gravity)
{
	static const struct {
		void (*a)(struct world *w);
		void (*b)(struct world *w);
		int want;
	} pairs[] = {
		{ other_digest, missing, 3 },
		{ missing, other_digest, 3 },
		{ wrong, below_floor, 3 },
		{ missing, slower, 4 },
		{ failed, slower, 4 },
		{ slower, no_baseline, 5 },
		{ no_baseline, missing, 4 },
		{ below_floor, no_baseline, 1 },
		{ at_the_margin, below_floor, 1 },
		{ at_the_margin, failed, 4 },
		{ below_floor, other_machine, 1 },
	};

	for (size_t i = 0; i < N_OF(pairs); i++) {
		struct assay_gate_report r = { 0 };
		struct world w;

		world_make(&w);
		pairs[i].a(&w);
		pairs[i].b(&w);
		w.in.strict = true;
		assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
		assert_int_equal(r.exit, pairs[i].want);
		assay_gate_report_release(&r);
		metrics_release(&w);
	}
}

TEST(test_report)
{
	const struct assay_gate_case *row;
	struct assay_gate_report r = { 0 };
	struct world w;

	world_make(&w);
	below_floor(&w);
	w.run.build.dirty = true;
	w.head_results[0].dropped_frac = 0.25;
	assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
	assert_string_equal(r.base, "baseline 'main' (1 run)");
	assert_string_equal(r.head, "run 12 (8c1f0aa8c1f0+)");
	assert_true(r.alpha == 0.01);
	assert_false(r.no_baseline);
	assert_int_equal(r.n_cases, 4);
	row = find_row(&r, CASE_A, "time_s");
	assert_true(fabs(row->ratio - 1.0) < 1e-12);
	assert_true(row->margin_frac == 0.1);
	assert_true(row->dropped_frac == 0.25);
	assert_true(row->ci_lo < 1.0 && row->ci_hi > 1.0);
	assert_true(row->smallest_detectable_frac > 0.1);
	assert_true(isnan(row->value) && isnan(row->limit));
	row = find_row(&r, CASE_B, "tokens_per_s");
	assert_true(row->value == 41.2 && row->limit == 50);
	assert_true(isnan(row->ratio) && isnan(row->ci_lo) && isnan(row->ci_hi) && isnan(row->margin_frac));
	assert_true(isnan(row->smallest_detectable_frac) && isnan(row->dropped_frac));
	assay_gate_report_release(&r);
	metrics_release(&w);

	world_make(&w);
	no_baseline(&w);
	assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
	assert_string_equal(r.base, "");
	assert_true(r.no_baseline);
	assay_gate_report_release(&r);
}

static void imported(struct world *w)
{
	w->manifest.n_entries = 0;
	snprintf(w->run.imported.format, sizeof(w->run.imported.format), "hyperfine");
	snprintf(w->base.imported.format, sizeof(w->base.imported.format), "hyperfine");
}

/* An imported run needs no manifest: what the baseline measured must be measured again. */
TEST(test_gone_from_an_imported_run)
{
	static const struct {
		const char *what;
		size_t n_head, n_base;
		bool skip_head, skip_base;
		int exit;
		const char *reason; /* of case B, whose row is "status"; NULL: it has none */
	} rows[] = {
		{ "the same cases", 3, 3, false, false, 0, NULL },
		{ "gone", 2, 3, false, false, 4,
		  "in run 11 of the baseline but not in the run; if that is meant, 'assay baseline save NAME --run "
		  "r12' "
		  "makes this run what later ones are held against" },
		{ "the baseline had no time of it either", 2, 3, false, true, 0, NULL },
		{ "it has no time any more", 3, 3, true, false, 4,
		  "skipped, but run 11 of the baseline measured it: only means" },
		{ "it never had a time", 3, 3, true, true, 0, "skipped: only means" },
		{ "added", 3, 2, false, false, 0, "measured, but not in the baseline" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_gate_report r = { 0 };
		const struct assay_gate_case *row;
		struct world w;

		world_make(&w);
		imported(&w);
		for (size_t k = 0; k < 3; k++)
			w.head_results[k].checked = w.base_results[k].checked = false;
		w.run.n_results = rows[i].n_head;
		w.base.n_results = rows[i].n_base;
		if (rows[i].skip_head)
			fail_as(&w, 2, ASSAY_STATUS_SKIPPED, "only means");
		if (rows[i].skip_base)
			w.base_results[2].status = ASSAY_STATUS_SKIPPED;
		assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
		if ((int)r.exit != rows[i].exit)
			print_error("%s\n", rows[i].what);
		assert_int_equal(r.exit, rows[i].exit);
		row = find_row(&r, CASE_B, "status");
		if (rows[i].reason) {
			assert_non_null(row);
			assert_string_equal(row->reason, rows[i].reason);
		} else {
			assert_null(row);
		}
		/* a manifest says itself what must be there */
		assay_gate_report_release(&r);
		add_entry(&w, CASE_A, ASSAY_MANIFEST_REQUIRED);
		assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
		assert_int_equal(r.exit, 0);
		assay_gate_report_release(&r);
		metrics_release(&w);
	}
}

/* One core: the manifest's t=all is met by t=1, but only there. */
TEST(test_one_core)
{
	static const struct {
		unsigned all_threads;
		int want;
	} rows[] = { { 1, 0 }, { 2, 4 }, { 0, 4 } };

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_gate_report r = { 0 };
		struct world w;

		world_make(&w);
		w.head_results[1].c = make_case("m.a", "avx2", 1, 1, false);
		w.base_results[1].c = w.head_results[1].c;
		w.in.all_threads = rows[i].all_threads;
		assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
		assert_int_equal(r.exit, rows[i].want);
		assay_gate_report_release(&r);
	}
}

/* There two lines may name a case, and the stricter one counts, wherever it stands. */
TEST(test_one_core_two_lines)
{
	static const enum assay_manifest_demand demands[][2] = {
		{ ASSAY_MANIFEST_MAY_SKIP, ASSAY_MANIFEST_REQUIRED },
		{ ASSAY_MANIFEST_REQUIRED, ASSAY_MANIFEST_MAY_SKIP },
	};

	for (size_t i = 0; i < N_OF(demands); i++) {
		struct assay_gate_report r = { 0 };
		struct world w;

		world_make(&w);
		fail_as(&w, 0, ASSAY_STATUS_SKIPPED, "needs avx9");
		w.in.all_threads = 1;
		w.manifest.n_entries = 0;
		w.run.n_results = 1;
		add_entry(&w, "m.a/ref/n=1/t=all/warm", demands[i][0]);
		add_entry(&w, CASE_A, demands[i][1]);
		assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
		assert_int_equal(r.exit, 4);
		assay_gate_report_release(&r);
	}
}

TEST(test_empty_run)
{
	struct assay_gate_report r = { 0 };
	struct world w;

	world_make(&w);
	w.run.n_results = 0;
	w.manifest.n_entries = 0;
	w.in.allow_no_baseline = true;
	assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
	assert_int_equal(r.exit, 4);
	assert_int_equal(r.verdict, ASSAY_NOT_MEASURED);
	assay_gate_report_release(&r);
}

static void bad_limit_glob(struct world *w)
{
	add_limit(w, "m.aa/*", "time_s", false, 1);
}
static void far_limit_glob(struct world *w)
{
	add_limit(w, "generate.chat/*", "time_s", false, 1);
}
static void bad_margin_glob(struct world *w)
{
	snprintf(w->margins[0].cases, sizeof(w->margins[0].cases), "*/cuda/*");
	w->margins[0].stored_frac = 0.5;
	w->margins[0].line = 3;
	w->policy.n_margins = 1;
}
static void bad_exact_glob(struct world *w)
{
	static struct assay_allowance a = { .cases = "m.aa/*", .line = 4 };

	w->policy.allowances = &a;
	w->policy.n_allowances = 1;
}
static void bad_metric(struct world *w)
{
	add_limit(w, "m.b/*", "token_per_s", true, 50);
	assert_int_equal(assay_result_add_metric(&w->head_results[2], "tokens_per_s", "1/s", 1, 60), 0);
}
static void wrong_unit(struct world *w)
{
	struct assay_limit *l;

	add_limit(w, "m.b/*", "tokens_per_s", true, 50);
	l = &w->limits[w->policy.n_limits - 1];
	snprintf(l->written, sizeof(l->written), "GB/s");
	snprintf(l->unit, sizeof(l->unit), "B/s");
	assert_int_equal(assay_result_add_metric(&w->head_results[2], "tokens_per_s", "1/s", 1, 60), 0);
}
static void metric_of_another_case(struct world *w)
{
	add_limit(w, "m.a/*", "tokens_per_s", true, 50);
	assert_int_equal(assay_result_add_metric(&w->head_results[2], "tokens_per_s", "1/s", 1, 60), 0);
}

TEST(test_policy_names)
{
	static const struct {
		void (*change)(struct world *w);
		const char *want;
	} rows[] = {
		{ bad_limit_glob, "policy.conf:5: 'm.aa/*' selects no case of any suite, did you mean 'm.a'?" },
		{ far_limit_glob, "policy.conf:5: 'generate.chat/*' selects no case of any suite" },
		{ bad_margin_glob, "policy.conf:3: '*/cuda/*' selects no case of any suite" },
		{ bad_exact_glob, "policy.conf:4: 'm.aa/*' selects no case of any suite, did you mean 'm.a'?" },
		{ bad_metric, "policy.conf:5: no case that 'm.b/*' selects has a metric 'token_per_s', did you mean "
			      "'tokens_per_s'?" },
		{ wrong_unit, "policy.conf:5: tokens_per_s cannot be in 'GB/s', it takes tok/s or k tok/s" },
		{ metric_of_another_case,
		  "policy.conf:5: no case that 'm.a/*' selects has a metric 'tokens_per_s', there are none" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_gate_report r = { 0 };
		struct assay_err err = { 0 };
		struct world w;

		world_make(&w);
		rows[i].change(&w);
		assert_int_equal(assay_gate_judge(&w.in, &r, &err), ASSAY_EUSAGE);
		assert_string_equal(err.text, rows[i].want);
		assert_null(r.cases);
		metrics_release(&w);
	}
}

UNIT_GROUP(NULL, NULL)
