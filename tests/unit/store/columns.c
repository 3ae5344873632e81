/* SPDX-License-Identifier: Apache-2.0 */
/* Columns as data: SQL made from lists of them, and every kind of field through a table and back. */
#include "store_fixture.h"

#include <math.h>

#include "store/columns.h"

enum colour { RED, GREEN, N_COLOURS };

struct everything {
	char text[8];
	char *string;
	bool flag;
	int number;
	unsigned count, none;
	int64_t id, no_id;
	uint64_t size, seed;
	double real, error;
	enum colour colour;
	int *list;
	size_t n_list;
	struct assay_histogram *histograms;
	size_t n_histograms;
};

static const char *colour_word(unsigned colour)
{
	static const char *const names[] = { "red", "green" };

	return colour < N_COLOURS ? names[colour] : "?";
}

static const struct assay_column numbers_list[] = {
	ASSAY_COLUMN(struct everything, flag, "flag"),     ASSAY_COLUMN(struct everything, number, "number"),
	ASSAY_COLUMN(struct everything, count, "count"),   ASSAY_COLUMN_NULL(struct everything, none, "none"),
	ASSAY_COLUMN(struct everything, id, "id"),         ASSAY_COLUMN_NULL(struct everything, no_id, "no_id"),
	ASSAY_COLUMN(struct everything, size, "size"),     ASSAY_COLUMN_SEED(struct everything, seed, "seed"),
	ASSAY_COLUMN(struct everything, real, "real_one"), ASSAY_COLUMN_NULL(struct everything, error, "error"),
};
static const struct assay_column words_list[] = {
	ASSAY_COLUMN(struct everything, text, "text"),
	ASSAY_COLUMN(struct everything, string, "string"),
	ASSAY_COLUMN_ENUM(struct everything, colour, "colour", colour_word, N_COLOURS),
	ASSAY_COLUMN_INTS(struct everything, list, n_list, "list"),
	ASSAY_COLUMN_OF_HISTOGRAMS(struct everything, histograms, n_histograms, "histograms"),
};
static const struct assay_columns numbers = ASSAY_COLUMNS(numbers_list), words = ASSAY_COLUMNS(words_list);
static const struct assay_columns *const both[] = { &numbers, &words };

static const char schema[] =
	"CREATE TABLE t (owner INTEGER NOT NULL, flag INTEGER NOT NULL, number INTEGER NOT NULL,"
	" count INTEGER NOT NULL, none INTEGER, id INTEGER NOT NULL, no_id INTEGER, size INTEGER NOT NULL,"
	" seed INTEGER NOT NULL, real_one REAL NOT NULL, error REAL, text TEXT NOT NULL, string TEXT NOT NULL,"
	" colour TEXT NOT NULL, list TEXT NOT NULL, histograms TEXT NOT NULL) STRICT";

static struct assay_store *open_table(struct fixture *f)
{
	struct assay_store *s;

	s = open_store(f, ASSAY_STORE_WRITE);
	assert_ok(f, assay_store_exec(s, schema, &f->err));
	return s;
}

static void release(struct everything *e)
{
	free(e->string);
	free(e->list);
	assay_histograms_release(&e->histograms, &e->n_histograms);
}

static int add(struct assay_store *s, int64_t owner, const struct everything *e, struct assay_err *err)
{
	struct assay_binder b =
		assay_store_statement_of(s, "INSERT INTO t (owner, {}, {}) VALUES (?, {?}, {?})", both, err);

	assay_store_bind_int(&b, owner);
	assay_store_bind_columns(&b, &numbers, e);
	assay_store_bind_columns(&b, &words, e);
	return assay_store_done(s, assay_store_step_once(&b), err, "row", e->text);
}

/* The row of @owner into @e; releases it when it makes no sense. */
static int load(struct assay_store *s, int64_t owner, struct everything *e, struct assay_err *err)
{
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_statement_of(s, "SELECT {t}, {t} FROM t WHERE owner = ?", both, err);
	int rc = 0;

	*e = (struct everything){ 0 };
	assay_store_bind_int(&b, owner);
	while (assay_store_next(s, &b, &row, "'t'", &rc, err)) {
		assay_store_row_columns(&row, &numbers, e);
		assay_store_row_columns(&row, &words, e);
	}
	if (rc)
		release(e);
	return rc;
}

STORE_TEST(test_every_kind_comes_back)
{
	static int three[] = { 6, 0, -2 };
	static struct assay_histogram_bucket buckets[] = { { 0, 1 }, { 1762, 5 } };
	static struct assay_histogram histogram = {
		.tag = "x_s", .unit = "s", .better = -1, .n = 6, .buckets = buckets, .n_buckets = 2
	};
	const struct everything rows[] = {
		{ .text = "1234567",
		  .string = (char *)"it's; --",
		  .flag = true,
		  .number = -7,
		  .count = UINT32_MAX,
		  .none = 3,
		  .id = INT64_MIN,
		  .no_id = 5,
		  .size = INT64_MAX,
		  .seed = UINT64_MAX - 1,
		  .real = -1.0 / 3,
		  .error = 1e-7,
		  .colour = GREEN,
		  .list = three,
		  .n_list = 3,
		  .histograms = &histogram,
		  .n_histograms = 1 },
		{ .error = INFINITY },
		{ .error = -1 },
	};
	struct fixture *f = *state;
	struct assay_store *s = open_table(f);

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct everything *in = &rows[i];
		struct everything out;

		assert_ok(f, add(s, (int64_t)i, in, &f->err));
		assert_ok(f, load(s, (int64_t)i, &out, &f->err));
		assert_string_equal(out.text, in->text);
		assert_string_equal(out.string, in->string ? in->string : "");
		assert_true(out.flag == in->flag && out.number == in->number && out.count == in->count);
		assert_true(out.none == in->none && out.id == in->id && out.no_id == in->no_id);
		assert_true(out.size == in->size && out.seed == in->seed && out.real == in->real);
		assert_true(out.error == (i ? -1 : in->error));
		assert_int_equal(out.colour, in->colour);
		assert_int_equal(out.n_list, in->n_list);
		if (in->n_list)
			assert_memory_equal(out.list, in->list, sizeof(three));
		assert_int_equal(out.n_histograms, in->n_histograms);
		if (in->n_histograms) {
			assert_string_equal(out.histograms->tag, "x_s");
			assert_true(out.histograms->n == 6);
			assert_int_equal(out.histograms->n_buckets, N_OF(buckets));
			for (size_t k = 0; k < N_OF(buckets); k++) {
				assert_int_equal(out.histograms->buckets[k].at, buckets[k].at);
				assert_int_equal(out.histograms->buckets[k].n, buckets[k].n);
			}
		}
		release(&out);
	}
	assay_store_close(s);
	assert_int_equal(ask(f->db, "SELECT sum(none IS NULL) + sum(no_id IS NULL) + sum(error IS NULL) FROM t"), 6);
}

STORE_TEST(test_one_list_is_replaced)
{
	static const struct assay_columns *const only[] = { &words };
	const struct everything first = { .text = "a", .number = 4 }, second = { .text = "b", .number = 5 };
	struct fixture *f = *state;
	struct assay_store *s = open_table(f);
	struct everything out;
	struct assay_binder b;

	assert_ok(f, add(s, 1, &first, &f->err));
	b = assay_store_statement_of(s, "UPDATE t SET {=?} WHERE owner = ?", only, &f->err);
	assay_store_bind_columns(&b, &words, &second);
	assay_store_bind_int(&b, 1);
	assert_ok(f, assay_store_done(s, assay_store_step_once(&b), &f->err, "row", second.text));
	assert_ok(f, load(s, 1, &out, &f->err));
	assert_string_equal(out.text, "b");
	assert_int_equal(out.number, 4);
	release(&out);
	assay_store_close(s);
}

STORE_TEST(test_numbers_too_large_are_refused)
{
	const struct everything large = { .text = "x", .size = (uint64_t)INT64_MAX + 1 };
	struct fixture *f = *state;
	struct assay_store *s = open_table(f);

	assert_error(f, add(s, 1, &large, &f->err), ASSAY_ESTORE, "cannot store row 'x'");
	assay_store_close(s);
}

STORE_TEST(test_rows_that_make_no_sense)
{
	static const char *const changes[] = {
		"UPDATE t SET text = '12345678'", "UPDATE t SET colour = 'blue'",    "UPDATE t SET list = '1,x'",
		"UPDATE t SET list = '1;2'",      "UPDATE t SET list = 'no number'", "UPDATE t SET histograms = '0:1'",
	};
	struct fixture *f = *state;
	struct everything e = { .text = "x" };

	for (size_t i = 0; i < N_OF(changes); i++) {
		struct assay_store *s;

		unlink(f->db);
		s = open_table(f);
		assert_ok(f, add(s, 1, &e, &f->err));
		assert_ok(f, assay_store_exec(s, changes[i], &f->err));
		assert_error(f, load(s, 1, &(struct everything){ 0 }, &f->err), ASSAY_ESTORE,
			     "is damaged: a row of 't' makes no sense");
		assay_store_close(s);
	}
}

UNIT_GROUP(NULL, NULL)
