/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a case: its times, or one metric or count of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "model/exact.h"
#include "model/summary.h"
#include "store/exact.h"
#include "store/rows.h"

static int key_known(struct assay_store *s, const char *key, struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(s, err, "SELECT 1 FROM bench_case WHERE key = ?", NULL, "t", key);
	int64_t known = 0;
	int rc = assay_store_read_number(s, &b, "the history", &known, err);

	if (!rc && !known)
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "no case '%.255s' in '%.160s'", key, s->path);
	return rc;
}

/* The point and the key of its case. */
static void read_trend_point(struct assay_row *row, struct assay_trend_point *p, char key[ASSAY_KEY_MAX])
{
	struct assay_result r = { .status = ASSAY_STATUS_OK };

	*p = (struct assay_trend_point){ .value = NAN };
	assay_store_row_columns(row, &assay_store_point_columns, p);
	assay_store_row_result(row, &r);
	p->median_ns = r.median_ns;
	p->ci95_lo_ns = assay_summary_has_interval(&r) ? r.ci95_lo_ns : NAN;
	p->ci95_hi_ns = assay_summary_has_interval(&r) ? r.ci95_hi_ns : NAN;
	memcpy(key, r.c.key, ASSAY_KEY_MAX);
	assay_result_release(&r);
}

int assay_store_each_time(struct assay_store *s, int64_t run_id, void (*each)(void *arg, const struct assay_result *r),
			  void *arg, struct assay_err *err)
{
	static const char sql[] =
		"SELECT " ASSAY_STORE_RESULT_COLUMNS " FROM result r JOIN bench_case c ON c.id = r.bench_case"
		" WHERE r.run = ? AND r.status = 'ok'";
	struct assay_binder b = assay_store_ask(s, err, sql, ASSAY_LISTS(ASSAY_STORE_RESULT_LISTS), "i", run_id);
	struct assay_row row = { 0 };
	int rc = 0;

	while (assay_store_next(s, &b, &row, "the history", &rc, err)) {
		struct assay_result r = { .status = ASSAY_STATUS_OK };

		assay_store_row_result(&row, &r);
		each(arg, &r);
		assay_result_release(&r);
	}
	return rc;
}

/* A question about the history of a case, and its points with the result that each is of. */
struct trend {
	struct assay_store *s;
	const char *key, *machine_id, *metric; /* @metric NULL: the time */
	struct assay_err *err;
	struct assay_trend_point *v;
	int64_t *result;
	size_t n;
	char unit[ASSAY_METRIC_UNIT_MAX]; /* of the metric */
	struct assay_strings names;       /* of all that the results have */
};

static int add_point(struct trend *t)
{
	int rc = assay_store_grow(&t->v, t->n, sizeof(*t->v), t->err);

	return rc ? rc : assay_store_grow(&t->result, t->n, sizeof(*t->result), t->err);
}

static int load_times(struct trend *t)
{
	static const char sql[] =
		"SELECT r.id, {}, " ASSAY_STORE_RESULT_COLUMNS
		" FROM bench_case c JOIN series s ON s.bench_case = c.id JOIN result r ON r.series = s.id"
		" JOIN run ON run.id = r.run JOIN build b ON b.id = run.build"
		" WHERE c.key = ?1 AND r.status = 'ok' AND (?2 IS NULL OR s.machine = ?2) ORDER BY "
		"run.started_ns, run.id";
	struct assay_row row = { 0 };
	char same[ASSAY_KEY_MAX];
	struct assay_binder b;
	int rc = key_known(t->s, t->key, t->err);

	if (rc)
		return rc;
	b = assay_store_ask(t->s, t->err, sql, ASSAY_LISTS(&assay_store_point_columns, ASSAY_STORE_RESULT_LISTS), "tt",
			    t->key, t->machine_id);
	while (assay_store_next(t->s, &b, &row, "the history", &rc, t->err)) {
		rc = add_point(t);
		if (rc)
			continue;
		t->result[t->n] = assay_store_row_int(&row);
		read_trend_point(&row, &t->v[t->n++], same);
	}
	return rc;
}

int assay_store_recent(struct assay_store *s, const char *suite, const char *machine_id, uint64_t until_ns,
		       size_t n_runs, struct assay_case_point **out, size_t *n, struct assay_err *err)
{
	static const char sql[] =
		"SELECT {}, " ASSAY_STORE_RESULT_COLUMNS
		" FROM (SELECT id FROM run WHERE suite = ?1 AND machine = ?2 AND started_ns <= ?3"
		"  ORDER BY started_ns DESC, id DESC LIMIT ?4) last"
		" JOIN run ON run.id = last.id JOIN build b ON b.id = run.build JOIN result r ON r.run = run.id"
		" JOIN bench_case c ON c.id = r.bench_case WHERE r.status = 'ok' ORDER BY c.key, run.started_ns, "
		"run.id";
	struct assay_binder b = assay_store_ask(
		s, err, sql, ASSAY_LISTS(&assay_store_point_columns, ASSAY_STORE_RESULT_LISTS), "ttii", suite,
		machine_id, until_ns <= INT64_MAX ? (int64_t)until_ns : INT64_MAX, (int64_t)n_runs);
	struct assay_case_point *v = NULL;
	struct assay_row row = { 0 };
	size_t count = 0;
	int rc = 0;

	while (assay_store_next(s, &b, &row, "the history", &rc, err)) {
		rc = assay_store_grow(&v, count, sizeof(*v), err);
		if (rc)
			continue;
		read_trend_point(&row, &v[count].point, v[count].key);
		count++;
	}
	if (rc) {
		free(v);
		return rc;
	}
	*out = v;
	*n = count;
	return 0;
}

static const struct assay_column time_list[] = {
	ASSAY_COLUMN(struct assay_case_time, bench_case, "r.bench_case"),
	ASSAY_COLUMN(struct assay_case_time, started_ns, "run.started_ns"),
	ASSAY_COLUMN(struct assay_case_time, median_ns, "r.median_ns"),
};
static const struct assay_columns time_columns = ASSAY_COLUMNS(time_list);

int assay_store_times_beside(struct assay_store *s, const char *key, const char *machine_id, uint64_t from_ns,
			     uint64_t to_ns, struct assay_case_time **out, size_t *n, struct assay_err *err)
{
	static const char sql[] =
		"SELECT {} FROM run JOIN result r ON r.run = run.id"
		" WHERE +run.machine = ?2 AND run.started_ns BETWEEN ?3 AND ?4 AND r.status = 'ok' AND r.median_ns > 0"
		" AND r.bench_case IS NOT (SELECT id FROM bench_case WHERE key = ?1)"
		" ORDER BY r.bench_case, run.started_ns, run.id";
	static const struct assay_store_rows rows = { "the history", sizeof(**out), &time_columns, NULL };
	struct assay_binder b = assay_store_ask(s, err, sql, ASSAY_LISTS(&time_columns), "ttii", key, machine_id,
						(int64_t)from_ns, (int64_t)to_ns);

	return assay_store_collect(s, &b, &rows, out, n, err);
}

/* ---- of a metric or count ---- */

static int no_metric(const struct trend *t)
{
	char hint[512];

	if (assay_exact_is_metric(t->metric))
		return assay_err_set(
			t->err, ASSAY_ENOTFOUND,
			"no exact counts of '%s' are stored: 'assay run --only CASE --evidence exact' takes "
			"them",
			t->key);
	return assay_err_set(
		t->err, ASSAY_ENOTFOUND, "no stored run of '%s' has '%s'%s", t->key, t->metric,
		assay_conf_hint(t->metric, (const char *const *)t->names.v, t->names.n, hint, sizeof(hint)));
}

/* The value in the result of point @i; NaN where it has none. */
static int read_value(struct trend *t, size_t i)
{
	struct assay_trend_point *p = &t->v[i];
	const struct assay_metric *m;
	const struct assay_count *c;
	struct assay_result r;
	int rc = assay_store_result_load(t->s, p->run_id, t->result[i], &r, t->err);

	if (rc)
		return rc;
	m = assay_result_metric(&r, t->metric);
	c = assay_counters_find(&r.counters, t->metric);
	if (m || c) {
		p->value = m ? m->value : c->value;
		snprintf(t->unit, sizeof(t->unit), "%s", m ? m->unit : "1");
	}
	rc = assay_result_names(&r, &t->names, t->err);
	assay_result_release(&r);
	return rc;
}

static int load_values(struct trend *t)
{
	size_t kept = 0;
	int rc = load_times(t);

	for (size_t i = 0; i < t->n && !rc; i++) {
		rc = read_value(t, i);
		if (!rc && isfinite(t->v[i].value))
			t->v[kept++] = t->v[i];
	}
	t->n = kept;
	return rc;
}

static int add_count(struct trend *t, int64_t id)
{
	const struct assay_exact_case *c;
	struct assay_exact_run run;
	struct assay_trend_point *p;
	int rc = assay_store_exact_load(t->s, id, &run, t->err);

	if (rc)
		return rc;
	c = assay_exact_case_find(&run, t->key);
	rc = add_point(t);
	if (!rc && c && c->status == ASSAY_STATUS_OK && isfinite(assay_exact_case_metric(c, t->metric))) {
		p = &t->v[t->n++];
		*p = (struct assay_trend_point){ .run_id = run.run_id,
						 .started_ns = run.started_ns,
						 .dirty = run.build.dirty,
						 .plugin = run.build.plugin,
						 .value = assay_exact_case_metric(c, t->metric) };
		memcpy(p->commit, run.build.commit, sizeof(p->commit));
	}
	assay_exact_run_release(&run);
	return rc;
}

/* Exact counts are the same on every machine. */
static int load_counts(struct trend *t)
{
	int64_t *ids = NULL;
	size_t n = 0;
	int rc = assay_store_exact_of_case(t->s, t->key, &ids, &n, t->err);

	for (size_t i = 0; i < n && !rc; i++)
		rc = add_count(t, ids[i]);
	free(ids);
	return rc;
}

int assay_store_trend_of(struct assay_store *s, const char *key, const char *machine_id, const char *metric,
			 struct assay_trend_point **out, size_t *n, char unit[ASSAY_METRIC_UNIT_MAX],
			 struct assay_err *err)
{
	struct trend t = { .s = s, .key = key, .machine_id = machine_id, .metric = metric, .err = err, .unit = "1" };
	int rc = !metric ? load_times(&t) : assay_exact_is_metric(metric) ? load_counts(&t) : load_values(&t);

	if (!rc && metric && !t.n)
		rc = no_metric(&t);
	assay_strings_release(&t.names);
	free(t.result);
	if (rc) {
		free(t.v);
		return rc;
	}
	if (unit)
		memcpy(unit, t.unit, sizeof(t.unit));
	*out = t.v;
	*n = t.n;
	return 0;
}

int assay_store_trend(struct assay_store *s, const char *key, const char *machine_id, struct assay_trend_point **out,
		      size_t *n, struct assay_err *err)
{
	return assay_store_trend_of(s, key, machine_id, NULL, out, n, NULL, err);
}

/* ---- runs in which a case has no number ---- */

/* Behind the columns of the run, which a gap begins with. */
static void read_gap_status(struct assay_row *row, void *element)
{
	struct assay_trend_gap *g = element;

	g->missing = !assay_store_row_status(row, &g->status);
}

/*
 * A run that has no result of the case counts where it is of a suite that has the case, later than the first run with
 * it, and of at least half as many cases as the newest run that has it: others were asked for something else.
 */
int assay_store_trend_gaps(struct assay_store *s, const char *key, const char *machine_id, struct assay_trend_gap **out,
			   size_t *n, struct assay_err *err)
{
	static const char sql[] =
		"WITH of_case AS (SELECT r.run AS run, r.status AS status FROM bench_case c JOIN result r ON "
		"r.bench_case = c.id JOIN run ON run.id = r.run WHERE c.key = ?1 AND run.machine = ?2),"
		" measured AS (SELECT run.suite AS suite, min(run.id) AS first, max(run.id) AS newest FROM of_case "
		"JOIN run ON run.id = of_case.run WHERE of_case.status = 'ok' GROUP BY run.suite),"
		" gaps AS (SELECT run AS id, status FROM of_case WHERE status <> 'ok'"
		" UNION ALL SELECT run.id, '' FROM measured m JOIN run ON run.suite = m.suite AND run.machine = ?2"
		" AND run.id > m.first AND run.id NOT IN (SELECT run FROM of_case)"
		" WHERE 2 * (SELECT count(*) FROM result x WHERE x.run = run.id) >="
		" (SELECT count(*) FROM result x WHERE x.run = m.newest))"
		" SELECT {}, gaps.status FROM gaps JOIN run ON run.id = gaps.id JOIN build b ON b.id = run.build ORDER "
		"BY run.started_ns, "
		"run.id";
	static const struct assay_store_rows rows = { "the history", sizeof(**out), &assay_store_point_columns,
						      read_gap_status };
	struct assay_binder b =
		assay_store_ask(s, err, sql, ASSAY_LISTS(&assay_store_point_columns), "tt", key, machine_id);

	return assay_store_collect(s, &b, &rows, out, n, err);
}
