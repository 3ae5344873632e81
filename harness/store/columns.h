/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of a row as data. One list names each column and the field of a struct that it holds; INSERT, UPDATE and
 * SELECT, binding and reading are all made from it. Inside of the store.
 */
#ifndef ASSAY_STORE_COLUMNS_H
#define ASSAY_STORE_COLUMNS_H

#include "store/db.h"

enum assay_column_kind {
	ASSAY_COLUMN_TEXT,   /* array of char */
	ASSAY_COLUMN_STRING, /* char *, malloc'ed where it is loaded; NULL is stored as an empty text */
	ASSAY_COLUMN_BOOL,
	ASSAY_COLUMN_INT,
	ASSAY_COLUMN_UNSIGNED,
	ASSAY_COLUMN_ID,   /* int64_t */
	ASSAY_COLUMN_SIZE, /* uint64_t, INT64_MAX at most */
	ASSAY_COLUMN_REAL,
	ASSAY_COLUMN_BITS,       /* uint64_t as the signed integer of the same bits */
	ASSAY_COLUMN_WORD,       /* an enum, as the name of its value */
	ASSAY_COLUMN_LIST,       /* malloc'ed array of int with its length, as '0,2,4' */
	ASSAY_COLUMN_HISTOGRAMS, /* likewise of histograms, as assay_histograms_text() writes them */
};

struct assay_column {
	const char *name; /* or an expression, if it is only read */
	enum assay_column_kind kind;
	bool nullable; /* NULL stands for a number that is 0, and for a real that is negative or not finite */
	bool unknown;  /* a real that is NULL is read as NaN, not as -1 */
	size_t offset, size;
	/* WORD: how the values 0 to @n_words - 1 are written */
	const char *(*word)(unsigned value);
	unsigned n_words;
	size_t length_offset; /* LIST, HISTOGRAMS: of its size_t */
};

struct assay_columns {
	const struct assay_column *v;
	size_t n;
};
/* Initializer of the struct above from an array. */
#define ASSAY_COLUMNS(array)                                                                                           \
	{                                                                                                              \
		.v = (array), .n = sizeof(array) / sizeof((array)[0])                                                  \
	}

/* The kind that fits a field; an enum needs ASSAY_COLUMN_ENUM. */
#define ASSAY_COLUMN_KIND(field)                                                                                       \
	_Generic(&(field),                                                                                             \
		char **: ASSAY_COLUMN_STRING,                                                                          \
		const char **: ASSAY_COLUMN_STRING,                                                                    \
		bool *: ASSAY_COLUMN_BOOL,                                                                             \
		int *: ASSAY_COLUMN_INT,                                                                               \
		unsigned *: ASSAY_COLUMN_UNSIGNED,                                                                     \
		int64_t *: ASSAY_COLUMN_ID,                                                                            \
		uint64_t *: ASSAY_COLUMN_SIZE,                                                                         \
		double *: ASSAY_COLUMN_REAL,                                                                           \
		default: ASSAY_COLUMN_TEXT)

#define ASSAY_COLUMN_OF(type, field, column, ...)                                                                      \
	{                                                                                                              \
		.name = (column), .offset = offsetof(type, field), .size = sizeof(((type *)0)->field), __VA_ARGS__     \
	}
/* Column @column, a string, holds @field of struct @type. */
#define ASSAY_COLUMN(type, field, column)                                                                              \
	ASSAY_COLUMN_OF(type, field, column, .kind = ASSAY_COLUMN_KIND(((type *)0)->field))
#define ASSAY_COLUMN_NULL(type, field, column)                                                                         \
	ASSAY_COLUMN_OF(type, field, column, .kind = ASSAY_COLUMN_KIND(((type *)0)->field), .nullable = true)
#define ASSAY_COLUMN_NAN(type, field, column)                                                                          \
	ASSAY_COLUMN_OF(type, field, column, .kind = ASSAY_COLUMN_REAL, .nullable = true, .unknown = true)
#define ASSAY_COLUMN_SEED(type, field, column) ASSAY_COLUMN_OF(type, field, column, .kind = ASSAY_COLUMN_BITS)
#define ASSAY_COLUMN_ENUM(type, field, column, to_word, n)                                                             \
	ASSAY_COLUMN_OF(type, field, column, .kind = ASSAY_COLUMN_WORD, .word = (to_word), .n_words = (n))
#define ASSAY_COLUMN_INTS(type, field, length, column)                                                                 \
	ASSAY_COLUMN_OF(type, field, column, .kind = ASSAY_COLUMN_LIST, .length_offset = offsetof(type, length))
#define ASSAY_COLUMN_OF_HISTOGRAMS(type, field, length, column)                                                        \
	ASSAY_COLUMN_OF(type, field, column, .kind = ASSAY_COLUMN_HISTOGRAMS, .length_offset = offsetof(type, length))

#define ASSAY_LISTS(...) ((const struct assay_columns *const[]){ __VA_ARGS__ })
/*
 * Prepare @sql, in which {} stands for the names of a list of columns, {x} for these names in the table of alias x, {?}
 * for as many values, and {=?} for an assignment to each. The first names stand for @lists[0] (ASSAY_LISTS), the second
 * for @lists[1], and so on; values and assignments are counted likewise, each by itself. A text always goes with the
 * same lists. NULL: those of the columns that are bound.
 *
 * Then bind what follows, an argument for each letter of @types: i an int64_t; s a uint64_t, SQLITE_TOOBIG above
 * INT64_MAX; t a text, which is copied, or NULL; b a blob and its size_t; c a list of columns and the struct that it is
 * of. Blobs and structs must live until the statement was stepped.
 */
struct assay_binder assay_store_ask(struct assay_store *s, struct assay_err *err, const char *sql,
				    const struct assay_columns *const *lists, const char *types, ...);
/* Bind the values of one list behind those. */
void assay_store_bind_columns(struct assay_binder *b, const struct assay_columns *c, const void *of);
/* Read the columns of one list into the struct @to, whose pointers are NULL. */
void assay_store_row_columns(struct assay_row *row, const struct assay_columns *c, void *to);

/* Rows that become elements of an array. */
struct assay_store_rows {
	const char *what;                                   /* for errors */
	size_t size;                                        /* of an element */
	const struct assay_columns *columns;                /* of an element; rows begin with them */
	void (*read)(struct assay_row *row, void *element); /* what follows them; NULL: nothing */
};
/*
 * Read the rows of @b into a new array at *@out with *@n elements, each all-zero before. Nothing is changed on failure.
 */
int assay_store_collect(struct assay_store *s, struct assay_binder *b, const struct assay_store_rows *rows, void *out,
			size_t *n, struct assay_err *err);

/* The same of the first column, a number. @what names the rows. */
int assay_store_collect_ids(struct assay_store *s, struct assay_binder *b, const char *what, int64_t **out, size_t *n,
			    struct assay_err *err);

/* A table whose rows are structs, and belong to rows of another. */
struct assay_store_part {
	const char *what;          /* what a row is, for errors; its first column says which one */
	const char *table, *owner; /* owner: the column that names the row that owns it */
	const struct assay_columns *columns;
	size_t size; /* of an element of the array whose order the column `place` keeps; 0: there is no such column */
};
/* Add @of as a row of @owner. */
int assay_store_put_row(struct assay_store *s, const struct assay_store_part *part, int64_t owner, const void *of,
			struct assay_err *err);
/* Add the @n elements of @v as rows of @owner. */
int assay_store_put_part(struct assay_store *s, const struct assay_store_part *part, int64_t owner, const void *v,
			 size_t n, struct assay_err *err);
/* Read the rows of @owner into a new array at @v, a pointer to a pointer; or the one row, if there is one, into @to. */
int assay_store_get_part(struct assay_store *s, const struct assay_store_part *part, int64_t owner, void *v, size_t *n,
			 struct assay_err *err);
int assay_store_get_row(struct assay_store *s, const struct assay_store_part *part, int64_t owner, void *to,
			bool *found, struct assay_err *err);

#endif
