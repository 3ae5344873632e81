/* SPDX-License-Identifier: Apache-2.0 */
/* Reports made by hand, which the tests of all gate emitters share. */
#ifndef ASSAY_TESTS_GATE_FIXTURE_H
#define ASSAY_TESTS_GATE_FIXTURE_H

#include "emit_fixture.h"

#include <math.h>

#define NO_NUMBERS                                                                                                     \
	.ratio = NAN, .ci_lo = NAN, .ci_hi = NAN, .margin_frac = NAN, .dropped_frac = NAN,                             \
	.smallest_detectable_frac = NAN, .value = NAN, .limit = NAN
#define NUMBERS(at, lo, hi)                                                                                            \
	.ratio = at, .ci_lo = lo, .ci_hi = hi, .margin_frac = 0.005, .dropped_frac = 0.02,                             \
	.smallest_detectable_frac = 0.004, .value = NAN, .limit = NAN

/* One of each verdict, mildest first, so that an order in the output is made and not copied. */
static const struct assay_gate_case one_of_each[] = {
	{ .key = "matmul.f32/fine/m=1/t=1/warm",
	  .metric = "time_s",
	  .evidence = ASSAY_EVIDENCE_PAIRED,
	  .verdict = ASSAY_PASS,
	  .reason = "shown to be at most 0.31 % slower (limit 0.5 %)",
	  .pairs = 9,
	  NUMBERS(1.0003, 0.9975, 1.0031) },
	{ .key = "matmul.f32/better/m=1/t=1/warm",
	  .metric = "time_s",
	  .evidence = ASSAY_EVIDENCE_PAIRED,
	  .verdict = ASSAY_IMPROVED,
	  .reason = "8.00 % faster, shown to be more than 0.5 %",
	  .pairs = 7,
	  NUMBERS(0.92, 0.91, 0.93) },
	{ .key = "matmul.f32/noisy/m=1/t=1/warm",
	  .metric = "time_s",
	  .evidence = ASSAY_EVIDENCE_PAIRED,
	  .verdict = ASSAY_INCONCLUSIVE,
	  .reason = "host too noisy: 31 % of blocks disturbed, mostly by steal",
	  .pairs = 12,
	  NUMBERS(1.004, 0.99, 1.02) },
	{ .key = "matmul.f32/new/m=1/t=1/warm",
	  .metric = "time_s",
	  .evidence = ASSAY_EVIDENCE_PAIRED,
	  .verdict = ASSAY_INCOMPARABLE,
	  .reason = "base plugin has ABI 2.0, this harness takes 1.0",
	  NO_NUMBERS },
	{ .key = "matmul.f32/slow/m=1/t=1/warm",
	  .metric = "time_s",
	  .evidence = ASSAY_EVIDENCE_PAIRED,
	  .verdict = ASSAY_REGRESSED,
	  .reason = "1.23 % slower, shown to be more than 0.5 %",
	  .pairs = 7,
	  NUMBERS(1.0123, 1.011, 1.0136) },
	{ .key = "generate.decode/avx2/size=tiny/t=1/warm",
	  .metric = "tokens_per_s",
	  .evidence = ASSAY_EVIDENCE_NONE,
	  .verdict = ASSAY_REGRESSED,
	  .reason = "tokens_per_s is 41, floor 50",
	  .ratio = NAN,
	  .ci_lo = NAN,
	  .ci_hi = NAN,
	  .margin_frac = NAN,
	  .dropped_frac = NAN,
	  .smallest_detectable_frac = NAN,
	  .value = 41,
	  .limit = 50 },
	{ .key = "quantize.i2_s/gone/-/t=1/cold",
	  .metric = "status",
	  .evidence = ASSAY_EVIDENCE_NONE,
	  .verdict = ASSAY_NOT_MEASURED,
	  .reason = "killed by SIGSEGV",
	  NO_NUMBERS },
	{ .key = "quantize.i2_s/wrong/-/t=1/cold",
	  .metric = "digest",
	  .evidence = ASSAY_EVIDENCE_EXACT,
	  .verdict = ASSAY_WRONG_RESULT,
	  .reason = "element 17 is 3, the base has 2",
	  NO_NUMBERS },
};
#define N_OF_EACH (N_OF(one_of_each))

static const struct assay_gate_control good_controls[] = {
	{ .key = "matmul.f32/fine/m=1/t=1/warm",
	  .kind = ASSAY_CONTROL_AA,
	  .verdict = ASSAY_PASS,
	  .ratio = 0.9999,
	  .ci_lo = 0.998,
	  .ci_hi = 1.002,
	  .pairs = 9,
	  .ok = true,
	  .reason = "shown" },
	{ .key = "matmul.f32/fine/m=1/t=1/warm",
	  .kind = ASSAY_CONTROL_SLOWER,
	  .injected_frac = 0.02,
	  .verdict = ASSAY_REGRESSED,
	  .ratio = 1.0201,
	  .ci_lo = 1.018,
	  .ci_hi = 1.022,
	  .pairs = 5,
	  .ok = true,
	  .reason = "2.01 % slower" },
};
static const struct assay_gate_control bad_controls[] = {
	{ .key = "matmul.f32/fine/m=1/t=1/warm",
	  .kind = ASSAY_CONTROL_AA,
	  .verdict = ASSAY_REGRESSED,
	  .ratio = 1.031,
	  .ci_lo = 1.02,
	  .ci_hi = 1.04,
	  .pairs = 5,
	  .ok = false,
	  .reason = "3.10 % slower" },
	{ .key = "matmul.f32/fine/m=1/t=1/warm",
	  .kind = ASSAY_CONTROL_SLOWER,
	  .injected_frac = 0.02,
	  .verdict = ASSAY_INCONCLUSIVE,
	  .ratio = NAN,
	  .ci_lo = NAN,
	  .ci_hi = NAN,
	  .ok = true },
};

/* Emitters read a report and nothing more: constant rows will do. */
static inline struct assay_gate_report report_of(const struct assay_gate_case *cases, size_t n)
{
	return (struct assay_gate_report){ .verdict = ASSAY_WRONG_RESULT,
					   .exit = ASSAY_EXIT_WRONG_RESULT,
					   .base = "main (1234567)",
					   .head = "8c1f0aa+",
					   .alpha = 0.01,
					   .cases = (struct assay_gate_case *)(uintptr_t)cases,
					   .n_cases = n,
					   .comparison_id = 12,
					   .rule = 3,
					   .seconds = 93.4 };
}

static inline void set_controls(struct assay_gate_report *r, const struct assay_gate_control *v, bool untrusted)
{
	r->controls = (struct assay_gate_control *)(uintptr_t)v;
	r->n_controls = 2;
	r->untrusted = untrusted;
}

/* @n rows of @verdict with long keys and reasons. The caller frees them. */
static inline struct assay_gate_case *many_cases(size_t n, enum assay_verdict verdict)
{
	struct assay_gate_case *c = calloc(n, sizeof(*c));

	assert_non_null(c);
	for (size_t i = 0; i < n; i++) {
		c[i] = (struct assay_gate_case){ .metric = "time_s",
						 .evidence = ASSAY_EVIDENCE_PAIRED,
						 .verdict = verdict,
						 .pairs = 5,
						 NUMBERS(1.001, 0.99, 1.01) };
		snprintf(c[i].key, sizeof(c[i].key),
			 "matmul.ternary/avx512vnni/m=4096,k=14336,n=%zu,more=%060zu/t=1/warm", i, i);
		memset(c[i].reason, 'x', 100);
	}
	return c;
}

#endif
