/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demands of the policy on metrics and counts, in a run and in a comparison alike.
 *
 * Each case of the run or comparison owes every demand that selects it, and each demand that is owed ends in a row of
 * the report: PASS or REGRESSED where there is a value; INCOMPARABLE where the base has none to hold it against, as
 * for a new case; NOT_MEASURED, with the reason, where there is no value. Only `where_counted` asks for less: it is
 * owed where there is a value. In particular:
 *
 * - A case without numbers, because it is wrong, crashed, hangs, is missing or was lost, owes none. Its own row says
 *   why, and no row of a demand would be graver.
 * - A case that the manifest lets be skipped, or whose plugin it lets be absent, owes none. Its row passes and says
 *   that what is demanded of it was not judged, and the report counts these demands. A case that is skipped without a
 *   line of the manifest is NOT_MEASURED where it owes any.
 * - A case whose base cannot be loaded, crashed or is wrong (INCOMPARABLE) owes all: demands are on the head.
 * - A case with the same machine code on both sides owes all: only its time is excused.
 * - Where only exact counts are judged, demands on other metrics are owed, too, and are NOT_MEASURED; so are those on
 *   counts where none were taken, and all of cases that the suite does not name for counts.
 * - A control owes none: the case that it repeats does.
 * - A case that neither build of a comparison can run here is part of it where a `require` selects it, and its own row
 *   is NOT_MEASURED. Where none does, it is not part of the comparison.
 * - Cases that are not in this run or comparison owe nothing in it. Such are those of other suites, which share the
 *   policy.
 */
#ifndef ASSAY_JUDGE_LIMITS_H
#define ASSAY_JUDGE_LIMITS_H

#include "base/text.h"
#include "judge/manifest.h"
#include "judge/policy.h"
#include "model/catalog.h"
#include "model/gate_report.h"
#include "model/result.h"

/* The facts that a demand is held against. */
struct assay_limit_facts {
	double value;                     /* NaN: not measured */
	char unit[ASSAY_METRIC_UNIT_MAX]; /* of the metric, "1" of a count, "" where nothing is known of it */
	double base;                      /* NaN: there is none */
	char source[ASSAY_SOURCE_MAX];
	bool estimated;           /* counted for a share of the time only */
	const char *why_no_value; /* NULL or "": nothing is known */
	const char *why_no_base;
};

/*
 * The counts that can be requested: names.v[i] is an event or a metric, in units.v[i], of group groups.v[i] ("": of
 * none).
 */
struct assay_countable {
	struct assay_strings names, units, groups;
};
void assay_countable_release(struct assay_countable *c);

/* The value of a metric, or else of a count of that name, with its source; NaN and the reason if there is neither. */
void assay_limit_value(const struct assay_metric *metrics, size_t n, const struct assay_counters *counters,
		       const char *name, struct assay_limit_facts *out);

/* Fill evidence, value, limit, verdict and reason of @out. Counts are compared as they are, without statistics. */
void assay_limit_judge(const struct assay_limit *l, const struct assay_limit_facts *f, struct assay_gate_case *out);

/* A case that owes what the policy demands of it. */
struct assay_limit_case {
	const struct assay_case *c;              /* of which only the key need be known */
	const struct assay_countable *countable; /* NULL: nothing is known */
	/* The facts about l->metric. ASSAY_ENOMEM. */
	int (*look_up)(const void *arg, const struct assay_limit *l, struct assay_limit_facts *out,
		       struct assay_err *err);
	const void *arg;
};

/* Append a row for each demand that @c owes, in the order of the policy. 0 or ASSAY_ENOMEM. */
int assay_limits_judge(const struct assay_policy *p, const struct assay_limit_case *c, struct assay_gate_report *out,
		       struct assay_err *err);

/* Is there a demand on @c that needs samples? All do except `where_counted` demands on something in @uncounted. */
bool assay_limits_need_samples(const struct assay_policy *p, const struct assay_case *c,
			       const struct assay_countable *uncounted);

/*
 * If the policy says require_edges for a case that deviates on some values, it is WRONG_RESULT in a row of its own. If
 * it may deviate, @row, which judges its time, says so; not if nothing was judged. @row may be NULL. 0 or ASSAY_ENOMEM.
 */
int assay_limits_judge_edges(const struct assay_policy *p, const struct assay_case *c, const struct assay_deviation *d,
			     struct assay_gate_case *row, struct assay_gate_report *out, struct assay_err *err);
/* "deviates on NaN, which the policy refuses (require_edges): …" */
void assay_edges_refused(const struct assay_deviation *d, char *buf, size_t size);

/*
 * Write into @r->note, with the numbers, whether a rate of the case is under a floor of the policy (a limit, or an
 * alert on what is below) while the CPUs of the machine were busy for more than @busy_frac of their time, and whether
 * more than @full_frac of its memory was in use.
 */
void assay_result_note(const struct assay_policy *p, double busy_frac, double full_frac, struct assay_result *r);

/* How many demands of `require` select @c; with @exact, how many on metrics of exact counts. */
size_t assay_limits_require(const struct assay_policy *p, const struct assay_case *c, bool exact);

/* ---- policy names ---- */

/* Do the cases and metrics that a policy names exist? */

/*
 * Cases and metrics that a policy may name: in a comparison those that are planned and that their ops declare; in a run
 * those that it measured.
 */
struct assay_policy_known {
	const struct assay_case *cases; /* of all suites */
	size_t n_cases;
	const struct assay_run *run;           /* NULL: none */
	const struct assay_manifest *manifest; /* NULL: none */
	const struct assay_manifest *const *manifests;
	size_t n_manifests;
	const struct assay_catalog *catalog; /* says which metrics and counters the ops have; NULL: the run does */
	/* Events of groups and metrics derived from them. NULL: unknown, then `where_counted` may name anything. */
	const struct assay_countable *counted;
};

/*
 * 0, or ASSAY_EUSAGE with "file:line: …" and the nearest name that exists. A metric is asked for only where a case that
 * could have it was measured or its op is known. A demand in a unit that its metric does not have is ASSAY_EUSAGE, too.
 */
int assay_policy_check_known(const struct assay_policy *p, const struct assay_policy_known *known,
			     struct assay_err *err);

#endif
