/* SPDX-License-Identifier: Apache-2.0 */
/* What lists and histories say of stored runs, baselines and comparisons. */
#ifndef ASSAY_MODEL_HISTORY_H
#define ASSAY_MODEL_HISTORY_H

#include "model/comparison.h"
#include "model/result.h"

/* A line of a list of runs. */
struct assay_run_info {
	int64_t id;
	char suite[ASSAY_NAME_MAX];
	uint64_t seed, started_ns, ended_ns; /* ended_ns 0: interrupted or under way */
	char commit[65];
	bool dirty;
	struct assay_commit plugin; /* as of a build */
	char machine_id[ASSAY_DIGEST_LEN + 1];
	char machine_label[128];
	size_t n_cases, n_ok;
};

/* A baseline: a named set of runs of one machine and suite. */
struct assay_baseline_info {
	char name[ASSAY_NAME_MAX];
	char suite[ASSAY_NAME_MAX];
	char machine_id[ASSAY_DIGEST_LEN + 1];
	char machine_label[128];
	uint64_t saved_ns;
	int64_t *runs; /* malloc'ed, ascending */
	size_t n_runs;
};
/* Free an array of @n of them. */
void assay_baseline_infos_release(struct assay_baseline_info *v, size_t n);

/* One comparison in a list. */
struct assay_comparison_info {
	int64_t id;
	char base[256], head[256];
	char suite[ASSAY_NAME_MAX];
	uint64_t seed, started_ns, ended_ns; /* ended_ns 0: interrupted or under way */
	char machine_id[ASSAY_DIGEST_LEN + 1];
	char machine_label[128];
	char verdict[ASSAY_VERDICT_MAX]; /* "" unless finished */
	int exit_code;                   /* -1 unless finished */
	size_t n_cases, n_controls;      /* cases without controls, and controls */
	size_t n_pairs;                  /* of both */
	size_t n_counted;                /* cases of which the head has exact counts */
};

/* One point of a case's history. */
struct assay_trend_point {
	int64_t run_id;
	uint64_t started_ns;
	char commit[65];
	bool dirty;
	struct assay_commit plugin; /* as of a build */
	char machine_id[ASSAY_DIGEST_LEN + 1];
	double median_ns, ci95_lo_ns, ci95_hi_ns;
	double value; /* of another metric or count, in its base unit, where one was asked for; NaN: the run has none */
};

/* A change of the level: the points from @from on are before it, those from @at on after it, up to @to. */
struct assay_trend_change {
	size_t from, at, to;
	double ratio, ci_lo, ci_hi; /* of the levels, and its 95 % interval; above 1 is slower */
	double p;                   /* that an unchanged series shows one as clear */
	size_t n_others, n_moved;   /* other cases of the machine with runs before and after; those that moved, too */
	bool of_machine;            /* nearly all moved: the machine did */
};

#endif
