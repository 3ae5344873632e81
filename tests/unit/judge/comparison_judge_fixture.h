/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up comparisons and their verdicts, for the tests of the judge of whole comparisons. */
#ifndef ASSAY_TESTS_COMPARISON_JUDGE_FIXTURE_H
#define ASSAY_TESTS_COMPARISON_JUDGE_FIXTURE_H

#include "exact_fixture.h"
#include "judge/comparison_judge.h"
#include "judge_fixture.h"
#include "paired_fixture.h"

#define PAIRS 24

/* One case of a made-up comparison; all-zero is an unchanged one. */
struct made {
	double slowdown;
	enum assay_control control;
	double injected;
	bool lost, unmeasured, crashed, added;
	const char *difference;
};

static inline struct assay_comparison make_comparison(const struct made *cases, size_t n)
{
	struct assay_comparison cmp = { .id = 7,
					.rule = ASSAY_JUDGE_RULE,
					.base = "v1 (aaaa)",
					.head = "v2 (bbbb)",
					.alpha = 0.01,
					.max_pairs = PAIRS,
					.started_ns = 1000000000,
					.ended_ns = 3500000000,
					.n_cases = n };

	cmp.cases = calloc(n + 1, sizeof(*cmp.cases));
	for (size_t i = 0; i < n; i++) {
		static const double deviation[4] = { 1, -1, 0.5, -0.5 };
		struct assay_comparison_case *c = &cmp.cases[i];

		paired_make(c, "", cases[i].unmeasured || cases[i].lost ? 0 : cases[i].added ? 1 : PAIRS, 2);
		c->c = make_case("stream.read", i ? "avx2" : "ref", 8 + (int64_t)i, 1, false);
		for (size_t k = 0; k < c->n_pairs; k++)
			paired_set(c, k, log1p(cases[i].slowdown) + 0.0005 * deviation[k % 4]);
		c->control = cases[i].control;
		c->injected_frac = cases[i].injected;
		cmp.family += c->control == ASSAY_CONTROL_NONE;
		c->in_head = !cases[i].lost;
		c->in_base = !cases[i].added;
		if (cases[i].difference)
			snprintf(c->difference, sizeof(c->difference), "%s", cases[i].difference);
		if (cases[i].crashed) {
			c->pairs[0].side[ASSAY_HEAD].status = ASSAY_STATUS_CRASHED;
			snprintf(c->pairs[0].side[ASSAY_HEAD].reason, 512, "signal 11");
		}
	}
	return cmp;
}

static inline void release(struct assay_comparison *cmp, struct assay_gate_report *r)
{
	for (size_t i = 0; i < cmp->n_cases; i++)
		paired_release(&cmp->cases[i]);
	free(cmp->cases);
	assay_gate_report_release(r);
}

#define SAME                                                                                                           \
	{                                                                                                              \
		.slowdown = 0                                                                                          \
	}
#define AA                                                                                                             \
	{                                                                                                              \
		.control = ASSAY_CONTROL_AA                                                                            \
	}
#define SLOWER                                                                                                         \
	{                                                                                                              \
		.slowdown = 0.02, .control = ASSAY_CONTROL_SLOWER, .injected = 0.02                                    \
	}

static const char *countable_names[] = { "d1_hit_rate", "PAPI_L1_DCM" }, *countable_units[] = { "1", "1" },
		  *countable_groups[] = { "cache", "cache" };
static const struct assay_countable countable = { .names = { .v = (char **)countable_names, .n = 2 },
						  .units = { .v = (char **)countable_units, .n = 2 },
						  .groups = { .v = (char **)countable_groups, .n = 2 } };

static inline struct assay_gate_report judge(const struct assay_comparison *cmp, const struct assay_policy *p,
					     bool strict)
{
	const struct assay_policy usual = assay_policy_default();
	struct assay_gate_report r;
	struct assay_err err;

	assert_int_equal(
		assay_comparison_judge(cmp, p ? p : &usual,
				       &(struct assay_comparison_judging){ .strict = strict, .countable = &countable },
				       &r, &err),
		0);
	return r;
}

#endif
