/* SPDX-License-Identifier: Apache-2.0 */
/* What comparisons said of the changes of histories. */
#include "store/comparison.h"

#include "store/db.h"
#include "store/rows.h"

int assay_store_change_put(struct assay_store *s, const char *key, const char *machine_id,
			   const struct assay_change_answer *a, struct assay_err *err)
{
	static const char sql[] =
		"INSERT OR REPLACE INTO change_answer (bench_case, machine, from_commit, to_commit, slower, confirmed, "
		"decided, reason, budget_ns, asked_ns, comparison)"
		" SELECT c.id, m.id, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 FROM bench_case c, machine m"
		" WHERE c.key = ?1 AND m.id = ?2";
	struct assay_binder b = assay_store_statement(s, sql, err);
	int rc;

	assay_store_bind_text(&b, key);
	assay_store_bind_text(&b, machine_id);
	assay_store_bind_text(&b, a->from_commit);
	assay_store_bind_text(&b, a->to_commit);
	assay_store_bind_int(&b, a->slower);
	assay_store_bind_int(&b, a->confirmed);
	assay_store_bind_int(&b, a->decided);
	assay_store_bind_text(&b, a->reason);
	assay_store_bind_size(&b, a->budget_ns);
	assay_store_bind_size(&b, a->asked_ns);
	if (a->comparison_id)
		assay_store_bind_int(&b, a->comparison_id);
	else
		assay_store_bind_null(&b);
	rc = assay_store_step_once(&b);
	return rc == SQLITE_DONE ? 0 : assay_store_fail(s, rc, err, "cannot keep what was said of a change");
}

int assay_store_change_find(struct assay_store *s, const char *key, const char *machine_id,
			    struct assay_change_answer *a, bool *found, struct assay_err *err)
{
	static const char sql[] = "SELECT a.confirmed, a.decided, a.reason, a.budget_ns, a.asked_ns, "
				  "coalesce(a.comparison, 0) FROM change_answer a JOIN bench_case c ON c.id = "
				  "a.bench_case WHERE c.key = ? AND a.machine = ? AND a.from_commit = ? AND "
				  "a.to_commit = ? AND a.slower = ?";
	struct assay_binder b = assay_store_statement(s, sql, err);
	struct assay_row row = { 0 };
	int rc = 0;

	*found = false;
	assay_store_bind_text(&b, key);
	assay_store_bind_text(&b, machine_id);
	assay_store_bind_text(&b, a->from_commit);
	assay_store_bind_text(&b, a->to_commit);
	assay_store_bind_int(&b, a->slower);
	while (assay_store_next(s, &b, &row, "'change_answer'", &rc, err)) {
		*found = true;
		a->confirmed = assay_store_row_bool(&row);
		a->decided = assay_store_row_bool(&row);
		assay_store_row_text(&row, a->reason, sizeof(a->reason));
		a->budget_ns = (uint64_t)assay_store_row_int(&row);
		a->asked_ns = (uint64_t)assay_store_row_int(&row);
		a->comparison_id = assay_store_row_int(&row);
	}
	return rc;
}

static void read_change(struct assay_row *row, void *element)
{
	struct assay_stored_change *c = element;
	struct assay_change_answer *a = &c->answer;

	assay_store_row_text(row, c->key, sizeof(c->key));
	assay_store_row_text(row, c->machine_id, sizeof(c->machine_id));
	assay_store_row_text(row, a->from_commit, sizeof(a->from_commit));
	assay_store_row_text(row, a->to_commit, sizeof(a->to_commit));
	a->slower = assay_store_row_bool(row);
	a->confirmed = assay_store_row_bool(row);
	a->decided = assay_store_row_bool(row);
	assay_store_row_text(row, a->reason, sizeof(a->reason));
	a->budget_ns = (uint64_t)assay_store_row_int(row);
	a->asked_ns = (uint64_t)assay_store_row_int(row);
	a->comparison_id = assay_store_row_int(row);
}

int assay_store_changes(struct assay_store *s, struct assay_stored_change **out, size_t *n, struct assay_err *err)
{
	static const char sql[] =
		"SELECT c.key, a.machine, a.from_commit, a.to_commit, a.slower, a.confirmed, a.decided, a.reason, "
		"a.budget_ns, a.asked_ns, coalesce(a.comparison, 0) FROM change_answer a JOIN bench_case c ON c.id = "
		"a.bench_case";
	struct assay_binder b = assay_store_statement(s, sql, err);

	return assay_store_collect(s, &b, "'change_answer'", sizeof(**out), read_change, out, n, err);
}
