/* SPDX-License-Identifier: Apache-2.0 */
/* The paired judge on constructed pairs: every verdict, and that stopping early changes nothing. */
#include "paired_judge_fixture.h"

TEST(rule_of_a_family)
{
	struct assay_paired_rule r = assay_paired_rule_of(0.01, 0.025, 40, 0.005, 0.3, 24);

	assert_true(fabs(r.alpha_regressed - 0.00025) < 1e-18);
	assert_true(r.alpha_pass == 0.025); /* all must pass for the whole to pass */
	assert_true(r.margin_frac == 0.005 && r.max_dropped_frac == 0.3 && r.max_pairs == 24);
	assert_true(assay_paired_rule_of(0.01, 0.025, 0, 0.005, 0.3, 24).alpha_regressed == 0.01);
}

/* ---- time ---- */

static const struct {
	const char *name;
	double slowdown, spread;
	unsigned family;
	size_t n_pairs;
	enum assay_verdict want;
	bool final;
	size_t want_pairs;
	const char *reason; /* begins so; NULL: any */
} times[] = {
	{ "unchanged, quiet", 0, 0.0002, 1, 24, ASSAY_PASS, true, 7, "shown to be at most 0." },
	{ "unchanged, any family passes as soon", 0, 0.0002, 60, 24, ASSAY_PASS, true, 7, NULL },
	{ "a little slower, within the margin", 0.003, 0.0005, 1, 24, ASSAY_PASS, true, 7, NULL },
	{ "far slower", 0.05, 0.001, 1, 24, ASSAY_REGRESSED, true, 8, "5.0" },
	{ "far slower, one of 60: two groups must be ruled out", 0.05, 0.001, 60, 24, ASSAY_REGRESSED, true, 14, NULL },
	{ "1 % slower", 0.01, 0.001, 1, 24, ASSAY_REGRESSED, true, 8, "1.00 % slower, shown to be more than 0.5 %" },
	{ "1 % slower, more noise takes longer", 0.01, 0.004, 1, 24, ASSAY_REGRESSED, true, 12, NULL },
	{ "far faster", -0.05, 0.001, 1, 24, ASSAY_IMPROVED, true, 8, "5.0" },
	{ "1 % faster", -0.01, 0.001, 1, 24, ASSAY_IMPROVED, true, 8, "1.00 % faster, shown to be more than 0.5 %" },
	{ "faster by no more than the margin", -0.004, 0.001, 1, 24, ASSAY_PASS, true, 7, NULL },
	{ "faster, which more pairs may show", -0.006, 0.001, 1, 8, ASSAY_PASS, false, 8, NULL },
	{ "faster, but that cannot be shown", -0.006, 0.004, 1, 24, ASSAY_PASS, true, 24, NULL },
	{ "just on the margin", 0.005, 0.001, 1, 24, ASSAY_INCONCLUSIVE, true, 24,
	  "after 24 pairs the change is between " },
	{ "too noisy to say", 0.001, 0.02, 1, 24, ASSAY_INCONCLUSIVE, true, 24,
	  "after 24 pairs the change is between " },
	{ "too early to say", 0, 0.0002, 1, 6, ASSAY_INCONCLUSIVE, false, 6, "6 usable pairs; 8 are needed" },
	{ "no pair yet", 0, 0, 1, 0, ASSAY_INCONCLUSIVE, false, 0, "0 usable pairs; 8 are needed" },
	{ "one pair", 0.5, 0, 1, 1, ASSAY_INCONCLUSIVE, false, 1, NULL },
	{ "may still be decided", 0.005, 0.001, 1, 20, ASSAY_INCONCLUSIVE, false, 20, NULL },
	{ "pairs beyond the last do not count", 0.005, 0.001, 1, 40, ASSAY_INCONCLUSIVE, true, 24, NULL },
};

TEST(verdicts_by_time)
{
	for (size_t i = 0; i < N_OF(times); i++) {
		const struct assay_paired_rule rule =
			assay_paired_rule_of(0.01, 0.025, times[i].family, 0.005, 0.3, MAX_PAIRS);
		struct assay_comparison_case c;
		struct assay_gate_case g;
		bool final;

		paired_make(&c, "op/variant", times[i].n_pairs, BLOCKS);
		set_all(&c, times[i].slowdown, times[i].spread);
		g = judge(&c, &rule, &final);
		if (g.verdict != times[i].want || final != times[i].final || g.pairs != times[i].want_pairs ||
		    (times[i].reason && strncmp(g.reason, times[i].reason, strlen(times[i].reason))))
			fail_msg("%s: %s after %zu pairs%s: %s", times[i].name, assay_verdict_name(g.verdict), g.pairs,
				 final ? ", final" : "", g.reason);
		assert_int_equal(g.evidence, ASSAY_EVIDENCE_PAIRED);
		assert_true(g.margin_frac == 0.005);
		assert_true(isnan(g.value) && isnan(g.limit));
		if (g.pairs >= 2)
			assert_true(g.ci_lo < g.ratio && g.ratio < g.ci_hi && g.dropped_frac == 0);
		else
			assert_true(isnan(g.ci_lo) && isnan(g.ci_hi) && isnan(g.smallest_detectable_frac));
		/* what is inconclusive says what it could have seen */
		if (g.verdict == ASSAY_INCONCLUSIVE && g.pairs >= 2)
			assert_true(isfinite(g.smallest_detectable_frac) && g.smallest_detectable_frac > 0.005);
		paired_release(&c);
	}
}

/* An undecided case names a remedy, which does decide it. */
TEST(advice)
{
	const struct assay_paired_rule rule = assay_paired_rule_of(0.01, 0.025, 1, 0.005, 0.3, 64);
	struct assay_comparison_case c;
	struct assay_gate_case g;
	unsigned budget_s = 0;
	double margin;
	bool final;

	paired_make(&c, "op/variant", 14, 2);
	for (size_t k = 0; k < c.n_pairs; k++) {
		paired_set(&c, k, 0.002 + (k & 1 ? 0.004 : -0.004));
		c.pairs[k].wall_ns = 1000000000;
	}
	assert_int_equal(0, assay_paired_judge(&c, &rule, &g, &final, NULL));
	assert_int_equal(g.verdict, ASSAY_INCONCLUSIVE);
	assert_int_equal(
		2, sscanf(strstr(g.reason, "; "),
			  "; minimum detectable change %*f %%; a budget of %u s or a margin of %lf %% would decide it",
			  &budget_s, &margin));
	assert_true(g.deciding_ns == budget_s * UINT64_C(1000000000));
	paired_release(&c);
	assert_in_range(budget_s, 15, 64);
	for (int longer = 0; longer < 2; longer++) {
		struct assay_paired_rule wider = rule;

		wider.margin_frac = longer ? rule.margin_frac : margin / 100;
		paired_make(&c, "op/variant", longer ? budget_s : 14, 2);
		for (size_t k = 0; k < c.n_pairs; k++)
			paired_set(&c, k, 0.002 + (k & 1 ? 0.004 : -0.004));
		assert_int_equal(0, assay_paired_judge(&c, &wider, &g, &final, NULL));
		assert_int_equal(g.verdict, ASSAY_PASS);
		paired_release(&c);
	}
}

/* After a pair or two of a program that takes long, the budget that is named has time for the looks that may decide. */
TEST(a_named_budget_has_time_for_the_first_looks)
{
	static const struct {
		size_t n_pairs;
		uint64_t pair_ns;
		double apart;    /* the pairs, to either side */
		unsigned family; /* the first look is later where many are judged */
		unsigned want_s; /* one more pair than the look has */
	} rows[] = {
		{ 1, UINT64_C(12000000000), 0, 1, 108 },  { 1, UINT64_C(400000000), 0, 1, 4 },
		{ 1, UINT64_C(12000000000), 0, 60, 180 }, { 2, UINT64_C(12000000000), 1, 1, 108 },
		{ 7, UINT64_C(3000000000), 1, 1, 27 },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_paired_rule rule = assay_paired_rule_of(0.01, 0.025, rows[i].family, 0.01, 0.3, 64);
		struct assay_comparison_case c;
		struct assay_gate_case g;
		char want[160];
		bool final;

		paired_make(&c, "slow/program", rows[i].n_pairs, 1);
		for (size_t k = 0; k < c.n_pairs; k++) {
			paired_set(&c, k, k & 1 ? rows[i].apart : -rows[i].apart);
			c.pairs[k].wall_ns = rows[i].pair_ns;
		}
		assert_int_equal(0, assay_paired_judge(&c, &rule, &g, &final, NULL));
		assert_int_equal(g.verdict, ASSAY_INCONCLUSIVE);
		assert_int_equal(g.deciding_ns / 1000000000, rows[i].want_s);
		snprintf(want, sizeof(want),
			 "1 usable pair; %u are needed to report a regression, for which a budget of %u s has time",
			 rows[i].family == 1 ? 8u : 14u, rows[i].want_s);
		if (rows[i].n_pairs == 1)
			assert_string_equal(g.reason, want);
		/* a case that can be decided has one budget, and looks at the pairs that fit into it */
		assert_true((rows[i].family == 1 ? 8 : 14) * rows[i].pair_ns <= g.deciding_ns);
		paired_release(&c);
	}
}

/* Two blocks that lie 2 % apart have a mean that is known to 1 %. */
TEST(own_noise)
{
	struct assay_comparison_case c;
	double se;

	paired_make(&c, "op/variant", 3, 2);
	for (size_t k = 0; k < 3; k++)
		paired_set(&c, k, 0.5);
	assert_int_equal(0, assay_paired_own_noise(&c, &se, NULL));
	assert_true(se < 1e-9);
	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < 2; i++)
			c.pairs[k].side[ASSAY_HEAD].samples[i].ns =
				(uint64_t)((double)c.pairs[k].side[ASSAY_HEAD].samples[i].ns * exp(0.02));
	assert_int_equal(0, assay_paired_own_noise(&c, &se, NULL));
	assert_true(fabs(se - 0.01) < 1e-5);
	paired_release(&c);
	paired_make(&c, "op/variant", 3, 1);
	assert_int_equal(0, assay_paired_own_noise(&c, &se, NULL));
	assert_true(se == 0);
	paired_release(&c);
}

/* A case of the same machine code passes whether its time was taken or not; one that nobody could measure does not. */
TEST(same_code_needs_no_time)
{
	const struct assay_paired_rule rule = usual_rule();
	struct assay_comparison_case c;
	struct assay_gate_case g;
	bool final;

	paired_make(&c, "op/variant", 1, 2);
	strcpy(c.pairs[0].side[ASSAY_HEAD].code_hash, c.pairs[0].side[ASSAY_BASE].code_hash);
	for (int side = 0; side < 2; side++)
		c.pairs[0].side[side].samples[0].flags = c.pairs[0].side[side].samples[2].flags =
			ASSAY_DISTURB_MIGRATION;
	assert_int_equal(0, assay_paired_judge(&c, &rule, &g, &final, NULL));
	assert_int_equal(g.verdict, ASSAY_INCONCLUSIVE);
	c.pairs[0].n_blocks = 0;
	assert_int_equal(0, assay_paired_judge(&c, &rule, &g, &final, NULL));
	assert_true(g.verdict == ASSAY_PASS && final);
	assert_string_equal(g.reason, "same machine code, so it was not timed");
	c.control = ASSAY_CONTROL_AA;
	assert_int_equal(0, assay_paired_judge(&c, &rule, &g, &final, NULL));
	assert_int_equal(g.verdict, ASSAY_INCONCLUSIVE);
	paired_release(&c);
}

/* A slowdown of what is called the smallest detectable is detected by the same pairs. */
TEST(smallest_detectable)
{
	const struct assay_paired_rule rule = usual_rule();
	struct assay_comparison_case c;
	struct assay_gate_case g;
	bool final;

	paired_make(&c, "op/variant", MAX_PAIRS, BLOCKS);
	set_all(&c, 0.005, 0.002);
	g = judge(&c, &rule, &final);
	assert_int_equal(g.verdict, ASSAY_INCONCLUSIVE);
	/* sd = 0.002 × 0.98 = 0.00196, standard error 0.0004, t 3.34, shift 5.13: 0.5 % + 0.205 % */
	assert_true(fabs(g.smallest_detectable_frac - 0.00706) < 0.00002);
	set_all(&c, g.smallest_detectable_frac, 0.002);
	assert_int_equal(judge(&c, &rule, &final).verdict, ASSAY_REGRESSED);
	paired_release(&c);
}

/* Whoever stops at the first decision gets what the whole list says, at the same look. */
TEST(prefixes_agree_with_the_whole)
{
	unsigned decided[ASSAY_N_VERDICTS] = { 0 }, kept = 0;

	for (unsigned k = 0; k < 300; k++) {
		const struct assay_paired_rule rule =
			assay_paired_rule_of(0.01, 0.025, 1 + k % 3 * 20, 0.005, 0.3, MAX_PAIRS);
		struct assay_comparison_case c;
		struct assay_gate_case whole, part = { 0 };
		bool final = false, whole_final;

		paired_make(&c, "op/variant", MAX_PAIRS, 4);
		for (size_t i = 0; i < MAX_PAIRS; i++) {
			struct assay_philox w = assay_random4(7, k, i);

			paired_set(&c, i, log1p(0.004 * (k % 7) - 0.012) + 0.003 * assay_normal_f32(w.v[0]));
			/* some pairs are of no use */
			for (size_t s = 0; s < 8; s++)
				if (w.v[1] % 8 == 0)
					c.pairs[i].side[w.v[2] & 1].samples[s].flags = ASSAY_DISTURB_MIGRATION;
		}
		whole = judge(&c, &rule, &whole_final);
		assert_true(whole_final);
		for (c.n_pairs = 0; c.n_pairs <= MAX_PAIRS && !final; c.n_pairs++) {
			part = judge(&c, &rule, &final);
			/* until then nothing, unless what passes may yet be shown to be faster */
			assert_true(final || part.verdict == ASSAY_INCONCLUSIVE ||
				    (part.verdict == ASSAY_PASS && part.ratio < 1));
			kept += !final && part.verdict == ASSAY_PASS;
		}
		assert_int_equal(part.verdict, whole.verdict);
		assert_int_equal(part.pairs, whole.pairs);
		/* bits, as there may be no interval */
		assert_memory_equal(&part.ratio, &whole.ratio, sizeof(part.ratio));
		assert_memory_equal(&part.ci_lo, &whole.ci_lo, sizeof(part.ci_lo));
		assert_memory_equal(&part.ci_hi, &whole.ci_hi, sizeof(part.ci_hi));
		assert_true(part.dropped_frac == whole.dropped_frac);
		assert_string_equal(part.reason, whole.reason);
		decided[whole.verdict]++;
		c.n_pairs = MAX_PAIRS;
		paired_release(&c);
	}
	assert_true(decided[ASSAY_PASS] > 20 && decided[ASSAY_REGRESSED] > 20 && decided[ASSAY_IMPROVED] > 20 &&
		    decided[ASSAY_INCONCLUSIVE] > 20 && kept > 20);
}

/* The last pair is a look even when others were unusable. */
TEST(last_pair_is_a_look)
{
	const struct assay_paired_rule rule = usual_rule();
	struct assay_comparison_case c;
	struct assay_gate_case g;
	bool final;

	paired_make(&c, "op/variant", MAX_PAIRS, BLOCKS);
	set_all(&c, -0.006, 0.004); /* passes at the very end only */
	for (size_t s = 0; s < 2 * BLOCKS; s++)
		c.pairs[MAX_PAIRS - 1].side[ASSAY_BASE].samples[s].flags = ASSAY_DISTURB_THROTTLE;
	g = judge(&c, &rule, &final);
	assert_true(final);
	assert_int_equal(g.verdict, ASSAY_PASS);
	assert_int_equal(g.pairs, MAX_PAIRS - 1);
	paired_release(&c);
}

/* ---- same code ---- */

TEST(same_code)
{
	static const struct {
		double slowdown;
		enum assay_control control;
		uint64_t extra;
		enum assay_verdict want;
		const char *reason;
	} rows[] = {
		{ 0.05, ASSAY_CONTROL_NONE, 0, ASSAY_PASS, "same machine code: any difference" },
		{ -0.05, ASSAY_CONTROL_NONE, 0, ASSAY_PASS, "same machine code: any difference" },
		{ 0, ASSAY_CONTROL_NONE, 0, ASSAY_PASS, "same machine code: any difference" },
		/* controls exist to find that out */
		{ 0.05, ASSAY_CONTROL_AA, 0, ASSAY_REGRESSED, "5.0" },
		{ 0.05, ASSAY_CONTROL_SLOWER, 1, ASSAY_REGRESSED, "5.0" },
	};
	const struct assay_paired_rule rule = usual_rule();

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_comparison_case c;
		struct assay_gate_case g;
		bool final;

		paired_make(&c, "op/variant", MAX_PAIRS, BLOCKS);
		c.control = rows[i].control;
		set_all(&c, rows[i].slowdown, 0.0005);
		for (size_t k = 0; k < c.n_pairs; k++) {
			strcpy(c.pairs[k].side[ASSAY_HEAD].code_hash, c.pairs[k].side[ASSAY_BASE].code_hash);
			c.pairs[k].extra_iterations[ASSAY_HEAD] = rows[i].extra;
		}
		g = judge(&c, &rule, &final);
		assert_true(final);
		if (g.verdict != rows[i].want || strncmp(g.reason, rows[i].reason, strlen(rows[i].reason)))
			fail_msg("row %zu: %s: %s", i, assay_verdict_name(g.verdict), g.reason);
		/* an unknown hash is not the same as another unknown one */
		for (size_t k = 0; k < c.n_pairs; k++)
			c.pairs[k].side[0].code_hash[0] = c.pairs[k].side[1].code_hash[0] = '\0';
		g = judge(&c, &rule, &final);
		assert_int_equal(g.verdict, rows[i].slowdown > 0   ? ASSAY_REGRESSED
					    : rows[i].slowdown < 0 ? ASSAY_IMPROVED
								   : ASSAY_PASS);
		paired_release(&c);
	}
}

/* ---- verdicts without statistics ---- */

struct presence {
	const char *name;
	bool in_base, in_head;
	const char *reason, *difference;
	enum assay_status base, head; /* of the third pair */
	enum assay_verdict want;
	enum assay_evidence evidence;
	const char *want_reason;
};

static const struct presence presences[] = {
	{ "new case", false, true, "", "", 0, 0, ASSAY_PASS, ASSAY_EVIDENCE_NONE, "new: the base has no such case" },
	{ "new case, the head crashes", false, true, "", "", 0, ASSAY_STATUS_CRASHED, ASSAY_NOT_MEASURED,
	  ASSAY_EVIDENCE_NONE, "head crashed: why" },
	{ "new case, the head in the base's place is wrong", false, true, "", "", ASSAY_STATUS_WRONG, 0,
	  ASSAY_WRONG_RESULT, ASSAY_EVIDENCE_NONE, "head: why" },
	{ "new case, the head differs from itself", false, true, "", "element 3 is 7, was 8", 0, 0, ASSAY_WRONG_RESULT,
	  ASSAY_EVIDENCE_NONE, "element 3 is 7, was 8" },
	{ "lost case", true, false, "", "", 0, 0, ASSAY_NOT_MEASURED, ASSAY_EVIDENCE_NONE, ASSAY_CASE_GONE },
	{ "base of another ABI", false, true, "ABI 1 of 'x.so', this program has 2", "", 0, 0, ASSAY_INCOMPARABLE,
	  ASSAY_EVIDENCE_NONE, "ABI 1 of 'x.so', this program has 2" },
	{ "cannot run here", true, true, "needs avx512", "", 0, 0, ASSAY_NOT_MEASURED, ASSAY_EVIDENCE_NONE,
	  "needs avx512" },
	{ "outputs differ", true, true, "", "element 3 is 7, was 8", 0, 0, ASSAY_WRONG_RESULT, ASSAY_EVIDENCE_NONE,
	  "element 3 is 7, was 8" },
	{ "head wrong", true, true, "", "", 0, ASSAY_STATUS_WRONG, ASSAY_WRONG_RESULT, ASSAY_EVIDENCE_PAIRED,
	  "head: why" },
	{ "head crashed", true, true, "", "", 0, ASSAY_STATUS_CRASHED, ASSAY_NOT_MEASURED, ASSAY_EVIDENCE_PAIRED,
	  "head crashed: why" },
	{ "head hangs", true, true, "", "", 0, ASSAY_STATUS_TIMEOUT, ASSAY_NOT_MEASURED, ASSAY_EVIDENCE_PAIRED,
	  "head timeout: why" },
	{ "base failed", true, true, "", "", ASSAY_STATUS_FAILED, 0, ASSAY_INCOMPARABLE, ASSAY_EVIDENCE_PAIRED,
	  "base failed: why" },
	{ "base wrong", true, true, "", "", ASSAY_STATUS_WRONG, 0, ASSAY_INCOMPARABLE, ASSAY_EVIDENCE_PAIRED,
	  "base wrong: why" },
	{ "both crash: the head's fault counts", true, true, "", "", ASSAY_STATUS_CRASHED, ASSAY_STATUS_CRASHED,
	  ASSAY_NOT_MEASURED, ASSAY_EVIDENCE_PAIRED, "head crashed: why" },
};

TEST(verdicts_without_time)
{
	const struct assay_paired_rule rule = usual_rule();

	for (size_t i = 0; i < N_OF(presences); i++) {
		const struct presence *p = &presences[i];
		struct assay_comparison_case c;
		struct assay_gate_case g;
		bool final = false;

		paired_make(&c, "op/variant", 3, BLOCKS);
		c.in_base = p->in_base;
		c.in_head = p->in_head;
		strcpy(c.reason, p->reason);
		strcpy(c.difference, p->difference);
		c.pairs[2].side[ASSAY_BASE].status = p->base;
		c.pairs[2].side[ASSAY_HEAD].status = p->head;
		strcpy(c.pairs[2].side[ASSAY_BASE].reason, "why");
		strcpy(c.pairs[2].side[ASSAY_HEAD].reason, "why");
		if (p->base || p->head)
			c.pairs[2].n_blocks = 0; /* samples are there only when both sides are well */
		g = judge(&c, &rule, &final);
		if (g.verdict != p->want || g.evidence != p->evidence || strcmp(g.reason, p->want_reason) || !final)
			fail_msg("%s: %s by %s: %s", p->name, assay_verdict_name(g.verdict),
				 assay_evidence_name(g.evidence), g.reason);
		assert_true(isnan(g.ratio) && isnan(g.ci_lo) && isnan(g.ci_hi) && g.pairs == 0);
		paired_release(&c);
	}
}

/* ---- paired blocks ---- */

/* From the blocks of a pair to its estimate: what is dropped and why, and when too much was. */

static const struct {
	const char *name;
	uint64_t ns;             /* of each of the four samples */
	struct assay_sample one; /* what one of them saw: flags, switches, steal_ticks */
	int kind;                /* bit of enum assay_disturb that it is dropped for; -1: kept */
} blocks[] = {
	{ "undisturbed", 1000000, { 0 }, -1 },
	{ "migration", 1000000, { .flags = ASSAY_DISTURB_MIGRATION }, 1 },
	{ "throttled", 1000000, { .flags = ASSAY_DISTURB_THROTTLE }, 4 },
	{ "a throttled device", 1000000, { .flags = ASSAY_DISTURB_DEVICE }, 8 },
	{ "a page fault changes nothing", 1000000, { .flags = ASSAY_DISTURB_FAULT, .faults = 9 }, -1 },
	{ "a switch in 4 ms", 1000000, { .flags = ASSAY_DISTURB_SWITCH, .switches = 1 }, 0 },
	{ "a switch in 52 ms is what any machine has", 13000000, { .flags = ASSAY_DISTURB_SWITCH, .switches = 1 }, -1 },
	{ "two are not", 13000000, { .switches = 2 }, 0 },
	{ "a tick of steal in 0.4 s", 100000000, { .flags = ASSAY_DISTURB_STEAL, .steal_ticks = 1 }, 2 },
	{ "a tick of steal in 2 s is below 2 %", 500000000, { .steal_ticks = 1 }, -1 },
	{ "a clock that stood still", 0, { 0 }, -2 },
	{ "switches that cost 40 us",
	  1000000,
	  { .flags = ASSAY_DISTURB_SWITCH | ASSAY_SAMPLE_WAIT_TOLD, .switches = 3, .waited_ns = 40000 },
	  -1 },
	{ "one that cost 100 us of 4 ms",
	  1000000,
	  { .flags = ASSAY_SAMPLE_WAIT_TOLD, .switches = 1, .waited_ns = 100000 },
	  0 },
	{ "one that cost 100 us of 8 ms",
	  2000000,
	  { .flags = ASSAY_SAMPLE_WAIT_TOLD, .switches = 1, .waited_ns = 100000 },
	  -1 },
	{ "a wait without a switch of its own", 1000000, { .flags = ASSAY_SAMPLE_WAIT_TOLD, .waited_ns = 100000 }, 0 },
	{ "100 us of 4 ms stolen", 1000000, { .flags = ASSAY_SAMPLE_WAIT_TOLD, .stolen_ns = 100000 }, 2 },
	{ "60 us of 4 ms stolen", 1000000, { .flags = ASSAY_SAMPLE_WAIT_TOLD, .stolen_ns = 60000 }, -1 },
};

TEST(blocks_are_dropped)
{
	for (size_t i = 0; i < N_OF(blocks); i++)
		for (int where = 0; where < 4; where++) {
			struct assay_comparison_case c;
			struct assay_pair_estimate e;
			double tmp[3 * ASSAY_PAIR_TMP];

			/* the second of three blocks, the others quiet: half must be clean */
			paired_make(&c, "op/variant", 1, 3);
			paired_set(&c, 0, 0.25);
			for (int k = 0; k < 4; k++) {
				struct assay_sample *s = &c.pairs[0].side[k & 1].samples[2 + k / 2];

				*s = k == where ? blocks[i].one : (struct assay_sample){ 0 };
				s->iterations = 1;
				s->ns = blocks[i].ns;
			}
			e = assay_pair_estimate(&c.pairs[0], tmp);
			if (e.n_dropped != (blocks[i].kind != -1) || e.dropped_weight != (double)e.n_dropped)
				fail_msg("%s: %zu dropped", blocks[i].name, e.n_dropped);
			for (int k = 0; k < 5; k++)
				assert_int_equal(e.by_kind[k], k == blocks[i].kind);
			assert_int_equal(e.n_blocks, 3);
			assert_true(e.usable);
			/* medians of { 0.25, 0, 0.25 } and { 0.25, 0.25 } */
			assert_true(fabs(e.log_ratio - 0.25) < 1e-8);
			paired_release(&c);
		}
}

/* A timer tick takes 7 % from one sample of every block, more often from the head's. */
TEST(ticks_change_nothing)
{
	struct assay_comparison_case c;
	double tmp[12 * ASSAY_PAIR_TMP];

	paired_make(&c, "op/variant", 1, 12);
	paired_set(&c, 0, 0.02);
	for (size_t b = 0; b < 12; b++)
		c.pairs[0].side[b < 7 ? ASSAY_HEAD : ASSAY_BASE].samples[2 * b + (b & 1)].ns +=
			(uint64_t)(0.07 * PAIRED_NS);
	assert_true(fabs(assay_pair_estimate(&c.pairs[0], tmp).log_ratio - 0.02) < 1e-8);
	assert_true(assay_pair_own_error(&c.pairs[0], tmp) < 1e-8);
	paired_release(&c);
}

static void set_flags(struct assay_pair *p, uint32_t flags)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < 2 * p->n_blocks; i++)
			p->side[side].samples[i].flags = flags;
}

/*
 * Calls in slices are compared with those that they ran beside. In two blocks of three the machine was twice as slow
 * for the second calls, and the head takes 3 % longer, in the others 1 %. Of the middle twelve ratios two are of these.
 */
TEST(calls_in_slices)
{
	static const struct {
		uint32_t flags;
		double want;
	} rows[] = {
		{ ASSAY_SAMPLE_BESIDE, (2 * 0.01 + 10 * 0.03) / 12 },
		{ 0, 0.02 }, /* whole calls are compared with both of the block */
	};

	for (size_t k = 0; k < N_OF(rows); k++) {
		struct assay_comparison_case c;
		double tmp[12 * ASSAY_PAIR_TMP];

		paired_make(&c, "op/variant", 1, 12);
		set_flags(&c.pairs[0], rows[k].flags);
		for (size_t i = 0; i < 24; i++) {
			const bool even = i / 2 % 3 == 0;
			const double ns = (i % 2 && !even ? 2 : 1) * PAIRED_NS;

			c.pairs[0].side[ASSAY_BASE].samples[i].ns = (uint64_t)ns;
			c.pairs[0].side[ASSAY_HEAD].samples[i].ns = (uint64_t)(ns * exp(even ? 0.01 : 0.03));
		}
		assert_true(fabs(assay_pair_estimate(&c.pairs[0], tmp).log_ratio - rows[k].want) < 1e-8);
		paired_release(&c);
	}
}

/*
 * Calls of six parts. The head is 4 % slower in one of them, which takes 3 of 8 of the time, and once something took a
 * hundred times as long; the median of all parts would see nothing.
 */
TEST(parts_of_calls)
{
	struct assay_comparison_case c;
	double tmp[12 * ASSAY_PAIR_TMP], x;

	paired_make(&c, "op/variant", 1, 12);
	for (size_t i = 0; i < 24; i++) {
		for (int side = 0; side < 2; side++) {
			struct assay_sample *s = &c.pairs[0].side[side].samples[i];

			s->flags = i % 6 < 5 ? ASSAY_SAMPLE_CONTINUES : 0;
			s->ns = (uint64_t)((i % 6 == 2 ? 3 : 1) * PAIRED_NS * (side && i % 6 == 2 ? exp(0.04) : 1));
		}
	}
	x = assay_pair_estimate(&c.pairs[0], tmp).log_ratio;
	assert_true(fabs(x - 0.04 * 3 / 8) < 0.001);
	assert_true(assay_pair_own_error(&c.pairs[0], tmp) > 0);
	c.pairs[0].side[ASSAY_HEAD].samples[3].ns *= 100;
	x = assay_pair_estimate(&c.pairs[0], tmp).log_ratio;
	assert_true(x > 0.04 * 3 / 8 && x < 0.75);
	/* one part of six takes twice as long: of seven eighths of the time nothing changed */
	for (size_t i = 0; i < 24; i++)
		c.pairs[0].side[ASSAY_HEAD].samples[i].ns = (uint64_t)((i % 6 == 2 ? 3 : i % 6 ? 1 : 2) * PAIRED_NS);
	x = assay_pair_estimate(&c.pairs[0], tmp).log_ratio;
	assert_true(fabs(x - log(2) * 3 / (3 + 14)) < 1e-8);
	paired_release(&c);
}

/*
 * Calls of twelve parts, that is six blocks, of which the second takes 15 of 20 of the time. Blocks that are dropped
 * count by it, as their parts do in the estimate; what disturbed them on one side does not make them longer.
 */
TEST(dropped_parts)
{
	static const struct {
		const char *name;
		unsigned dropped; /* a bit a block */
		double of_time;
		bool usable;
	} rows[] = {
		{ "one short", 1u << 0, 1 / 20.0, true },
		{ "all short", 0x3du, 5 / 20.0, true },
		{ "the long one", 1u << 1, 15 / 20.0, false },
		{ "all", 0x3fu, 1, false },
	};
	const struct assay_paired_rule rule = usual_rule();
	bool final;

	for (size_t i = 0; i < N_OF(rows); i++)
		for (int side = 0; side < 2; side++) {
			struct assay_comparison_case c;
			struct assay_pair_estimate e;
			double tmp[12 * ASSAY_PAIR_TMP];

			paired_make(&c, "op/variant", 1, 12);
			for (size_t k = 0; k < 24; k++)
				for (int s = 0; s < 2; s++) {
					struct assay_sample *x = &c.pairs[0].side[s].samples[k];
					const bool hit = rows[i].dropped >> (k / 2 % 6) & 1;

					x->flags = k % 12 < 11 ? ASSAY_SAMPLE_CONTINUES : 0;
					x->ns *= k / 2 % 6 == 1 ? 15 : 1;
					x->flags |= hit && s == side ? ASSAY_DISTURB_MIGRATION : 0;
					x->ns *= hit && s == side ? 50 : 1;
				}
			e = assay_pair_estimate(&c.pairs[0], tmp);
			if (e.usable != rows[i].usable || fabs(e.dropped_weight - 12 * rows[i].of_time) > 1e-9)
				fail_msg("%s: %g of 12 dropped", rows[i].name, e.dropped_weight);
			/* a pair that is left out is so as a whole */
			assert_true(fabs(judge(&c, &rule, &final).dropped_frac - (e.usable ? rows[i].of_time : 1)) <
				    1e-9);
			paired_release(&c);
		}
}

/* The four ratios of the blocks lie 1 % apart, those of one block on both sides of the rest. */
TEST(own_error)
{
	struct assay_comparison_case c;
	double tmp[100 * ASSAY_PAIR_TMP], apart, alike;

	paired_make(&c, "op/variant", 1, 100);
	for (size_t b = 0; b < 100; b++)
		for (size_t k = 0; k < 2; k++)
			c.pairs[0].side[ASSAY_HEAD].samples[2 * b + k].ns += (uint64_t)((double)b * 1e-4 * PAIRED_NS);
	apart = assay_pair_own_error(&c.pairs[0], tmp);
	/* a rank is known to 1/20 of 100: the same of 1 % */
	assert_true(fabs(apart - 0.0005) < 0.00002);
	for (size_t b = 0; b < 100; b++)
		for (size_t k = 0; k < 2; k++)
			c.pairs[0].side[ASSAY_HEAD].samples[2 * b + k].ns =
				(uint64_t)((1 + (double)(k ? b : 99 - b) * 1e-4) * PAIRED_NS);
	alike = assay_pair_own_error(&c.pairs[0], tmp);
	assert_true(alike < apart / 10);
	c.pairs[0].n_blocks = 1;
	assert_true(assay_pair_own_error(&c.pairs[0], tmp) == 0);
	c.pairs[0].n_blocks = 100;
	paired_release(&c);
}

/* Sixteen ratios of calls in slices, in steps of 0.1 %: what lies beyond the middle eight is drawn in to these. */
TEST(own_error_of_slices)
{
	struct assay_comparison_case c;
	double tmp[8 * ASSAY_PAIR_TMP];

	paired_make(&c, "op/variant", 1, 8);
	set_flags(&c.pairs[0], ASSAY_SAMPLE_BESIDE);
	for (size_t i = 0; i < 16; i++)
		c.pairs[0].side[ASSAY_HEAD].samples[i].ns = (uint64_t)(PAIRED_NS * exp((double)(7 * i % 16) * 1e-3));
	assert_true(fabs(assay_pair_estimate(&c.pairs[0], tmp).log_ratio - 7.5e-3) < 1e-8);
	assert_true(fabs(assay_pair_own_error(&c.pairs[0], tmp) - sqrt(140.0 / 15) * 4 / 8 * 1e-3) < 1e-8);
	paired_release(&c);
}

/* Half of the blocks must be clean, and drift within blocks cancels. */
TEST(estimate)
{
	struct assay_comparison_case c;
	struct assay_pair_estimate e;
	double tmp[4 * ASSAY_PAIR_TMP];
	struct assay_sample *base, *head;

	paired_make(&c, "op/variant", 1, 4);
	base = c.pairs[0].side[ASSAY_BASE].samples;
	head = c.pairs[0].side[ASSAY_HEAD].samples;
	/* drift within blocks, A B B A and B A A B: cancels */
	for (int b = 0; b < 4; b++) {
		uint64_t outer[2] = { 1000, 1030 }, inner[2] = { 1010, 1020 };

		for (int k = 0; k < 2; k++) {
			base[2 * b + k].ns = b & 1 ? inner[k] : outer[k];
			head[2 * b + k].ns = b & 1 ? outer[k] : inner[k];
		}
	}
	e = assay_pair_estimate(&c.pairs[0], tmp);
	assert_true(e.usable && fabs(e.log_ratio) < 1e-12 && e.n_dropped == 0);

	head[0].ns = 2000;
	head[2].ns = 3000;
	/* four each: of 16, four are far above, and the median lies among those of drift */
	e = assay_pair_estimate(&c.pairs[0], tmp);
	assert_true(fabs(e.log_ratio - log(1030.0 / 1000) / 2) < 1e-12);

	base[4].flags = head[7].flags = ASSAY_DISTURB_MIGRATION;
	e = assay_pair_estimate(&c.pairs[0], tmp);
	assert_int_equal(e.n_dropped, 2);
	assert_true(e.usable);
	base[0].flags = ASSAY_DISTURB_MIGRATION;
	assert_false(assay_pair_estimate(&c.pairs[0], tmp).usable);
	c.pairs[0].n_blocks = 0;
	assert_false(assay_pair_estimate(&c.pairs[0], tmp).usable);
	c.pairs[0].n_blocks = 4;
	paired_release(&c);
}

/* Disturbances are spread by chance; neither the side they hit nor what the times were changes what is dropped. */
TEST(dropping_is_blind)
{
	struct assay_comparison_case c, swapped;
	double tmp[40 * ASSAY_PAIR_TMP];

	paired_make(&c, "op/variant", 50, 40);
	paired_make(&swapped, "op/variant", 50, 40);
	for (size_t i = 0; i < c.n_pairs; i++) {
		for (size_t k = 0; k < 160; k++) {
			struct assay_philox w = assay_random4(11, (uint32_t)i, k);
			struct assay_sample *s = &c.pairs[i].side[k & 1].samples[k / 2];

			s->ns = 900000 + w.v[0] % 200000;
			s->switches = w.v[1] % 40 == 0;
			s->steal_ticks = w.v[1] % 50 == 0;
			s->flags = w.v[1] % 30 ? 0 : ASSAY_DISTURB_MIGRATION;
			swapped.pairs[i].side[!(k & 1)].samples[k / 2] = *s;
		}
		for (int how = 0; how < 3; how++) {
			struct assay_pair_estimate a = assay_pair_estimate(&c.pairs[i], tmp), b;

			/* swapped sides; the head ten times faster; the head up to twice as slow */
			for (size_t k = 0; k < 80 && how == 1; k++)
				swapped.pairs[i].side[ASSAY_BASE].samples[k].ns /= 10;
			for (size_t k = 0; k < 80 && how == 2; k++)
				swapped.pairs[i].side[ASSAY_BASE].samples[k].ns *= 10 + k % 10;
			b = assay_pair_estimate(&swapped.pairs[i], tmp);
			assert_int_equal(a.n_dropped, b.n_dropped);
			assert_memory_equal(a.by_kind, b.by_kind, sizeof(a.by_kind));
			assert_int_equal(a.usable, b.usable);
			assert_true(a.n_dropped > 0);
			if (how == 0 && a.usable)
				assert_true(fabs(a.log_ratio + b.log_ratio) < 1e-15);
		}
	}
	paired_release(&c);
	paired_release(&swapped);
}

/* A change by a large factor is seen through any disturbance that could not have taken so long. */
TEST(large_factors_cannot_hide)
{
	static const struct {
		double slowdown;
		int disturbed; /* the side: in every block one switch, of which nobody tells how long it took */
		enum assay_verdict want;
	} rows[] = {
		{ 9.0, ASSAY_HEAD, ASSAY_REGRESSED },     { 9.0, ASSAY_BASE, ASSAY_REGRESSED },
		{ -0.9, ASSAY_BASE, ASSAY_IMPROVED },     { -0.9, ASSAY_HEAD, ASSAY_IMPROVED },
		{ 0.02, ASSAY_HEAD, ASSAY_INCONCLUSIVE }, { -0.02, ASSAY_BASE, ASSAY_INCONCLUSIVE },
	};
	const struct assay_paired_rule rule = usual_rule();

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_comparison_case c;
		struct assay_gate_case g;
		bool final;

		paired_make(&c, "op/variant", MAX_PAIRS, BLOCKS);
		for (size_t k = 0; k < c.n_pairs; k++) {
			for (size_t b = 0; b < 2 * BLOCKS; b++) {
				c.pairs[k].side[ASSAY_BASE].samples[b].ns = 10000000 + k;
				c.pairs[k].side[ASSAY_HEAD].samples[b].ns = (uint64_t)(1e7 * (1 + rows[i].slowdown));
				c.pairs[k].side[rows[i].disturbed].samples[b].switches = 5;
			}
		}
		g = judge(&c, &rule, &final);
		assert_true(final && g.dropped_frac == 1);
		if (g.verdict != rows[i].want)
			fail_msg("%g: %s: %s", rows[i].slowdown, assay_verdict_name(g.verdict), g.reason);
		paired_release(&c);
	}
}

/*
 * Nobody tells what a migration takes. It may meet either side, in all blocks but one of ten, and make it twice as
 * long; so of equal code some pairs say twice as long, and some half.
 */
TEST(tenfold_beside_migrations)
{
	static const struct {
		double slowdown;
		enum assay_verdict want;
	} rows[] = {
		{ 9, ASSAY_REGRESSED },
		{ -0.9, ASSAY_IMPROVED },
		{ 0, ASSAY_INCONCLUSIVE },
		{ 0.3, ASSAY_INCONCLUSIVE },
	};
	const struct assay_paired_rule rule = usual_rule();

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_comparison_case c;
		struct assay_gate_case g;
		bool final;

		paired_make(&c, "op/variant", MAX_PAIRS, BLOCKS);
		set_all(&c, rows[i].slowdown, 0.001);
		for (size_t k = 0; k < c.n_pairs; k++)
			for (size_t b = 0; b < 2 * (BLOCKS - BLOCKS / 10); b++) {
				struct assay_sample *s = &c.pairs[k].side[(k ^ k >> 1) & 1].samples[b];

				s->ns *= 2;
				s->flags = ASSAY_DISTURB_MIGRATION;
			}
		g = judge(&c, &rule, &final);
		assert_true(final && g.dropped_frac > rule.max_dropped_frac);
		if (g.verdict != rows[i].want)
			fail_msg("%g: %s: %s", rows[i].slowdown, assay_verdict_name(g.verdict), g.reason);
		paired_release(&c);
	}
}

/* Time that clocks report as lost is taken off either side; half of an interruption may be due to caches. */
TEST(range)
{
	struct assay_comparison_case c;
	struct assay_pair_range r;
	double tmp[3 * ASSAY_PAIR_TMP];

	paired_make(&c, "op/variant", 1, 3);
	paired_set(&c, 0, log(2));
	r = assay_pair_range(&c.pairs[0], tmp);
	assert_true(fabs(r.least - log(2)) < 1e-8 && fabs(r.most - log(2)) < 1e-8);
	for (size_t k = 0; k < 6; k++) {
		struct assay_sample *s = &c.pairs[0].side[ASSAY_HEAD].samples[k];

		s->ns *= 3;
		s->flags = ASSAY_SAMPLE_WAIT_TOLD;
		s->waited_ns = (uint64_t)(4 * PAIRED_NS);
	}
	r = assay_pair_range(&c.pairs[0], tmp);
	assert_true(fabs(r.least - log(1)) < 1e-8 && fabs(r.most - log(2)) < 1e-8 && fabs(r.likely - log(2)) < 1e-8);
	for (size_t k = 0; k < 6; k++)
		c.pairs[0].side[ASSAY_HEAD].samples[k].flags = ASSAY_SAMPLE_WAIT_TOLD | ASSAY_DISTURB_MIGRATION;
	r = assay_pair_range(&c.pairs[0], tmp);
	assert_true(isinf(r.least) && fabs(r.most - log(2)) < 1e-8);
	/* of parts, the long one counts for what it is */
	for (size_t k = 0; k < 6; k++)
		c.pairs[0].side[ASSAY_HEAD].samples[k] = (struct assay_sample){
			.iterations = 1, .ns = (uint64_t)((k < 2 ? 22 : 1) * PAIRED_NS), .flags = ASSAY_SAMPLE_CONTINUES
		};
	r = assay_pair_range(&c.pairs[0], tmp);
	assert_true(fabs(r.least - log(8)) < 1e-8 && fabs(r.most - log(8)) < 1e-8);
	c.pairs[0].n_blocks = 0;
	r = assay_pair_range(&c.pairs[0], tmp);
	assert_true(isinf(r.least) && isinf(r.most));
	c.pairs[0].n_blocks = 3;
	paired_release(&c);
}

TEST(too_much_was_dropped)
{
	static const struct {
		uint32_t flag;
		uint32_t switches, steal;
		const char *kind;
	} rows[] = {
		{ ASSAY_DISTURB_MIGRATION, 0, 0, "migrations" },
		{ ASSAY_DISTURB_THROTTLE, 0, 0, "throttling" },
		{ ASSAY_DISTURB_DEVICE, 0, 0, "throttling of the device" },
		{ 0, 1000, 0, "involuntary switches" },
		{ 0, 0, 50, "steal" },
	};
	const struct assay_paired_rule rule = usual_rule();

	for (size_t i = 0; i < N_OF(rows); i++)
		for (unsigned bad = 3; bad <= 10; bad++) { /* of ten blocks */
			struct assay_comparison_case c;
			struct assay_gate_case g;
			char want[128];
			bool final;

			paired_make(&c, "op/variant", MAX_PAIRS, BLOCKS);
			set_all(&c, 0.05, 0.001);
			for (size_t k = 0; k < c.n_pairs; k++)
				for (size_t b = 0; b < bad; b++) {
					struct assay_sample *s = &c.pairs[k].side[b & 1].samples[2 * b + 1];

					s->flags = rows[i].flag;
					s->switches = rows[i].switches;
					s->steal_ticks = rows[i].steal;
				}
			g = judge(&c, &rule, &final);
			assert_true(final);
			/* 30 % are allowed; a pair of which more than half is gone counts as gone */
			assert_true(fabs(g.dropped_frac - (bad > 5 ? 1 : bad / 10.0)) < 1e-12);
			if (bad == 3) {
				assert_int_equal(g.verdict, ASSAY_REGRESSED);
			} else if (bad < 10) {
				/* of less than half of the blocks the head was disturbed, and all others are slow */
				assert_int_equal(g.verdict, ASSAY_REGRESSED);
				assert_non_null(strstr(g.reason, "slower, whatever disturbed"));
			} else {
				snprintf(want, sizeof(want),
					 "host too noisy: %u %% of samples discarded (limit 30 %%), mostly for %s; a "
					 "quieter host would decide it",
					 bad > 5 ? 100 : bad * 10, rows[i].kind);
				assert_int_equal(g.verdict, ASSAY_INCONCLUSIVE);
				assert_string_equal(g.reason, want);
			}
			assert_int_equal(g.pairs, bad == 10 ? MAX_PAIRS : 8);
			paired_release(&c);
		}
}

TEST(spread)
{
	struct assay_comparison_case c;
	struct assay_err err;
	struct assay_paired_readings r;

	paired_make(&c, "op/variant", 4, 2);
	paired_set(&c, 0, 0.001);
	paired_set(&c, 1, 0.004);
	paired_set(&c, 2, 0.5);
	paired_set(&c, 3, 0.001);
	for (size_t s = 0; s < 4; s++)
		c.pairs[2].side[ASSAY_HEAD].samples[s].flags = ASSAY_DISTURB_THROTTLE;
	assert_int_equal(assay_paired_readings(&c, NULL, &r, &err), 0);
	assert_int_equal(r.n, 3);
	assert_true(fabs(r.mean - 0.002) < 1e-8);
	assert_true(fabs(r.sd - 0.003 / sqrt(3)) < 1e-8);
	paired_release(&c);
}

UNIT_GROUP(NULL, NULL)
