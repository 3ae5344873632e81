/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paired judge on constructed pairs: every verdict, what is dropped and why, and that stopping early changes
 * nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "assay/random.h"
#include "judge/paired.h"
#include "paired_fixture.h"

#define N_OF(a)   (sizeof(a) / sizeof((a)[0]))
#define MAX_PAIRS 24
#define BLOCKS    10

/* What pairs deviate by, in units of a spread; any first eight have a mean of 0 and a standard deviation of about 1. */
static const double deviation[8] = { 1.2, -1.2, 0.6, -0.6, 1.3, -1.3, 0.4, -0.4 };

static void set_all(struct assay_comparison_case *c, double slowdown_frac, double spread)
{
	for (size_t i = 0; i < c->n_pairs; i++)
		paired_set(c, i, log1p(slowdown_frac) + spread * deviation[i % 8]);
}

static struct assay_gate_case judge(const struct assay_comparison_case *c, const struct assay_paired_rule *rule,
				    bool *final)
{
	struct assay_gate_case out;
	struct assay_err err;

	assert_int_equal(assay_paired_judge(c, rule, &out, final, &err), 0);
	assert_string_equal(out.key, c->c.key);
	assert_string_equal(out.metric, "time_s");
	return out;
}

static struct assay_paired_rule usual_rule(void)
{
	return assay_paired_rule_of(0.01, 0.025, 1, 0.005, 0.3, MAX_PAIRS);
}

static void rule_of_a_family(void **state)
{
	struct assay_paired_rule r = assay_paired_rule_of(0.01, 0.025, 40, 0.005, 0.3, 24);

	(void)state;
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
	{ "just on the margin", 0.005, 0.001, 1, 24, ASSAY_INCONCLUSIVE, true, 24, "after 24 pairs it may be " },
	{ "too noisy to say", 0.001, 0.02, 1, 24, ASSAY_INCONCLUSIVE, true, 24, "after 24 pairs it may be " },
	{ "too early to say", 0, 0.0002, 1, 6, ASSAY_INCONCLUSIVE, false, 6,
	  "6 usable process pairs, a regression takes at least 8" },
	{ "no pair yet", 0, 0, 1, 0, ASSAY_INCONCLUSIVE, false, 0,
	  "0 usable process pairs, a regression takes at least 8" },
	{ "one pair", 0.5, 0, 1, 1, ASSAY_INCONCLUSIVE, false, 1, NULL },
	{ "may still be decided", 0.005, 0.001, 1, 20, ASSAY_INCONCLUSIVE, false, 20, NULL },
	{ "pairs beyond the last do not count", 0.005, 0.001, 1, 40, ASSAY_INCONCLUSIVE, true, 24, NULL },
};

static void verdicts_by_time(void **state)
{
	(void)state;
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

/* A slowdown of what is called the smallest detectable is detected by the same pairs. */
static void smallest_detectable(void **state)
{
	const struct assay_paired_rule rule = usual_rule();
	struct assay_comparison_case c;
	struct assay_gate_case g;
	bool final;

	(void)state;
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
static void prefixes_agree_with_the_whole(void **state)
{
	unsigned decided[ASSAY_N_VERDICTS] = { 0 };

	(void)state;
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
			/* until then nothing, unless what disturbed the head cannot be all that makes it slow */
			assert_true(final || part.verdict == ASSAY_INCONCLUSIVE ||
				    (part.verdict == ASSAY_REGRESSED && part.dropped_frac > rule.max_dropped_frac));
		}
		assert_int_equal(part.verdict, whole.verdict);
		assert_int_equal(part.pairs, whole.pairs);
		assert_true(part.ratio == whole.ratio && part.ci_lo == whole.ci_lo && part.ci_hi == whole.ci_hi);
		assert_true(part.dropped_frac == whole.dropped_frac);
		assert_string_equal(part.reason, whole.reason);
		decided[whole.verdict]++;
		c.n_pairs = MAX_PAIRS;
		paired_release(&c);
	}
	assert_true(decided[ASSAY_PASS] > 20 && decided[ASSAY_REGRESSED] > 20 && decided[ASSAY_IMPROVED] > 20 &&
		    decided[ASSAY_INCONCLUSIVE] > 20);
}

/* The last pair is a look even when others were unusable. */
static void last_pair_is_a_look(void **state)
{
	const struct assay_paired_rule rule = usual_rule();
	struct assay_comparison_case c;
	struct assay_gate_case g;
	bool final;

	(void)state;
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

static void same_code(void **state)
{
	static const struct {
		double slowdown;
		enum assay_control control;
		uint64_t extra;
		enum assay_verdict want;
		const char *reason;
	} rows[] = {
		{ 0.05, ASSAY_CONTROL_NONE, 0, ASSAY_PASS, "same code; +5.0" },
		{ -0.05, ASSAY_CONTROL_NONE, 0, ASSAY_PASS, "same code; -5.0" },
		{ 0, ASSAY_CONTROL_NONE, 0, ASSAY_PASS, "same code; " },
		/* controls exist to find that out */
		{ 0.05, ASSAY_CONTROL_AA, 0, ASSAY_REGRESSED, "5.0" },
		{ 0.05, ASSAY_CONTROL_SLOWER, 1, ASSAY_REGRESSED, "5.0" },
	};
	const struct assay_paired_rule rule = usual_rule();

	(void)state;
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
	{ "lost case", true, false, "", "", 0, 0, ASSAY_NOT_MEASURED, ASSAY_EVIDENCE_NONE,
	  "the head has no such case any more" },
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

static void verdicts_without_time(void **state)
{
	const struct assay_paired_rule rule = usual_rule();

	(void)state;
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

/* ---- dropping ---- */

static const struct {
	const char *name;
	uint64_t ns;             /* of each of the four samples */
	struct assay_sample one; /* what one of them saw: flags, switches, steal_ticks */
	int kind;                /* bit of enum assay_disturb that it is dropped for; -1: kept */
} blocks[] = {
	{ "undisturbed", 1000000, { 0 }, -1 },
	{ "migration", 1000000, { .flags = ASSAY_DISTURB_MIGRATION }, 1 },
	{ "throttled", 1000000, { .flags = ASSAY_DISTURB_THROTTLE }, 4 },
	{ "a page fault changes nothing", 1000000, { .flags = ASSAY_DISTURB_FAULT, .faults = 9 }, -1 },
	{ "a switch in 4 ms", 1000000, { .flags = ASSAY_DISTURB_SWITCH, .switches = 1 }, 0 },
	{ "a switch in 52 ms is what any machine has", 13000000, { .flags = ASSAY_DISTURB_SWITCH, .switches = 1 }, -1 },
	{ "two are not", 13000000, { .switches = 2 }, 0 },
	{ "a tick of steal in 0.4 s", 100000000, { .flags = ASSAY_DISTURB_STEAL, .steal_ticks = 1 }, 2 },
	{ "a tick of steal in 2 s is below 2 %", 500000000, { .steal_ticks = 1 }, -1 },
	{ "a clock that stood still", 0, { 0 }, -2 },
};

static void blocks_are_dropped(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(blocks); i++)
		for (int where = 0; where < 4; where++) {
			struct assay_comparison_case c;
			struct assay_pair_estimate e;
			double tmp[3];

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
			if (e.n_dropped != (blocks[i].kind != -1))
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

/* A block is one ratio of sums; half of the blocks must be clean. */
static void estimate(void **state)
{
	struct assay_comparison_case c;
	struct assay_pair_estimate e;
	double tmp[4];
	struct assay_sample *base, *head;

	(void)state;
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
	assert_true(e.usable && e.log_ratio == 0 && e.n_dropped == 0);

	head[0].ns = 2000; /* log(3020/2030), 0, 0, 0 */
	head[2].ns = 3000; /* and log(4030/2030) */
	e = assay_pair_estimate(&c.pairs[0], tmp);
	assert_true(fabs(e.log_ratio - log(3020.0 / 2030) / 2) < 1e-12);

	base[4].flags = head[7].flags = ASSAY_DISTURB_MIGRATION;
	e = assay_pair_estimate(&c.pairs[0], tmp);
	assert_int_equal(e.n_dropped, 2);
	assert_true(e.usable && fabs(e.log_ratio - (log(3020.0 / 2030) + log(4030.0 / 2030)) / 2) < 1e-12);
	base[0].flags = ASSAY_DISTURB_MIGRATION;
	assert_false(assay_pair_estimate(&c.pairs[0], tmp).usable);
	c.pairs[0].n_blocks = 0;
	assert_false(assay_pair_estimate(&c.pairs[0], tmp).usable);
	c.pairs[0].n_blocks = 4;
	paired_release(&c);
}

/* Disturbances are spread by chance; neither the side they hit nor what the times were changes what is dropped. */
static void dropping_is_blind(void **state)
{
	struct assay_comparison_case c, swapped;
	double tmp[40];

	(void)state;
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

/* A head that is many times slower is seen through any disturbance that could not have taken so long. */
static void far_slower_cannot_hide(void **state)
{
	static const struct {
		double slowdown;
		enum assay_verdict want;
	} rows[] = { { 9.0, ASSAY_REGRESSED }, { 0.02, ASSAY_INCONCLUSIVE } };
	const struct assay_paired_rule rule = usual_rule();

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_comparison_case c;
		struct assay_gate_case g;
		bool final;

		paired_make(&c, "op/variant", MAX_PAIRS, BLOCKS);
		/* every block: one switch, a millisecond of samples that take ten times that */
		for (size_t k = 0; k < c.n_pairs; k++) {
			for (size_t b = 0; b < 2 * BLOCKS; b++) {
				c.pairs[k].side[ASSAY_BASE].samples[b].ns = 1000000 + k;
				c.pairs[k].side[ASSAY_HEAD].samples[b].ns = (uint64_t)(1e6 * (1 + rows[i].slowdown));
				c.pairs[k].side[ASSAY_HEAD].samples[b].switches = 1;
			}
		}
		g = judge(&c, &rule, &final);
		assert_true(final && g.dropped_frac == 1);
		if (g.verdict != rows[i].want)
			fail_msg("%g: %s: %s", rows[i].slowdown, assay_verdict_name(g.verdict), g.reason);
		paired_release(&c);
	}
}

static void too_much_was_dropped(void **state)
{
	static const struct {
		uint32_t flag;
		uint32_t switches, steal;
		const char *kind;
	} rows[] = {
		{ ASSAY_DISTURB_MIGRATION, 0, 0, "migrations" },
		{ ASSAY_DISTURB_THROTTLE, 0, 0, "throttling" },
		{ 0, 1000, 0, "involuntary switches" },
		{ 0, 0, 50, "steal" },
	};
	const struct assay_paired_rule rule = usual_rule();

	(void)state;
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
				assert_non_null(strstr(g.reason, "whatever that took"));
			} else {
				snprintf(want, sizeof(want), "host too noisy: %u %% of blocks disturbed, mostly by %s",
					 bad > 5 ? 100 : bad * 10, rows[i].kind);
				assert_int_equal(g.verdict, ASSAY_INCONCLUSIVE);
				assert_string_equal(g.reason, want);
			}
			assert_int_equal(g.pairs, bad > 5 ? 0 : bad == 3 ? 8 : MAX_PAIRS);
			paired_release(&c);
		}
}

static void spread(void **state)
{
	struct assay_comparison_case c;
	struct assay_err err;
	double sd;
	size_t n;

	(void)state;
	paired_make(&c, "op/variant", 4, 2);
	paired_set(&c, 0, 0.001);
	paired_set(&c, 1, 0.004);
	paired_set(&c, 2, 0.5);
	paired_set(&c, 3, 0.001);
	for (size_t s = 0; s < 4; s++)
		c.pairs[2].side[ASSAY_HEAD].samples[s].flags = ASSAY_DISTURB_THROTTLE;
	assert_int_equal(assay_paired_spread(&c, &sd, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_true(fabs(sd - 0.003 / sqrt(3)) < 1e-8);
	paired_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rule_of_a_family),
		cmocka_unit_test(verdicts_by_time),
		cmocka_unit_test(smallest_detectable),
		cmocka_unit_test(prefixes_agree_with_the_whole),
		cmocka_unit_test(last_pair_is_a_look),
		cmocka_unit_test(same_code),
		cmocka_unit_test(verdicts_without_time),
		cmocka_unit_test(blocks_are_dropped),
		cmocka_unit_test(estimate),
		cmocka_unit_test(dropping_is_blind),
		cmocka_unit_test(far_slower_cannot_hide),
		cmocka_unit_test(too_much_was_dropped),
		cmocka_unit_test(spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
