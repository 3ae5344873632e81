/* SPDX-License-Identifier: Apache-2.0 */
/* What certifications found, one row each. */
#include "store/store_comparison.h"

#include <stdlib.h>

#include "store/store_rows.h"

static const struct assay_column certify_list[] = {
	ASSAY_COLUMN(struct assay_certify_record, machine.id, "machine"),
	ASSAY_COLUMN(struct assay_certify_record, started_ns, "started_ns"),
	ASSAY_COLUMN(struct assay_certify_record, ended_ns, "ended_ns"),
	ASSAY_COLUMN(struct assay_certify_record, gates, "gates"),
	ASSAY_COLUMN(struct assay_certify_record, false_alarms, "false_alarms"),
	ASSAY_COLUMN(struct assay_certify_record, settings, "settings"),
	ASSAY_COLUMN(struct assay_certify_record, result, "result"),
};
static const struct assay_columns certify_columns = ASSAY_COLUMNS(certify_list);

void assay_certify_record_release(struct assay_certify_record *r)
{
	free(r->settings);
	free(r->result);
	*r = (struct assay_certify_record){ 0 };
}

static int insert_certify(struct assay_store *s, const struct assay_certify_record *r, int64_t *id,
			  struct assay_err *err)
{
	static const struct assay_columns *const lists[] = { &certify_columns };
	struct assay_binder b;
	int rc = assay_store_statement_of(s, "INSERT INTO certify ({}) VALUES ({?})", lists, &b, err);

	if (rc)
		return rc;
	assay_store_bind_columns(&b, &certify_columns, r);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "certification of", r->machine.id);
	if (!rc)
		*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

int assay_store_certify_add(struct assay_store *s, struct assay_certify_record *r, struct assay_err *err)
{
	int64_t id = 0;
	int rc;

	rc = assay_store_begin(s, err);
	if (rc)
		return rc;
	rc = assay_store_put_machine(s, &r->machine, err);
	if (!rc)
		rc = insert_certify(s, r, &id, err);
	rc = assay_store_finish(s, rc, err);
	if (!rc)
		r->id = id;
	return rc;
}

/* ASSAY_ENOTFOUND without a message when there is no row. */
static int read_latest(struct assay_store *s, const char *machine_id, struct assay_certify_record *r,
		       struct assay_err *err)
{
	static const char sql[] = "SELECT c.id, {c}, {m} FROM certify c JOIN machine m ON m.id = c.machine"
				  " WHERE ?1 IS NULL OR c.machine = ?1 ORDER BY c.id DESC LIMIT 1";
	static const struct assay_columns *const lists[] = { &certify_columns, &assay_store_machine_columns };
	struct assay_row row = { 0 };
	struct assay_binder b;
	int rc = assay_store_statement_of(s, sql, lists, &b, err);

	if (rc)
		return rc;
	assay_store_bind_text(&b, machine_id);
	while (assay_store_next(s, &b, &row, "'certify'", &rc, err)) {
		r->id = assay_store_row_int(&row);
		assay_store_row_columns(&row, &certify_columns, r);
		assay_store_row_columns(&row, &assay_store_machine_columns, &r->machine);
	}
	return rc || r->id ? rc : ASSAY_ENOTFOUND;
}

int assay_store_certify_latest(struct assay_store *s, const char *machine_id, struct assay_certify_record *out,
			       struct assay_err *err)
{
	struct assay_certify_record r = { 0 };
	int rc;

	rc = assay_store_begin_read(s, err);
	if (rc)
		return rc;
	rc = read_latest(s, machine_id, &r, err);
	if (rc == ASSAY_ENOTFOUND)
		assay_err_set(err, rc, "no certification%s in '%.200s'; run 'assay certify' first",
			      machine_id ? " of this machine" : "", s->path);
	if (!rc)
		rc = assay_store_read_facts(s, &r.machine, err);
	rc = assay_store_finish(s, rc, err);
	if (rc)
		assay_certify_record_release(&r);
	else
		*out = r;
	return rc;
}
