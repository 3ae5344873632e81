/* SPDX-License-Identifier: Apache-2.0 */
/* What was imported before. */
#include <stdlib.h>

#include "base/grow.h"
#include "store/db.h"

int assay_store_imported(struct assay_store *s, const char *digest, int64_t **out, size_t *n, struct assay_err *err)
{
	struct assay_binder b = assay_store_statement(
		s, "SELECT id FROM run WHERE import_digest = ? AND import_digest <> '' ORDER BY id", err);
	struct assay_row row = { 0 };
	int rc = 0;

	*out = NULL;
	*n = 0;
	assay_store_bind_text(&b, digest);
	while (assay_store_next(s, &b, &row, "what was imported", &rc, err)) {
		if (assay_grow(out, *n, sizeof(**out)))
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		(*out)[(*n)++] = assay_store_row_int(&row);
		row = (struct assay_row){ 0 };
	}
	return rc;
}

int assay_store_is_same_import(struct assay_store *s, int64_t id, const struct assay_run *run, bool *out,
			       struct assay_err *err)
{
	/* without a date, started_ns is the time of the import */
	struct assay_binder b = assay_store_statement(s,
						      "SELECT EXISTS (SELECT 1 FROM run WHERE id = ? AND suite = ? AND "
						      "label = ? AND machine = ? AND build = ?"
						      " AND started_unknown = ?6 AND (?6 OR started_ns = ?))",
						      err);
	int rc;

	assay_store_bind_int(&b, id);
	assay_store_bind_text(&b, run->suite);
	assay_store_bind_text(&b, run->label);
	assay_store_bind_text(&b, run->machine.id);
	assay_store_bind_text(&b, run->build.id);
	assay_store_bind_int(&b, run->started_unknown);
	assay_store_bind_size(&b, run->started_ns);
	rc = assay_store_step(&b);
	if (rc != SQLITE_ROW)
		return assay_store_fail(s, rc, err, "cannot look up what was imported");
	*out = sqlite3_column_int(b.st, 0);
	sqlite3_reset(b.st);
	return 0;
}
