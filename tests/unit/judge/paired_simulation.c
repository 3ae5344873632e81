/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paired judge against simulated machines of which the truth is known. All draws come from Philox by a fixed seed,
 * so that every count is exact; beside it stands what was promised.
 */
#include "unit.h"
#include "draws.h"
#include "judge/paired.h"
#include "paired_fixture.h"
#include "stats/distributions.h"
#include "stats/sequential.h"

#define MAX_PAIRS    24
#define MOST_DROPPED 0.3
/* to see what the counts are after a change of the method on purpose, compile with -DPRINT=print_message */
#ifndef PRINT
#define PRINT fail_msg
#endif

/* ---- what differs from pair to pair; mean 0, standard deviation 1 ---- */

enum between { NORMAL, BIMODAL, SKEWED, LUCKY, STUDENT };

static double effect(struct draws *d, enum between kind)
{
	switch (kind) {
	case BIMODAL: /* half of the layouts are lucky */
		return draw_uniform(d) < 0.5 ? -1 : 1;
	case SKEWED: /* one in four is unlucky */
		return draw_uniform(d) < 0.25 ? sqrt(3) : -sqrt(1.0 / 3);
	case LUCKY: /* one in four is lucky */
		return -effect(d, SKEWED);
	case STUDENT:
		return draw_heavy(d);
	default:
		return draw_normal(d);
	}
}

/* ---- noise of single samples ---- */

enum noise { QUIET, GAUSS, HEAVY, SPIKES, TWO_SPEEDS, DRIFT, WALK, AUTOCORRELATED, BURSTS, N_NOISE };

static const char *const noise_names[N_NOISE] = { "none",  "normal",      "t with 3 df",    "Pareto spikes", "bimodal",
						  "drift", "random walk", "autocorrelated", "bursts" };

struct machine {
	enum noise kind;
	double slope, level; /* DRIFT, WALK: of both sides together */
	double memory[2];    /* AUTOCORRELATED: of each side */
	double burst;        /* BURSTS: of both sides, as long as it lasts */
};

#define SAMPLE_SD 0.011 /* interquartile range 1.5 % */

/* Logarithm of what the machine adds to the next sample, which is one of @side. */
static double disturb(struct machine *m, struct draws *d, int side)
{
	double e = SAMPLE_SD * draw_normal(d);

	switch (m->kind) {
	case HEAVY:
		return SAMPLE_SD * sqrt(3) * effect(d, STUDENT);
	case SPIKES: /* one in 50, half as long again in the median, some many times as long */
		return draw_uniform(d) < 0.02 ? e + log1p(0.2 * pow(draw_uniform(d), -1 / 1.5)) : e;
	case TWO_SPEEDS:
		return 0.3 * e + 0.015 * effect(d, BIMODAL);
	case DRIFT:
		return e + (m->level += m->slope);
	case WALK:
		return e + (m->level += 0.003 * draw_normal(d));
	case AUTOCORRELATED:
		return m->memory[side] = 0.9 * m->memory[side] + sqrt(1 - 0.81) * e;
	case BURSTS: /* on average 40 blocks apart and 25 blocks long */
		if (m->burst > 0)
			m->burst = draw_uniform(d) < 0.01 ? 0 : m->burst;
		else
			m->burst = draw_uniform(d) < 0.00625 ? log(1.2 + 0.2 * draw_uniform(d)) : 0;
		return e + m->burst;
	case QUIET:
		return 0;
	default:
		return e;
	}
}

struct truth {
	double slowdown; /* of the head */
	enum between between;
	double between_sd;
	enum noise noise;
};

static void simulate_pair(struct assay_comparison_case *c, size_t i, const struct truth *t, struct draws *d)
{
	struct machine m = { .kind = t->noise, .slope = 0.0005 * draw_normal(d) };
	double ratio = log1p(t->slowdown) + t->between_sd * effect(d, t->between);
	struct assay_pair *p = &c->pairs[i];

	if (t->noise == QUIET) {
		paired_set(c, i, ratio);
		return;
	}
	for (size_t b = 0; b < p->n_blocks; b++) {
		int first = draw_word(d) & 1;

		for (int k = 0; k < 4; k++) {
			int side = k == 1 || k == 2 ? !first : first;
			double ns = PAIRED_NS * exp(disturb(&m, d, side) + (side == ASSAY_HEAD ? ratio : 0));

			p->side[side].samples[2 * b + (size_t)(k / 2)].ns = (uint64_t)llround(ns);
		}
	}
}

struct counts {
	unsigned regressed, passed, improved, undecided;
};

/* Judge as a comparison does until it is decided; at looks only, and pairs that cost nothing all at once. */
static void simulate_case(struct assay_comparison_case *c, const struct truth *t, const struct assay_paired_rule *rule,
			  struct draws *d, struct counts *n)
{
	size_t have = c->n_pairs;
	struct assay_gate_case out;
	struct assay_err err;
	bool final = false;

	for (size_t i = 0; i < MAX_PAIRS && !final; i++) {
		simulate_pair(c, i, t, d);
		c->n_pairs = i + 1;
		if (i + 1 == MAX_PAIRS ||
		    (t->noise != QUIET && assay_sequential_is_look(i + 1, false, rule->alpha_pass, MAX_PAIRS)))
			assert_int_equal(assay_paired_judge(c, rule, &out, &final, &err), 0);
	}
	c->n_pairs = have;
	assert_true(final);
	switch (out.verdict) {
	case ASSAY_REGRESSED:
		n->regressed++;
		break;
	case ASSAY_PASS:
		n->passed++;
		break;
	case ASSAY_IMPROVED:
		n->improved++;
		break;
	default:
		assert_int_equal(out.verdict, ASSAY_INCONCLUSIVE);
		n->undecided++;
	}
}

static void same_counts(const char *what, struct counts got, struct counts want)
{
	if (got.regressed != want.regressed || got.passed != want.passed || got.improved != want.improved ||
	    got.undecided != want.undecided)
		PRINT("%s: got { %u, %u, %u, %u }\n", what, got.regressed, got.passed, got.improved, got.undecided);
}

/* @k of @n does not contradict a rate of at most @rate. */
static void at_most(const char *what, unsigned k, unsigned n, double rate)
{
	if (assay_stats_binomial_ci(k, n, 0.98).lo > rate)
		PRINT("%s: %u of %u, promised were at most %g\n", what, k, n, rate);
}

/* ---- one number a pair: the test between pairs alone ---- */

static const struct {
	const char *name;
	enum between between;
	double sd, slowdown, margin;
	unsigned n;
	double regressed_most, passed_most;
	struct counts want;
} pair_level[] = {
#define A(name, between, sd, margin, n, ...)                                                                           \
	{                                                                                                              \
		name, between, sd, 0, margin, n, 0.01, 1, __VA_ARGS__                                                  \
	}
#define S(name, between, sd, slowdown, margin, n, ...)                                                                 \
	{                                                                                                              \
		name, between, sd, slowdown, margin, n, 1, 0.025, __VA_ARGS__                                          \
	}
	/* the same code: 1 % of REGRESSED were promised */
	A("no effect", NORMAL, 0, 0.005, 200, { 0, 200, 0, 0 }),
	A("normal 0.1", NORMAL, 0.001, 0.005, 400, { 0, 400, 0, 0 }),
	A("normal 0.2", NORMAL, 0.002, 0.005, 400, { 0, 400, 0, 0 }),
	A("normal 0.3", NORMAL, 0.003, 0.005, 400, { 0, 400, 0, 0 }),
	A("normal 0.5", NORMAL, 0.005, 0.005, 400, { 0, 385, 0, 15 }),
	A("bimodal 0.1", BIMODAL, 0.001, 0.005, 400, { 0, 400, 0, 0 }),
	A("bimodal 0.2", BIMODAL, 0.002, 0.005, 400, { 0, 400, 0, 0 }),
	A("bimodal 0.3", BIMODAL, 0.003, 0.005, 400, { 0, 400, 0, 0 }),
	A("bimodal 0.5", BIMODAL, 0.005, 0.005, 400, { 0, 398, 0, 2 }),
	A("bimodal 0.5, margin 0.3", BIMODAL, 0.005, 0.003, 400, { 1, 172, 2, 225 }),
	A("skewed 0.5", SKEWED, 0.005, 0.005, 400, { 0, 377, 0, 23 }),
	A("skewed 0.5, margin 0.3", SKEWED, 0.005, 0.003, 400, { 0, 229, 0, 171 }),
	A("heavy 0.5", STUDENT, 0.005, 0.005, 400, { 0, 383, 0, 17 }),
	/* on the border of the margin and beyond: 2.5 % of PASS were promised */
	S("border, no effect", NORMAL, 0, 0.005, 0.005, 200, { 0, 0, 0, 200 }),
	S("border, normal 0.05", NORMAL, 0.0005, 0.005, 0.005, 400, { 0, 0, 0, 400 }),
	S("border, normal 0.2", NORMAL, 0.002, 0.005, 0.005, 400, { 2, 6, 0, 392 }),
	S("border, normal 0.5", NORMAL, 0.005, 0.005, 0.005, 400, { 3, 4, 0, 393 }),
	S("border, bimodal 0.2", BIMODAL, 0.002, 0.005, 0.005, 400, { 6, 7, 0, 387 }),
	S("border, bimodal 0.5", BIMODAL, 0.005, 0.005, 0.005, 400, { 5, 7, 0, 388 }),
	S("border, heavy 0.2", STUDENT, 0.002, 0.005, 0.005, 400, { 0, 2, 0, 398 }),
	S("border, heavy 0.5", STUDENT, 0.005, 0.005, 0.005, 400, { 1, 0, 0, 399 }),
	S("+0.5, margin 0.3, bimodal 0.3", BIMODAL, 0.003, 0.005, 0.003, 400, { 175, 9, 0, 216 }),
	S("+0.5, margin 0.3, bimodal 0.5", BIMODAL, 0.005, 0.005, 0.003, 400, { 40, 3, 0, 357 }),
	S("+0.5, margin 0.3, skewed 0.3", SKEWED, 0.003, 0.005, 0.003, 400, { 153, 0, 0, 247 }),
	S("+0.5, margin 0.3, heavy 0.3", STUDENT, 0.003, 0.005, 0.003, 400, { 283, 0, 0, 117 }),
	A("lucky 0.5", LUCKY, 0.005, 0.005, 400, { 0, 400, 0, 0 }),
	S("border, lucky 0.2", LUCKY, 0.002, 0.005, 0.005, 400, { 52, 0, 0, 348 }),
	S("border, lucky 0.5", LUCKY, 0.005, 0.005, 0.005, 400, { 48, 0, 0, 352 }),
#undef A
#undef S
};

TEST(between_pairs)
{
	struct assay_comparison_case c;

	paired_make(&c, "op/variant", MAX_PAIRS, 1);
	for (size_t i = 0; i < N_OF(pair_level); i++) {
		const struct truth t = { pair_level[i].slowdown, pair_level[i].between, pair_level[i].sd, QUIET };
		const struct assay_paired_rule rule =
			assay_paired_rule_of(0.01, 0.025, 1, pair_level[i].margin, MOST_DROPPED, MAX_PAIRS);
		struct draws d = { .seed = 1000 + i };
		struct counts got = { 0 };

		for (unsigned k = 0; k < pair_level[i].n; k++)
			simulate_case(&c, &t, &rule, &d, &got);
		same_counts(pair_level[i].name, got, pair_level[i].want);
		at_most(pair_level[i].name, got.regressed, pair_level[i].n, pair_level[i].regressed_most);
		at_most(pair_level[i].name, got.passed, pair_level[i].n, pair_level[i].passed_most);
	}
	paired_release(&c);
}

/* ---- whole gates of many cases ---- */

#define FAMILY  60
#define N_GATES 200

static const struct {
	const char *name;
	enum between between;
	double sd, margin;
	unsigned failed; /* gates of 200 */
} gates[] = {
	{ "normal 0.5", NORMAL, 0.005, 0.005, 0 },
	{ "bimodal 0.5", BIMODAL, 0.005, 0.005, 0 },
	{ "skewed 0.5", SKEWED, 0.005, 0.005, 0 },
	{ "normal 0.5, margin 0.3", NORMAL, 0.005, 0.003, 0 },
	{ "bimodal 0.5, margin 0.3", BIMODAL, 0.005, 0.003, 0 },
	{ "heavy 0.5, margin 0.3", STUDENT, 0.005, 0.003, 0 },
};

/*
 * A case can be REGRESSED only where the mean of its pairs exceeds the margin at some look, so that the judge need not
 * be asked about the others; every hundredth is, all the same.
 */
static bool is_regressed(struct assay_comparison_case *c, const struct truth *t, const struct assay_paired_rule *rule,
			 struct draws *d, bool ask)
{
	struct assay_gate_case out;
	struct assay_err err;
	double x[MAX_PAIRS], sum = 0;
	bool final, may = false;

	for (size_t i = 0; i < MAX_PAIRS; i++) {
		x[i] = t->between_sd * effect(d, t->between);
		sum += x[i];
		may |= i >= 4 && sum > (double)(i + 1) * log1p(rule->margin_frac);
	}
	if (!may && !ask)
		return false;
	for (size_t i = 0; i < MAX_PAIRS; i++)
		paired_set(c, i, x[i]);
	assert_int_equal(assay_paired_judge(c, rule, &out, &final, &err), 0);
	assert_true(may || out.verdict != ASSAY_REGRESSED);
	return out.verdict == ASSAY_REGRESSED;
}

TEST(gates_of_many_cases)
{
	struct assay_comparison_case c;

	paired_make(&c, "op/variant", MAX_PAIRS, 1);
	for (size_t i = 0; i < N_OF(gates); i++) {
		const struct truth t = { 0, gates[i].between, gates[i].sd, QUIET };
		const struct assay_paired_rule rule =
			assay_paired_rule_of(0.01, 0.025, FAMILY, gates[i].margin, MOST_DROPPED, MAX_PAIRS);
		struct draws d = { .seed = 4000 + i };
		unsigned failed = 0;

		for (unsigned gate = 0; gate < N_GATES; gate++) {
			unsigned n = 0;

			for (unsigned k = 0; k < FAMILY; k++)
				n += is_regressed(&c, &t, &rule, &d, (gate * FAMILY + k) % 100 == 0);
			failed += n > 0;
		}
		if (failed != gates[i].failed)
			PRINT("%s: %u gates failed\n", gates[i].name, failed);
		at_most(gates[i].name, failed, N_GATES, 0.01);
	}
	paired_release(&c);
}

/* ---- every sample: what blocks and medians make of noise ---- */

static const struct {
	enum noise noise;
	double slowdown;
	unsigned n; /* of each of ten kinds of effect between pairs */
	struct counts want;
} sample_level[] = {
	{ GAUSS, 0, 20, { 0, 199, 0, 1 } },
	{ HEAVY, 0, 20, { 0, 199, 0, 1 } },
	{ SPIKES, 0, 20, { 0, 197, 0, 3 } },
	{ TWO_SPEEDS, 0, 20, { 0, 200, 0, 0 } },
	{ DRIFT, 0, 20, { 0, 198, 0, 2 } },
	{ WALK, 0, 20, { 0, 198, 0, 2 } },
	{ AUTOCORRELATED, 0, 20, { 0, 129, 0, 71 } },
	{ BURSTS, 0, 20, { 0, 196, 0, 4 } },
	{ GAUSS, -0.01, 5, { 0, 0, 50, 0 } },
	{ HEAVY, -0.01, 5, { 0, 0, 50, 0 } },
	{ SPIKES, -0.01, 5, { 0, 0, 50, 0 } },
	{ TWO_SPEEDS, -0.01, 5, { 0, 0, 50, 0 } },
	{ DRIFT, -0.01, 5, { 0, 1, 49, 0 } },
	{ WALK, -0.01, 5, { 0, 0, 50, 0 } },
	{ AUTOCORRELATED, -0.01, 5, { 0, 26, 24, 0 } },
	{ BURSTS, -0.01, 5, { 0, 2, 48, 0 } },
	{ GAUSS, 0.0051, 5, { 1, 1, 0, 48 } },
	{ HEAVY, 0.0051, 5, { 1, 0, 0, 49 } },
	{ SPIKES, 0.0051, 5, { 0, 0, 0, 50 } },
	{ TWO_SPEEDS, 0.0051, 5, { 0, 0, 0, 50 } },
	{ DRIFT, 0.0051, 5, { 0, 0, 0, 50 } },
	{ WALK, 0.0051, 5, { 0, 0, 0, 50 } },
	{ AUTOCORRELATED, 0.0051, 5, { 1, 0, 0, 49 } },
	{ BURSTS, 0.0051, 5, { 0, 0, 0, 50 } },
	{ GAUSS, 0.01, 5, { 49, 0, 0, 1 } },
	{ HEAVY, 0.01, 5, { 49, 0, 0, 1 } },
	{ SPIKES, 0.01, 5, { 49, 0, 0, 1 } },
	{ TWO_SPEEDS, 0.01, 5, { 45, 0, 0, 5 } },
	{ DRIFT, 0.01, 5, { 49, 0, 0, 1 } },
	{ WALK, 0.01, 5, { 49, 0, 0, 1 } },
	{ AUTOCORRELATED, 0.01, 5, { 32, 0, 0, 18 } },
	{ BURSTS, 0.01, 5, { 48, 0, 0, 2 } },
	{ GAUSS, 0.02, 5, { 50, 0, 0, 0 } },
	{ HEAVY, 0.02, 5, { 50, 0, 0, 0 } },
	{ SPIKES, 0.02, 5, { 50, 0, 0, 0 } },
	{ TWO_SPEEDS, 0.02, 5, { 50, 0, 0, 0 } },
	{ DRIFT, 0.02, 5, { 50, 0, 0, 0 } },
	{ WALK, 0.02, 5, { 50, 0, 0, 0 } },
	{ AUTOCORRELATED, 0.02, 5, { 50, 0, 0, 0 } },
	{ BURSTS, 0.02, 5, { 50, 0, 0, 0 } },
};

TEST(all_samples)
{
	static const double sds[] = { 0, 0.001, 0.002, 0.003, 0.005 };
	const struct assay_paired_rule rule = assay_paired_rule_of(0.01, 0.025, 1, 0.005, MOST_DROPPED, MAX_PAIRS);
	struct assay_comparison_case c;

	paired_make(&c, "op/variant", MAX_PAIRS, 40);
	for (size_t i = 0; i < N_OF(sample_level); i++) {
		struct draws d = { .seed = 2000 + i };
		double slowdown = sample_level[i].slowdown;
		unsigned n = 10 * sample_level[i].n;
		struct counts got = { 0 };
		char what[64];

		for (unsigned k = 0; k < n; k++) {
			const struct truth t = { slowdown, k & 1 ? BIMODAL : NORMAL, sds[k / 2 % 5],
						 sample_level[i].noise };

			simulate_case(&c, &t, &rule, &d, &got);
		}
		snprintf(what, sizeof(what), "%s, %+.2f %%", noise_names[sample_level[i].noise], slowdown * 100);
		same_counts(what, got, sample_level[i].want);
		if (slowdown <= 0.005)
			at_most(what, got.regressed, n, 0.01);
		if (slowdown >= 0.005)
			at_most(what, got.passed, n, 0.025);
		if (slowdown >= -0.005)
			at_most(what, got.improved, n, 0.01);
	}
	paired_release(&c);
}

/* ---- power: blocks and noise as they are measured ---- */

static const struct {
	enum noise noise;
	double between_sd, slowdown;
	unsigned family, n;
	struct counts want;
} power[] = {
	{ GAUSS, 0.0005, 0, 1, 20, { 0, 20, 0, 0 } },      { GAUSS, 0.002, 0, 1, 20, { 0, 20, 0, 0 } },
	{ SPIKES, 0.0015, 0, 20, 20, { 0, 20, 0, 0 } },    { BURSTS, 0.0015, 0, 20, 20, { 0, 20, 0, 0 } },
	{ GAUSS, 0.0005, 0.01, 1, 20, { 20, 0, 0, 0 } },   { GAUSS, 0.002, 0.01, 1, 20, { 20, 0, 0, 0 } },
	{ GAUSS, 0.002, 0.01, 20, 20, { 20, 0, 0, 0 } },   { GAUSS, 0.002, 0.01, 60, 20, { 20, 0, 0, 0 } },
	{ SPIKES, 0.0015, 0.01, 20, 20, { 20, 0, 0, 0 } }, { BURSTS, 0.0015, 0.01, 20, 20, { 20, 0, 0, 0 } },
};

TEST(finds_what_it_should)
{
	struct assay_comparison_case c;

	paired_make(&c, "op/variant", MAX_PAIRS, 350);
	for (size_t i = 0; i < N_OF(power); i++) {
		const struct assay_paired_rule rule =
			assay_paired_rule_of(0.01, 0.025, power[i].family, 0.005, MOST_DROPPED, MAX_PAIRS);
		const struct truth t = { power[i].slowdown, NORMAL, power[i].between_sd, power[i].noise };
		struct draws d = { .seed = 3000 + i };
		struct counts got = { 0 };
		unsigned right;
		char what[64];

		for (unsigned k = 0; k < power[i].n; k++)
			simulate_case(&c, &t, &rule, &d, &got);
		snprintf(what, sizeof(what), "%s, between %.2f %%, %+.0f %% of %u", noise_names[t.noise],
			 t.between_sd * 100, t.slowdown * 100, power[i].family);
		same_counts(what, got, power[i].want);
		right = t.slowdown > 0 ? got.regressed : got.passed;
		if (right < 0.95 * power[i].n)
			PRINT("%s: right in %u of %u\n", what, right, power[i].n);
	}
	paired_release(&c);
}

UNIT_GROUP(NULL, NULL)
