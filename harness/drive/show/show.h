/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contents of the store that commands show: results, samples, what differs between two, bottlenecks, and the page of a
 * report.
 */
#ifndef ASSAY_DRIVE_SHOW_SHOW_H
#define ASSAY_DRIVE_SHOW_SHOW_H

#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "drive/compare/compare.h"
#include "model/alert.h"
#include "model/reports.h"
#include "model/bottleneck.h"
#include "model/comparison.h"
#include "model/diff.h"
#include "model/gate_report.h"
#include "model/history.h"
#include "model/pareto.h"
#include "model/profile.h"
#include "model/verdict.h"

struct assay_profile;
struct assay_store;

/* ---- results ---- */

/* The contents of the store, for commands that show them. */

/* The stored runs, newest first, at most @limit (0: all). The caller frees *out. */
int assay_stored_runs(const char *db, size_t limit, struct assay_run_info **out, size_t *n, struct assay_err *err);
/*
 * The run @id (0: the newest) with the cases that @only selects (a glob or a part of a key; NULL: all). ASSAY_EUSAGE
 * with the nearest key where there is none. Release @out in either case.
 */
int assay_stored_run(const char *db, int64_t id, const char *only, struct assay_run *out, struct assay_err *err);
/* Totals of the stored runs with the suite and machine of @run, up to that one. */
int assay_stored_totals(const char *db, const struct assay_run *run, struct assay_run_totals *out,
			struct assay_err *err);

/* Note beside the results of @run what the load of the machine has to do with them, by the policy of the project. */
void assay_run_notes(struct assay_run *run);

/* The latest outcome of each case that the machine @machine_id measured, by key. The caller frees *out. */
int assay_stored_newest_results(const char *db, const char *machine_id, struct assay_newest_result **out, size_t *n,
				struct assay_err *err);

/* ASSAY_EUSAGE with the nearest name where no case of @run has a metric or count @name, nor says why it has none. */
int assay_stored_metric_known(const struct assay_run *run, const char *name, struct assay_err *err);

/* All stored comparisons, newest first. The caller frees *out. */
int assay_stored_comparisons(const char *db, struct assay_comparison_info **out, size_t *n, struct assay_err *err);

/* The comparison @id (0: the newest). ASSAY_EUSAGE where @only selects no case. Release @out in either case. */
int assay_stored_comparison(const char *db, int64_t id, const char *only, struct assay_stored_comparison *out,
			    struct assay_err *err);
void assay_stored_comparison_release(struct assay_stored_comparison *c);

/*
 * The names of what is stored, for completion. @store is opened once for all of them, as ASSAY_STORE_NAMES says. What
 * cannot be read is not offered.
 */
enum assay_offered {
	ASSAY_OFFERED_RUNS,
	ASSAY_OFFERED_COMPARISONS,
	ASSAY_OFFERED_PROFILES,
	ASSAY_OFFERED_PROFILE_NAMES,
	ASSAY_OFFERED_BASELINES,
	ASSAY_OFFERED_CASES,
	ASSAY_OFFERED_MACHINES,
	ASSAY_OFFERED_METRICS, /* and counts: those of the newest run */
	ASSAY_OFFERED_AXES,    /* likewise */
};
/* @help may be NULL. */
typedef void assay_offer_fn(const void *arg, const char *name, const char *help);
int assay_offered_open(struct assay_store **store, const char *db, struct assay_err *err);
void assay_offered(struct assay_store *store, enum assay_offered what, assay_offer_fn *say, const void *arg);
void assay_offered_close(struct assay_store *store);

/* The stored runs of a machine, case by case. All-zero is closed. */
struct assay_history {
	const char *db; /* borrowed */
	struct assay_store *store;
	struct assay_run_info newest; /* run of the machine */
	bool chosen;                  /* the user named the machine */
	struct assay_case *cases;     /* all that it measured */
	size_t n;
};

/*
 * @machine is a part of its label or the start of its fingerprint; NULL: the one that measured last. ASSAY_EUSAGE where
 * no run of it is stored. Close in either case.
 */
int assay_history_open(struct assay_history *h, const char *db, const char *machine, struct assay_err *err);
void assay_history_close(struct assay_history *h);
/*
 * The case that is called @pattern, with its number of threads or with t=all, or the only one that it selects as a glob
 * or a part of the key. Where the machine that measured last has none and the user chose none, @h becomes that of the
 * next one that has. ASSAY_EUSAGE where there is none or more than one.
 */
int assay_history_find(struct assay_history *h, const char *pattern, const struct assay_case **out,
		       struct assay_err *err);
/* Open, and find *c there. Close in either case. */
int assay_history_open_case(struct assay_history *h, const char *db, const char *machine, const char *pattern,
			    const struct assay_case **c, struct assay_err *err);
/*
 * The runs of a case in order of time, with @metric those that have that metric or count, and its base unit. NULL is
 * time.
 * ASSAY_EUSAGE with the nearest name where none has it. The caller frees *out.
 */
int assay_history_points(const struct assay_history *h, const struct assay_case *c, const char *metric,
			 struct assay_trend_point **out, size_t *n, char unit[ASSAY_METRIC_UNIT_MAX],
			 struct assay_err *err);

/* ---- samples ---- */

/*
 * The samples of one case, of stored runs or of both sides of a comparison, as times of an iteration; or a histogram of
 * a case, of stored runs.
 */

#define ASSAY_SAMPLE_SETS 2

/* All-zero but for `db` and `only` is the newest run. Strings are borrowed. */
struct assay_sample_request {
	const char *db;
	const char *only;               /* the case, or a glob or part that only one has */
	const char *metric;             /* a histogram of the case; NULL: its samples */
	bool comparison;                /* ids[0] is a comparison, of which both sides are taken */
	int64_t ids[ASSAY_SAMPLE_SETS]; /* of runs, 0: the newest */
	size_t n_ids;
};

struct assay_sample_sets {
	char key[ASSAY_KEY_MAX];
	char machine[128];
	char unit[ASSAY_METRIC_UNIT_MAX]; /* of a histogram */
	struct assay_sample_set sides[ASSAY_SAMPLE_SETS];
	size_t n;
};

/*
 * ASSAY_EUSAGE where a run, comparison or case is not there, or the case has no samples or no such histogram. Release
 * in either case.
 */
int assay_sample_sets(const struct assay_sample_request *q, struct assay_sample_sets *out, struct assay_err *err);
void assay_sample_sets_release(struct assay_sample_sets *s);

/* ---- diff ---- */

/* Finds two sides in the store and compares them. */

/* Strings are borrowed; NULL where they were not given. */
struct assay_diff_request {
	const char *db;
	/* The sides: the number of a run, `last`, or the name of a baseline. */
	const char *base, *head;
	bool by_variant;    /* the variants within the run @head; NULL: the newest */
	const char *only;   /* cases, as a glob or a part of the key */
	const char *metric; /* this number alone */
};

/*
 * ASSAY_EUSAGE with the nearest name where there is no such run, baseline, variant, case or metric, or both sides are
 * one run. Release @out in either case.
 */
int assay_diff_make(const struct assay_diff_request *q, struct assay_diff *out, struct assay_err *err);

/* ---- bottlenecks ---- */

/* The bottlenecks of the cases of a stored run, with advice. */

/*
 * Those of the run @id (0: the newest, which *id becomes) that @only selects (a glob or a part of a key; NULL: all) and
 * that were measured; ops that measure the machine itself are left out. The caller frees *out. ASSAY_EUSAGE where @only
 * selects no case.
 */
int assay_bottlenecks_find(const char *db, int64_t *id, const char *only, struct assay_bottleneck **out, size_t *n,
			   struct assay_err *err);

/*
 * The bottleneck of @p's case by its newest run of the same build on the same machine, else by its newest run there,
 * whose number is *run; the profile is evidence, too. ASSAY_EUSAGE where it is of a program, or the case was never run.
 */
int assay_bottleneck_of_profile(const char *db, const struct assay_profile *p, int64_t *run,
				struct assay_bottleneck *out, struct assay_err *err);

/* ---- codecs ---- */

/* "10Gb/s" (bits), "500MB/s" (bytes); ASSAY_EUSAGE otherwise. */
int assay_link_parse(const char *text, struct assay_link *out, struct assay_err *err);
/*
 * The codecs among the cases of @run, with @link or, where it is NULL, with memory, a disk and a network. ASSAY_EUSAGE
 * where it has none. The caller frees out->codecs in either case.
 */
int assay_pareto_make(const struct assay_run *run, const struct assay_link *link, struct assay_pareto *out,
		      struct assay_err *err);

/* ---- alerts ---- */

/*
 * The alerts of the policy @named (NULL: that of the project; where there is none there are no alerts) and, unless @db
 * is NULL, the cases of the machine that measured last of which they hold. ASSAY_EUSAGE: the policy cannot be read.
 * Release @out in either case.
 */
int assay_alerts(const char *named, const char *db, struct assay_alert_report *out, struct assay_err *err);
void assay_alerts_release(struct assay_alert_report *r);

/* ---- page ---- */

/* One stored run or comparison with all that a page about it says: verdicts, the past of its cases, what to do next. */

struct assay_page_request {
	const char *db;
	bool of_run; /* else of a comparison */
	int64_t id;
};

/*
 * Load and judge. ASSAY_ENOTFOUND where there is no such run or comparison. Release @out in either case.
 */
int assay_result_page(const struct assay_page_request *q, struct assay_result_page *out, struct assay_err *err);
void assay_result_page_release(struct assay_result_page *p);

/* ---- verdicts ---- */

/* The verdicts of a stored comparison, of all its cases or of some. */

/*
 * Judge the comparison @id (0: the newest) again and keep the cases that @only selects (a glob or a part of a key;
 * NULL: all); the verdict stays that of the whole. ASSAY_EUSAGE with the nearest key where there is none. Warns as
 * assay_compare_replay() does. Release @out in either case.
 */
int assay_stored_verdicts(const char *db, int64_t id, const char *only, const struct assay_watch *w,
			  struct assay_compare_outcome *out, struct assay_err *err);

#endif
