/* SPDX-License-Identifier: Apache-2.0 */
/* What changed since it was stored, in a way that SQLite does not notice, is refused by name and never shown. */
#include "exact_fixture.h"
#include "store_comparison_fixture.h"

#include "store/store_exact.h"

#define KEY     "matmul.ternary/avx2/m=2,level=dram/t=2/cold"
#define CHANGED "was changed after it was stored"

/* Result 3 is that of KEY. */
STORE_TEST(test_results)
{
	static const struct {
		const char *sql;
		bool in_trend;
	} changes[] = {
		{ "UPDATE result SET median_ns = median_ns * 2, ci95_hi_ns = ci95_hi_ns * 2 WHERE id = 3", true },
		{ "UPDATE result SET warmup_ns = warmup_ns + 1 WHERE id = 3", true },
		{ "UPDATE result SET max_rel_err = NULL WHERE id = 3", true },
		{ "UPDATE result SET budget_ns = 0 WHERE id = 3", true },
		{ "UPDATE result SET code_hash = substr(code_hash, 1, 31) || '8' WHERE id = 3", true },
		{ "UPDATE result SET row_seal = substr(row_seal, 2) || 'g' WHERE id = 3", true },
		{ "UPDATE result SET seal = substr(seal, 2) || 'g' WHERE id = 3", false },
		{ "UPDATE bench_case SET threads = 3 WHERE id = 3", true },
		{ "UPDATE case_axis SET value = 6 WHERE bench_case = 3 AND place = 0", false },
		/* the last byte of the last count */
		{ "UPDATE result_numbers SET encoded = CAST(substr(encoded, 1, length(encoded) - 1) || x'42' AS BLOB)"
		  " WHERE result = 3",
		  false },
		/* the name of the first metric */
		{ "UPDATE result_numbers SET encoded = CAST(substr(encoded, 1, 2) || x'09' || substr(encoded, 4) AS "
		  "BLOB)"
		  " WHERE result = 3",
		  false },
		{ "DELETE FROM result_numbers WHERE result = 3", false },
		{ "UPDATE result_samples SET encoded = (SELECT encoded FROM result_samples WHERE result = 1) WHERE "
		  "result = 3",
		  false },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < N_OF(changes); i++) {
		struct assay_trend_point *points = NULL;
		struct assay_run run;
		struct assay_store *s;
		size_t n = 0;

		unlink(f->db);
		make_database(f);
		run_sql(f->db, changes[i].sql);
		s = open_store(f, ASSAY_STORE_READ);
		assert_error(f, assay_store_run_load(s, 1, &run, &f->err), ASSAY_ESTORE,
			     "result of '" KEY "' in run 1 of database");
		assert_non_null(strstr(f->err.text, CHANGED));
		if (changes[i].in_trend) {
			assert_error(f, assay_store_trend(s, KEY, NULL, &points, &n, &f->err), ASSAY_ESTORE,
				     "result of '" KEY "' in run 1 of database");
			assert_null(points);
		} else {
			assert_ok(f, assay_store_trend(s, KEY, NULL, &points, &n, &f->err));
			assert_int_equal(n, 1);
			free(points);
		}
		assay_store_close(s);
	}
}

/* Whatever bit of the file flips: results are refused, or are those that were stored. */
STORE_TEST(test_bits_of_the_file)
{
	struct fixture *f = *state;
	unsigned refused = 0, by_seal = 0;
	struct bytes file;

	make_database(f);
	file = read_all(f);
	for (size_t at = 100; at < file.len; at += 127) {
		struct assay_store *s = NULL;
		struct assay_run run;
		int rc;

		file.s[at] ^= (char)(1 << at % 8);
		assert_ok(f, assay_file_write(f->db, file.s, file.len, &f->err));
		file.s[at] ^= (char)(1 << at % 8);
		rc = assay_store_open(&s, f->db, ASSAY_STORE_READ, &f->err);
		if (!rc)
			rc = assay_store_run_load(s, 1, &run, &f->err);
		assay_store_close(s);
		refused += rc != 0;
		by_seal += rc && strstr(f->err.text, CHANGED);
		for (size_t i = 0; !rc && i < run.n_results; i++) {
			struct assay_result want;

			make_result(&want, (unsigned)run.results[i].c.axes[0].value, 100);
			assert_same_result(&run.results[i], &want);
			assay_result_release(&want);
		}
		if (!rc)
			assay_run_release(&run);
	}
	assert_true(refused > 20);
	assert_true(by_seal > 5);
	free(file.s);
}

/* Rows of versions without seals are read as they are, and a result that is completed gets its seals. */
STORE_TEST(test_rows_without_seal)
{
	struct fixture *f = *state;
	struct assay_result r;
	struct assay_store *s;
	struct assay_run run;

	s = open_store(f, ASSAY_STORE_WRITE);
	assert_int_equal(add_run(f, s, "quick", "m1", 0, 5, false), 1);
	run_sql(f->db, "UPDATE result SET row_seal = '', seal = ''; UPDATE result SET warmup_ns = 7 WHERE id = 3");
	assert_ok(f, assay_store_run_load(s, 1, &run, &f->err));
	assert_int_equal(run.results[2].warmup_ns, 7);
	assay_run_release(&run);

	make_result(&r, 2, 100);
	strcpy(r.roof.name, "n");
	assert_ok(f, assay_store_metrics_put(s, 1, &r, &f->err));
	assert_int_equal(ask(f->db, "SELECT count(*) FROM result WHERE length(row_seal) = 32 AND length(seal) = 32"),
			 1);
	assert_ok(f, assay_store_run_load(s, 1, &run, &f->err));
	assay_run_release(&run);
	run_sql(f->db, "UPDATE result SET warmup_ns = 8 WHERE id = 3");
	assert_error(f, assay_store_run_load(s, 1, &run, &f->err), ASSAY_ESTORE, CHANGED);

	r.warmup_ns = 9;
	assert_ok(f, assay_store_result_replace(s, 1, &r, &f->err));
	assert_ok(f, assay_store_run_load(s, 1, &run, &f->err));
	assert_int_equal(run.results[2].warmup_ns, 9);
	assay_run_release(&run);
	assay_result_release(&r);
	assay_store_close(s);
}

STORE_TEST(test_pairs)
{
	static const char *const changes[] = {
		"UPDATE pair SET iterations = iterations + 1 WHERE id = 2",
		"UPDATE pair SET seal = 'x' || substr(seal, 2) WHERE id = 2",
		"UPDATE pair_side SET code_hash = 'f' WHERE pair = 2 AND side = 'head'",
		("UPDATE pair_side SET samples = (SELECT samples FROM pair_side WHERE pair = 2 AND side = 'base')"
		 " WHERE pair = 2 AND side = 'head'"),
		"UPDATE pair_metric SET value = value + 1 WHERE pair_side = 4",
		"UPDATE pair_counter SET value = value + 1 WHERE pair_side = 4",
		"UPDATE pair_unavailable SET reason = 'other' WHERE pair_side = 4",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < N_OF(changes); i++) {
		struct assay_comparison got = { .id = 0 };
		struct assay_store *s;
		int64_t case_id;

		unlink(f->db);
		s = open_store(f, ASSAY_STORE_WRITE);
		begin(f, s, "m1", &case_id);
		for (unsigned k = 0; k < 2; k++) {
			struct assay_pair p;

			make_pair(&p, k);
			assert_ok(f, assay_store_pair_add(s, case_id, &p, &f->err));
			assay_pair_release(&p);
		}
		assay_store_close(s);
		s = open_store(f, ASSAY_STORE_READ);
		assert_ok(f, assay_store_comparison_load(s, 0, &got, NULL, NULL, &f->err));
		assay_comparison_release(&got);
		run_sql(f->db, changes[i]);
		assert_error(f, assay_store_comparison_load(s, 0, &got, NULL, NULL, &f->err), ASSAY_ESTORE,
			     "pair 2 of 'matmul.ternary/avx2/m=0,level=dram/t=2/cold' in comparison 1 of database");
		assert_non_null(strstr(f->err.text, CHANGED));
		run_sql(f->db, "UPDATE pair SET seal = ''");
		assert_ok(f, assay_store_comparison_load(s, 0, &got, NULL, NULL, &f->err));
		assay_comparison_release(&got);
		assay_store_close(s);
	}
}

STORE_TEST(test_exact_counts)
{
	static const char *const changes[] = {
		"UPDATE exact_case SET reason = 'none' WHERE id = 1",
		"UPDATE exact_function SET instructions = instructions + 64 WHERE exact_case = 1",
		"UPDATE exact_case SET digest = 'a' WHERE id = (SELECT max(id) FROM exact_case)",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < N_OF(changes); i++) {
		struct assay_exact_run run = exact_run(), got = { 0 };
		struct assay_store *s;

		unlink(f->db);
		s = open_store(f, ASSAY_STORE_WRITE);
		assert_ok(f, assay_store_exact_add(s, &run, &f->err));
		assert_ok(f, assay_store_exact_newest(s, "quick", &got, &f->err));
		assay_exact_run_release(&got);
		run_sql(f->db, changes[i]);
		assert_error(f, assay_store_exact_newest(s, "quick", &got, &f->err), ASSAY_ESTORE, "exact counts of '");
		assert_non_null(strstr(f->err.text, CHANGED));
		run_sql(f->db, "UPDATE exact_case SET seal = ''");
		assert_ok(f, assay_store_exact_newest(s, "quick", &got, &f->err));
		assay_exact_run_release(&got);
		assay_store_close(s);
		assay_exact_run_release(&run);
	}
}

UNIT_MAIN(NULL, NULL)
