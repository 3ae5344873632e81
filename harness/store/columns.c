/* SPDX-License-Identifier: Apache-2.0 */
/* SQL, bound values and read values from lists of columns. Knows no table. */
#include "store/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- SQL -------------------------------------------------------------------------------------------------------- */

enum token { TOKEN_NAMES, TOKEN_VALUES, TOKEN_ASSIGNMENTS, TOKEN_ALIASED, N_TOKENS };

static enum token token_of(const char *text, size_t len)
{
	return !len                                    ? TOKEN_NAMES
	       : len == 1 && text[0] == '?'            ? TOKEN_VALUES
	       : len == 2 && !strncmp(text, "=?", len) ? TOKEN_ASSIGNMENTS
						       : TOKEN_ALIASED;
}

static void add_columns(struct assay_text *out, const struct assay_columns *c, enum token token, const char *alias,
			size_t alias_len)
{
	for (size_t i = 0; i < c->n; i++) {
		assay_text_add(out, i ? ", " : "");
		if (token == TOKEN_ALIASED)
			assay_text_addf(out, "%.*s.", (int)alias_len, alias);
		assay_text_add(out, token == TOKEN_VALUES ? "?" : c->v[i].name);
		if (token == TOKEN_ASSIGNMENTS)
			assay_text_add(out, " = ?");
	}
}

/* NULL where there is no memory. */
static char *expand(const char *sql, const struct assay_columns *const *lists)
{
	struct assay_text out = { 0 };
	size_t at[N_TOKENS] = { 0 };

	for (const char *open; (open = strchr(sql, '{')); sql = strchr(open, '}') + 1) {
		size_t len = strcspn(open + 1, "}");
		enum token token = token_of(open + 1, len);
		size_t *next = &at[token == TOKEN_ALIASED ? TOKEN_NAMES : token];

		assay_text_addn(&out, sql, (size_t)(open - sql));
		add_columns(&out, lists[(*next)++], token, open + 1, len);
	}
	assay_text_add(&out, sql);
	return assay_text_take(&out);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* "0,2,4", malloc'ed; NULL without memory. */
static char *list_text(const int *v, size_t n)
{
	struct assay_text list = { 0 };

	for (size_t i = 0; i < n; i++)
		assay_text_addf(&list, "%s%d", i ? "," : "", v[i]);
	return assay_text_take(&list);
}

/* @text, which is freed; NULL: there was no memory for it. */
static void bind_made(struct assay_binder *b, char *text)
{
	assay_store_bind_text(b, text);
	if (!text && !b->rc)
		b->rc = SQLITE_NOMEM;
	free(text);
}

/* Does NULL stand for @v in a column that may be NULL? */
static bool is_null(double v)
{
	return !(isfinite(v) && v >= 0);
}

static void bind_real(struct assay_binder *b, double v, bool nullable)
{
	if (nullable && is_null(v))
		assay_store_bind_null(b);
	else
		assay_store_bind_real(b, v);
}

static void bind_whole(struct assay_binder *b, int64_t v, bool nullable)
{
	if (nullable && !v)
		assay_store_bind_null(b);
	else
		assay_store_bind_int(b, v);
}

static void bind_column(struct assay_binder *b, const struct assay_column *c, const void *of)
{
	const void *p = (const char *)of + c->offset;
	const size_t *length = (const void *)((const char *)of + c->length_offset);

	switch (c->kind) {
	case ASSAY_COLUMN_TEXT:
		assay_store_bind_lasting(b, p);
		break;
	case ASSAY_COLUMN_STRING:
		assay_store_bind_lasting(b, *(char *const *)p ? *(char *const *)p : "");
		break;
	case ASSAY_COLUMN_BOOL:
		assay_store_bind_int(b, *(const bool *)p);
		break;
	case ASSAY_COLUMN_INT:
		bind_whole(b, *(const int *)p, c->nullable);
		break;
	case ASSAY_COLUMN_UNSIGNED:
		bind_whole(b, *(const unsigned *)p, c->nullable);
		break;
	case ASSAY_COLUMN_ID:
		bind_whole(b, *(const int64_t *)p, c->nullable);
		break;
	case ASSAY_COLUMN_BITS:
		assay_store_bind_int(b, (int64_t) * (const uint64_t *)p);
		break;
	case ASSAY_COLUMN_SIZE:
		assay_store_bind_size(b, *(const uint64_t *)p);
		break;
	case ASSAY_COLUMN_REAL:
		bind_real(b, *(const double *)p, c->nullable);
		break;
	case ASSAY_COLUMN_WORD:
		assay_store_bind_lasting(b, c->word(*(const unsigned *)p));
		break;
	case ASSAY_COLUMN_LIST:
		bind_made(b, list_text(*(int *const *)p, *length));
		break;
	case ASSAY_COLUMN_HISTOGRAMS:
		bind_made(b, assay_histograms_text(*(struct assay_histogram *const *)p, *length));
		break;
	}
}

void assay_store_bind_columns(struct assay_binder *b, const struct assay_columns *c, const void *of)
{
	for (size_t i = 0; i < c->n; i++)
		bind_column(b, &c->v[i], of);
}

static void read_string(struct assay_row *row, char **out)
{
	const unsigned char *text = sqlite3_column_text(row->st, row->column++);

	*out = strdup(text ? (const char *)text : "");
	row->no_memory |= !*out;
}

/* '0,2,4' */
static void read_list(struct assay_row *row, int **out, size_t *n)
{
	const char *p = (const char *)sqlite3_column_text(row->st, row->column++);

	for (char *end; p && *p && !row->bad; p = *end ? end + 1 : end) {
		long v = strtol(p, &end, 10);

		row->bad |= end == p || (*end && *end != ',');
		if (assay_store_grow(out, *n, sizeof(**out), NULL)) {
			row->no_memory = true;
			return;
		}
		(*out)[(*n)++] = (int)v;
	}
}

static void read_histograms(struct assay_row *row, struct assay_histogram **out, size_t *n)
{
	const char *text = (const char *)sqlite3_column_text(row->st, row->column++);
	const int rc = assay_histograms_read(text ? text : "", out, n);

	row->no_memory |= rc == ASSAY_ENOMEM;
	row->bad |= rc && rc != ASSAY_ENOMEM;
}

static void read_word(struct assay_row *row, const struct assay_column *c, unsigned *out)
{
	char word[ASSAY_NAME_MAX];

	assay_store_row_text(row, word, sizeof(word));
	for (*out = 0; *out < c->n_words; ++*out)
		if (!strcmp(c->word(*out), word))
			return;
	*out = 0;
	row->bad = true;
}

static void read_column(struct assay_row *row, const struct assay_column *c, void *to)
{
	void *p = (char *)to + c->offset;
	size_t *length = (void *)((char *)to + c->length_offset);

	switch (c->kind) {
	case ASSAY_COLUMN_TEXT:
		assay_store_row_text(row, p, c->size);
		break;
	case ASSAY_COLUMN_STRING:
		read_string(row, p);
		break;
	case ASSAY_COLUMN_BOOL:
		*(bool *)p = assay_store_row_bool(row);
		break;
	case ASSAY_COLUMN_INT:
		*(int *)p = (int)assay_store_row_int(row);
		break;
	case ASSAY_COLUMN_UNSIGNED:
		*(unsigned *)p = (unsigned)assay_store_row_int(row);
		break;
	case ASSAY_COLUMN_ID:
		*(int64_t *)p = assay_store_row_int(row);
		break;
	case ASSAY_COLUMN_BITS:
	case ASSAY_COLUMN_SIZE:
		*(uint64_t *)p = (uint64_t)assay_store_row_int(row);
		break;
	case ASSAY_COLUMN_REAL:
		*(double *)p = assay_store_row_real(row);
		if ((c->unknown || !c->nullable) && sqlite3_column_type(row->st, row->column - 1) == SQLITE_NULL)
			*(double *)p = c->unknown ? NAN : 0;
		break;
	case ASSAY_COLUMN_WORD:
		read_word(row, c, p);
		break;
	case ASSAY_COLUMN_LIST:
		read_list(row, p, length);
		break;
	case ASSAY_COLUMN_HISTOGRAMS:
		read_histograms(row, p, length);
		break;
	}
}

void assay_store_row_columns(struct assay_row *row, const struct assay_columns *c, void *to)
{
	for (size_t i = 0; i < c->n; i++)
		read_column(row, &c->v[i], to);
}

/* @text is freed; NULL: there was no memory for it. */
static struct assay_binder prepare(struct assay_store *s, const void *key, char *text, struct assay_err *err)
{
	struct assay_binder b = { 0 };

	b.rc = text ? assay_store_prepare_as(s, key, text, &b.st, err)
		    : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	free(text);
	return b;
}

#define MAX_BOUND 8 /* lists of columns of one statement */

static void bind_values(struct assay_binder *b, const char *types, va_list ap)
{
	for (const void *p; *types; types++)
		switch (*types) {
		case 'i':
			assay_store_bind_int(b, va_arg(ap, int64_t));
			break;
		case 's':
			assay_store_bind_size(b, va_arg(ap, uint64_t));
			break;
		case 't':
			assay_store_bind_text(b, va_arg(ap, const char *));
			break;
		case 'b':
			p = va_arg(ap, const void *);
			assay_store_bind_blob(b, p, va_arg(ap, size_t));
			break;
		default: /* c */
			p = va_arg(ap, const struct assay_columns *);
			assay_store_bind_columns(b, p, va_arg(ap, const void *));
		}
}

/* The lists of columns among what is bound. */
static void find_lists(const struct assay_columns *lists[MAX_BOUND], const char *types, va_list ap)
{
	for (size_t n = 0; *types && n < MAX_BOUND; types++) {
		if (*types == 'c')
			lists[n++] = va_arg(ap, const struct assay_columns *);
		if (*types == 'b' || *types == 'c' || *types == 't')
			(void)va_arg(ap, const void *);
		if (*types != 'c' && *types != 't')
			(void)va_arg(ap, int64_t);
	}
}

struct assay_binder assay_store_ask(struct assay_store *s, struct assay_err *err, const char *sql,
				    const struct assay_columns *const *lists, const char *types, ...)
{
	const struct assay_columns *bound[MAX_BOUND] = { NULL };
	struct assay_binder b = { .st = assay_store_prepared(s, sql) };
	va_list ap;

	if (!b.st && !lists) {
		va_start(ap, types);
		find_lists(bound, types, ap);
		va_end(ap);
	}
	if (!b.st)
		b = prepare(s, sql, expand(sql, lists ? lists : bound), err);
	va_start(ap, types);
	bind_values(&b, types, ap);
	va_end(ap);
	return b;
}

int assay_store_collect(struct assay_store *s, struct assay_binder *b, const struct assay_store_rows *rows, void *out,
			size_t *n, struct assay_err *err)
{
	const size_t size = rows->size;
	struct assay_row row = { 0 };
	size_t count = 0;
	char *v = NULL;
	int rc = 0;

	while (assay_store_next(s, b, &row, rows->what, &rc, err)) {
		rc = assay_store_grow(&v, count, size, err);
		if (rc)
			continue;
		memset(v + count * size, 0, size);
		assay_store_row_columns(&row, rows->columns, v + count * size);
		if (rows->read)
			rows->read(&row, v + count * size);
		count++;
	}
	if (rc) {
		free(v);
		return rc;
	}
	memcpy(out, &v, sizeof(v));
	*n = count;
	return 0;
}

int assay_store_collect_ids(struct assay_store *s, struct assay_binder *b, const char *what, int64_t **out, size_t *n,
			    struct assay_err *err)
{
	static const struct assay_column id[] = { { .kind = ASSAY_COLUMN_ID } };
	static const struct assay_columns columns = ASSAY_COLUMNS(id);
	const struct assay_store_rows rows = { what, sizeof(**out), &columns, NULL };

	return assay_store_collect(s, b, &rows, out, n, err);
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* The first column names a row where it is a text. */
static const char *name_of(const struct assay_columns *c, const void *of)
{
	return c->v[0].kind == ASSAY_COLUMN_TEXT ? (const char *)of + c->v[0].offset : "";
}

static char *insert_text(const struct assay_store_part *part)
{
	struct assay_text out = { 0 };

	assay_text_addf(&out, "INSERT INTO %s (%s, %s", part->table, part->owner, part->size ? "place, " : "");
	add_columns(&out, part->columns, TOKEN_NAMES, NULL, 0);
	assay_text_add(&out, part->size ? ") VALUES (?, ?, " : ") VALUES (?, ");
	add_columns(&out, part->columns, TOKEN_VALUES, NULL, 0);
	assay_text_add(&out, ")");
	return assay_text_take(&out);
}

static int put(struct assay_store *s, const struct assay_store_part *part, int64_t owner, size_t place, const void *of,
	       struct assay_err *err)
{
	struct assay_binder b = { .st = assay_store_prepared(s, part) };

	if (!b.st)
		b = prepare(s, part, insert_text(part), err);
	assay_store_bind_int(&b, owner);
	if (part->size)
		assay_store_bind_int(&b, (int64_t)place);
	assay_store_bind_columns(&b, part->columns, of);
	return assay_store_done(s, assay_store_step_once(&b), err, part->what, name_of(part->columns, of));
}

int assay_store_put_row(struct assay_store *s, const struct assay_store_part *part, int64_t owner, const void *of,
			struct assay_err *err)
{
	return put(s, part, owner, 0, of, err);
}

int assay_store_put_part(struct assay_store *s, const struct assay_store_part *part, int64_t owner, const void *v,
			 size_t n, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = put(s, part, owner, i, (const char *)v + i * part->size, err);
	return rc;
}

static char *select_text(const struct assay_store_part *part)
{
	struct assay_text out = { 0 };

	assay_text_add(&out, "SELECT ");
	add_columns(&out, part->columns, TOKEN_NAMES, NULL, 0);
	assay_text_addf(&out, " FROM %s WHERE %s = ?%s", part->table, part->owner, part->size ? " ORDER BY place" : "");
	return assay_text_take(&out);
}

/* The rows of @owner, one after the other. The part itself stands for its INSERT, its table for this. */
static struct assay_binder rows_of(struct assay_store *s, const struct assay_store_part *part, int64_t owner,
				   struct assay_err *err)
{
	struct assay_binder b = { .st = assay_store_prepared(s, &part->table) };

	if (!b.st)
		b = prepare(s, &part->table, select_text(part), err);
	assay_store_bind_int(&b, owner);
	return b;
}

int assay_store_get_row(struct assay_store *s, const struct assay_store_part *part, int64_t owner, void *to,
			bool *found, struct assay_err *err)
{
	struct assay_binder b = rows_of(s, part, owner, err);
	struct assay_row row = { 0 };
	char what[64];
	int rc = 0;

	snprintf(what, sizeof(what), "'%s' in %s %lld", part->table, part->owner, (long long)owner);
	while (assay_store_next(s, &b, &row, what, &rc, err)) {
		assay_store_row_columns(&row, part->columns, to);
		*found = true;
	}
	return rc;
}

int assay_store_get_part(struct assay_store *s, const struct assay_store_part *part, int64_t owner, void *v, size_t *n,
			 struct assay_err *err)
{
	struct assay_binder b = rows_of(s, part, owner, err);
	char what[64];

	snprintf(what, sizeof(what), "'%s' in %s %lld", part->table, part->owner, (long long)owner);
	return assay_store_collect(s, &b, &(struct assay_store_rows){ what, part->size, part->columns, NULL }, v, n,
				   err);
}
