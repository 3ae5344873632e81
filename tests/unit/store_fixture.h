/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of the store: a folder for databases, and runs and results with a value in every member. */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include "unit.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "model/summary.h"
#include "store/db.h"

/* Of the last migration, and of one that is not there. */
#define VERSION_TEXT      "1"
#define NEXT_VERSION_TEXT "2"

struct fixture {
	char folder[64];
	char db[96];
	struct assay_err err;
};

static inline int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	strcpy(f->folder, "/tmp/assay-store-XXXXXX");
	/* others may look in: some tests do so as another user */
	if (!mkdtemp(f->folder) || chmod(f->folder, 0755))
		return -1;
	snprintf(f->db, sizeof(f->db), "%s/a.db", f->folder);
	*state = f;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", f->folder);
	free(f);
	return system(command) ? -1 : 0;
}

#define assert_ok(f, call)                                                                                             \
	do {                                                                                                           \
		if (call)                                                                                              \
			fail_msg("%s: %s", #call, (f)->err.text);                                                      \
	} while (0)

static inline struct assay_store *open_store(struct fixture *f, enum assay_store_mode mode)
{
	struct assay_store *s;

	assert_ok(f, assay_store_open(&s, f->db, mode, &f->err));
	return s;
}

/* @call must give @code with a message that has @part in it. */
#define assert_error(f, call, code, part)                                                                              \
	do {                                                                                                           \
		memset(&(f)->err, 0, sizeof((f)->err));                                                                \
		assert_int_equal(call, code);                                                                          \
		if (!strstr((f)->err.text, part))                                                                      \
			fail_msg("'%s' lacks '%s'", (f)->err.text, part);                                              \
		assert_null(strchr((f)->err.text, '\n'));                                                              \
	} while (0)

/* How many files lie in its folder. */
static inline size_t files_in(const struct fixture *f)
{
	DIR *dir = opendir(f->folder);
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* . and .. */
}

/* A run of @suite on machine @machine ("m1"); its arrays are static. */
static inline void make_run(struct assay_run *run, const char *suite, const char *machine)
{
	static struct assay_fact environment[] = { { "governor", "performance" }, { "aslr", "2" }, { "load", "0.07" } };
	static int all_cpus[] = { 4, 0, 6 };

	memset(run, 0, sizeof(*run));
	snprintf(run->suite, sizeof(run->suite), "%s", suite);
	run->seed = 0xfedcba9876543210u;
	run->started_ns = 1700000000000000001u;
	snprintf(run->machine.id, sizeof(run->machine.id), "%s", machine);
	snprintf(run->machine.label, sizeof(run->machine.label), "label of %s", machine);
	run->machine.n_facts = 2;
	strcpy(run->machine.facts[0].name, "cpu");
	strcpy(run->machine.facts[0].value, "It's a \"CPU\"; DROP TABLE run; --");
	strcpy(run->machine.facts[1].name, "microcode");
	strcpy(run->machine.facts[1].value, "0xdeadbeef");
	strcpy(run->build.commit, "0123456789abcdef0123456789abcdef01234567");
	run->build.dirty = true;
	strcpy(run->build.compiler, "gcc 12.2");
	strcpy(run->build.flags, "-O2 -g");
	strcpy(run->build.plugins, "ffeeddccbbaa99887766554433221100");
	strcpy(run->build.plugin.hash, "8899aabbccddeeff8899aabbccddeeff00112233");
	run->build.plugin.dirty = true;
	strcpy(run->build.id, "00112233445566778899aabbccddeeff");
	run->environment = environment;
	run->n_environment = 3;
	strcpy(run->imported.format, "hyperfine");
	strcpy(run->imported.digest, "aabbccddeeff00112233445566778899");
	strcpy(run->label, "nightly");
	strcpy(run->places, " --plugin 'my op.so'");
	run->started_unknown = true;
	run->all_threads = 3;
	run->all_cpus = all_cpus;
	run->n_all_cpus = 3;
}

/* Result number @i, ok, with @n_samples samples; release it. */
static inline void make_result(struct assay_result *r, unsigned i, size_t n_samples)
{
	memset(r, 0, sizeof(*r));
	strcpy(r->c.op, "matmul.ternary");
	strcpy(r->c.variant, "avx2");
	r->c.n_axes = 2;
	strcpy(r->c.axes[0].name, "m");
	snprintf(r->c.axes[0].text, sizeof(r->c.axes[0].text), "%u", i);
	r->c.axes[0].value = i;
	strcpy(r->c.axes[1].name, "level");
	strcpy(r->c.axes[1].text, "dram");
	r->c.axes[1].value = 3;
	r->c.threads = 2;
	r->c.all_threads = true;
	r->c.cache = ASSAY_CACHE_COLD;
	r->c.budget_ns = 1000000000;
	r->c.timeout_ns = 120000000000;
	r->c.memory_bytes = (uint64_t)8 << 30;
	snprintf(r->c.key, sizeof(r->c.key), "matmul.ternary/avx2/m=%u,level=dram/t=2/cold", i);

	r->status = ASSAY_STATUS_OK;
	r->checked = r->correct = true;
	strcpy(r->digest, "abcdefabcdefabcdefabcdefabcdefab");
	r->max_rel_err = 1.5e-7;
	r->c.reference = true;
	strcpy(r->code_hash, "99999999999999999999999999999999");
	r->samples = calloc(n_samples ? n_samples : 1, sizeof(*r->samples));
	assert_non_null(r->samples);
	r->n_samples = n_samples;
	for (size_t k = 0; k < n_samples; k++)
		r->samples[k] = (struct assay_sample){ .iterations = 40,
						       .ns = 90000 + i + (k * 7919) % 501,
						       .flags = k % 50 == 49 };
	r->steady = true;
	r->converged = true;
	r->warmup_ns = 123456789;
	assert_int_equal(assay_summary_fill(r, NULL), 0);
	assert_int_equal(assay_result_add_metric(r, "time_s", "s", -1, 2.25e-6), 0);
	assert_int_equal(assay_result_add_metric(r, "ops_per_s", "op/s", 1, 1.0 / 3.0), 0);
	assert_int_equal(assay_result_add_metric(r, "delta", "1", 0, -4.0), 0);
	assert_int_equal(assay_result_set_count(r, "page_faults", "os", "getrusage", 17), 0);
	assert_int_equal(assay_result_set_count(r, "kv_hits", "op", "", 9007199254740992.0), 0);
	r->cpus = calloc(2, sizeof(*r->cpus));
	assert_non_null(r->cpus);
	r->cpus[0] = 6;
	r->cpus[1] = 0;
	r->n_cpus = 2;
	r->numa_node = -1;
	r->copies = 12;
	r->started_ns = 1700000001000000000u + i;
}

static inline void assert_same_counters(const struct assay_counters *a, const struct assay_counters *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		assert_string_equal(a->v[i].name, b->v[i].name);
		assert_string_equal(a->v[i].source, b->v[i].source);
		assert_string_equal(a->v[i].how, b->v[i].how);
		assert_true(a->v[i].value == b->v[i].value);
		assert_int_equal(a->v[i].per_iteration, b->v[i].per_iteration);
		assert_true(a->v[i].running_frac == b->v[i].running_frac);
	}
	assert_int_equal(a->n_missing, b->n_missing);
	for (size_t i = 0; i < a->n_missing; i++) {
		assert_string_equal(a->missing[i].name, b->missing[i].name);
		assert_string_equal(a->missing[i].source, b->missing[i].source);
		assert_string_equal(a->missing[i].reason, b->missing[i].reason);
	}
}

/* One multiplexed count, one derived metric's rung, one that could not be had. */
static inline void make_counters(struct assay_counters *c)
{
	static const struct assay_count count = { .name = "PAPI_L1_DCM",
						  .source = ASSAY_SOURCE_PMU,
						  .how = "PAPI 7.0",
						  .value = 1234.5,
						  .per_iteration = true,
						  .running_frac = 0.4375 };

	assert_int_equal(assay_counters_add(c, &count), 0);
	assert_int_equal(
		assay_counters_add_missing(c, "PAPI_L3_TCM", ASSAY_SOURCE_PMU, "this CPU's has none — it's so"), 0);
}

static inline void assert_same_roof(const struct assay_result_roof *a, const struct assay_result_roof *b)
{
	assert_int_equal(a->bound, b->bound);
	assert_string_equal(a->op, b->op);
	assert_string_equal(a->name, b->name);
	assert_true(a->in_turn.least_frac == b->in_turn.least_frac && a->in_turn.most_frac == b->in_turn.most_frac);
	assert_int_equal(a->in_turn.reached, b->in_turn.reached);
}

/* None is an empty one. */
static inline void assert_same_log(const char *a, const char *b)
{
	assert_string_equal(a ? a : "", b ? b : "");
}

static inline void assert_same_result(const struct assay_result *a, const struct assay_result *b)
{
	assert_string_equal(a->c.key, b->c.key);
	assert_string_equal(a->c.op, b->c.op);
	assert_string_equal(a->c.variant, b->c.variant);
	assert_int_equal(a->c.n_axes, b->c.n_axes);
	for (unsigned i = 0; i < a->c.n_axes; i++) {
		assert_string_equal(a->c.axes[i].name, b->c.axes[i].name);
		assert_string_equal(a->c.axes[i].text, b->c.axes[i].text);
		assert_true(a->c.axes[i].value == b->c.axes[i].value);
	}
	assert_int_equal(a->c.threads, b->c.threads);
	assert_int_equal(a->c.all_threads, b->c.all_threads);
	assert_int_equal(a->c.cache, b->c.cache);
	assert_true(a->c.budget_ns == b->c.budget_ns && a->c.timeout_ns == b->c.timeout_ns);
	assert_true(a->c.memory_bytes == b->c.memory_bytes);

	assert_int_equal(a->status, b->status);
	assert_string_equal(a->reason, b->reason);
	assert_same_log(a->log, b->log);
	assert_same_log(a->raw_metrics, b->raw_metrics);
	assert_int_equal(a->checked, b->checked);
	assert_int_equal(a->correct, b->correct);
	assert_string_equal(a->digest, b->digest);
	assert_true(a->max_rel_err == b->max_rel_err);
	assert_true(a->c.reference == b->c.reference);
	assert_int_equal(a->deviation.edges, b->deviation.edges);
	assert_string_equal(a->deviation.reason, b->deviation.reason);
	assert_string_equal(a->code_hash, b->code_hash);

	assert_int_equal(a->n_samples, b->n_samples);
	if (a->n_samples)
		assert_memory_equal(a->samples, b->samples, a->n_samples * sizeof(*a->samples));
	assert_int_equal(a->steady, b->steady);
	assert_int_equal(a->converged, b->converged);
	assert_true(a->warmup_ns == b->warmup_ns && a->iterations == b->iterations);
	assert_true(a->median_ns == b->median_ns && a->min_ns == b->min_ns && a->mad_ns == b->mad_ns);
	assert_true(a->ci95_lo_ns == b->ci95_lo_ns && a->ci95_hi_ns == b->ci95_hi_ns);
	assert_true(a->dropped_frac == b->dropped_frac && a->disturbed_frac == b->disturbed_frac);
	assert_true(a->slow_core_frac == b->slow_core_frac);
	assert_int_equal(a->rounds, b->rounds);
	assert_int_equal(a->ci95_reached, b->ci95_reached);
	assert_int_equal(a->disturbed, b->disturbed);
	assert_int_equal(a->slow_core, b->slow_core);

	assert_int_equal(a->n_metrics, b->n_metrics);
	for (size_t i = 0; i < a->n_metrics; i++) {
		assert_string_equal(a->metrics[i].tag, b->metrics[i].tag);
		assert_string_equal(a->metrics[i].unit, b->metrics[i].unit);
		assert_int_equal(a->metrics[i].better, b->metrics[i].better);
		assert_true(a->metrics[i].value == b->metrics[i].value);
		assert_string_equal(a->metrics[i].source, b->metrics[i].source);
		assert_int_equal(a->metrics[i].estimated, b->metrics[i].estimated);
	}
	assert_same_counters(&a->counters, &b->counters);
	assert_same_roof(&a->roof, &b->roof);
	assert_int_equal(a->n_cpus, b->n_cpus);
	for (size_t i = 0; i < a->n_cpus; i++)
		assert_int_equal(a->cpus[i], b->cpus[i]);
	assert_int_equal(a->numa_node, b->numa_node);
	assert_true(a->copies == b->copies && a->started_ns == b->started_ns);
}

/* Store run with results number @from to @to - 1 in the open store; ended when @end. */
static inline int64_t add_run(struct fixture *f, struct assay_store *s, const char *suite, const char *machine,
			      unsigned from, unsigned to, bool end)
{
	struct assay_run run;

	make_run(&run, suite, machine);
	assert_ok(f, assay_store_run_begin(s, &run, &f->err));
	for (unsigned i = from; i < to; i++) {
		struct assay_result r;

		make_result(&r, i, 100);
		assert_ok(f, assay_store_result_add(s, run.id, &r, &f->err));
		assay_result_release(&r);
	}
	if (end)
		assert_ok(f, assay_store_run_end(s, run.id, run.started_ns + 1000, &f->err));
	return run.id;
}

/* A database with one finished run of 5 results, which assert_intact looks for. */
static inline void make_database(struct fixture *f)
{
	struct assay_store *s;

	s = open_store(f, ASSAY_STORE_WRITE);
	assert_int_equal(add_run(f, s, "quick", "m1", 0, 5, true), 1);
	assay_store_close(s);
}

/* The first run of make_database is there, whole, and SQLite finds no fault in the file. */
static inline void assert_intact(struct fixture *f)
{
	struct assay_result want;
	struct assay_store *s;
	sqlite3_stmt *st = NULL;
	struct assay_run run;

	s = open_store(f, ASSAY_STORE_READ);
	assert_ok(f, assay_store_run_load(s, 1, &run, &f->err));
	assert_int_equal(run.n_results, 5);
	for (unsigned i = 0; i < 5; i++) {
		make_result(&want, i, 100);
		assert_same_result(&run.results[i], &want);
		assay_result_release(&want);
	}
	assay_run_release(&run);
	assert_int_equal(sqlite3_prepare_v2(s->db, "PRAGMA integrity_check", -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(st, 0), "ok");
	sqlite3_finalize(st);
	assay_store_close(s);
}

/* Everything in the file of the database. */
struct bytes {
	char *s;
	size_t len;
};

static inline struct bytes read_all(struct fixture *f)
{
	struct bytes b;

	assert_ok(f, assay_file_read(f->db, &b.s, &b.len, &f->err));
	return b;
}

static inline void assert_unchanged(struct fixture *f, struct bytes *before)
{
	struct bytes after = read_all(f);

	assert_int_equal(after.len, before->len);
	assert_memory_equal(after.s, before->s, before->len);
	free(after.s);
}

/* Run @sql on the file with bare SQLite. */
static inline void run_sql(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	char *message = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s", message);
	sqlite3_close(db);
}

/* The number that a query of one row gives. */
static inline int64_t ask(const char *path, const char *sql)
{
	sqlite3_stmt *st = NULL;
	sqlite3 *db = NULL;
	int64_t v;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return v;
}

/* Dies at the first change of the table named. */
static inline void die_at(void *arg, int op, const char *db, const char *table, sqlite3_int64 row)
{
	if (!strcmp(table, arg))
		raise(SIGKILL);
}

static inline int die_at_commit(void *arg)
{
	raise(SIGKILL);
	return 0;
}

/* The head of a test with a folder of its own for databases. */
#define STORE_TEST(test) TEST_WITH(test, fixture_setup, fixture_teardown)

#endif
