/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demands of the policy on metrics and counts, in a run and in a comparison alike.
 *
 * Each case of the run or comparison owes each demand that selects it, and each ends in a row of the report: PASS or
 * REGRESSED where there is a value; INCOMPARABLE where it is held against a base that has none, as that of a new case;
 * NOT_MEASURED with the reason where there is no value. `where_counted` alone asks for less: without a value it is not
 * owed. In particular:
 *
 * - A case that is wrong, crashed, hangs, is missing or was lost owes none. Its own row says so, is graver than any of
 *   these would be or as grave, and says why.
 * - A case that this machine cannot run, or a plugin that is not here, where the manifest allows that, owes none. Its
 *   row passes and says that what is demanded of it was not judged.
 * - A case whose base cannot be loaded, crashed or is wrong (INCOMPARABLE) owes all: its head is what they speak of.
 * - A case with the same machine code on both sides owes all. That its time cannot have changed says nothing of what
 *   it takes.
 * - What is judged by exact counts alone owes all, too, also those on metrics that only a timed run has; where counts
 *   were not taken, those on counts.
 * - A control owes none: it is there to be slower, and a real case stands beside it.
 * - A demand on cases that this run or comparison does not have binds nothing in it: one policy serves all suites.
 */
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
 * Where @f has neither a value nor a reason: what is to be counted, or what the metric follows from, put into @buf,
 * which @f then points to. @known may be NULL, as nothing is said of what is in no group.
 */
void assay_limit_explain(const struct assay_limit *l, const struct assay_countable *known, struct assay_limit_facts *f,
			 char *buf, size_t size);

/* Is this a case that the limit judges? */
bool assay_limit_applies(const struct assay_limit *l, const struct assay_limit_facts *f);

/* Fill evidence, value, limit, verdict and reason of @out. Counts are compared as they are, without statistics. */
void assay_limit_judge(const struct assay_limit *l, const struct assay_limit_facts *f, struct assay_gate_case *out);

/* A case that owes what the policy demands of it. */
struct assay_limit_case {
	const struct assay_case *c;              /* of which only the key need be known */
	const struct assay_countable *countable; /* NULL: nothing is known */
	/* What is known of l->metric. ASSAY_ENOMEM. */
	int (*look_up)(const void *arg, const struct assay_limit *l, struct assay_limit_facts *out,
		       struct assay_err *err);
	const void *arg;
};

/* Append a row for each demand that @c owes, in the order of the policy. 0 or ASSAY_ENOMEM. */
int assay_limits_judge(const struct assay_policy *p, const struct assay_limit_case *c, struct assay_gate_report *out,
		       struct assay_err *err);

/* Does any `require` select @c; with @exact, any on a metric of exact counts? */
bool assay_limits_require(const struct assay_policy *p, const struct assay_case *c, bool exact);

#endif
