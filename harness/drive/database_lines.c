/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/database_lines.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#define FORMAT       "assay database"
#define SCHEMA       1
#define MAX_CELLS    128
#define LINE_MAX_LEN (256u << 20)
#define ROWS_A_LOOK  1024 /* between two looks whether there was an interrupt */

static int look(const struct assay_watch *w, size_t rows, struct assay_err *err)
{
	return rows % ROWS_A_LOOK ? 0 : assay_watch_check(w, err);
}

/* ---- out -------------------------------------------------------------------------------------------------------- */

static json_t *hex(const char *name, const void *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = bytes;
	char *text = malloc(2 * len + 1);
	json_t *v = NULL;

	for (size_t i = 0; text && i < len; i++) {
		text[2 * i] = digits[p[i] >> 4];
		text[2 * i + 1] = digits[p[i] & 15];
	}
	if (text)
		v = json_pack("{s:s%}", name, text, 2 * len);
	free(text);
	return v;
}

static json_t *value(const struct assay_cell *c)
{
	json_t *v;

	switch (c->kind) {
	case ASSAY_CELL_INT:
		return json_integer(c->whole);
	case ASSAY_CELL_REAL:
		return json_real(c->real);
	case ASSAY_CELL_TEXT:
		v = memchr(c->len ? c->bytes : "", '\0', c->len) ? NULL : json_stringn(c->len ? c->bytes : "", c->len);
		return v ? v : hex("text_hex", c->bytes, c->len);
	case ASSAY_CELL_BLOB:
		return hex("hex", c->bytes, c->len);
	default:
		return json_null();
	}
}

struct writing {
	FILE *f;
	const char *path;
	const struct assay_watch *w;
	size_t rows;
};

static int cannot_write(const char *path, struct assay_err *err)
{
	return assay_err_set(err, ASSAY_EIO, "cannot write '%s': %s", path, strerror(errno));
}

static int write_row(void *arg, const struct assay_dumped_row *row, struct assay_err *err)
{
	struct writing *g = arg;
	json_t *columns = json_object(), *line = NULL;
	int rc = look(g->w, ++g->rows, err);

	for (size_t i = 0; i < row->n && columns && !rc; i++)
		if (json_object_set_new(columns, row->cells[i].column, value(&row->cells[i])))
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (!rc)
		line = json_pack("{s:O}", row->table, columns);
	if (!rc && !line)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (!rc && (json_dumpf(line, g->f, JSON_COMPACT | JSON_REAL_PRECISION(17)) || putc('\n', g->f) == EOF))
		rc = cannot_write(g->path, err);
	json_decref(line);
	json_decref(columns);
	return rc;
}

/* A file of its own beside @path, so that it can be renamed. */
static int open_beside(const char *path, char *name, size_t size, FILE **f, struct assay_err *err)
{
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot write '%s': it is not a regular file", path);
	if (snprintf(name, size, "%s.%ld.tmp", path, (long)getpid()) >= (int)size) {
		errno = ENAMETOOLONG;
		return cannot_write(path, err);
	}
	*f = fopen(name, "wxe");
	return *f ? 0 : cannot_write(path, err);
}

int assay_database_write(struct assay_store *s, const char *path, const struct assay_watch *w, size_t *rows,
			 struct assay_err *err)
{
	char name[PATH_MAX];
	struct writing g = { .path = path, .w = w };
	int rc = open_beside(path, name, sizeof(name), &g.f, err);

	if (rc)
		return rc;
	if (fprintf(g.f, "{\"format\":\"" FORMAT "\",\"schema\":%d,\"database\":%u}\n", SCHEMA, assay_store_version()) <
	    0)
		rc = cannot_write(path, err);
	if (!rc)
		rc = assay_store_dump(s, write_row, &g, err);
	if (!rc && (fflush(g.f) || fsync(fileno(g.f))))
		rc = cannot_write(path, err);
	if (fclose(g.f) && !rc)
		rc = cannot_write(path, err);
	if (!rc && rename(name, path))
		rc = cannot_write(path, err);
	if (rc)
		unlink(name);
	*rows = g.rows;
	return rc;
}

/* ---- in --------------------------------------------------------------------------------------------------------- */

static int nibble(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes of {"hex": …}, malloc'ed; NULL: it is none. */
static unsigned char *unhex(const json_t *v, size_t *len)
{
	const char *text = json_string_value(v);
	const size_t n = json_string_length(v);
	unsigned char *bytes = text && n % 2 == 0 ? malloc(n / 2 + 1) : NULL;

	for (size_t i = 0; bytes && i < n; i += 2) {
		const int high = nibble(text[i]), low = nibble(text[i + 1]);

		if (high < 0 || low < 0) {
			free(bytes);
			return NULL;
		}
		bytes[i / 2] = (unsigned char)(high << 4 | low);
	}
	*len = n / 2;
	return bytes;
}

/* @c->bytes is to be freed where its kind is blob, and in *owned where it is a text. */
static bool read_cell(const json_t *v, struct assay_cell *c, unsigned char **owned)
{
	const json_t *bytes;

	if (json_is_integer(v)) {
		c->kind = ASSAY_CELL_INT;
		c->whole = json_integer_value(v);
	} else if (json_is_real(v)) {
		c->kind = ASSAY_CELL_REAL;
		c->real = json_real_value(v);
	} else if (json_is_string(v)) {
		c->kind = ASSAY_CELL_TEXT;
		c->bytes = json_string_value(v);
		c->len = json_string_length(v);
	} else if (json_is_object(v)) {
		bytes = json_object_get(v, "hex");
		c->kind = bytes ? ASSAY_CELL_BLOB : ASSAY_CELL_TEXT;
		c->bytes = *owned = unhex(bytes ? bytes : json_object_get(v, "text_hex"), &c->len);
		return *owned != NULL;
	} else {
		c->kind = ASSAY_CELL_NULL;
		return json_is_null(v);
	}
	return true;
}

static int read_row(struct assay_store *s, json_t *line, struct assay_err *err)
{
	struct assay_cell cells[MAX_CELLS] = { { 0 } };
	unsigned char *owned[MAX_CELLS] = { 0 };
	struct assay_dumped_row row = { .cells = cells };
	const char *column;
	json_t *columns, *v;
	void *first = json_object_iter(line);
	int rc = 0;

	columns = first && json_object_size(line) == 1 ? json_object_iter_value(first) : NULL;
	if (!json_is_object(columns) || json_object_size(columns) > MAX_CELLS)
		return assay_err_set(err, ASSAY_EUSAGE, "expected a row, as {\"TABLE\": {\"COLUMN\": VALUE, …}}");
	row.table = json_object_iter_key(first);
	json_object_foreach(columns, column, v)
	{
		cells[row.n].column = column;
		if (!read_cell(v, &cells[row.n], &owned[row.n]))
			rc = assay_err_set(err, ASSAY_EUSAGE, "the value of '%.64s' makes no sense", column);
		row.n++;
	}
	if (!rc)
		rc = assay_store_refill(s, &row, err);
	for (size_t i = 0; i < row.n; i++)
		free(owned[i]);
	return rc;
}

static int read_head(const json_t *line, unsigned *version, struct assay_err *err)
{
	const char *format = json_string_value(json_object_get(line, "format"));
	const json_t *schema = json_object_get(line, "schema"), *database = json_object_get(line, "database");

	if (!format || strcmp(format, FORMAT) || !json_is_integer(schema) || !json_is_integer(database))
		return assay_err_set(err, ASSAY_EUSAGE, "it is no file of 'assay db export'");
	if (json_integer_value(schema) != SCHEMA)
		return assay_err_set(err, ASSAY_EUSAGE, "it has schema %lld, this assay reads %d: use a newer assay",
				     (long long)json_integer_value(schema), SCHEMA);
	*version = json_integer_value(database) > 0 && json_integer_value(database) < INT_MAX
			   ? (unsigned)json_integer_value(database)
			   : 0;
	return 0;
}

/* The next line of @f as JSON; NULL behind the last, or *rc. */
static json_t *next_line(FILE *f, char **buf, size_t *cap, int *rc, struct assay_err *err)
{
	ssize_t len;
	json_error_t why;
	json_t *v;

	do {
		errno = 0;
		len = getline(buf, cap, f);
	} while (len == 1 && (*buf)[0] == '\n');
	if (len < 0) {
		if (ferror(f))
			*rc = assay_err_set(err, ASSAY_EIO, "%s", strerror(errno));
		return NULL;
	}
	v = (size_t)len > LINE_MAX_LEN ? NULL : json_loadb(*buf, (size_t)len, JSON_REJECT_DUPLICATES, &why);
	if (!v)
		*rc = assay_err_set(err, ASSAY_EUSAGE, "%.200s",
				    (size_t)len > LINE_MAX_LEN ? "it is too long" : why.text);
	return v;
}

/* @n: the number of the line, for errors. */
static int read_lines(FILE *f, const char *db, const struct assay_watch *w, size_t *n, struct assay_err *err)
{
	struct assay_store *s = NULL;
	unsigned version = 0;
	char *buf = NULL;
	size_t cap = 0;
	json_t *line;
	int rc = 0;

	for (*n = 1; !rc && (line = next_line(f, &buf, &cap, &rc, err)); ++*n) {
		if (s)
			rc = read_row(s, line, err);
		else if (!(rc = read_head(line, &version, err)))
			rc = assay_store_refill_begin(&s, db, version, err);
		json_decref(line);
		if (!rc)
			rc = look(w, *n, err);
		if (rc)
			break;
	}
	if (!rc && !s)
		rc = assay_err_set(err, ASSAY_EUSAGE, "it is empty");
	if (s)
		rc = assay_store_refill_end(s, rc, err);
	free(buf);
	return rc;
}

int assay_database_read(const char *path, const char *db, const struct assay_watch *w, size_t *rows,
			struct assay_err *err)
{
	struct stat st;
	size_t n = 0;
	FILE *f;
	int rc;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot read '%s': it is not a regular file", path);
	f = fopen(path, "re");
	if (!f)
		return assay_err_set(err, ASSAY_EIO, "cannot read '%s': %s", path, strerror(errno));
	rc = read_lines(f, db, w, &n, err);
	fclose(f);
	*rows = n > 2 ? n - 2 : 0;
	return rc == ASSAY_EUSAGE || rc == ASSAY_EIO ? assay_err_prefix(err, "cannot read '%.160s', line %zu", path, n)
						     : rc;
}
