/* SPDX-License-Identifier: Apache-2.0 */
/* One demand of the policy on one metric or count of a case, in a run and in a comparison alike. */
#ifndef ASSAY_JUDGE_LIMITS_H
#define ASSAY_JUDGE_LIMITS_H

#include "base/text.h"
#include "judge/policy.h"
#include "model/gate_report.h"
#include "model/result.h"

/* What a demand is held against. */
struct assay_limit_facts {
	double value;                     /* NaN: not measured */
	char unit[ASSAY_METRIC_UNIT_MAX]; /* of the metric, "1" of a count, "" where nothing is known of it */
	double base;                      /* NaN: there is none */
	char source[ASSAY_SOURCE_MAX];
	bool estimated;           /* counted for a share of the time only */
	const char *why_no_value; /* NULL or "": nothing is known */
	const char *why_no_base;
};

/* What may be counted when it is asked for: names.v[i] is an event or a metric of group groups.v[i] ("": of none). */
struct assay_countable {
	struct assay_strings names, groups;
};
void assay_countable_release(struct assay_countable *c);

/* The value of a metric, else of a count of that name, and its source; NaN and why not where there is neither. */
void assay_limit_value(const struct assay_metric *metrics, size_t n, const struct assay_counters *counters,
		       const char *name, struct assay_limit_facts *out);

/*
 * Where @f has neither a value nor a reason: the group that has to be counted, put into @buf, which @f then points to.
 * @known may be NULL, as nothing is said of what is in no group.
 */
void assay_limit_explain(const struct assay_limit *l, const struct assay_countable *known, struct assay_limit_facts *f,
			 char *buf, size_t size);

/* Is this a case that the limit judges? */
bool assay_limit_applies(const struct assay_limit *l, const struct assay_limit_facts *f);

/* Fill evidence, value, limit, verdict and reason of @out. Counts are compared as they are, without statistics. */
void assay_limit_judge(const struct assay_limit *l, const struct assay_limit_facts *f, struct assay_gate_case *out);

#endif
