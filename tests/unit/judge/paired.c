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

/* What is undecided says what would decide it, and that is so. */
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

/* What looks faster and is not shown to be passes when no pair follows. */
TEST(faster_passes)
{
	const struct assay_paired_rule rule = usual_rule();
	struct assay_comparison_case c;
	struct assay_gate_case g;
	bool final;

	paired_make(&c, "op/variant", 8, 2);
	set_all(&c, -0.006, 0.001);
	g = judge(&c, &rule, &final);
	assert_int_equal(g.verdict, ASSAY_PASS);
	assert_false(final);
	paired_release(&c);
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

UNIT_GROUP(NULL, NULL)
