/* SPDX-License-Identifier: Apache-2.0 */
/* A check loads whatever there is: what can be loaded is what was stored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store_comparison.h"
#include "store/store_rows.h"
#include "store/store_exact.h"
#include "store/store_profile.h"
#include "store/store_prune.h"

#define MOST_OF_SQLITE "100" /* faults that SQLite tells */

struct checking {
	struct assay_store *s;
	assay_store_progress progress;
	void *arg;
	struct assay_store_checked *out;
	struct assay_err *err;
};

void assay_store_checked_release(struct assay_store_checked *c)
{
	assay_strings_release(&c->faults);
	*c = (struct assay_store_checked){ 0 };
}

static int add_fault(struct checking *k, const char *text)
{
	return assay_strings_add(&k->out->faults, text, k->err);
}

/* Was it a fault of what is stored? Then it is noted, and the check goes on. */
static int note(struct checking *k, int rc, const struct assay_err *why)
{
	if (rc == ASSAY_ESTORE || rc == ASSAY_ENOTFOUND)
		return add_fault(k, why->text);
	if (rc && k->err)
		*k->err = *why;
	return rc;
}

/* Each row of @sql is a fault, a text, which @what stands before. */
static int ask_sqlite(struct checking *k, const char *sql, const char *what)
{
	struct assay_binder b = assay_store_statement(k->s, sql, k->err);
	char line[512];
	int step, rc = b.rc;

	while (!rc && (step = assay_store_step(&b)) != SQLITE_DONE) {
		if (step != SQLITE_ROW) {
			/* too damaged to be asked */
			snprintf(line, sizeof(line), "%s: %s", what, sqlite3_errmsg(k->s->db));
			rc = add_fault(k, line);
			break;
		}
		snprintf(line, sizeof(line), "%s: %s", what, (const char *)sqlite3_column_text(b.st, 0));
		rc = add_fault(k, line);
	}
	if (b.st)
		sqlite3_reset(b.st);
	return rc;
}

static void read_id(struct assay_row *row, void *element)
{
	*(int64_t *)element = assay_store_row_int(row);
}

static int list(struct checking *k, const char *sql, int64_t of, int64_t **ids, size_t *n)
{
	struct assay_binder b = assay_store_statement(k->s, sql, k->err);

	*ids = NULL;
	*n = 0;
	if (of)
		assay_store_bind_int(&b, of);
	return assay_store_collect(k->s, &b, "what is checked", sizeof(**ids), read_id, ids, n, k->err);
}

/* All results of a run that cannot be loaded as a whole; @why is what stopped it. */
static int check_results(struct checking *k, int64_t run, const struct assay_err *why)
{
	const size_t before = k->out->faults.n;
	int64_t *ids;
	size_t n;
	int rc = list(k, "SELECT id FROM result WHERE run = ?", run, &ids, &n);

	for (size_t i = 0; i < n && !rc; i++) {
		struct assay_result r;
		struct assay_err e = { 0 };
		int one = assay_store_result_load(k->s, run, ids[i], &r, &e);

		if (!one)
			assay_result_release(&r);
		rc = note(k, one, &e);
	}
	free(ids);
	/* what is wrong is not in a result alone */
	return rc || k->out->faults.n > before ? rc : add_fault(k, why->text);
}

static int check_run(struct checking *k, int64_t id)
{
	struct assay_err e = { 0 };
	struct assay_run run;
	int rc = assay_store_run_load(k->s, id, &run, &e);

	k->out->runs++;
	if (rc == ASSAY_ESTORE)
		return check_results(k, id, &e);
	if (rc)
		return note(k, rc, &e);
	k->out->results += run.n_results;
	assay_run_release(&run);
	return 0;
}

static int check_comparison(struct checking *k, int64_t id)
{
	struct assay_comparison cmp;
	struct assay_err e = { 0 };
	int rc = assay_store_comparison_load(k->s, id, &cmp, NULL, NULL, &e);

	k->out->comparisons++;
	if (!rc)
		assay_comparison_release(&cmp);
	return note(k, rc, &e);
}

static int check_counts(struct checking *k, int64_t id)
{
	struct assay_exact_run run;
	struct assay_err e = { 0 };
	int rc = assay_store_exact_load(k->s, id, &run, &e);

	k->out->counts++;
	if (!rc)
		assay_exact_run_release(&run);
	return note(k, rc, &e);
}

static int check_profile(struct checking *k, int64_t id)
{
	struct assay_profile p;
	struct assay_err e = { 0 };
	int rc = assay_store_profile_load(k->s, id, &p, &e);

	k->out->profiles++;
	if (!rc)
		assay_profile_release(&p);
	return note(k, rc, &e);
}

/* @from and @to: shares of the whole check. */
static int check_each(struct checking *k, const char *sql, int (*check)(struct checking *k, int64_t id), double from,
		      double to)
{
	int64_t *ids;
	size_t n;
	int rc = list(k, sql, 0, &ids, &n);

	for (size_t i = 0; i < n && !rc; i++) {
		rc = check(k, ids[i]);
		if (!rc && k->progress)
			rc = k->progress(k->arg, from + (to - from) * (double)(i + 1) / (double)n, k->err);
	}
	free(ids);
	return rc;
}

static int check(struct checking *k)
{
	/*
	 * It tells 100 faults unless asked otherwise, and takes a number in brackets for a table's name from SQLite
	 * 3.46 on.
	 */
	int rc = ask_sqlite(k, "SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'", "SQLite");

	if (!rc)
		rc = ask_sqlite(
			k,
			"SELECT 'a row of ' || \"table\" || ' refers to none of ' || parent || coalesce(', number ' ||"
			" rowid, '') FROM pragma_foreign_key_check LIMIT " MOST_OF_SQLITE,
			"references");
	if (!rc)
		rc = ask_sqlite(
			k,
			"SELECT 'result of ''' || c.key || ''' in run ' || r.run || ' stands in the history of another"
			" case or machine' FROM result r JOIN run ON run.id = r.run JOIN bench_case c ON"
			" c.id = r.bench_case LEFT JOIN series s ON s.id = r.series WHERE s.bench_case IS NOT"
			" r.bench_case OR s.machine IS NOT run.machine LIMIT " MOST_OF_SQLITE,
			"series");
	if (!rc)
		rc = check_each(k, "SELECT id FROM run ORDER BY id", check_run, 0.1, 0.9);
	if (!rc)
		rc = check_each(k, "SELECT id FROM comparison ORDER BY id", check_comparison, 0.9, 0.98);
	if (!rc)
		rc = check_each(k, "SELECT id FROM exact_run WHERE run IS NULL AND comparison IS NULL ORDER BY id",
				check_counts, 0.98, 0.99);
	if (!rc)
		rc = check_each(k, "SELECT id FROM profile ORDER BY id", check_profile, 0.99, 1);
	return rc;
}

int assay_store_check(struct assay_store *s, assay_store_progress progress, void *arg, struct assay_store_checked *out,
		      struct assay_err *err)
{
	struct checking k = { .s = s, .progress = progress, .arg = arg, .out = out, .err = err };
	int rc = assay_store_begin_read(s, err);

	*out = (struct assay_store_checked){ 0 };
	if (rc)
		return rc;
	/* one state for all of it, through functions that would begin a transaction each */
	s->bulk = true;
	rc = check(&k);
	s->bulk = false;
	return assay_store_finish(s, rc, err);
}
