/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole run out of the database. Each table is read once, ordered by result, and merged with the results as it goes
 * by: the number of queries does not depend on the number of cases. All of it in one read transaction, so that a run
 * that is under way is seen at one moment. Beside it, the raw samples of one case.
 */
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/summary.h"
#include "store/blobs.h"
#include "store/db.h"
#include "store/exact.h"
#include "store/rows.h"

struct loader {
	struct assay_store *s;
	struct assay_run run;
	int64_t *ids;    /* ascending, parallel to run.results */
	size_t at;       /* result that the merge has reached */
	bool no_samples; /* results are read without them */
	struct assay_err *err;
};

static struct assay_store_whole whole(const struct loader *l)
{
	return (struct assay_store_whole){ "run", l->run.id };
}

static int damaged(const struct loader *l, const char *table)
{
	return assay_store_part_damaged(l->s, whole(l), table, l->err);
}

/*
 * The result that a row of a child table belongs to, by its first column; rows come in ascending order. NULL: to none.
 */
static struct assay_result *merge(struct loader *l, struct assay_row *row)
{
	int64_t id = assay_store_row_int(row);

	while (l->at < l->run.n_results && l->ids[l->at] < id)
		l->at++;
	if (l->at == l->run.n_results || l->ids[l->at] != id)
		return NULL;
	return &l->run.results[l->at];
}

static int each_head(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_run *run = &l->run;

	assay_store_row_columns(row, &assay_store_run_columns, run);
	run->ended_ns = (uint64_t)assay_store_row_int(row);
	assay_store_row_columns(row, &assay_store_machine_columns, &run->machine);
	assay_store_row_columns(row, &assay_store_build_columns, &run->build);
	return 0;
}

static int each_result(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_run *run = &l->run;
	struct assay_result *r;
	size_t n_samples;
	int rc;
	const void *blob;
	size_t len;

	rc = assay_store_grow(&run->results, run->n_results, sizeof(*r), l->err);
	if (!rc)
		rc = assay_store_grow(&l->ids, run->n_results, sizeof(*l->ids), l->err);
	if (rc)
		return rc;
	l->ids[run->n_results] = assay_store_row_int(row);
	r = &run->results[run->n_results++];
	memset(r, 0, sizeof(*r));

	assay_store_row_result(row, r);
	/* statistics are recomputed from the samples */
	n_samples = r->n_samples;
	r->n_samples = 0;
	blob = assay_store_row_blob(row, &len);
	if (l->no_samples)
		return 0;
	if (blob) {
		rc = assay_sample_blob_decode(blob, len, &r->samples, &r->n_samples, l->err);
		if (rc)
			return assay_err_prefix(l->err, "result of '%s' in database '%.160s'", r->c.key, l->s->path);
	}
	if (r->n_samples != n_samples)
		return damaged(l, "result_samples");
	return assay_summary_fill(r, l->err);
}

static int each_axis(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_result *r = merge(l, row);

	if (!r)
		return damaged(l, "case_axis");
	assay_store_row_axis(row, &r->c);
	return 0;
}

static int each_numbers(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_result *r = merge(l, row);
	const void *blob;
	size_t len;

	if (!r)
		return damaged(l, "result_numbers");
	blob = assay_store_row_blob(row, &len);
	return assay_store_read_numbers(l->s, blob, len, r, l->err);
}

static const struct assay_store_query head = {
	"run",
	"SELECT {run}, run.ended_ns, {m}, {b} FROM run JOIN machine m ON m.id = run.machine"
	" JOIN build b ON b.id = run.build WHERE run.id = ?",
	{ &assay_store_run_columns, &assay_store_machine_columns, &assay_store_build_columns },
	each_head,
};

/* The results that @where selects, and what belongs to them, in the order of results. */
#define RESULTS(where)                                                                                                 \
	{                                                                                                              \
		{ "result",                                                                                            \
		  "SELECT r.id, " ASSAY_STORE_RESULT_COLUMNS ", d.encoded FROM result r JOIN bench_case c"             \
		  " ON c.id = r.bench_case LEFT JOIN result_samples d ON d.result = r.id WHERE " where                 \
		  " ORDER BY r.id",                                                                                    \
		  { ASSAY_STORE_RESULT_LISTS },                                                                        \
		  each_result },                                                                                       \
			{ "case_axis",                                                                                 \
			  "SELECT r.id, {a} FROM result r JOIN case_axis a ON a.bench_case = r.bench_case "            \
			  "WHERE " where " ORDER BY r.id, a.place",                                                    \
			  { &assay_store_axis_columns },                                                               \
			  each_axis },                                                                                 \
			{ "result_numbers",                                                                            \
			  "SELECT r.id, d.encoded FROM result r JOIN result_numbers d ON d.result = r.id WHERE " where \
			  " ORDER BY r.id",                                                                            \
			  { NULL },                                                                                    \
			  each_numbers },                                                                              \
	}
#define N_PARTS 3
static const struct assay_store_query of_run[N_PARTS] = RESULTS("r.run = ?");
static const struct assay_store_query one[N_PARTS] = RESULTS("r.id = ?");

static int load_results(struct loader *l, struct assay_store_whole from, const struct assay_store_query *parts)
{
	int rc = 0;

	for (size_t i = 0; i < N_PARTS && !rc; i++) {
		l->at = 0;
		rc = assay_store_for_each(l->s, from, &parts[i], l, l->err);
	}
	return rc;
}

int assay_store_result_load(struct assay_store *s, int64_t run_id, int64_t id, struct assay_result *out,
			    struct assay_err *err)
{
	struct loader l = { .s = s, .run.id = run_id, .no_samples = true, .err = err };
	int rc = load_results(&l, (struct assay_store_whole){ "result", id }, one);

	if (!rc && !l.run.n_results)
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "no result %lld in '%.200s'", (long long)id, s->path);
	if (!rc) {
		*out = l.run.results[0];
		l.run.n_results = 0;
	}
	free(l.ids);
	assay_run_release(&l.run);
	return rc;
}

static int load_exact(struct loader *l)
{
	struct assay_exact_run *exact = calloc(1, sizeof(*exact));
	int rc;

	if (!exact)
		return assay_err_set(l->err, ASSAY_ENOMEM, "out of memory");
	rc = assay_store_exact_of_run(l->s, l->run.id, exact, l->err);
	if (rc)
		free(exact);
	else
		l->run.exact = exact;
	return rc == ASSAY_ENOTFOUND ? 0 : rc;
}

static int load(struct loader *l)
{
	static const char newest[] = "SELECT id FROM run ORDER BY started_ns DESC, id DESC LIMIT 1";
	int rc = l->run.id ? 0 : assay_store_newest(l->s, newest, "run", &l->run.id, l->err);

	if (!rc)
		rc = assay_store_for_each(l->s, whole(l), &head, l, l->err);
	if (!rc && !l->run.suite[0])
		rc = assay_store_no_number(l->s, "run", l->run.id, l->err);
	if (!rc)
		rc = assay_store_read_facts(l->s, &l->run.machine, l->err);
	if (!rc)
		rc = assay_store_get_part(l->s, &assay_store_environment, l->run.id, &l->run.environment,
					  &l->run.n_environment, l->err);
	if (!rc)
		rc = load_results(l, whole(l), of_run);
	if (!rc)
		rc = load_exact(l);
	return rc;
}

int assay_store_run_load(struct assay_store *s, int64_t id, struct assay_run *out, struct assay_err *err)
{
	struct loader l = { .s = s, .run.id = id, .err = err };
	int rc = assay_store_begin_read(s, err);

	if (rc)
		return rc;
	rc = assay_store_finish(s, load(&l), err);
	free(l.ids);
	if (rc)
		assay_run_release(&l.run);
	else
		*out = l.run;
	return rc;
}

int assay_store_samples_load(struct assay_store *s, int64_t run_id, const char *key, struct assay_sample **out,
			     size_t *n, struct assay_err *err)
{
	static const char sql[] = "SELECT p.encoded FROM bench_case c JOIN result r ON r.bench_case = c.id"
				  " LEFT JOIN result_samples p ON p.result = r.id WHERE c.key = ? AND r.run = ?";
	struct assay_sample *samples = NULL;
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "ti", key, run_id);
	size_t n_samples = 0;
	int sqlite_rc, rc = 0;

	sqlite_rc = assay_store_step(&b);
	if (sqlite_rc == SQLITE_DONE) {
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "run %lld has no result of '%.255s'", (long long)run_id, key);
	} else if (sqlite_rc != SQLITE_ROW) {
		return assay_store_fail(s, sqlite_rc, err, "cannot read the samples of '%.100s'", key);
	} else {
		struct assay_row row = assay_store_row(b.st);
		size_t len;
		const void *blob = assay_store_row_blob(&row, &len);

		if (blob)
			rc = assay_sample_blob_decode(blob, len, &samples, &n_samples, err);
	}
	sqlite3_reset(b.st);
	if (!rc) {
		*out = samples;
		*n = n_samples;
	}
	return rc;
}

/* ---- what was imported before ---- */

int assay_store_imported(struct assay_store *s, const char *digest, int64_t **out, size_t *n, struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(
		s, err, "SELECT id FROM run WHERE import_digest = ? AND import_digest <> '' ORDER BY id", NULL, "t",
		digest);

	*out = NULL;
	*n = 0;
	return assay_store_collect_ids(s, &b, "what was imported", out, n, err);
}

int assay_store_is_same_import(struct assay_store *s, int64_t id, const struct assay_run *run, bool *out,
			       struct assay_err *err)
{
	static const struct assay_column same[] = {
		ASSAY_COLUMN(struct assay_run, suite, "suite"),
		ASSAY_COLUMN(struct assay_run, label, "label"),
		ASSAY_COLUMN(struct assay_run, machine.id, "machine"),
		ASSAY_COLUMN(struct assay_run, build.id, "build"),
		ASSAY_COLUMN(struct assay_run, started_unknown, "started_unknown"),
	};
	static const struct assay_columns columns = ASSAY_COLUMNS(same);
	/* without a date, started_ns is the time of the import */
	struct assay_binder b =
		assay_store_ask(s, err,
				"SELECT EXISTS (SELECT 1 FROM run WHERE ({}) = ({?}) AND "
				"(started_unknown OR started_ns = ?) AND id = ?)",
				ASSAY_LISTS(&columns, &columns), "csi", &columns, run, run->started_ns, id);
	int64_t found = 0;
	int rc = assay_store_read_number(s, &b, "what was imported", &found, err);

	*out = found;
	return rc;
}
