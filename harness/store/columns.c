/* SPDX-License-Identifier: Apache-2.0 */
/* SQL, bound values and read values from lists of columns. Knows no table. */
#include "store/columns.h"

#include <math.h>
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

struct assay_binder assay_store_statement_of(struct assay_store *s, const char *sql,
					     const struct assay_columns *const *lists, struct assay_err *err)
{
	sqlite3_stmt *st = assay_store_prepared(s, sql);
	char *text = NULL;
	int rc = 0;

	if (!st) {
		text = expand(sql, lists);
		rc = text ? assay_store_prepare_as(s, sql, text, &st, err)
			  : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	free(text);
	return (struct assay_binder){ .st = st, .rc = rc };
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

/* The first column names a row where it is a text. */
static const char *name_of(const struct assay_columns *c, const void *of)
{
	return c->v[0].kind == ASSAY_COLUMN_TEXT ? (const char *)of + c->v[0].offset : "";
}

/* A @place below 0 is none. */
static int put_row(struct assay_store *s, const struct assay_store_part *part, int64_t owner, int64_t place,
		   const void *of, struct assay_err *err)
{
	const struct assay_columns *const lists[] = { part->columns };
	struct assay_binder b = assay_store_statement_of(s, part->sql, lists, err);

	assay_store_bind_int(&b, owner);
	if (place >= 0)
		assay_store_bind_int(&b, place);
	assay_store_bind_columns(&b, part->columns, of);
	return assay_store_done(s, assay_store_step_once(&b), err, part->what, name_of(part->columns, of));
}

int assay_store_put(struct assay_store *s, const struct assay_store_part *part, const void *of, struct assay_err *err)
{
	const struct assay_columns *const lists[] = { part->columns };
	struct assay_binder b = assay_store_statement_of(s, part->sql, lists, err);

	assay_store_bind_columns(&b, part->columns, of);
	return assay_store_done(s, assay_store_step_once(&b), err, part->what, name_of(part->columns, of));
}

int assay_store_put_row(struct assay_store *s, const struct assay_store_part *part, int64_t owner, const void *of,
			struct assay_err *err)
{
	return put_row(s, part, owner, -1, of, err);
}

int assay_store_put_part(struct assay_store *s, const struct assay_store_part *part, int64_t owner, const void *v,
			 size_t n, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = put_row(s, part, owner, (int64_t)i, (const char *)v + i * part->size, err);
	return rc;
}
