/* SPDX-License-Identifier: Apache-2.0 */
/* The SQLite store: schema, migrations, queries. The only place that knows SQLite. */
#ifndef ASSAY_STORE_STORE_H
#define ASSAY_STORE_STORE_H

#include <signal.h>

#include "base/text.h"
#include "model/history.h"
#include "model/result.h"

struct assay_store;

enum assay_store_mode {
	ASSAY_STORE_READ,  /* the file must exist; ASSAY_ENOTFOUND otherwise */
	ASSAY_STORE_NAMES, /* likewise; its pages are not checked, since only names are offered from it */
	ASSAY_STORE_WRITE, /* created and migrated where needed */
};

/*
 * ASSAY_ESTORE with one line and what to do for: newer version (both numbers), not a database, another application's,
 * corrupt, read-only, disk full, locked for over 10 s. Nothing stored is ever harmed by an error. *s is untouched on
 * error. A handle is for one thread at a time; any number of programs may have the file open.
 */
int assay_store_open(struct assay_store **s, const char *path, enum assay_store_mode mode, struct assay_err *err);
void assay_store_close(struct assay_store *s);
/* Make merges and queries that only read end once *@flag is set, in the whole process; NULL: never. */
void assay_store_interrupted_by(const volatile sig_atomic_t *flag);
/* Is its file still where it was opened? Otherwise it was removed or replaced, and whatever is written is lost. */
bool assay_store_in_place(const struct assay_store *s);

/*
 * Begin a transaction for everything that is stored until the end, for many runs at once; this is thousands of results
 * a second faster than one by one. Other programs that write have to wait. After an error, end it with that error.
 */
int assay_store_bulk_begin(struct assay_store *s, struct assay_err *err);
/* Keep all of it when @rc is 0; otherwise nothing of it, and return @rc. */
int assay_store_bulk_end(struct assay_store *s, int rc, struct assay_err *err);

/* Open a run (no results yet) and set run->id. Machine and build need ids; they are stored once and referred to. */
int assay_store_run_begin(struct assay_store *s, struct assay_run *run, struct assay_err *err);
/* The same with its first result, in one transaction: a run that is stopped before it has one leaves nothing. */
int assay_store_run_begin_with(struct assay_store *s, struct assay_run *run, const struct assay_result *first,
			       struct assay_err *err);
/*
 * One finished case, one transaction: result, samples, counts, metrics. ASSAY_ELIMIT, and nothing is stored, when a
 * number is NaN or infinite (but an infinite max_rel_err of a result that is not ok becomes "does not apply": it must
 * be possible to store how wrong it was in its reason). ASSAY_ESTORE when the run ended, already has the case, or the
 * result contradicts itself: ok without samples or with a wrong output, another status without a reason, a name twice
 * among metrics or counts.
 */
int assay_store_result_add(struct assay_store *s, int64_t run_id, const struct assay_result *r, struct assay_err *err);
/*
 * Replace the stored result of a case that was measured once more. Errors as above; ASSAY_ENOTFOUND when the run has no
 * result of this case.
 */
int assay_store_result_replace(struct assay_store *s, int64_t run_id, const struct assay_result *r,
			       struct assay_err *err);
/*
 * The raw samples of @key into @out, malloc'ed; NULL and 0 where it has none. ASSAY_ENOTFOUND when the run has no
 * result of it.
 */
int assay_store_samples_load(struct assay_store *s, int64_t run_id, const char *key, struct assay_sample **out,
			     size_t *n, struct assay_err *err);
/*
 * Replace what only the whole run decides: the roof, metrics, counts, reasons for what is unavailable, and status,
 * reason, correctness, digest and error of the output (digests are compared across variants). ASSAY_ENOTFOUND when the
 * run has no result of this case.
 */
int assay_store_metrics_put(struct assay_store *s, int64_t run_id, const struct assay_result *r, struct assay_err *err);
/* Mark it finished: it takes no further results. Without it, it was interrupted. ASSAY_ENOTFOUND unless open. */
int assay_store_run_end(struct assay_store *s, int64_t run_id, uint64_t ended_ns, struct assay_err *err);

/* The runs of imported files with this digest, oldest first. *out is malloc'ed. */
int assay_store_imported(struct assay_store *s, const char *digest, int64_t **out, size_t *n, struct assay_err *err);
/* Is run @id of the suite, label, machine, build and date of @run? */
int assay_store_is_same_import(struct assay_store *s, int64_t id, const struct assay_run *run, bool *out,
			       struct assay_err *err);

/* By the time they began, newest first, at most @limit (0: all); @suite NULL: any. @out is malloc'ed. */
int assay_store_runs(struct assay_store *s, const char *suite, size_t limit, struct assay_run_info **out, size_t *n,
		     struct assay_err *err);
/* The newest run of each machine, the newest of all first. The caller frees *out. */
int assay_store_newest_runs(struct assay_store *s, struct assay_run_info **out, size_t *n, struct assay_err *err);

/*
 * The whole run with its results and samples, in the order they were added; id 0: the newest, finished or not.
 * Statistics are recomputed from the samples; the skip_reason of a case is not stored (the result's reason is).
 * ASSAY_ENOTFOUND when there is none. @out is untouched on error; release it with assay_run_release.
 */
int assay_store_run_load(struct assay_store *s, int64_t id, struct assay_run *out, struct assay_err *err);

/*
 * Of the finished runs that began before @run (all, when it is not stored), of the same suite, seed and machine
 * fingerprint, the newest of those that measured most of its cases. ASSAY_ENOTFOUND when there is none; @err says
 * whether runs of other machines exist.
 */
int assay_store_comparable(struct assay_store *s, const struct assay_run *run, int64_t *id, struct assay_err *err);

/*
 * The finished runs that began before @run, of the same suite, seed and machine fingerprint, oldest first, without
 * times. @out is malloc'ed.
 */
int assay_store_comparables(struct assay_store *s, const struct assay_run *run, struct assay_trend_point **out,
			    size_t *n, struct assay_err *err);
/* Call @each for every ok result of the run, which holds what its own row says: no samples, no metrics, no axes. */
int assay_store_each_time(struct assay_store *s, int64_t run_id, void (*each)(void *arg, const struct assay_result *r),
			  void *arg, struct assay_err *err);

/*
 * Add @run_id to baseline @name, which is made when there is none; adding it twice changes nothing; ASSAY_EUSAGE when
 * the baseline is of another machine or suite, or the run did not finish.
 */
int assay_store_baseline_save(struct assay_store *s, const char *name, int64_t run_id, uint64_t now_ns,
			      struct assay_err *err);
/* @machine_id and @suite may be NULL: any. @out is malloc'ed; free with the release function. */
int assay_store_baselines(struct assay_store *s, const char *suite, const char *machine_id,
			  struct assay_baseline_info **out, size_t *n, struct assay_err *err);
int assay_store_baseline_drop(struct assay_store *s, const char *name, struct assay_err *err);

/* Oldest first, ok results only; @machine_id NULL: any. ASSAY_ENOTFOUND when the key was never stored. @out is
 * malloc'ed. */
int assay_store_trend(struct assay_store *s, const char *key, const char *machine_id, struct assay_trend_point **out,
		      size_t *n, struct assay_err *err);
/*
 * The same with the value of @metric, a metric or count of the result. *unit gets its base unit. Runs without it are
 * left out; ASSAY_ENOTFOUND with the nearest name where all are. Exact counts are of those that were taken alone, too:
 * these points have no run.
 */
int assay_store_trend_of(struct assay_store *s, const char *key, const char *machine_id, const char *metric,
			 struct assay_trend_point **out, size_t *n, char unit[ASSAY_METRIC_UNIT_MAX],
			 struct assay_err *err);
/*
 * The times of all cases in the last @n_runs runs of @suite on a machine that began no later than @until_ns: by key, of
 * one key oldest first, ok results only. @out is malloc'ed.
 */
int assay_store_recent(struct assay_store *s, const char *suite, const char *machine_id, uint64_t until_ns,
		       size_t n_runs, struct assay_case_point **out, size_t *n, struct assay_err *err);
/*
 * The times of all cases but @key in the runs of a machine that began from @from_ns to @to_ns: by case, of one case
 * oldest first, ok results only. @out is malloc'ed.
 */
int assay_store_times_beside(struct assay_store *s, const char *key, const char *machine_id, uint64_t from_ns,
			     uint64_t to_ns, struct assay_case_time **out, size_t *n, struct assay_err *err);
/*
 * The runs of the machine in which the case has no number, oldest first: it failed or was skipped, or they lack it
 * although they measured its suite. @out is malloc'ed.
 */
int assay_store_trend_gaps(struct assay_store *s, const char *key, const char *machine_id, struct assay_trend_gap **out,
			   size_t *n, struct assay_err *err);
/* The row of result @id, without samples. Release @out with assay_result_release(). */
int assay_store_result_load(struct assay_store *s, int64_t run_id, int64_t id, struct assay_result *out,
			    struct assay_err *err);
/*
 * The cases with at least one ok result, by key, without limits; all_threads when any of these results was of `all`.
 * @machine_id NULL: of any machine. @out is malloc'ed.
 */
int assay_store_cases(struct assay_store *s, const char *machine_id, struct assay_case **out, size_t *n,
		      struct assay_err *err);
/* The cases with results on @machine_id of which none is ok, likewise. */
int assay_store_cases_failed(struct assay_store *s, const char *machine_id, struct assay_case **out, size_t *n,
			     struct assay_err *err);

/* Runs of the suite and machine of @run up to it, and their results. */
int assay_store_totals(struct assay_store *s, const struct assay_run *run, struct assay_run_totals *out,
		       struct assay_err *err);

/*
 * The result of each case on a machine that was stored last, of runs of any suite, by key; those that were skipped are
 * left out. @out is malloc'ed.
 */
int assay_store_newest_results(struct assay_store *s, const char *machine_id, struct assay_newest_result **out,
			       size_t *n, struct assay_err *err);

/* The outcome of a case on a machine that never had an ok result for it. */
struct assay_failed_series {
	size_t n_runs;
	enum assay_status status; /* of the newest run */
	char reason[512];
};

int assay_store_failed_series(struct assay_store *s, const char *key, const char *machine_id,
			      struct assay_failed_series *out, struct assay_err *err);

#endif
