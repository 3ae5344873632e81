/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of metrics and counts, which results and the sides of pairs have alike. */
#include <math.h>
#include <stdio.h>

#include "store/store_rows.h"

int assay_store_row_count(struct assay_row *row, struct assay_counters *c, struct assay_err *err)
{
	struct assay_count v = { 0 };

	assay_store_row_text(row, v.name, sizeof(v.name));
	assay_store_row_text(row, v.source, sizeof(v.source));
	v.value = sqlite3_column_double(row->st, row->column++);
	assay_store_row_text(row, v.how, sizeof(v.how));
	v.per_iteration = assay_store_row_bool(row);
	v.running_frac = sqlite3_column_double(row->st, row->column++);
	return assay_counters_add(c, &v) ? assay_err_set(err, ASSAY_ENOMEM, "out of memory") : 0;
}

int assay_store_row_missing(struct assay_row *row, struct assay_counters *c, struct assay_err *err)
{
	struct assay_unavailable u = { 0 };

	assay_store_row_text(row, u.name, sizeof(u.name));
	assay_store_row_text(row, u.source, sizeof(u.source));
	assay_store_row_text(row, u.reason, sizeof(u.reason));
	return assay_counters_add_missing(c, u.name, u.source, u.reason)
		       ? assay_err_set(err, ASSAY_ENOMEM, "out of memory")
		       : 0;
}

bool assay_store_not_finite(const struct assay_metric *v, size_t n, const struct assay_counters *c, char *buf,
			    size_t size)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(v[i].value)) {
			snprintf(buf, size, "metric '%s' is %g", v[i].tag, v[i].value);
			return true;
		}
	for (size_t i = 0; i < c->n; i++)
		if (!isfinite(c->v[i].value)) {
			snprintf(buf, size, "counter '%s' is %g", c->v[i].name, c->v[i].value);
			return true;
		}
	return false;
}

int assay_store_put_metrics(struct assay_store *s, enum assay_store_owner owner, int64_t id,
			    const struct assay_metric *v, size_t n, struct assay_err *err)
{
	static const char *const sql[] = {
		"INSERT INTO result_metric (result, place, tag, unit, better, value, source, estimated)"
		" VALUES (?,?,?,?,?,?,?,?)",
		"INSERT INTO pair_metric (pair_side, place, tag, unit, better, value, source, estimated)"
		" VALUES (?,?,?,?,?,?,?,?)",
	};
	sqlite3_stmt *st;
	int rc = assay_store_prepare(s, sql[owner], &st, err);

	for (size_t i = 0; i < n && !rc; i++) {
		struct assay_binder b = assay_store_bind(st);

		assay_store_bind_int(&b, id);
		assay_store_bind_size(&b, i);
		assay_store_bind_text(&b, v[i].tag);
		assay_store_bind_text(&b, v[i].unit);
		assay_store_bind_int(&b, v[i].better);
		assay_store_bind_real(&b, v[i].value);
		assay_store_bind_text(&b, v[i].source);
		assay_store_bind_int(&b, v[i].estimated);
		rc = assay_store_done(s, assay_store_step_once(&b), err, "metric", v[i].tag);
	}
	return rc;
}

static int put_missing(struct assay_store *s, enum assay_store_owner owner, int64_t id, const struct assay_counters *c,
		       struct assay_err *err)
{
	static const char *const sql[] = {
		"INSERT INTO result_unavailable (result, place, name, source, reason) VALUES (?,?,?,?,?)",
		"INSERT INTO pair_unavailable (pair_side, place, name, source, reason) VALUES (?,?,?,?,?)",
	};
	sqlite3_stmt *st;
	int rc = assay_store_prepare(s, sql[owner], &st, err);

	for (size_t i = 0; i < c->n_missing && !rc; i++) {
		struct assay_binder b = assay_store_bind(st);

		assay_store_bind_int(&b, id);
		assay_store_bind_size(&b, i);
		assay_store_bind_text(&b, c->missing[i].name);
		assay_store_bind_text(&b, c->missing[i].source);
		assay_store_bind_text(&b, c->missing[i].reason);
		rc = assay_store_done(s, assay_store_step_once(&b), err, "reason of", c->missing[i].name);
	}
	return rc;
}

int assay_store_put_counters(struct assay_store *s, enum assay_store_owner owner, int64_t id,
			     const struct assay_counters *c, struct assay_err *err)
{
	static const char *const sql[] = {
		"INSERT INTO result_counter (result, place, name, source, value, how, per_iteration, running_frac)"
		" VALUES (?,?,?,?,?,?,?,?)",
		"INSERT INTO pair_counter (pair_side, place, name, source, value, how, per_iteration, running_frac)"
		" VALUES (?,?,?,?,?,?,?,?)",
	};
	sqlite3_stmt *st;
	int rc = assay_store_prepare(s, sql[owner], &st, err);

	for (size_t i = 0; i < c->n && !rc; i++) {
		struct assay_binder b = assay_store_bind(st);

		assay_store_bind_int(&b, id);
		assay_store_bind_size(&b, i);
		assay_store_bind_text(&b, c->v[i].name);
		assay_store_bind_text(&b, c->v[i].source);
		assay_store_bind_real(&b, c->v[i].value);
		assay_store_bind_text(&b, c->v[i].how);
		assay_store_bind_int(&b, c->v[i].per_iteration);
		assay_store_bind_real(&b, c->v[i].running_frac);
		rc = assay_store_done(s, assay_store_step_once(&b), err, "counter", c->v[i].name);
	}
	return rc ? rc : put_missing(s, owner, id, c, err);
}
