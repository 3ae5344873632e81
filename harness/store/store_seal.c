/* SPDX-License-Identifier: Apache-2.0 */
/* A seal is a chain: each step is a digest over the step before and what a row adds. */
#include "store/store_seal.h"

#include <string.h>

#define SHORT_STEP 512 /* bytes that are hashed without a state on the heap */

/* The digest over the @len bytes of @buf, which begin with the seal so far. */
static void close_step(struct assay_seal *seal, const unsigned char *buf, size_t len)
{
	struct assay_digest d = assay_hash(buf, len);

	memcpy(seal->hex, d.hex, sizeof(seal->hex));
}

/* The digest over the seal so far, @head and @bytes, however many they are. */
static int step(struct assay_seal *seal, const void *head, size_t head_len, const void *bytes, size_t len)
{
	struct assay_hasher *h = assay_hasher_new();
	struct assay_digest d;

	if (!h)
		return ASSAY_ENOMEM;
	assay_hasher_add(h, seal->hex, sizeof(seal->hex));
	assay_hasher_add(h, head, head_len);
	assay_hasher_add(h, bytes, len);
	d = assay_hasher_finish(h);
	memcpy(seal->hex, d.hex, sizeof(seal->hex));
	return 0;
}

int assay_store_seal_add(struct assay_seal *seal, const char *name, int type, const void *bytes, size_t len)
{
	unsigned char buf[SHORT_STEP];
	unsigned char *const head = buf + sizeof(seal->hex);
	const size_t n = strlen(name), head_len = n + 2;

	if (!len)
		return 0;
	if (n >= ASSAY_NAME_MAX)
		return ASSAY_EINTERNAL;
	memcpy(head, name, n + 1);
	head[n + 1] = (unsigned char)type;
	if (sizeof(seal->hex) + head_len + len > sizeof(buf))
		return step(seal, head, head_len, bytes, len);
	memcpy(buf, seal->hex, sizeof(seal->hex));
	memcpy(head + head_len, bytes, len);
	close_step(seal, buf, sizeof(seal->hex) + head_len + len);
	return 0;
}

int assay_store_seal_int(struct assay_seal *seal, const char *name, int64_t v)
{
	return v ? assay_store_seal_add(seal, name, SQLITE_INTEGER, &v, sizeof(v)) : 0;
}

int assay_store_seal_real(struct assay_seal *seal, const char *name, double v)
{
	return v != 0 ? assay_store_seal_add(seal, name, SQLITE_FLOAT, &v, sizeof(v)) : 0;
}

int assay_store_seal_text(struct assay_seal *seal, const char *name, const char *v)
{
	return assay_store_seal_add(seal, name, SQLITE_TEXT, v, strlen(v));
}

void assay_store_seal_value(struct assay_seal *seal, struct assay_row *row, int column, const char *name)
{
	const int type = sqlite3_column_type(row->st, column);
	const void *bytes;
	int rc = 0;

	if (type == SQLITE_INTEGER) {
		rc = assay_store_seal_int(seal, name, sqlite3_column_int64(row->st, column));
	} else if (type == SQLITE_FLOAT) {
		rc = assay_store_seal_real(seal, name, sqlite3_column_double(row->st, column));
	} else if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
		bytes = sqlite3_column_blob(row->st, column);
		rc = assay_store_seal_add(seal, name, type, bytes,
					  bytes ? (size_t)sqlite3_column_bytes(row->st, column) : 0);
	}
	row->no_memory |= rc != 0;
}

int assay_store_seal_bytes(struct assay_seal *seal, const void *bytes, size_t len)
{
	unsigned char buf[SHORT_STEP];

	if (sizeof(seal->hex) + len > sizeof(buf))
		return step(seal, NULL, 0, bytes, len);
	memcpy(buf, seal->hex, sizeof(seal->hex));
	if (len)
		memcpy(buf + sizeof(seal->hex), bytes, len);
	close_step(seal, buf, sizeof(seal->hex) + len);
	return 0;
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
