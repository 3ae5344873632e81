/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What emitters show: one plain struct for each kind of report. Commands fill them. What other layers know is here as
 * numbers and words, because emitters see only base and model.
 */
#ifndef ASSAY_REPORTS_REPORT_H
#define ASSAY_REPORTS_REPORT_H

#include "model/alert.h"
#include "model/bottleneck.h"
#include "model/catalog.h"
#include "model/comparison.h"
#include "model/diff.h"
#include "model/exact.h"
#include "model/gate_report.h"
#include "model/history.h"
#include "model/pareto.h"
#include "model/profile_diff.h"
#include "model/reports.h"
#include "model/result.h"
#include "reports/plot/plot.h"

enum assay_report_kind {
	ASSAY_REPORT_RUN,        /* one run */
	ASSAY_REPORT_COUNTS,     /* exact counts that stand alone */
	ASSAY_REPORT_GATE,       /* verdicts of a gate or a comparison */
	ASSAY_REPORT_COMPARISON, /* the pairs and counts of one comparison */
	ASSAY_REPORT_RUNS,       /* lists of what is stored */
	ASSAY_REPORT_COMPARISONS,
	ASSAY_REPORT_BASELINES,
	ASSAY_REPORT_BASELINE,      /* what was done to one */
	ASSAY_REPORT_CATALOG,       /* what can be measured */
	ASSAY_REPORT_SOURCE,        /* a source that was written, and what comes next */
	ASSAY_REPORT_REPOSITORY,    /* the same, with all that gates it */
	ASSAY_REPORT_HEALTH,        /* what this machine can measure */
	ASSAY_REPORT_CERTIFICATION, /* how often the judge is wrong */
	ASSAY_REPORT_CHANGES,       /* the runs of one case over time, and where its level changed */
	ASSAY_REPORT_PLOT,          /* a picture of one of these */
	ASSAY_REPORT_BISECTION,     /* the commit that changed a time */
	ASSAY_REPORT_BOTTLENECKS,   /* what bounds each case of a run, and advice */
	ASSAY_REPORT_PARETO,        /* codecs of a run: the front, and what links ask for */
	ASSAY_REPORT_DIFF,          /* two sets of stored results side by side */
	ASSAY_REPORT_IMPORT,        /* what became of a file of another tool */
	ASSAY_REPORT_DATABASE,      /* what was done to a database as a whole */
	ASSAY_REPORT_ALERTS,        /* what the policy wants to be told of, and which of it is so */
	ASSAY_REPORT_PAGE,          /* a run or a comparison with all that is known of it, as a page */
	ASSAY_REPORT_PROFILE,       /* where time or memory went */
	ASSAY_REPORT_PROFILE_DIFF,  /* what changed of that */
	ASSAY_REPORT_TIME,          /* how long programs take */
	ASSAY_REPORT_FLEET,         /* a suite on many machines */
	ASSAY_REPORT_MODEL,         /* what a file of a model has */
	ASSAY_N_REPORTS,
};

struct assay_report_run {
	const struct assay_run *run;
	bool brief;                            /* text: the best variant of each shape, and what failed */
	bool samples;                          /* every raw sample of each case */
	const struct assay_run_totals *totals; /* of what is stored up to it; NULL: not known */
	/* openmetrics: what became last of each case of its machine, whatever the run; NULL: not asked for */
	const struct assay_newest_result *newest;
	size_t n_newest;
};

struct assay_report_gate {
	const struct assay_gate_report *gate;
	bool strict;          /* INCONCLUSIVE fails */
	bool suspects_fail;   /* of those, a suspect does */
	const char *hostname; /* NULL: "localhost" */
	uint64_t unix_ns;     /* when it was judged; 0: not written */
};

struct assay_report_comparison {
	const struct assay_comparison *cmp;
	const struct assay_case_reading *readings; /* one a case of @cmp */
	const char *verdict;                       /* as stored; "": unfinished */
	bool pairs;                                /* those of each case; else a row a case */
	bool samples;                              /* with @pairs the blocks of each */
};

/* Of the first three one is set, the others are NULL. */
struct assay_report_baseline {
	const char *saved, *dropped; /* its name */
	const char *updated;         /* its file of exact counts */
	int64_t run;                 /* what was saved */
	size_t n_cases, n_kept;      /* recorded in the file; there from before */
};

struct assay_report_catalog {
	const struct assay_catalog *catalog;
	const struct assay_counter_group *groups;
	size_t n_groups;
	const struct assay_strings *suites;
	const char *suite; /* whose cases follow; NULL: cases are not asked for */
	const struct assay_case *cases;
	size_t n_cases;
	const char *what; /* text: "plugins", "ops", "variants", "suites", "groups", "cases"; NULL: ops, suites */
};

struct assay_report_diff {
	const struct assay_diff *diff;
	const char *metric; /* tag of the number that is compared, NULL: time */
};

struct assay_report_profile {
	const struct assay_profile *p;
	bool lines;                                /* those of the source, and instructions */
	const struct assay_bottleneck *bottleneck; /* what bounds the case; NULL: not asked for */
	int64_t run;                               /* that says so */
};

struct assay_report {
	enum assay_report_kind kind;
	union {
		struct assay_report_run run;
		const struct assay_exact_run *counts;
		struct assay_report_gate gate;
		struct assay_report_comparison comparison;
		struct {
			const struct assay_run_info *v;
			size_t n;
		} runs;
		struct {
			const struct assay_comparison_info *v;
			size_t n;
		} comparisons;
		struct {
			const struct assay_baseline_info *v;
			size_t n;
		} baselines;
		struct assay_report_baseline baseline;
		struct assay_report_catalog catalog;
		const struct assay_new_result *source;
		const struct assay_health_check *health;
		const struct assay_certify_report *certification;
		const struct assay_case_history *history; /* of CHANGES */
		struct {
			const struct assay_plot *plot;
			struct assay_plot_options options;
		} plot;
		const struct assay_bisect_report *bisection;
		struct {
			int64_t run;
			const struct assay_bottleneck *v;
			size_t n;
		} bottlenecks;
		const struct assay_pareto *pareto;
		struct assay_report_diff diff;
		const struct assay_import_report *import;
		const struct assay_database_report *database;
		const struct assay_alert_report *alerts;
		const struct assay_result_page *page;
		struct assay_report_profile profile;
		const struct assay_profile_diff *profile_diff;
		const struct assay_time_report *time;
		const struct assay_fleet_report *fleet;
		const struct assay_model_report *model;
	};
};

#endif
