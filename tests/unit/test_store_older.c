/* SPDX-License-Identifier: Apache-2.0 */
/* Databases of older versions: what they said in prose stands in columns, and nothing else has changed. */
#include "store_fixture.h"

#include <math.h>

/* The database whose dump is tests/fixtures/store/@name, of version @version. */
static void make_old(struct fixture *f, const char *name, int version)
{
	char path[96], *sql;
	size_t len;

	snprintf(path, sizeof(path), "tests/fixtures/store/%s", name);
	assert_ok(f, assay_file_read(path, &sql, &len, &f->err));
	unlink(f->db);
	run_sql(f->db, sql);
	free(sql);
	assert_int_equal(ask(f->db, "PRAGMA user_version"), version);
}

static struct assay_run load_run(struct fixture *f, int64_t id)
{
	struct assay_store *s;
	struct assay_run run;

	s = open_store(f, ASSAY_STORE_READ);
	assert_ok(f, assay_store_run_load(s, id, &run, &f->err));
	assay_store_close(s);
	return run;
}

/* Whatever the latest version is, version 1 must be read, and can be added to. */
STORE_TEST(test_version_1)
{
	struct fixture *f = *state;
	struct assay_store *s;
	struct assay_run run;

	make_old(f, "version_1.sql", 1);
	assert_intact(f);
	run = load_run(f, 0);
	assert_string_equal(run.machine.facts[1].value, "0xdeadbeef");
	assert_int_equal(run.n_environment, 3);
	assert_int_equal(run.all_threads, 0);
	assert_int_equal(run.n_all_cpus, 0);
	assert_true(run.n_results > 0);
	for (size_t i = 0; i < run.n_results; i++)
		assert_string_equal(run.results[i].log, "");
	assay_run_release(&run);
	s = open_store(f, ASSAY_STORE_WRITE);
	assert_int_equal(add_run(f, s, "quick", "m1", 0, 6, true), 2);
	assay_store_close(s);
	assert_intact(f);
}

/* Numbers as the program of version 5 showed them. */
STORE_TEST(test_statistics_of_version_5)
{
	static const struct {
		int64_t run;
		size_t at;
		const char *key;
		size_t rounds, samples;
		double median_ns, lo_ns, hi_ns, mad_ns, slow_frac;
	} rows[] = {
		{ 1, 0, "stream.read/ref/level=l1/t=2/warm", 1, 8, 129207.0, 128224.0, 134767.0, 349.0, 0.0 },
		{ 1, 4, "matmul.ternary/avx512vnni/m=70,k=384,n=5/t=2/warm", 2, 26, 1804.72321429, 1721.05820253,
		  1892.42899128, 28.7589285714, 0.0384615384615 },
		{ 2, 2, "matmul.ternary/avx512vnni/m=70,k=384,n=5/t=1/warm", 2, 35, 900.950892857, 895.127093992,
		  906.812345814, 6.94642857143, 0.0 },
	};
	struct fixture *f = *state;

	make_old(f, "version_5.sql", 5);
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_run run = load_run(f, rows[i].run);
		const struct assay_result *r = &run.results[rows[i].at];

		assert_true(rows[i].at < run.n_results);
		assert_string_equal(r->c.key, rows[i].key);
		assert_int_equal(r->rounds, rows[i].rounds);
		assert_int_equal(r->n_samples, rows[i].samples);
		assert_true(fabs(r->median_ns - rows[i].median_ns) < 1e-6 * rows[i].median_ns);
		assert_true(fabs(r->ci95_lo_ns - rows[i].lo_ns) < 1e-6 * rows[i].lo_ns);
		assert_true(fabs(r->ci95_hi_ns - rows[i].hi_ns) < 1e-6 * rows[i].hi_ns);
		assert_true(fabs(r->mad_ns - rows[i].mad_ns) < 1e-6 * rows[i].mad_ns);
		assert_true(fabs(r->slow_core_frac - rows[i].slow_frac) < 1e-6);
		assert_int_equal(r->ci95_reached, r->rounds > 1);
		assay_run_release(&run);
	}
}

/* What `all` meant, from the sentence about it. */
STORE_TEST(test_all_threads_of_version_5)
{
	static const struct {
		const char *placement; /* NULL: as it was stored */
		unsigned threads;
		size_t n_cpus;
		int last; /* of the CPUs */
	} rows[] = {
		{ NULL, 2, 2, 1 },
		{ "as listed, one thread a core, all = 1 thread on CPU 7", 1, 1, 7 },
		{ "scatter, all hardware threads, all = 12 threads on CPUs 0,2,4,6,8,10,1,3,5,7,9,11", 12, 12, 11 },
		{ "compact, one thread a core", 0, 0, 0 },
		{ "compact, one thread a core, all = 4 threads", 4, 0, 0 },
		{ "compact, one thread a core, all = 4 threads on CPUs 0-3", 4, 0, 0 },
		{ "compact, one thread a core, all = many threads on CPUs 0,1", 0, 0, 0 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < N_OF(rows); i++) {
		char sql[256];
		struct assay_run run;

		make_old(f, "version_5.sql", 5);
		snprintf(sql, sizeof(sql), "UPDATE environment SET value = '%s' WHERE run = 1 AND name = 'placement'",
			 rows[i].placement ? rows[i].placement : "");
		if (rows[i].placement)
			run_sql(f->db, sql);
		run = load_run(f, 1);
		assert_int_equal(run.all_threads, rows[i].threads);
		assert_int_equal(run.n_all_cpus, rows[i].n_cpus);
		if (rows[i].n_cpus)
			assert_int_equal(run.all_cpus[run.n_all_cpus - 1], rows[i].last);
		assay_run_release(&run);
		run = load_run(f, 2);
		assert_int_equal(run.all_threads, 1);
		assert_int_equal(run.all_cpus[0], 1);
		assay_run_release(&run);
	}
}

/* A fact has room for 255 bytes: of more CPUs the last number may be half a number. */
STORE_TEST(test_a_sentence_that_was_cut)
{
	struct fixture *f = *state;
	struct assay_run run;

	make_old(f, "version_5.sql", 5);
	run_sql(f->db,
		"UPDATE environment SET value = substr('compact, one thread a core, all = 128 threads on CPUs ' ||"
		" (WITH RECURSIVE c (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM c WHERE n < 127)"
		"  SELECT group_concat(n) FROM c), 1, 255) WHERE run = 1 AND name = 'placement'");
	run = load_run(f, 1);
	assert_int_equal(run.all_threads, 128);
	assert_int_equal(run.n_all_cpus, 0);
	assay_run_release(&run);
}

/* What bounds a case, from the text at its count. */
STORE_TEST(test_roofs_of_version_5)
{
	static const struct {
		const char *how; /* NULL: as it was stored */
		struct assay_result_roof want;
	} rows[] = {
		{ NULL, { ASSAY_BOUND_ARITHMETIC, "peak.ternary_dot", "ternary", { 0.058, 0.084, false } } },
		{ "peak.i8_dot", { .bound = ASSAY_BOUND_ARITHMETIC, .op = "peak.i8_dot", .name = "i8" } },
		{ "peak.f32_fma; in turn, 61.2 to 101.4 %",
		  { ASSAY_BOUND_ARITHMETIC, "peak.f32_fma", "f32", { 0.612, 1.014, true } } },
		{ "stream.copy at dram", { .bound = ASSAY_BOUND_BANDWIDTH, .op = "stream.copy", .name = "dram" } },
		{ "stream.read at l3; in turn, 7.0 to 7.1 %?",
		  { ASSAY_BOUND_BANDWIDTH, "stream.read", "l3", { 0.07, 0.071, false } } },
		{ "", { .bound = ASSAY_BOUND_NONE } },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_roof_range *want = &rows[i].want.in_turn;
		struct assay_result_roof *got;
		struct assay_run run;
		char sql[256];

		make_old(f, "version_5.sql", 5);
		snprintf(sql, sizeof(sql), "UPDATE result_counter SET how = '%s' WHERE name = 'roof_ns' AND result = 5",
			 rows[i].how ? rows[i].how : "");
		if (rows[i].how)
			run_sql(f->db, sql);
		run = load_run(f, 1);
		assert_string_equal(run.results[4].c.op, "matmul.ternary");
		got = &run.results[4].roof;
		assert_true(fabs(got->in_turn.least_frac - want->least_frac) < 1e-12);
		assert_true(fabs(got->in_turn.most_frac - want->most_frac) < 1e-12);
		assert_int_equal(got->in_turn.reached, want->reached);
		got->in_turn = *want;
		assert_same_roof(got, &rows[i].want);
		/* what others are held against has none */
		assert_same_roof(&run.results[0].roof, &(struct assay_result_roof){ 0 });
		assay_run_release(&run);
		/* nor was the second run measured in turn */
		run = load_run(f, 2);
		assert_string_equal(run.results[2].roof.name, "ternary");
		assert_true(run.results[2].roof.in_turn.most_frac == 0);
		assay_run_release(&run);
	}
}

/* Counts beside a run know from it what was of `all` threads. */
STORE_TEST(test_counts_of_all_threads_of_version_5)
{
	struct fixture *f = *state;

	make_old(f, "version_5.sql", 5);
	run_sql(f->db, "INSERT INTO exact_run SELECT NULL, r.id, r.suite, r.seed, r.started_ns, r.build, 'x86_64', 'v',"
		       " 'libc', 'canon', '', '', NULL, NULL FROM run r;"
		       "INSERT INTO exact_case SELECT NULL, e.id, b.key, 'skipped', 'why', '' FROM exact_run e"
		       " JOIN result r ON r.run = e.run JOIN bench_case b ON b.id = r.bench_case;"
		       "INSERT INTO exact_case VALUES (NULL, 1, 'never/timed/-/t=2/warm', 'skipped', 'why', '')");
	for (int64_t id = 1; id <= 2; id++) {
		struct assay_run run = load_run(f, id);

		assert_true(run.exact->n_cases >= run.n_results);
		for (size_t i = 0; i < run.exact->n_cases; i++) {
			assert_int_equal(run.exact->cases[i].all_threads, id == 1 && i < run.n_results);
			assert_string_equal(run.exact->cases[i].log, "");
		}
		assay_run_release(&run);
	}
}

UNIT_MAIN(NULL, NULL)
