/* SPDX-License-Identifier: Apache-2.0 */
/* A seal is a chain: each step is a digest over the step before and what a row adds. */
#include "store/store_seal.h"

#include <string.h>

/* NULL without memory, which the row then says. */
static struct assay_hasher *begin(const struct assay_seal *seal, struct assay_row *row)
{
	struct assay_hasher *h = assay_hasher_new();

	if (h)
		assay_hasher_add(h, seal->hex, sizeof(seal->hex));
	row->no_memory |= !h;
	return h;
}

static void end(struct assay_seal *seal, struct assay_hasher *h)
{
	struct assay_digest d = assay_hasher_finish(h);

	memcpy(seal->hex, d.hex, sizeof(seal->hex));
}

void assay_store_seal_value(struct assay_seal *seal, struct assay_row *row, int column, const char *name)
{
	const int type = sqlite3_column_type(row->st, column);
	const unsigned char kind = (unsigned char)type;
	struct assay_hasher *h;
	const void *bytes = NULL;
	size_t len = 0;
	int64_t whole = 0;
	double real = 0;

	if (type == SQLITE_INTEGER && (whole = sqlite3_column_int64(row->st, column)) != 0) {
		bytes = &whole;
		len = sizeof(whole);
	} else if (type == SQLITE_FLOAT && (real = sqlite3_column_double(row->st, column)) != 0) {
		bytes = &real;
		len = sizeof(real);
	} else if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
		bytes = sqlite3_column_blob(row->st, column);
		len = bytes ? (size_t)sqlite3_column_bytes(row->st, column) : 0;
	}
	h = len ? begin(seal, row) : NULL;
	if (!h)
		return;
	assay_hasher_add(h, name, strlen(name) + 1);
	assay_hasher_add(h, &kind, 1);
	assay_hasher_add(h, bytes, len);
	end(seal, h);
}

void assay_store_seal_bytes(struct assay_seal *seal, struct assay_row *row, const void *bytes, size_t len)
{
	struct assay_hasher *h = begin(seal, row);

	if (!h)
		return;
	assay_hasher_add(h, bytes, len);
	end(seal, h);
}

bool assay_store_seal_holds(const struct assay_seal *seal, const struct assay_seal *stored)
{
	return !stored->hex[0] || !strcmp(seal->hex, stored->hex);
}

int assay_store_seal_broken(const struct assay_store *s, const char *what, struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ESTORE,
			     "%.330s of database '%.100s' was changed after it was stored; restore a copy, or measure "
			     "again into another --db",
			     what, s->path);
}

int assay_store_put_seals(struct assay_store *s, const char *sql, const struct assay_seal *seals, size_t n, int64_t id,
			  struct assay_err *err)
{
	struct assay_binder b = assay_store_statement(s, sql, err);
	int rc;

	for (size_t i = 0; i < n; i++)
		assay_store_bind_text(&b, seals[i].hex);
	assay_store_bind_int(&b, id);
	rc = assay_store_step_once(&b);
	return rc == SQLITE_DONE ? 0 : assay_store_fail(s, rc, err, "cannot seal a row");
}
