/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that runs and comparisons have in common: machine, build, case, metric. Inside of the store. */
#ifndef ASSAY_STORE_STORE_ROWS_H
#define ASSAY_STORE_STORE_ROWS_H

#include "store/store_db.h"

/* What a statement that adds a row came to: 0, or "cannot store @what '@name' …". */
int assay_store_done(struct assay_store *s, int sqlite_rc, struct assay_err *err, const char *what, const char *name);

/* Add the row unless it is there; inside a transaction. */
int assay_store_put_machine(struct assay_store *s, const struct assay_fingerprint *m, struct assay_err *err);
int assay_store_put_build(struct assay_store *s, const struct assay_build *build, struct assay_err *err);
int assay_store_put_case(struct assay_store *s, const struct assay_case *c, int64_t *id, struct assay_err *err);

/* Columns id, commit_hash, dirty, compiler, flags, plugins. */
void assay_store_row_build(struct assay_row *row, struct assay_build *build);
/* Columns key, op, variant, threads, cache, all_threads, budget_ns, timeout_ns, memory_bytes; no axes. */
void assay_store_row_case(struct assay_row *row, struct assay_case *c);
/* Columns name, text, value: one more axis. Sets row->bad when there are too many. */
void assay_store_row_axis(struct assay_row *row, struct assay_case *c);
/* Columns name, value: one more fact of the machine. Sets row->bad when there are too many. */
void assay_store_row_fact(struct assay_row *row, struct assay_fingerprint *m);
/* Columns tag, unit, better, value, source, estimated. */
void assay_store_row_metric(struct assay_row *row, struct assay_metric *m);
/* Columns name, source, value, how, per_iteration, running_frac: one more count. */
int assay_store_row_count(struct assay_row *row, struct assay_counters *c, struct assay_err *err);
/* Columns name, source, reason: one more that could not be counted. */
int assay_store_row_missing(struct assay_row *row, struct assay_counters *c, struct assay_err *err);

/*
 * What @sql, a statement that lasts as long as the store, selects as the newest @kind; ASSAY_ENOTFOUND where there is
 * none, with the advice to run `assay @command`.
 */
int assay_store_newest(struct assay_store *s, const char *sql, const char *kind, const char *command, int64_t *id,
		       struct assay_err *err);

/* A row on its way into @to. 0 or what went wrong. */
typedef int (*assay_store_each_row)(void *to, struct assay_row *row);
/* What the rows of several tables make up: "run" 3. */
struct assay_store_whole {
	const char *kind;
	int64_t id;
};
/* Call @each for every row of @sql, whose one parameter is the number of @whole; @table names the rows in errors. */
int assay_store_for_each(struct assay_store *s, struct assay_store_whole whole, const char *table, const char *sql,
			 assay_store_each_row each, void *to, struct assay_err *err);
/* A row of @table does not fit to the others: ASSAY_ESTORE. */
int assay_store_part_damaged(const struct assay_store *s, struct assay_store_whole whole, const char *table,
			     struct assay_err *err);
/*
 * The rows of @b as a new array at *@out of *@n elements of @size, all-zero before @read fills one. @what names the
 * rows. Nothing is changed when it fails.
 */
int assay_store_collect(struct assay_store *s, struct assay_binder *b, const char *what, size_t size,
			void (*read)(struct assay_row *row, void *element), void *out, size_t *n,
			struct assay_err *err);

/* Whose rows they are: of results or of the sides of pairs. */
enum assay_store_owner { ASSAY_STORE_RESULT, ASSAY_STORE_PAIR_SIDE };
/* Add the rows of @owner number @id; numbers must be finite. */
int assay_store_put_metrics(struct assay_store *s, enum assay_store_owner owner, int64_t id,
			    const struct assay_metric *v, size_t n, struct assay_err *err);
int assay_store_put_counters(struct assay_store *s, enum assay_store_owner owner, int64_t id,
			     const struct assay_counters *c, struct assay_err *err);
/* The first metric or count that is no finite number, as "metric 'x' is inf" in @buf; false: all are. */
bool assay_store_not_finite(const struct assay_metric *v, size_t n, const struct assay_counters *c, char *buf,
			    size_t size);

/* A text of any length, malloc'ed; NULL when out of memory. */
char *assay_store_row_dup(struct assay_row *row);

/* All facts of the machine m->id, which has none yet. */
int assay_store_read_facts(struct assay_store *s, struct assay_fingerprint *m, struct assay_err *err);

#endif
