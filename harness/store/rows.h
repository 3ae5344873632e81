/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of all tables, and rows that runs and comparisons have in common: machine, build, case, metrics, counts. */
#ifndef ASSAY_STORE_ROWS_H
#define ASSAY_STORE_ROWS_H

#include "model/case.h"
#include "model/comparison.h"
#include "model/result.h"
#include "store/columns.h"
#include "store/db.h"

/*
 * The columns of every table, by the struct that holds a row; keys that refer to another table are bound beside them.
 * A column is added in store/tables.c and in a file of schema/.
 */
extern const struct assay_columns assay_store_machine_columns; /* assay_fingerprint, without its facts */
extern const struct assay_columns assay_store_fact_columns;    /* assay_fact, of a machine or an environment */
extern const struct assay_columns assay_store_build_columns;   /* assay_build */
extern const struct assay_columns assay_store_commit_columns;  /* assay_build: its commits alone */

extern const struct assay_columns assay_store_case_columns;    /* assay_case: what bench_case has of it, but no axes */
extern const struct assay_columns assay_store_limit_columns;   /* assay_case: what results and comparisons have of it */
extern const struct assay_columns assay_store_axis_columns;    /* assay_axis_value */
extern const struct assay_columns assay_store_metric_columns;  /* assay_metric */
extern const struct assay_columns assay_store_count_columns;   /* assay_count */
extern const struct assay_columns assay_store_missing_columns; /* assay_unavailable */

extern const struct assay_columns assay_store_run_columns;     /* assay_run, before its end */
extern const struct assay_columns assay_store_outcome_columns; /* assay_result: what the whole run may still change */
extern const struct assay_columns assay_store_measurement_columns; /* assay_result: what only a measurement changes */
extern const struct assay_columns assay_store_statistics_columns;  /* assay_result: what follows from its samples */

extern const struct assay_columns assay_store_point_columns; /* assay_trend_point, of the tables run and build b */

extern const struct assay_columns assay_store_comparison_columns; /* assay_comparison, before its end */
extern const struct assay_columns assay_store_control_columns;    /* assay_comparison_case: what is known before */
extern const struct assay_columns assay_store_presence_columns;   /* assay_comparison_case: what turns out later */
extern const struct assay_columns assay_store_pair_columns;       /* assay_pair */
extern const struct assay_columns assay_store_side_columns;       /* assay_result of a side, without its samples */

extern const struct assay_columns assay_store_exact_run_columns;      /* assay_exact_run */
extern const struct assay_columns assay_store_exact_case_columns;     /* assay_exact_case */
extern const struct assay_columns assay_store_exact_function_columns; /* assay_exact_function */

extern const struct assay_columns assay_store_because_columns;          /* assay_because_evidence */
extern const struct assay_columns assay_store_because_pair_columns;     /* assay_because_pair */
extern const struct assay_columns assay_store_because_function_columns; /* assay_because_function, without weights */

extern const struct assay_columns assay_store_profile_columns;            /* assay_profile, without its build */
extern const struct assay_columns assay_store_profile_thread_columns;     /* assay_profile_thread */
extern const struct assay_columns assay_store_profile_frame_columns;      /* assay_frame */
extern const struct assay_columns assay_store_profile_heap_columns;       /* assay_profile_heap, without its sites */
extern const struct assay_columns assay_store_profile_site_columns;       /* assay_profile_site */
extern const struct assay_columns assay_store_profile_gpu_columns;        /* assay_profile_gpu, without the following */
extern const struct assay_columns assay_store_profile_gpu_device_columns; /* assay_profile_gpu_device */
extern const struct assay_columns assay_store_profile_gpu_work_columns;   /* assay_profile_gpu_work */
extern const struct assay_columns assay_store_profile_wait_columns;       /* assay_wait_count */

extern const struct assay_store_part assay_store_environment; /* assay_fact, of a run */

/* By enum assay_side, as tables write it. */
extern const char *const assay_store_side_names[2];

/* ASSAY_ESTORE where @sql, which asks whether comparison or case @id has ended, says so; inside a transaction. */
int assay_store_comparison_is_open(struct assay_store *s, const char *sql, int64_t id, struct assay_err *err);

/* Add the row unless it is there; inside a transaction. */
int assay_store_put_machine(struct assay_store *s, const struct assay_fingerprint *m, struct assay_err *err);
int assay_store_put_build(struct assay_store *s, const struct assay_build *build, struct assay_err *err);

/* The columns of a result with those of its case, of the tables r and c, for an assay_store_query. */
#define ASSAY_STORE_RESULT_COLUMNS "{c}, {r}, {r}, {r}, {r}"
#define ASSAY_STORE_RESULT_LISTS                                                                                       \
	&assay_store_case_columns, &assay_store_limit_columns, &assay_store_outcome_columns,                           \
		&assay_store_measurement_columns, &assay_store_statistics_columns
void assay_store_row_result(struct assay_row *row, struct assay_result *r);

/* Read assay_store_commit_columns, and which of both commits was measured. */
struct assay_commit assay_store_row_revision(struct assay_row *row);
/* One more axis, fact, count or reason from the columns of its list. Sets row->bad when there are too many. */
void assay_store_row_axis(struct assay_row *row, struct assay_case *c);
int assay_store_row_count(struct assay_row *row, struct assay_counters *c, struct assay_err *err);
int assay_store_row_missing(struct assay_row *row, struct assay_counters *c, struct assay_err *err);
/* All facts of the machine m->id, which has none yet. */
int assay_store_read_facts(struct assay_store *s, struct assay_fingerprint *m, struct assay_err *err);

/* Add metrics, counts and reasons of @r, the @side of a pair; numbers must be finite. */
int assay_store_put_numbers(struct assay_store *s, int64_t side, const struct assay_result *r, struct assay_err *err);
/* The first metric or count of @r that is no finite number, as "metric 'x' is inf" in @buf; false: all are. */
bool assay_store_not_finite(const struct assay_result *r, char *buf, size_t size);

/*
 * What @sql, a statement that lasts as long as the store, selects as the newest @kind; ASSAY_ENOTFOUND where there is
 * none, with the advice to make one.
 */
int assay_store_newest(struct assay_store *s, const char *sql, const char *kind, int64_t *id, struct assay_err *err);
/* ASSAY_ENOTFOUND: there is no @kind, "run" or "comparison", of this number; says which is the nearest. */
int assay_store_no_number(struct assay_store *s, const char *kind, int64_t id, struct assay_err *err);

/* A row on its way into @to. 0 or what went wrong. */
typedef int (*assay_store_each_row)(void *to, struct assay_row *row);
/* An object that rows of several tables make up: "run" 3. */
struct assay_store_whole {
	const char *kind;
	int64_t id;
};
/* Some rows of a whole: those of @table, for errors, by @sql, whose one parameter is the number of the whole. */
struct assay_store_query {
	const char *table, *sql;
	const struct assay_columns *lists[5]; /* of the text, see assay_store_ask */
	assay_store_each_row each;
};
/* Call q->each for every row of @q. */
int assay_store_for_each(struct assay_store *s, struct assay_store_whole whole, const struct assay_store_query *q,
			 void *to, struct assay_err *err);
/* A row of @table does not fit to the others: ASSAY_ESTORE. */
int assay_store_part_damaged(const struct assay_store *s, struct assay_store_whole whole, const char *table,
			     struct assay_err *err);
/* The next column, the name of a status, into *status. false: it names none. */
bool assay_store_row_status(struct assay_row *row, enum assay_status *status);

/* ---- cases ---- */

/* Cases and series, found again within a transaction without asking the database. Inside of the store. */

/* A stored case: what it was when it was stored first. */
struct assay_store_case {
	int64_t id;
	struct assay_axis_value *axes;
	unsigned n_axes;
};

/* Those of this transaction; all-zero knows none. */
struct assay_store_cases;
void assay_store_cases_forget(struct assay_store *s);
/* The run at hand has ended. */
void assay_store_cases_forget_run(struct assay_store *s);

/* Add the row unless it is there; inside a transaction. @out is the store's and lasts until the next call. */
int assay_store_put_case(struct assay_store *s, const struct assay_case *c, const struct assay_store_case **out,
			 struct assay_err *err);
/*
 * The series of case @c, which assay_store_put_case() gave and whose key is @key, on the machine of the run; inside the
 * same transaction. ASSAY_ENOTFOUND where there is no such run, ASSAY_ESTORE where it has ended.
 */
int assay_store_put_series(struct assay_store *s, const char *key, const struct assay_store_case *c, int64_t run_id,
			   int64_t *series, struct assay_err *err);

/* ---- numbers ---- */

/* Metrics, counts and missing ones of a result: their names in a table, their values in a blob. Inside of the store. */

/* Names that were looked up, by themselves and by their id; all-zero knows none. */
struct assay_store_names;
void assay_store_names_forget(struct assay_store *s);

/* Add those of @r to the result number @id; inside a transaction. ASSAY_ESTORE where a name stands twice. */
int assay_store_put_result_numbers(struct assay_store *s, int64_t id, const struct assay_result *r,
				   struct assay_err *err);
/* Read the numbers in @blob into @r, which has none yet. */
int assay_store_read_numbers(struct assay_store *s, const void *blob, size_t len, struct assay_result *r,
			     struct assay_err *err);

#endif
