/* SPDX-License-Identifier: Apache-2.0 */
/* One demand of the policy on one metric or count of a case, in a run and in a comparison alike. */
#ifndef ASSAY_JUDGE_LIMITS_H
#define ASSAY_JUDGE_LIMITS_H

#include "judge/policy.h"
#include "model/gate_report.h"
#include "model/result.h"

/* What a demand is held against. */
struct assay_limit_facts {
	double value; /* NaN: not measured */
	double base;  /* NaN: there is none */
	char source[ASSAY_SOURCE_MAX];
	bool estimated;           /* counted for a share of the time only */
	const char *why_no_value; /* NULL or "": nothing is known */
	const char *why_no_base;
};

/* The value of a metric, else of a count of that name, and its source; NaN and why not where there is neither. */
void assay_limit_value(const struct assay_metric *metrics, size_t n, const struct assay_counters *counters,
		       const char *name, struct assay_limit_facts *out);

/* Is this a case that the limit judges? */
bool assay_limit_applies(const struct assay_limit *l, const struct assay_limit_facts *f);

/* Fill evidence, value, limit, verdict and reason of @out. Counts are compared as they are, without statistics. */
void assay_limit_judge(const struct assay_limit *l, const struct assay_limit_facts *f, struct assay_gate_case *out);

#endif
