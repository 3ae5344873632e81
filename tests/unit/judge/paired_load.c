/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paired judge beside a load. Simulated is a core that busy programs share with the two workers: for every few
 * milliseconds that a worker has it, it waits for the turns of all others, and fills its caches again afterwards.
 */
#include "paired_judge_fixture.h"
#include "draws.h"

#define TURN_NS 3e6 /* that a program keeps the core, on average */
#define NOISE   0.01
#define BETWEEN 0.002
#define BLOCK_S 16 /* of a pair */

enum clocks { TOLD, COUNTED }; /* does the kernel tell waits, or switches alone? */

struct load {
	unsigned programs;
	enum clocks clocks;
	double refill_ns[2];
	double base_ns; /* of an undisturbed sample */
};

/* The core, and how long the worker may keep it yet. */
struct core {
	const struct load *load;
	double left_ns;
};

static void run_sample(struct core *k, struct draws *d, int side, double ns, struct assay_sample *s)
{
	double waited = 0, all = 0;

	*s = (struct assay_sample){ .iterations = 1, .flags = k->load->clocks == TOLD ? ASSAY_SAMPLE_WAIT_TOLD : 0 };
	while (k->load->programs && ns > k->left_ns) {
		const double wait = k->load->programs * TURN_NS * (0.5 + draw_uniform(d));

		ns += k->load->refill_ns[side] - k->left_ns;
		all += k->left_ns;
		waited += wait;
		s->switches++;
		k->left_ns = TURN_NS * (0.5 + draw_uniform(d));
	}
	k->left_ns -= ns;
	s->ns = (uint64_t)(all + ns + waited);
	s->waited_ns = k->load->clocks == TOLD ? (uint64_t)waited : 0;
}

static void run_pair(struct assay_comparison_case *c, size_t i, const struct load *load, double log_ratio,
		     struct draws *d)
{
	struct core core = { load, TURN_NS * draw_uniform(d) };
	const double pair = log_ratio + BETWEEN * draw_normal(d);
	struct assay_pair *p = &c->pairs[i];

	for (size_t b = 0; b < p->n_blocks; b++) {
		const int first = draw_word(d) & 1;

		for (int k = 0; k < 4; k++) {
			const int side = k == 1 || k == 2 ? !first : first;
			const double ns = load->base_ns * exp(NOISE * draw_normal(d) + (side == ASSAY_HEAD ? pair : 0));

			run_sample(&core, d, side, ns, &p->side[side].samples[2 * b + (size_t)(k / 2)]);
		}
	}
}

/* Judged at looks, as a comparison is, until it is final. */
static struct assay_gate_case run_case(const struct load *load, double ratio, struct draws *d)
{
	const struct assay_paired_rule rule = usual_rule();
	struct assay_comparison_case c;
	struct assay_gate_case g = { 0 };
	bool final = false;

	paired_make(&c, "op/variant", MAX_PAIRS, BLOCK_S);
	for (size_t i = 0; i < MAX_PAIRS && !final; i++) {
		run_pair(&c, i, load, log(ratio), d);
		c.n_pairs = i + 1;
		if (assay_sequential_is_look(i + 1, false, rule.alpha_pass, MAX_PAIRS))
			g = judge(&c, &rule, &final);
	}
	c.n_pairs = MAX_PAIRS;
	paired_release(&c);
	return g;
}

/* A clear change is decided however much of it was disturbed, with a lower bound that is true. */
TEST(clear_changes_are_decided)
{
	static const double ratios[] = { 0.403, 1 / 6.21, 1 / 2.5, 0.1, 10, 2.5, 6 };
	static const struct load loads[] = {
		{ 1, TOLD, { 0, 0 }, 4e5 },        { 3, TOLD, { 0, 0 }, 4e5 },     { 3, TOLD, { 2e5, 2e5 }, 4e5 },
		{ 3, TOLD, { 2e5, 2e5 }, 1e7 },    { 6, TOLD, { 3e5, 1e5 }, 2e6 }, { 3, TOLD, { 0, 0 }, 5e7 },
		{ 1, COUNTED, { 1e5, 1e5 }, 4e5 },
	};
	unsigned much = 0;

	for (size_t i = 0; i < N_OF(ratios); i++)
		for (size_t k = 0; k < N_OF(loads); k++)
			for (unsigned n = 0; n < 20; n++) {
				struct draws d = { .seed = 100 * i + 10000 * k + n };
				const double x = ratios[i];
				const struct assay_gate_case g = run_case(&loads[k], x, &d);

				if (g.verdict != (x < 1 ? ASSAY_IMPROVED : ASSAY_REGRESSED))
					fail_msg("%g, load %zu: %s: %s", x, k, assay_verdict_name(g.verdict), g.reason);
				if (isfinite(g.ci_lo) && !(x < 1 ? g.ci_hi < 1 : g.ci_lo > 1))
					fail_msg("%g, load %zu: %g to %g", x, k, g.ci_lo, g.ci_hi);
				much += g.dropped_frac > 0.3;
			}
	assert_true(much > 500);
}

/* The same code is never called changed, nor is what a load makes slower on one side alone by filling its caches. */
TEST(same_code_beside_load)
{
	static const struct load loads[] = {
		{ 1, TOLD, { 0, 0 }, 4e5 },     { 3, TOLD, { 0, 0 }, 4e5 },        { 3, TOLD, { 2e5, 2e5 }, 4e5 },
		{ 3, TOLD, { 2e5, 2e5 }, 1e7 }, { 6, TOLD, { 3e5, 0 }, 2e6 },      { 6, TOLD, { 0, 3e5 }, 2e6 },
		{ 3, TOLD, { 0, 1e6 }, 1e7 },   { 1, COUNTED, { 1e5, 1e5 }, 4e5 }, { 3, COUNTED, { 1e5, 1e5 }, 1e7 },
		{ 3, TOLD, { 2e5, 2e5 }, 1e5 },
	};

	for (size_t k = 0; k < N_OF(loads); k++) {
		unsigned n[ASSAY_N_VERDICTS] = { 0 };

		for (unsigned i = 0; i < 200; i++) {
			struct draws d = { .seed = 500 + 10000 * k + i };

			n[run_case(&loads[k], 1, &d).verdict]++;
		}
		if (n[ASSAY_REGRESSED] || n[ASSAY_IMPROVED])
			fail_msg("load %zu: %u regressed, %u improved", k, n[ASSAY_REGRESSED], n[ASSAY_IMPROVED]);
	}
}

UNIT_GROUP(NULL, NULL)
