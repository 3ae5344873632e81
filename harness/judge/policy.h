/* SPDX-License-Identifier: Apache-2.0 */
/* The policy file: margins, floors and ceilings. */
#ifndef ASSAY_JUDGE_POLICY_H
#define ASSAY_JUDGE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/alert.h"
#include "model/case.h"
#include "model/exact.h"
#include "model/metric.h"

/*
 * Syntax; every part may be left out, and sections may stand any number of times:
 *     alpha       = "1%"              # false alarms of the whole gate
 *     max_dropped = "30%"             # of a case's samples; above it the case is INCONCLUSIVE
 *     pass_alpha  = "2.5%"            # chance that one case which is slower than its margin passes a comparison
 *     budget      = "10s"             # time of a case in a comparison
 *     require_edges = {"quantize.*"}  # globs: these are WRONG_RESULT, too, where they deviate on NaN, infinities,
 *                                     # subnormals or ties; others are only marked. Default: none
 *     margin "*" { stored = "10%" paired = "0.5%" } # allowed slowdown of the selected cases, against stored runs
 *                                     # and in lock-step pairs; the last match that sets it wins
 *     exact "*" {                     # by how much exact counts may exceed the recorded ones: a share, a number, or
 *         allow = {"d1_misses 1%", "d1_misses 64"} # both together. Default: not at all. The last match wins
 *     }
 *     limit "generate.chat*" {        # all that match count
 *         require = {"kv_cache_hit_rate >= 0.5", "tpot_p99_s <= 200e-3", "kv_misses <= base + 2%", "tokens == base",
 *                    "PAPI_TOT_INS == base +- 1%"} # of metrics and counts; base: in the comparison's or stored base
 *         where_counted = {"syscalls <= 0"} # the same, of those cases only for which there is a value
 *     }
 *     alert "slow" {                  # tells, and fails nothing: `assay serve` shows it, Prometheus gets it as a rule
 *         when = "tokens_per_s < 50"  # or "metric > number"
 *         cases = "generate.*"        # default: all that have the metric
 *         for = "5min"                # how long it must have held; default: none of the time
 *         severity = "critical"       # any word; default: warning
 *     }
 * Numbers of limits and alerts are in SI base units, or have a unit as tables and verdicts write it:
 * "bytes_per_s >= 3 GB/s", "time_s <= 20 us", "requests_per_s >= 3 k requests/s", "kv_cache_hit_rate >= 50 %".
 * Where a manifest lets a case be skipped, that excuses it from `require` in a gate, and in a comparison it does not.
 * Globs see a case's key with the number of threads, and with t=all where the bench asked for all of them.
 */

/* Demand on a metric or count of the cases a glob selects. */
struct assay_limit {
	char cases[ASSAY_KEY_MAX]; /* glob over keys */
	char metric[ASSAY_METRIC_TAG_MAX];
	bool floor;         /* value >= limit; otherwise value <= limit … */
	bool equal;         /* … unless value == limit, to within tolerance_frac of it */
	bool where_counted; /* a case without a value is none of its own */
	bool base; /* against the base's value: limit is the share that it may differ by, 0.02 for base + 2 % */
	double limit, tolerance_frac;     /* in base units */
	char written[24];                 /* the unit of the limit in the file, such as "GB/s"; "": none … */
	char unit[ASSAY_METRIC_UNIT_MAX]; /* … and the base unit that it scales */
	unsigned line;
};

/* Allowed slowdown of the cases a glob selects; the last match wins. */
struct assay_margin {
	char cases[ASSAY_KEY_MAX];
	double stored_frac, paired_frac; /* 0.05: 5 %; 0: not set here */
	unsigned line;
};

/* Tolerated difference of one event's count in the cases a glob selects; the last match that sets a part of it wins. */
struct assay_allowance {
	char cases[ASSAY_KEY_MAX];
	enum assay_exact_event event;
	double frac;  /* negative: not set here */
	double count; /* negative: not set here */
	unsigned line;
};

struct assay_policy {
	char path[512];
	double stored_margin_frac, paired_margin_frac; /* where no margin matches */
	double alpha;                                  /* false-alarm rate of the whole gate */
	double pass_alpha;
	uint64_t budget_ns;
	double max_dropped_frac;
	char (*edges)[ASSAY_KEY_MAX]; /* globs over keys of cases that may not deviate; malloc'ed */
	size_t n_edges;
	unsigned edges_line;
	struct assay_margin *margins;
	size_t n_margins;
	struct assay_limit *limits;
	size_t n_limits;
	struct assay_allowance *allowances;
	size_t n_allowances;
	struct assay_alert *alerts;
	size_t n_alerts;
};

/*
 * The defaults without a file: 10 % stored, 0.5 % paired, alpha 1 %, pass_alpha 2.5 %, 30 % dropped, 10 s, no limits.
 * Owns nothing.
 */
struct assay_policy assay_policy_default(void);

/*
 * ASSAY_ENOTFOUND when the file is absent; ASSAY_EUSAGE with "file:line: …": syntax, an unknown option, a margin of 0
 * or over 100 %, a limit that is no demand or has a unit of another kind than its metric. Whether metrics and cases
 * exist is checked where they are known, in assay_gate_judge. On error @p is unchanged.
 */
int assay_policy_load(struct assay_policy *p, const char *path, struct assay_err *err);
/* The same from memory, as comparisons keep it; @path is only named in messages. */
int assay_policy_parse(struct assay_policy *p, const char *text, const char *path, struct assay_err *err);
void assay_policy_release(struct assay_policy *p);

/* 0, or ASSAY_EUSAGE with "file:line: …" where @l is not written in what scales @unit, the base unit of its metric. */
int assay_limit_check_unit(const struct assay_policy *p, const struct assay_limit *l, const char *unit,
			   struct assay_err *err);

/* Does a glob of the policy select this case? */
bool assay_policy_selects(const char *glob, const struct assay_case *c);
/* Must the case not deviate from what its op defines, on any value? */
bool assay_policy_requires_edges(const struct assay_policy *p, const struct assay_case *c);
/* Allowed slowdown of a case on stored evidence. */
double assay_policy_margin(const struct assay_policy *p, const struct assay_case *c);
/* The same in a comparison of lock-step pairs. */
double assay_policy_paired_margin(const struct assay_policy *p, const struct assay_case *c);

/* By how much a count of @event may differ from the recorded @count in this case. */
double assay_policy_exact_allowed(const struct assay_policy *p, const struct assay_case *c,
				  enum assay_exact_event event, uint64_t count);

#endif
