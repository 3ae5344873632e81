/* SPDX-License-Identifier: Apache-2.0 */
/* Two databases with something of everything, what one holds as lines, and a merge after which nothing is at fault. */
#ifndef MERGE_FIXTURE_H
#define MERGE_FIXTURE_H

#include "exact_fixture.h"
#include "store_comparison_fixture.h"
#include "store_profile_fixture.h"

#include "store/comparison.h"
#include "store/exact.h"
#include "store/merge.h"

/* A database beside f->db. */
static void path_of(const struct fixture *f, const char *name, char path[96])
{
	snprintf(path, 96, "%s/%s.db", f->folder, name);
}

static struct assay_store *open_named(struct fixture *f, const char *name)
{
	struct assay_store *s;
	char path[96];

	path_of(f, name, path);
	assert_ok(f, assay_store_open(&s, path, ASSAY_STORE_WRITE, &f->err));
	return s;
}

/* @runs finished runs on @machine from @first_ns on, each with cases @from to @from + 2. */
static void fill(struct fixture *f, struct assay_store *s, const char *machine, unsigned runs, uint64_t first_ns,
		 unsigned from)
{
	for (unsigned i = 0; i < runs; i++) {
		struct assay_run run;

		make_run(&run, "quick", machine);
		run.started_ns = first_ns + i;
		assert_ok(f, assay_store_run_begin(s, &run, &f->err));
		for (unsigned k = from; k < from + 3; k++) {
			struct assay_result r;

			make_result(&r, k, 20 + i);
			/* names of numbers come in another order in each database */
			assert_int_equal(assay_result_add_metric(&r, machine, "s", -1, k), 0);
			make_counters(&r.counters);
			assert_ok(f, assay_store_result_add(s, run.id, &r, &f->err));
			assay_result_release(&r);
		}
		assert_ok(f, assay_store_run_end(s, run.id, run.started_ns + 1000, &f->err));
	}
}

/* Two pairs, and two functions of which one has no name and was not counted. */
static void add_because(struct fixture *f, struct assay_store *s, int64_t case_id)
{
	struct assay_because_pair pairs[] = { { 1000, 1010.5 }, { 1001, 1012 } };
	struct assay_because_function functions[] = {
		{ .name = "part_one",
		  .object = "a.so",
		  .file = "a.c",
		  .line = 3,
		  .last_line = 9,
		  .code = ASSAY_CODE_DIFFERS,
		  .counted = { 50000, 50100 },
		  .weight = { { 1000, 2000 }, { 0, 1u << 30 } } },
		{ .object = "libc.so.6", .code = ASSAY_CODE_SAME, .counted = { -1, -1 }, .weight = { { 7 }, { 9 } } },
	};
	const struct assay_because_evidence e = { .seconds = 4,
						  .rate_hz = 39989,
						  .source = "a test",
						  .pairs = pairs,
						  .n_pairs = N_OF(pairs),
						  .functions = functions,
						  .n = N_OF(functions) };
	struct assay_because_evidence *back = NULL;

	assert_ok(f, assay_store_because_add(s, case_id, &e, &f->err));
	assert_ok(f, assay_store_because_load(s, case_id, &back, &f->err));
	assert_true(back && back->n == e.n && back->n_pairs == e.n_pairs && back->rate_hz == e.rate_hz);
	assert_memory_equal(back->pairs, pairs, sizeof(pairs));
	assert_memory_equal(back->functions, functions, sizeof(functions));
	assay_because_evidence_free(back);
}

static void add_comparison(struct fixture *f, struct assay_store *s, uint64_t started_ns, unsigned pairs, bool end)
{
	struct assay_comparison cmp;
	int64_t cases[2];

	make_cases(&cmp, "m4", 1);
	cmp.started_ns = started_ns;
	assert_ok(f, assay_store_comparison_begin_with(s, &cmp, cases, &f->err));
	for (unsigned i = 0; i < pairs; i++) {
		struct assay_pair p;

		make_pair(&p, i);
		assert_ok(f, assay_store_pair_add(s, cases[i % 2], &p, &f->err));
		assay_pair_release(&p);
	}
	if (end) {
		assert_ok(f, assay_store_comparison_end(s, cmp.id, started_ns + 5, "PASS", 0, &f->err));
		add_because(f, s, cases[1]);
	}
	assay_comparison_release(&cmp);
}

/* Two databases with something of everything. */
static void make_two(struct fixture *f, struct assay_store *v[2])
{
	struct assay_exact_run exact = exact_run();
	struct assay_change_answer answer = { .from_commit = "1a",
					      .to_commit = "2b",
					      .slower = true,
					      .confirmed = true,
					      .decided = true,
					      .reason = "REGRESSED",
					      .asked_ns = 5,
					      .comparison_id = 1 };
	struct assay_stored_change *known;
	struct assay_run run;
	size_t n;

	v[0] = open_named(f, "a");
	v[1] = open_named(f, "b");
	fill(f, v[0], "m1", 3, 1000, 0);
	fill(f, v[1], "m2", 2, 2000, 1);
	add_comparison(f, v[1], 3000, 3, true);
	assert_ok(f,
		  assay_store_change_put(v[1], "matmul.ternary/avx2/m=0,level=dram/t=2/cold", "m2", &answer, &f->err));
	assert_ok(f, assay_store_changes(v[1], &known, &n, &f->err));
	assert_int_equal(n, 1);
	free(known);
	assert_ok(f, assay_store_exact_add(v[1], &exact, &f->err));
	assay_exact_run_release(&exact);
	make_run(&run, "quick", "m3");
	add_profile(f, v[1], "before", 4000);
	add_numbers_profile(f, v[1], true, 5000);
	add_numbers_profile(f, v[1], false, 6000);
	assert_ok(f, assay_store_baseline_save(v[0], "main", 3, 7, &f->err));
	assert_ok(f, assay_store_baseline_save(v[1], "other", 1, 7, &f->err));
}

/* All rows of @table but what is called by number in no other database. */
static void add_lines(struct fixture *f, struct assay_store *s, const char *table, struct assay_strings *lines)
{
	static const char *const numbered[] = { "id",         "run",       "bench_case", "series",          "result",
						"encoded",    "pair",      "comparison", "exact_run",       "baseline",
						"exact_case", "pair_side", "place",      "comparison_case", "profile" };
	char sql[128];
	sqlite3_stmt *st = NULL;

	snprintf(sql, sizeof(sql), "SELECT * FROM \"%s\"", table);
	assert_int_equal(sqlite3_prepare_v2(s->db, sql, -1, &st, NULL), SQLITE_OK);
	while (sqlite3_step(st) == SQLITE_ROW) {
		char line[1024];
		int n = snprintf(line, sizeof(line), "%s", table);

		for (int i = 0; i < sqlite3_column_count(st) && n < (int)sizeof(line); i++) {
			const char *name = sqlite3_column_name(st, i);
			bool skip = sqlite3_column_type(st, i) == SQLITE_BLOB;

			for (size_t k = 0; k < N_OF(numbered); k++)
				skip |= !strcmp(name, numbered[k]) && sqlite3_column_type(st, i) != SQLITE_TEXT;
			if (!skip)
				n += snprintf(line + n, sizeof(line) - (size_t)n, " %s=%s", name,
					      (const char *)sqlite3_column_text(st, i));
		}
		assert_ok(f, assay_strings_add(lines, line, &f->err));
	}
	sqlite3_finalize(st);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All that @s holds but numbers that only it gives, sorted. */
static struct assay_strings lines_of(struct fixture *f, struct assay_store *s)
{
	struct assay_strings lines = { 0 };
	sqlite3_stmt *st = NULL;

	assert_int_equal(
		sqlite3_prepare_v2(s->db, "SELECT name FROM sqlite_schema WHERE type = 'table'", -1, &st, NULL),
		SQLITE_OK);
	while (sqlite3_step(st) == SQLITE_ROW)
		add_lines(f, s, (const char *)sqlite3_column_text(st, 0), &lines);
	sqlite3_finalize(st);
	qsort(lines.v, lines.n, sizeof(*lines.v), by_text);
	return lines;
}

static void assert_same_contents(struct fixture *f, struct assay_store *a, struct assay_store *b)
{
	struct assay_strings x = lines_of(f, a), y = lines_of(f, b);

	assert_int_equal(x.n, y.n);
	for (size_t i = 0; i < x.n; i++)
		assert_string_equal(x.v[i], y.v[i]);
	assay_strings_release(&x);
	assay_strings_release(&y);
}

static void assert_faultless(struct assay_store *s)
{
	assert_int_equal(ask(s->path, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
	assert_int_equal(ask(s->path, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

static struct assay_store_merged merge(struct fixture *f, struct assay_store *to, struct assay_store *from)
{
	struct assay_store_merged m = { 0 };

	assert_ok(f, assay_store_merge(to, from, &m, &f->err));
	assert_faultless(to);
	return m;
}

#endif
