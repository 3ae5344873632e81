/* SPDX-License-Identifier: Apache-2.0 */
/* What was imported before. */
#include "store/store_db.h"

int assay_store_imported(struct assay_store *s, const char *digest, bool *out, struct assay_err *err)
{
	static const char sql[] = "SELECT EXISTS (SELECT 1 FROM run WHERE import_digest = ? AND import_digest <> '')";
	struct assay_binder b = assay_store_statement(s, sql, err);
	int rc;

	assay_store_bind_text(&b, digest);
	rc = assay_store_step(&b);
	if (rc != SQLITE_ROW)
		return assay_store_fail(s, rc, err, "cannot look up what was imported");
	*out = sqlite3_column_int(b.st, 0);
	sqlite3_reset(b.st);
	return 0;
}
