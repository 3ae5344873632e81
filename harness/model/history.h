/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and histories of stored runs, baselines and comparisons. */
#ifndef ASSAY_MODEL_HISTORY_H
#define ASSAY_MODEL_HISTORY_H

#include "model/comparison.h"
#include "model/result.h"

/* Totals that grow with every run that is stored. */
struct assay_run_totals {
	uint64_t runs;
	uint64_t results[ASSAY_N_STATUS]; /* by enum assay_status */
};

/* A line of a list of runs. */
struct assay_run_info {
	int64_t id;
	char suite[ASSAY_NAME_MAX];
	char label[ASSAY_NAME_MAX];          /* as of a run */
	char imported[ASSAY_NAME_MAX];       /* the format; "": assay measured it */
	uint64_t seed, started_ns, ended_ns; /* ended_ns 0: interrupted or under way */
	bool started_unknown;                /* as of a run */
	struct assay_commit revision;        /* of what was measured */
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
	bool started_unknown; /* as of a run */
	char commit[65];
	bool dirty;
	struct assay_commit plugin; /* as of a build */
	char machine_id[ASSAY_DIGEST_LEN + 1];
	double median_ns, ci95_lo_ns, ci95_hi_ns; /* the interval is NaN where there is none */
	double value; /* of another metric or count, in its base unit, where one was asked for; NaN: the run has none */
};

/*
 * Which code a point measured: the commit of the plugins that the user named, or else that of the program. *dirty:
 * files differed from it. "": unknown.
 */
const char *assay_trend_commit(const struct assay_trend_point *p, bool *dirty);

/* The verdict of a comparison of both commits about a change. */
struct assay_change_answer {
	char from_commit[65], to_commit[65];
	bool slower;           /* that is what was asked */
	bool confirmed;        /* the code did it */
	bool decided;          /* else a larger budget may say more */
	char reason[512];      /* one line */
	uint64_t budget_ns;    /* that it had */
	uint64_t asked_ns;     /* unix time */
	int64_t comparison_id; /* 0: none, or it was pruned */
};

enum assay_confirmed {
	ASSAY_NOT_ASKED, /* or it could not be asked */
	ASSAY_CONFIRMED,
	ASSAY_NOT_CONFIRMED,
};

/* The outcome of a case the last time that a run stored a result of it. */
struct assay_newest_result {
	char key[ASSAY_KEY_MAX];
	char suite[ASSAY_NAME_MAX];
	int64_t run_id;
	struct assay_commit revision; /* of what was measured */
	enum assay_status status;
	double median_ns; /* of one that is ok */
};

/* One time of one case of several. */
struct assay_case_point {
	char key[ASSAY_KEY_MAX];
	struct assay_trend_point point;
};

/* The same without the texts that name it. */
struct assay_case_time {
	int64_t bench_case; /* by which the database knows the case */
	uint64_t started_ns;
	double median_ns;
};

/* A run of the machine that has no number for the case, although it should have one. */
struct assay_trend_gap {
	struct assay_trend_point run; /* without times */
	bool missing;                 /* it has no result of the case at all */
	enum assay_status status;     /* otherwise: what became of it */
};

/* A change of the level: the points from @from on are before it, those from @at on after it, up to @to. */
struct assay_trend_change {
	size_t from, at, to;
	double ratio, ci_lo, ci_hi; /* of the levels, and its 95 % interval; above 1 is slower */
	double p;                   /* that an unchanged series shows one as clear */
	size_t n_others, n_moved;   /* other cases of the machine with runs before and after; those that moved, too */
	bool of_machine;            /* nearly all moved: the machine did */
	enum assay_confirmed confirmed;
	char why[512];         /* what a comparison said, or why none could be asked; "": none was */
	int64_t comparison_id; /* 0: none */
};

/* The history of a case on one machine. */
struct assay_trend_line {
	char name[128];                   /* of the machine or the variant, where several are shown; else "" */
	struct assay_trend_point *points; /* in order of time; malloc'ed */
	size_t n_points;
	struct assay_trend_gap *gaps; /* malloc'ed */
	size_t n_gaps;
	struct assay_trend_change *changes; /* of @points; malloc'ed */
	size_t n_changes;
};
void assay_trend_line_release(struct assay_trend_line *l);

/* Runs of one case on one machine, in order of time. */
struct assay_case_history {
	struct assay_case c;
	char machine_id[ASSAY_DIGEST_LEN + 1];
	char machine_label[128];
	struct assay_trend_point *points; /* in order of time; at least one */
	size_t n_points;
	size_t least_points; /* with fewer no change can be found */
	bool takes_turns;    /* its levels come back too often for changes of the code: no change is told */
	size_t least_level;  /* levels of fewer points cannot be seen; 0: none can */
	struct assay_trend_change *changes;
	size_t n_changes;
};

/* A name for what was measured: that of a release (its commit) or of a baseline (its newest run). */
struct assay_trend_mark {
	char name[ASSAY_NAME_MAX];
	char commit[65]; /* "": of the run @run_id */
	int64_t run_id;
};

/* The samples of one side that count, in ns an iteration. */
struct assay_sample_set {
	char name[96];       /* "run 3 (8c1f0aa4)", "base" */
	double *ns;          /* malloc'ed */
	double median_ns;    /* of the case, over its processes; NaN: only of the samples */
	size_t n, n_dropped; /* samples that were dropped because they were disturbed; not among @ns */
	/*
	 * Of a histogram: its values, which @ns stands for by so many quantiles, in 1e-9 of its unit; 0: @ns are
	 * samples.
	 */
	uint64_t n_values;
};

#endif
