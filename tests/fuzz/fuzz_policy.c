/* SPDX-License-Identifier: Apache-2.0 */
/* Policies, and what they say of a case. */
#include "fuzz.h"
#include "judge/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct assay_case c = { .op = "matmul.f32", .variant = "ref", .threads = 4, .all_threads = true };
	char *text = fuzz_string(data, size);
	struct assay_policy p = { 0 };
	struct assay_err err = { 0 };
	int rc;

	FUZZ_CHECK(!assay_case_make_key(&c, NULL));
	rc = assay_policy_parse(&p, text, "policy", &err);
	fuzz_check_refusal(rc, &err);
	free(text);
	if (rc)
		return 0;
	FUZZ_CHECK(p.alpha > 0 && p.alpha < 1 && p.budget_ns > 0);
	FUZZ_CHECK(assay_policy_margin(&p, &c) > 0);
	FUZZ_CHECK(assay_policy_paired_margin(&p, &c) > 0);
	for (int e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
		FUZZ_CHECK(assay_policy_exact_allowed(&p, &c, (enum assay_exact_event)e, UINT64_MAX) >= 0);
	for (size_t i = 0; i < p.n_limits; i++)
		assay_policy_selects(p.limits[i].cases, &c);
	assay_policy_release(&p);
	return 0;
}
