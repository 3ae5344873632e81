/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that runs and comparisons have in common: machine, build, case, metrics, counts. */
#include "store/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- in --------------------------------------------------------------------------------------------------------- */

/* A machine is known by its digest, every other owner of rows by a number. */
static int put_machine_facts(struct assay_store *s, const struct assay_fingerprint *m, struct assay_err *err)
{
	struct assay_binder b;
	int rc = 0;

	for (size_t i = 0; i < m->n_facts && !rc; i++) {
		b = assay_store_ask(s, err, "INSERT INTO machine_fact (machine, place, {}) VALUES (?, ?, {?})", NULL,
				    "tsc", m->id, i, &assay_store_fact_columns, &m->facts[i]);
		rc = assay_store_done(s, assay_store_step_once(&b), err, "fact", m->facts[i].name);
	}
	return rc;
}

int assay_store_put_machine(struct assay_store *s, const struct assay_fingerprint *m, struct assay_err *err)
{
	struct assay_binder b =
		assay_store_ask(s, err, "INSERT INTO machine ({}) VALUES ({?}) ON CONFLICT (id) DO NOTHING", NULL, "c",
				&assay_store_machine_columns, m);
	int rc = assay_store_done(s, assay_store_step_once(&b), err, "machine", m->id);

	return rc || !sqlite3_changes(s->db) ? rc : put_machine_facts(s, m, err);
}

int assay_store_put_build(struct assay_store *s, const struct assay_build *build, struct assay_err *err)
{
	struct assay_binder b =
		assay_store_ask(s, err, "INSERT INTO build ({}) VALUES ({?}) ON CONFLICT (id) DO NOTHING", NULL, "c",
				&assay_store_build_columns, build);

	return assay_store_done(s, assay_store_step_once(&b), err, "build", build->id);
}

int assay_store_put_numbers(struct assay_store *s, int64_t side, const struct assay_result *r, struct assay_err *err)
{
	static const struct assay_store_part metrics = { "metric", "pair_metric", "pair_side",
							 &assay_store_metric_columns, sizeof(*r->metrics) };
	static const struct assay_store_part counts = { "counter", "pair_counter", "pair_side",
							&assay_store_count_columns, sizeof(*r->counters.v) };
	static const struct assay_store_part reasons = { "reason of", "pair_unavailable", "pair_side",
							 &assay_store_missing_columns, sizeof(*r->counters.missing) };
	int rc = assay_store_put_part(s, &metrics, side, r->metrics, r->n_metrics, err);

	if (!rc)
		rc = assay_store_put_part(s, &counts, side, r->counters.v, r->counters.n, err);
	return rc ? rc : assay_store_put_part(s, &reasons, side, r->counters.missing, r->counters.n_missing, err);
}

bool assay_store_not_finite(const struct assay_result *r, char *buf, size_t size)
{
	const struct assay_counters *c = &r->counters;

	for (size_t i = 0; i < r->n_metrics; i++)
		if (!isfinite(r->metrics[i].value)) {
			snprintf(buf, size, "metric '%s' is %g", r->metrics[i].tag, r->metrics[i].value);
			return true;
		}
	for (size_t i = 0; i < c->n; i++)
		if (!isfinite(c->v[i].value)) {
			snprintf(buf, size, "counter '%s' is %g", c->v[i].name, c->v[i].value);
			return true;
		}
	return false;
}

/* ---- out -------------------------------------------------------------------------------------------------------- */

void assay_store_row_result(struct assay_row *row, struct assay_result *r)
{
	assay_store_row_columns(row, &assay_store_case_columns, &r->c);
	assay_case_read_key(&r->c);
	assay_store_row_columns(row, &assay_store_limit_columns, &r->c);
	assay_store_row_columns(row, &assay_store_outcome_columns, r);
	assay_store_row_columns(row, &assay_store_measurement_columns, r);
	assay_store_row_columns(row, &assay_store_statistics_columns, r);
}

struct assay_commit assay_store_row_revision(struct assay_row *row)
{
	struct assay_build b = { 0 };

	assay_store_row_columns(row, &assay_store_commit_columns, &b);
	return assay_build_revision(&b);
}

void assay_store_row_axis(struct assay_row *row, struct assay_case *c)
{
	if (c->n_axes == ASSAY_MAX_AXES)
		row->bad = true;
	else
		assay_store_row_columns(row, &assay_store_axis_columns, &c->axes[c->n_axes++]);
}

int assay_store_row_count(struct assay_row *row, struct assay_counters *c, struct assay_err *err)
{
	struct assay_count v = { 0 };

	assay_store_row_columns(row, &assay_store_count_columns, &v);
	return assay_counters_add(c, &v) ? assay_err_set(err, ASSAY_ENOMEM, "out of memory") : 0;
}

int assay_store_row_missing(struct assay_row *row, struct assay_counters *c, struct assay_err *err)
{
	struct assay_unavailable u = { 0 };

	assay_store_row_columns(row, &assay_store_missing_columns, &u);
	return assay_counters_add_missing(c, u.name, u.source, u.reason)
		       ? assay_err_set(err, ASSAY_ENOMEM, "out of memory")
		       : 0;
}

int assay_store_read_facts(struct assay_store *s, struct assay_fingerprint *m, struct assay_err *err)
{
	struct assay_row row = { 0 };
	struct assay_binder b =
		assay_store_ask(s, err, "SELECT {f} FROM machine_fact f WHERE f.machine = ? ORDER BY f.place",
				ASSAY_LISTS(&assay_store_fact_columns), "t", m->id);
	int rc = 0;

	while (assay_store_next(s, &b, &row, "'machine_fact'", &rc, err)) {
		if (m->n_facts == sizeof(m->facts) / sizeof(m->facts[0]))
			row.bad = true;
		else
			assay_store_row_columns(&row, &assay_store_fact_columns, &m->facts[m->n_facts++]);
	}
	return rc;
}

static void name_part(struct assay_store_whole whole, const char *table, char *buf, size_t size)
{
	snprintf(buf, size, "'%s' in %s %lld", table, whole.kind, (long long)whole.id);
}

int assay_store_newest(struct assay_store *s, const char *sql, const char *kind, int64_t *id, struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "");
	int rc = assay_store_read_number(s, &b, kind, id, err);

	if (rc)
		return rc;
	if (!*id)
		return assay_err_set(err, ASSAY_ENOTFOUND,
				     "no %ss in '%.200s'; run 'assay %s' first, or name another with --db", kind,
				     s->path, strcmp(kind, "run") ? "compare" : "run");
	return 0;
}

int assay_store_no_number(struct assay_store *s, const char *kind, int64_t id, struct assay_err *err)
{
	static const char run[] = "SELECT id FROM run ORDER BY abs(id - ?), id LIMIT 1";
	static const char comparison[] = "SELECT id FROM comparison ORDER BY abs(id - ?), id LIMIT 1";
	struct assay_binder b = assay_store_ask(s, err, strcmp(kind, "run") ? comparison : run, NULL, "i", id);
	int64_t near = 0;
	int rc = assay_store_read_number(s, &b, kind, &near, err);

	if (rc)
		return rc;
	if (!near)
		return assay_err_set(err, ASSAY_ENOTFOUND, "no %s %lld in '%.200s'", kind, (long long)id, s->path);
	return assay_err_set(err, ASSAY_ENOTFOUND, "no %s %lld in '%.200s': the nearest is %lld", kind, (long long)id,
			     s->path, (long long)near);
}

int assay_store_for_each(struct assay_store *s, struct assay_store_whole whole, const struct assay_store_query *q,
			 void *to, struct assay_err *err)
{
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_ask(s, err, q->sql, q->lists, "i", whole.id);
	int rc = 0;
	char what[64];

	name_part(whole, q->table, what, sizeof(what));
	while (assay_store_next(s, &b, &row, what, &rc, err))
		rc = q->each(to, &row);
	return rc;
}

int assay_store_part_damaged(const struct assay_store *s, struct assay_store_whole whole, const char *table,
			     struct assay_err *err)
{
	char what[64];

	name_part(whole, table, what, sizeof(what));
	return assay_store_damaged(s, what, err);
}

bool assay_store_row_status(struct assay_row *row, enum assay_status *status)
{
	char name[16];

	assay_store_row_text(row, name, sizeof(name));
	for (int i = 0; i < ASSAY_N_STATUS; i++)
		if (!strcmp(name, assay_status_name((enum assay_status)i))) {
			*status = (enum assay_status)i;
			return true;
		}
	*status = ASSAY_STATUS_SKIPPED;
	return false;
}
