/* SPDX-License-Identifier: Apache-2.0 */
/* What certifications found, one row each. */
#include "store/store_comparison.h"

#include <stdlib.h>

#include "store/store_db.h"
#include "store/store_rows.h"

void assay_certify_record_release(struct assay_certify_record *r)
{
	free(r->settings);
	free(r->result);
	*r = (struct assay_certify_record){ 0 };
}

static int insert_certify(struct assay_store *s, const struct assay_certify_record *r, int64_t *id,
			  struct assay_err *err)
{
	static const char sql[] = "INSERT INTO certify (machine, started_ns, ended_ns, gates, false_alarms, settings,"
				  " result) VALUES (?,?,?,?,?,?,?)";
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_text(&b, r->machine.id);
	assay_store_bind_size(&b, r->started_ns);
	assay_store_bind_size(&b, r->ended_ns);
	assay_store_bind_size(&b, r->gates);
	assay_store_bind_size(&b, r->false_alarms);
	assay_store_bind_text(&b, r->settings);
	assay_store_bind_text(&b, r->result);
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
	static const char sql[] =
		"SELECT c.id, m.id, m.label, c.started_ns, c.ended_ns, c.gates, c.false_alarms, c.settings, c.result"
		" FROM certify c JOIN machine m ON m.id = c.machine"
		" WHERE ?1 IS NULL OR c.machine = ?1 ORDER BY c.id DESC LIMIT 1";
	struct assay_binder b;
	struct assay_row row;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_text(&b, machine_id);
	rc = assay_store_step(&b);
	if (rc == SQLITE_DONE)
		return ASSAY_ENOTFOUND;
	if (rc != SQLITE_ROW)
		return assay_store_fail(s, rc, err, "cannot read 'certify'");
	row = assay_store_row(b.st);
	r->id = assay_store_row_int(&row);
	assay_store_row_text(&row, r->machine.id, sizeof(r->machine.id));
	assay_store_row_text(&row, r->machine.label, sizeof(r->machine.label));
	r->started_ns = (uint64_t)assay_store_row_int(&row);
	r->ended_ns = (uint64_t)assay_store_row_int(&row);
	r->gates = (uint64_t)assay_store_row_int(&row);
	r->false_alarms = (uint64_t)assay_store_row_int(&row);
	r->settings = assay_store_row_dup(&row);
	r->result = assay_store_row_dup(&row);
	if (!r->settings || !r->result)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (row.bad)
		return assay_err_set(err, ASSAY_ESTORE,
				     "database '%.200s' is damaged: a text is too long; restore a copy", s->path);
	return 0;
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
