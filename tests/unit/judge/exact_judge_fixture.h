/* SPDX-License-Identifier: Apache-2.0 */
/* Counts made by hand, judged by a policy that a test writes. */
#ifndef ASSAY_TESTS_EXACT_JUDGE_FIXTURE_H
#define ASSAY_TESTS_EXACT_JUDGE_FIXTURE_H

#include "exact_fixture.h"

#include "judge/exact_judge.h"

static inline struct assay_policy policy_of(const char *text)
{
	struct assay_policy p;
	struct assay_err err = { 0 };

	if (assay_policy_parse(&p, text, "p.conf", &err))
		fail_msg("%s", err.text);
	return p;
}

/* Judge counts in which the first function of KEY_A has these instructions and misses against the fixture. */
static inline struct assay_gate_report judge(uint64_t instructions, uint64_t misses, const char *policy_text, bool base,
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

#endif
