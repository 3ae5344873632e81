/* SPDX-License-Identifier: Apache-2.0 */
/* What is stored, for commands that show it. */
#ifndef ASSAY_DRIVE_SHOW_RESULTS_H
#define ASSAY_DRIVE_SHOW_RESULTS_H

#include "model/comparison.h"
#include "model/history.h"
#include "model/verdict.h"

struct assay_store;

/* All stored runs, newest first. The caller frees *out. */
int assay_stored_runs(const char *db, struct assay_run_info **out, size_t *n, struct assay_err *err);
/*
 * The run @id (0: the newest) with the cases that @only selects (a glob or a part of a key; NULL: all). ASSAY_EUSAGE
 * with the nearest key where there is none. Release @out in either case.
 */
int assay_stored_run(const char *db, int64_t id, const char *only, struct assay_run *out, struct assay_err *err);
/* What is stored of the suite and machine of @run, up to it. */
int assay_stored_totals(const char *db, const struct assay_run *run, struct assay_run_totals *out,
			struct assay_err *err);

/* ASSAY_EUSAGE with the nearest name where no case of @run has a metric or count @name, nor says why it has none. */
int assay_stored_metric_known(const struct assay_run *run, const char *name, struct assay_err *err);

/* All stored comparisons, newest first. The caller frees *out. */
int assay_stored_comparisons(const char *db, struct assay_comparison_info **out, size_t *n, struct assay_err *err);

struct assay_stored_comparison {
	struct assay_comparison cmp;         /* with the cases that were selected */
	struct assay_case_reading *readings; /* one a case */
	char verdict[ASSAY_VERDICT_MAX];     /* "" unless finished */
};
/* The comparison @id (0: the newest). ASSAY_EUSAGE where @only selects no case. Release @out in either case. */
int assay_stored_comparison(const char *db, int64_t id, const char *only, struct assay_stored_comparison *out,
			    struct assay_err *err);
void assay_stored_comparison_release(struct assay_stored_comparison *c);

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

#endif
