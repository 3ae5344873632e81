/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No demand of the policy vanishes: every metric of the harness, in a run, in a comparison and where only counts are
 * judged; and which cases owe which.
 */
#include "gate_world.h"

#include "exact_fixture.h"
#include "judge/comparison_judge.h"
#include "judge/exact_judge.h"
#include "model/exact.h"
#include "paired_fixture.h"

#define PAIRS 8
#define VALUE 0.75 /* in the range of all metrics */

/* ---- the three ways to judge, each of one case with one value of each metric ---- */

struct subject {
	struct world w;
	struct assay_comparison cmp;
	bool paired, counted; /* what a comparison has of it */
};

static double value_of(const struct subject *s, const char *metric)
{
	return assay_exact_is_metric(metric) ? assay_exact_case_metric(&s->cmp.exact[ASSAY_HEAD].cases[0], metric)
					     : VALUE;
}

static void put_metric(struct assay_metric *to, const char *tag, double value)
{
	const struct assay_metric_info *m = assay_metric_find(tag);

	*to = (struct assay_metric){ .better = m->better, .value = value };
	snprintf(to->tag, sizeof(to->tag), "%s", tag);
	snprintf(to->unit, sizeof(to->unit), "%s", m->unit);
	if (assay_exact_is_metric(tag))
		snprintf(to->source, sizeof(to->source), "%s", ASSAY_SOURCE_EXACT);
}

/* All metrics but @without. */
static void fill_run(struct subject *s, const char *without)
{
	world_make(&s->w);
	s->w.run.n_results = s->w.base.n_results = s->w.manifest.n_entries = 1;
	for (size_t i = 0; i < assay_n_metrics; i++) {
		const char *tag = assay_metrics[i].tag;
		struct assay_metric m;

		put_metric(&m, tag, value_of(s, tag));
		if (without && !strcmp(tag, without))
			continue;
		assert_int_equal(assay_result_put_metric(&s->w.head_results[0], &m), 0);
		assert_int_equal(assay_result_put_metric(&s->w.base_results[0], &m), 0);
	}
}

static void fill_side(struct assay_result *side, const char *without)
{
	side->metrics = calloc(assay_n_metrics, sizeof(*side->metrics));
	assert_non_null(side->metrics);
	for (size_t i = 0; i < assay_n_metrics; i++)
		if (!assay_exact_is_metric(assay_metrics[i].tag) && (!without || strcmp(assay_metrics[i].tag, without)))
			put_metric(&side->metrics[side->n_metrics++], assay_metrics[i].tag, VALUE);
}

/* An imbalance takes two. */
static void add_threads(struct assay_exact_case *c)
{
	const struct assay_exact_counts threads[2] = { { { 30000 } }, { { 10000 } } };
	struct assay_text text = { 0 };

	for (int i = 0; i < 2; i++)
		assay_exact_detail_add_thread(&text, &threads[i]);
	assert_false(text.failed);
	c->detail = assay_text_take(&text);
}

static void fill(struct subject *s, const char *without, bool paired, bool counted)
{
	*s = (struct subject){ .paired = paired, .counted = counted };
	s->cmp = (struct assay_comparison){
		.base = "v1", .alpha = 0.01, .family = 1, .max_pairs = PAIRS, .rule = ASSAY_JUDGE_RULE
	};
	for (int side = 0; side < 2 && counted; side++) {
		struct assay_exact_case *c = add_exact_case(&s->cmp.exact[side], CASE_A, ASSAY_STATUS_OK, "");

		add_function(c, "work", "", 40000, 500);
		add_threads(c);
	}
	s->cmp.cases = calloc(1, sizeof(*s->cmp.cases));
	assert_non_null(s->cmp.cases);
	if (paired) {
		s->cmp.n_cases = 1;
		paired_make(s->cmp.cases, "", PAIRS, 2);
		s->cmp.cases->c = make_case("m.a", "ref", 1, 1, false);
		for (size_t i = 0; i < PAIRS; i++)
			for (int side = 0; side < 2; side++)
				fill_side(&s->cmp.cases->pairs[i].side[side], without);
	}
}

static void release(struct subject *s)
{
	if (s->paired)
		paired_release(s->cmp.cases);
	for (int side = 0; side < 2; side++)
		assay_exact_run_release(&s->cmp.exact[side]);
	free(s->cmp.cases);
	metrics_release(&s->w);
}

enum command { GATE, COMPARE, GATE_COUNTS, N_COMMANDS };

static struct assay_gate_report judge(struct subject *s, enum command command, const struct assay_policy *p)
{
	static const struct assay_comparison_judging how;
	struct assay_gate_report r = { 0 };
	struct assay_err err = { 0 };
	int rc;

	s->w.in.policy = p;
	if (command == GATE)
		rc = assay_gate_judge(&s->w.in, &r, &err);
	else if (command == COMPARE)
		rc = assay_comparison_judge(&s->cmp, p, &how, &r, &err);
	else
		rc = assay_exact_judge(&(struct assay_exact_judge_input){ .head = &s->cmp.exact[ASSAY_HEAD],
									  .base = &s->cmp.exact[ASSAY_BASE],
									  .base_name = "a record",
									  .record = "record it",
									  .policy = p,
									  .limits = true },
				       &r, &err);
	if (rc)
		fail_msg("%s", err.text);
	return r;
}

/* The row of the only demand of @policy; NULL: there is none. *exit is that of the whole. */
static const struct assay_gate_case *demand_row(struct subject *s, enum command command, const char *policy,
						enum assay_exit *exit)
{
	static struct assay_gate_case row;
	const struct assay_gate_case *found;
	struct assay_gate_report r;
	struct assay_policy p;
	struct assay_err err = { 0 };

	if (assay_policy_parse(&p, policy, "p.conf", &err))
		fail_msg("%s", err.text);
	assert_int_equal(p.n_limits, 1);
	r = judge(s, command, &p);
	*exit = r.exit;
	/* the time has a row of its own; demands are behind it */
	found = NULL;
	for (size_t i = 0; i < r.n_cases; i++)
		if (!strcmp(r.cases[i].metric, p.limits[0].metric) && r.cases[i].evidence != ASSAY_EVIDENCE_PAIRED &&
		    r.cases[i].evidence != ASSAY_EVIDENCE_STORED) {
			assert_null(found);
			found = &r.cases[i];
		}
	if (found)
		row = *found;
	assay_gate_report_release(&r);
	assay_policy_release(&p);
	return found ? &row : NULL;
}

static void check_demand(struct subject *s, enum command command, const char *metric, const char *how,
			 const char *demand, enum assay_verdict want, enum assay_exit want_exit)
{
	const struct assay_gate_case *row;
	enum assay_exit exit;
	char policy[256];

	snprintf(policy, sizeof(policy), "limit \"*\" { %s = {\"%s %s\"} }\n", how, metric, demand);
	row = demand_row(s, command, policy, &exit);
	if (!row && want == ASSAY_N_VERDICTS && exit == want_exit)
		return;
	if (!row || row->verdict != want || exit != want_exit)
		fail_msg("command %d, %s: %s, exit %d: %s", command, policy,
			 row ? assay_verdict_name(row->verdict) : "no row", exit, row ? row->reason : "");
	assert_true(row->reason[0]);
	if (want == ASSAY_NOT_MEASURED && !strstr(row->reason, "was not measured ("))
		fail_msg("no reason in '%s'", row->reason);
}

TEST(every_metric_can_hold_and_fail)
{
	for (int command = 0; command < N_COMMANDS; command++)
		for (size_t i = 0; i < assay_n_metrics; i++) {
			const char *metric = assay_metrics[i].tag;
			const bool known = command != GATE_COUNTS || assay_exact_is_metric(metric);
			const enum assay_verdict holds = known ? ASSAY_PASS : ASSAY_NOT_MEASURED,
						 fails = known ? ASSAY_REGRESSED : ASSAY_NOT_MEASURED;
			const enum assay_exit ok = known ? 0 : 4, bad = known ? 1 : 4;
			struct subject s;
			char text[64];
			double v;

			fill(&s, NULL, true, true);
			fill_run(&s, NULL);
			v = value_of(&s, metric);
			/* what the caches give is 0 for some: there is no less */
			snprintf(text, sizeof(text), ">= %.17g", v);
			check_demand(&s, command, metric, "require", text, holds, ok);
			snprintf(text, sizeof(text), ">= %.17g", 2 * v + 1);
			check_demand(&s, command, metric, "require", text, fails, bad);
			snprintf(text, sizeof(text), "<= %.17g", v);
			check_demand(&s, command, metric, "require", text, holds, ok);
			snprintf(text, sizeof(text), "<= %.17g", v / 2 - 1);
			check_demand(&s, command, metric, "require", text, fails, bad);
			snprintf(text, sizeof(text), "== %.17g", v);
			check_demand(&s, command, metric, "require", text, holds, ok);
			check_demand(&s, command, metric, "require", "<= base + 1%", holds, ok);
			check_demand(&s, command, metric, "require", v > 0 ? ">= base + 1%" : ">= 1", fails, bad);
			check_demand(&s, command, metric, "where_counted", "<= -1",
				     known ? ASSAY_REGRESSED : ASSAY_N_VERDICTS, known ? 1 : 0);
			release(&s);
		}
}

TEST(every_metric_can_be_missing)
{
	for (int command = 0; command < N_COMMANDS - 1; command++)
		for (size_t i = 0; i < assay_n_metrics; i++) {
			const char *metric = assay_metrics[i].tag;
			const bool exact = assay_exact_is_metric(metric);
			struct subject s;
			enum assay_exit exit;
			const struct assay_gate_case *row;
			char policy[128];

			fill(&s, metric, true, !exact);
			if (exact) { /* the run had them counted */
				struct assay_exact_case *c =
					add_exact_case(&s.cmp.exact[ASSAY_HEAD], CASE_A, ASSAY_STATUS_OK, "");

				fill_run(&s, metric);
				assay_exact_case_release(c);
				s.cmp.exact[ASSAY_HEAD].n_cases = 0;
			} else {
				fill_run(&s, metric);
			}
			snprintf(policy, sizeof(policy), "limit \"*\" { require = {\"%s >= 0\"} }\n", metric);
			row = demand_row(&s, command, policy, &exit);
			if (!row || row->verdict != ASSAY_NOT_MEASURED || exit != ASSAY_EXIT_NOT_MEASURED)
				fail_msg("command %d, %s: %s, exit %d", command, metric,
					 row ? assay_verdict_name(row->verdict) : "no row", exit);
			/* asking for less */
			check_demand(&s, command, metric, "where_counted", ">= 0", ASSAY_N_VERDICTS, ASSAY_EXIT_OK);
			release(&s);
		}
}

/* Only counts, only times: what the other evidence would have said is NOT_MEASURED, and says how it is had. */
TEST(evidence_that_was_not_taken)
{
	static const struct {
		bool paired, counted;
		const char *metric;
		enum assay_verdict want;
		const char *reason;
	} rows[] = {
		{ true, false, "exact_instructions", ASSAY_NOT_MEASURED,
		  "exact_instructions was not measured (exact counts were not taken: 'assay compare BASE --evidence "
		  "all' takes them, too), "
		  "ceiling -1" },
		{ false, true, "prepare_bytes", ASSAY_NOT_MEASURED,
		  "prepare_bytes was not measured (only exact counts were taken: --evidence all takes times and "
		  "metrics, "
		  "too), ceiling -1 B" },
		{ false, true, "kv_misses", ASSAY_NOT_MEASURED,
		  "kv_misses was not measured (only exact counts were taken: --evidence all takes times and metrics, "
		  "too), ceiling -1" },
		{ false, true, "exact_instructions", ASSAY_REGRESSED, NULL },
		{ true, true, "exact_instructions", ASSAY_REGRESSED, NULL },
		{ true, true, "prepare_bytes", ASSAY_REGRESSED, NULL },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_gate_case *row;
		enum assay_exit exit;
		struct subject s;
		char policy[128];

		fill(&s, NULL, rows[i].paired, rows[i].counted);
		snprintf(policy, sizeof(policy), "limit \"*\" { require = {\"%s <= -1\"} }\n", rows[i].metric);
		row = demand_row(&s, COMPARE, policy, &exit);
		assert_non_null(row);
		assert_int_equal(row->verdict, rows[i].want);
		assert_int_equal(exit, rows[i].want == ASSAY_REGRESSED ? 1 : 4);
		if (rows[i].reason)
			assert_string_equal(row->reason, rows[i].reason);
		release(&s);
	}
}

/* ---- which cases of a comparison owe ---- */

static void lose(struct subject *s)
{
	s->cmp.cases->in_head = false;
}
static void unload_base(struct subject *s)
{
	paired_release(s->cmp.cases);
	s->cmp.cases->in_base = false;
	snprintf(s->cmp.cases->reason, sizeof(s->cmp.cases->reason), "ABI 2");
}
static void fail_last(struct subject *s, int side, enum assay_status status)
{
	for (int k = 0; k < 2; k++) {
		struct assay_result *last = &s->cmp.cases->pairs[PAIRS - 1].side[k];

		free(last->metrics);
		last->metrics = NULL;
		last->n_metrics = 0;
		last->status = k == side ? status : ASSAY_STATUS_OK;
		snprintf(last->reason, sizeof(last->reason), "%s", k == side ? "signal 11" : "");
	}
}
static void crash_head(struct subject *s)
{
	fail_last(s, ASSAY_HEAD, ASSAY_STATUS_CRASHED);
}
static void wrong_head(struct subject *s)
{
	fail_last(s, ASSAY_HEAD, ASSAY_STATUS_WRONG);
}
static void differ(struct subject *s)
{
	snprintf(s->cmp.cases->difference, sizeof(s->cmp.cases->difference), "element 3");
}
static void crash_base(struct subject *s)
{
	fail_last(s, ASSAY_BASE, ASSAY_STATUS_CRASHED);
}
static void crash_base_at_once(struct subject *s)
{
	for (size_t i = 0; i + 1 < PAIRS; i++)
		for (int side = 0; side < 2; side++)
			s->cmp.cases->pairs[i].side[side].n_metrics = 0;
	crash_base(s);
}
static void be_new(struct subject *s)
{
	s->cmp.cases->in_base = false;
}
static void have_same_code(struct subject *s)
{
	for (size_t i = 0; i < PAIRS; i++)
		strcpy(s->cmp.cases->pairs[i].side[ASSAY_HEAD].code_hash,
		       s->cmp.cases->pairs[i].side[ASSAY_BASE].code_hash);
}
static void be_control(struct subject *s)
{
	s->cmp.cases->control = ASSAY_CONTROL_AA;
}
static void not_begin(struct subject *s)
{
	paired_release(s->cmp.cases);
}
static void skip_count(struct subject *s)
{
	struct assay_exact_case *c = &s->cmp.exact[ASSAY_HEAD].cases[0];

	c->status = ASSAY_STATUS_SKIPPED;
	snprintf(c->reason, sizeof(c->reason), "needs avx512f");
}
static void name_other(struct subject *s)
{
	s->cmp.exact[ASSAY_HEAD].cases[0].key[0] = 'n';
	s->cmp.exact[ASSAY_BASE].cases[0].key[0] = 'n';
}

TEST(who_owes_in_a_comparison)
{
	static const struct {
		const char *name;
		void (*change)(struct subject *s);
		const char *demand;
		enum assay_verdict want; /* ASSAY_N_VERDICTS: its own row says it all */
		enum assay_exit exit;
		const char *reason; /* NULL: any */
	} rows[] = {
		{ "lost", lose, "op_bytes <= -1", ASSAY_N_VERDICTS, 4, NULL },
		{ "crashed", crash_head, "op_bytes <= -1", ASSAY_N_VERDICTS, 4, NULL },
		{ "wrong", wrong_head, "op_bytes <= -1", ASSAY_N_VERDICTS, 3, NULL },
		{ "outputs differ", differ, "op_bytes <= -1", ASSAY_N_VERDICTS, 3, NULL },
		{ "ended before it", not_begin, "op_bytes <= -1", ASSAY_N_VERDICTS, 4, NULL },
		{ "a control, and nothing else", be_control, "op_bytes <= -1", ASSAY_N_VERDICTS, 4, NULL },
		{ "base of another ABI", unload_base, "op_bytes <= 1", ASSAY_NOT_MEASURED, 4,
		  "op_bytes was not measured (ABI 2), ceiling 1 B" },
		{ "base crashed in the end", crash_base, "op_bytes <= 1", ASSAY_PASS, 5, NULL },
		{ "base crashed in the end, value too large", crash_base, "op_bytes <= 0.5", ASSAY_REGRESSED, 1, NULL },
		{ "base crashed at once", crash_base_at_once, "op_bytes <= 1", ASSAY_NOT_MEASURED, 4,
		  "op_bytes was not measured (signal 11), ceiling 1 B" },
		{ "new", be_new, "op_bytes <= 1", ASSAY_PASS, 0, NULL },
		{ "new, too large", be_new, "op_bytes <= 0.5", ASSAY_REGRESSED, 1, NULL },
		{ "new, against the base", be_new, "op_bytes <= base", ASSAY_INCOMPARABLE, 5,
		  "op_bytes is 0.75 B, ceiling that of the base: the case is new, the base has none" },
		{ "same code", have_same_code, "op_bytes <= 0.5", ASSAY_REGRESSED, 1, NULL },
		{ "same code, and a count", have_same_code, "exact_instructions <= 1", ASSAY_REGRESSED, 1, NULL },
		{ "same code, and what pairs do not have", have_same_code, "roof_ns >= 0", ASSAY_NOT_MEASURED, 4,
		  NULL },
		{ "not counted", skip_count, "exact_instructions >= 0", ASSAY_NOT_MEASURED, 4,
		  "exact_instructions was not measured (needs avx512f), floor 0" },
		{ "not named for counts", name_other, "exact_instructions >= 0", ASSAY_NOT_MEASURED, 4,
		  "exact_instructions was not measured (the suite does not name the case for exact counts; --only CASE "
		  "--evidence exact takes them), floor 0" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_gate_case *row;
		enum assay_exit exit;
		struct subject s;
		char policy[128];

		/* a control stands beside its case, of which the counts are */
		fill(&s, NULL, true, rows[i].change != be_control);
		rows[i].change(&s);
		/* of the case, not of what else was counted */
		snprintf(policy, sizeof(policy), "limit \"m.a/*\" { require = {\"%s\"} }\n", rows[i].demand);
		row = demand_row(&s, COMPARE, policy, &exit);
		if ((row ? row->verdict : ASSAY_N_VERDICTS) != rows[i].want || exit != rows[i].exit ||
		    (row && rows[i].reason && strcmp(row->reason, rows[i].reason)))
			fail_msg("%s: %s, exit %d: %s", rows[i].name, row ? assay_verdict_name(row->verdict) : "no row",
				 exit, row ? row->reason : "");
		release(&s);
	}
}

/* A metric that a comparison cannot measure names the command that can. */
TEST(only_runs_know_the_roof)
{
	static const char *const metrics[] = { "roof_frac", "parallel_efficiency" };

	for (size_t i = 0; i < N_OF(metrics); i++) {
		const struct assay_gate_case *row;
		enum assay_exit exit;
		struct subject s;
		char policy[128];

		fill(&s, metrics[i], true, true);
		snprintf(policy, sizeof(policy), "limit \"*\" { require = {\"%s >= 0.5\"} }\n", metrics[i]);
		row = demand_row(&s, COMPARE, policy, &exit);
		assert_true(row && strstr(row->reason, "'assay gate' judges it"));
		assert_int_equal(exit, ASSAY_EXIT_NOT_MEASURED);
		release(&s);
	}
}

/* ---- which cases of a run owe ---- */

TEST(absent_plugins_say_what_was_not_judged)
{
	const struct assay_gate_case *row;
	struct assay_gate_report r;
	struct world w;

	world_make(&w);
	add_entry(&w, "m.a/openblas/n=1/t=1/warm", ASSAY_MANIFEST_OPTIONAL);
	add_limit(&w, "m.a/openblas/*", "op_bytes", false, 1);
	assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
	row = find_row(&r, "m.a/openblas/n=1/t=1/warm", "status");
	assert_non_null(row);
	assert_string_equal(row->reason,
			    "not in this build, which the manifest allows; what the policy demands of it was "
			    "not judged");
	assert_int_equal(r.exit, 0);
	assay_gate_report_release(&r);
}

UNIT_GROUP(NULL, NULL)
