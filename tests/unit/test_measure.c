/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inventory, worker and measurement against example plugins and against plugins that crash, hang, cheat, write out of
 * bounds or eat all memory. The test program starts itself again as worker, as the real program does.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "measure/measure.h"
#include "measure/measure_roof.h"
#include "measure/sample_metrics.h"
#include "worker/inventory.h"
#include "worker/worker.h"
#include "worker/worker_main.h"

struct world {
	char dir[4096]; /* where the test plugins are */
	struct assay_topology *topology;
	struct assay_clock clock;
	struct assay_host_info host;
	struct assay_strings plugins;
	struct assay_inventory *inv;
};

static void add_plugin(struct assay_strings *l, const char *dir, const char *name)
{
	char path[8192];

	snprintf(path, sizeof(path), "%s/plugins/%s.so", dir, name);
	assert_int_equal(0, assay_strings_add(l, path, NULL));
}

static int set_up(void **state)
{
	static const char *const good[] = { "example_op", "example_variant", "bad_variants", "newer_minor",
					    "mock_device" };
	static struct world w;
	struct assay_err err = { 0 };

	assert_int_equal(0, assay_file_exe_dir(w.dir, sizeof(w.dir), &err));
	assert_int_equal(0, assay_topology_open(&w.topology, NULL, &err));
	assert_int_equal(0, assay_clock_init(&w.clock, &err));
	assay_topology_host_info(w.topology, &w.host);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		add_plugin(&w.plugins, w.dir, good[i]);
	if (assay_inventory_open(&w.inv, &w.plugins, NULL, &w.host, &err))
		fail_msg("%s", err.text);
	*state = &w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	assay_inventory_close(w->inv);
	assay_strings_release(&w->plugins);
	assay_topology_close(w->topology);
	return 0;
}

static struct assay_case make_case(const char *variant, int64_t n, unsigned threads, enum assay_cache cache)
{
	struct assay_case c = { .op = "example.scale",
				.n_axes = 1,
				.threads = threads,
				.cache = cache,
				.budget_ns = 20000000,
				.timeout_ns = 20000000000 };

	snprintf(c.variant, sizeof(c.variant), "%s", variant);
	c.axes[0] = (struct assay_axis_value){ .name = "n", .value = n };
	snprintf(c.axes[0].text, sizeof(c.axes[0].text), "%lld", (long long)n);
	assert_int_equal(0, assay_case_make_key(&c, NULL));
	return c;
}

static void measure_with(struct world *w, const struct assay_case *c, bool deterministic, struct assay_result *r)
{
	const struct assay_measure_options o = {
		.plugins = &w->plugins,
		.topology = w->topology,
		.host = &w->host,
		.clock = &w->clock,
		.seed = 42,
		.deterministic = deterministic,
	};
	struct assay_case_facts facts;
	struct assay_err err = { 0 };

	if (assay_inventory_describe(w->inv, c, 1, &facts, &err) ||
	    assay_measure_case(c, assay_inventory_catalog(w->inv), &facts, &o, r, &err))
		fail_msg("%s", err.text);
}

static void inventory_describes(void **state)
{
	struct world *w = *state;
	const struct assay_catalog *cat = assay_inventory_catalog(w->inv);
	const struct assay_catalog_op *op = assay_catalog_op(cat, "example.scale");
	const struct assay_catalog_variant *v;

	assert_int_equal(5, cat->n_plugins);
	for (size_t i = 0; i < cat->n_plugins; i++)
		assert_null(cat->plugins[i].error);
	assert_string_equal("example-op", cat->plugins[0].name);
	assert_int_equal(40, strlen(cat->plugins[0].build_id));
	assert_non_null(op);
	assert_true(op->exact);
	assert_int_equal(1, op->n_axes);
	assert_string_equal("n", op->axes[0].name);
	assert_int_equal(4, op->axes[0].min);
	assert_true(op->axes[0].def == INT64_MIN);
	assert_int_equal(1, op->n_metrics);
	assert_string_equal("example_last", op->metrics[0].tag);
	assert_true(op->metrics[0].hi == 4e9);
	assert_int_equal(1, op->counters.n);

	v = assay_catalog_variant(cat, "example.scale", "ref");
	assert_non_null(v);
	assert_true(v->reference);
	assert_null(v->unavailable);
	assert_true(assay_catalog_variant(cat, "example.scale", "doubled")->one_thread);
	assert_string_equal("this CPU has no avx9001",
			    assay_catalog_variant(cat, "example.scale", "needy")->unavailable);
	assert_non_null(strstr(assay_catalog_variant(cat, "example.scale", "on_gpu")->unavailable, "no plugin brings"));
	assert_null(assay_catalog_variant(cat, "example.scale", "mock")->unavailable);
	assert_null(assay_catalog_variant(cat, "example.scale", "newer_b")->unavailable);
}

static void inventory_refuses_bad_plugins(void **state)
{
	static const struct {
		const char *plugin, *reason;
	} cases[] = {
		{ "bad_abi_older", "was built for plugin ABI 0.9, this program takes 1.x (1.0)" },
		{ "bad_abi_newer", "was built for plugin ABI 2.0, this program takes 1.x (1.0)" },
		{ "bad_no_symbol", "no symbol 'assay_plugin_v1'" },
		{ "bad_magic", "has magic 0xdeadbeef, expected 0x59415341" },
		{ "bad_null_run", "variant 'null' of op 'example.scale'" },
		{ "bad_load_crash", "signal 11" },
		{ "not_there", "not_there.so'" },
	};
	struct world *w = *state;
	struct assay_strings plugins = { 0 };
	const struct assay_catalog *cat;
	struct assay_inventory *inv;

	add_plugin(&plugins, w->dir, "example_op");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		add_plugin(&plugins, w->dir, cases[i].plugin);
	add_plugin(&plugins, w->dir, "example_variant");
	assert_int_equal(0, assay_inventory_open(&inv, &plugins, NULL, &w->host, NULL));
	cat = assay_inventory_catalog(inv);
	assert_int_equal(sizeof(cases) / sizeof(cases[0]) + 2, cat->n_plugins);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *error = cat->plugins[i + 1].error;

		if (!error || !strstr(error, cases[i].reason))
			fail_msg("%s: '%s' does not say '%s'", cases[i].plugin, error ? error : "(loaded)",
				 cases[i].reason);
	}
	/* what is good is there all the same, before and after the bad ones */
	assert_non_null(assay_catalog_op(cat, "example.scale"));
	assert_non_null(assay_catalog_variant(cat, "example.scale", "doubled"));
	assert_null(assay_catalog_variant(cat, "example.scale", "null"));
	assay_inventory_close(inv);
	assay_strings_release(&plugins);
}

static void describe_gives_facts(void **state)
{
	struct world *w = *state;
	struct assay_case warm = make_case("ref", 1024, 1, ASSAY_CACHE_WARM),
			  cold = make_case("ref", 65536, 1, ASSAY_CACHE_COLD);
	struct assay_case tiny = make_case("ref", 4, 1, ASSAY_CACHE_COLD);
	struct assay_case odd = make_case("ref", 1022, 1, ASSAY_CACHE_WARM),
			  refused = make_case("refuses", 64, 1, ASSAY_CACHE_WARM);
	struct assay_case_facts f;
	struct assay_err err = { 0 };

	assert_int_equal(0, assay_inventory_describe(w->inv, &warm, 1, &f, &err));
	assert_true(f.supported);
	assert_true(f.cost.ops == 2048 && f.cost.bytes_read == 4096 && f.cost.items == 1024);
	assert_string_equal("elements", f.item_name);
	assert_int_equal(8192, f.tensor_bytes);
	assert_int_equal(1, f.copies);
	assert_int_equal(0, assay_inventory_describe(w->inv, &cold, 1, &f, &err));
	assert_true(f.copies * 262144 > 2 * w->host.llc_bytes && (f.copies - 1) * 262144 <= 2 * w->host.llc_bytes);
	assert_true(f.timed);
	/* too small to be cold beside the caches of most machines, but not to be counted */
	assert_int_equal(0, assay_inventory_describe(w->inv, &tiny, 1, &f, &err));
	assert_true(f.supported);
	assert_int_equal(2 * w->host.llc_bytes / 16 + 1, f.copies);
	assert_true(f.bytes >=
		    f.copies * (2 * 128 + sizeof(struct assay_job))); /* each tensor of 16 bytes with its canary */
	assert_int_equal(f.copies <= 1 << 20, f.timed);
	assert_true(f.timed == !strstr(f.reason, "so small that it needs"));
	assert_int_equal(ASSAY_EUSAGE, assay_inventory_describe(w->inv, &odd, 1, &f, &err));
	assert_non_null(strstr(err.text, "n is 1022, expected a multiple of 4"));
	assert_int_equal(0, assay_inventory_describe(w->inv, &refused, 1, &f, &err));
	assert_false(f.supported || f.timed);
	assert_string_equal("cannot do 64 elements", f.reason);
}

static void good_variants_measure(void **state)
{
	static const char *const names[] = { "ref", "doubled", "newer_a", "newer_b", "chatty", "mock" };
	struct world *w = *state;
	char digest[ASSAY_DIGEST_LEN + 1] = "";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct assay_case c = make_case(names[i], 4096, 1, ASSAY_CACHE_WARM);
		struct assay_result r;

		measure_with(w, &c, false, &r);
		if (r.status != ASSAY_STATUS_OK)
			fail_msg("%s: %s: %s", names[i], assay_status_name(r.status), r.reason);
		assert_true(r.checked && r.correct);
		assert_true(r.n_samples >= 3 && r.iterations >= 1);
		assert_true(r.ci95_lo_ns <= r.median_ns && r.median_ns <= r.ci95_hi_ns && r.min_ns <= r.median_ns);
		assert_int_equal(1, r.n_cpus);
		assert_int_equal(32, strlen(r.digest));
		if (i)
			assert_string_equal(digest, r.digest);
		memcpy(digest, r.digest, sizeof(digest));
		assert_non_null(assay_result_metric(&r, "time_s"));
		assert_non_null(assay_result_metric(&r, "ops_per_s"));
		assert_non_null(assay_result_metric(&r, "example_last"));
		assert_true(assay_result_metric(&r, "op_bytes")->value == 32768);
		assert_true(assay_result_metric(&r, "rss_peak_bytes")->value > 1e6);
		if (!strcmp(names[i], "mock"))
			assert_true(r.median_ns == 1e6); /* the device's clock, not the host's */
		assay_result_release(&r);
	}
}

static void bad_variants_get_a_reason(void **state)
{
	static const struct {
		const char *variant;
		enum assay_status status;
		const char *reason;
	} cases[] = {
		{ "crash", ASSAY_STATUS_CRASHED, "signal 11 (SIGSEGV) while running" },
		{ "abort_prepare", ASSAY_STATUS_CRASHED, "signal 6 (SIGABRT) while preparing" },
		{ "exit", ASSAY_STATUS_CRASHED, "status 7 while running" },
		{ "hang", ASSAY_STATUS_TIMEOUT, "not done after 1 s (while running)" },
		{ "near_write", ASSAY_STATUS_WRONG, "wrote outside of 'y': byte 400 of a buffer of 400 bytes" },
		{ "before_write", ASSAY_STATUS_WRONG, "wrote outside of 'y': byte -1 of" },
		{ "far_write", ASSAY_STATUS_CRASHED, "signal 11 (SIGSEGV) while running" },
		{ "wrong", ASSAY_STATUS_WRONG, "element 3 of 'y': got" },
		{ "nothing", ASSAY_STATUS_WRONG, "element 0 of 'y': got 2071690107" },
		{ "lazy", ASSAY_STATUS_WRONG, "element 0 of 'y': got 2071690107" },
		{ "late_wrong", ASSAY_STATUS_WRONG, "element 0 of 'y': got" },
		{ "input", ASSAY_STATUS_WRONG, "changed its inputs" },
		{ "greedy", ASSAY_STATUS_FAILED, "the memory limit is 256.0 MiB" },
		{ "host_greedy", ASSAY_STATUS_FAILED, "the harness gave no more memory" },
		{ "fail", ASSAY_STATUS_FAILED, "cannot run on a Friday" },
		{ "refuses", ASSAY_STATUS_SKIPPED, "cannot do 100 elements" },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct assay_case c = make_case(cases[i].variant, 100, 1, ASSAY_CACHE_WARM);
		struct assay_result r;

		c.memory_bytes = 256u << 20;
		if (cases[i].status == ASSAY_STATUS_TIMEOUT)
			c.timeout_ns = 1000000000;
		measure_with(w, &c, false, &r);
		if (r.status != cases[i].status || !strstr(r.reason, cases[i].reason))
			fail_msg("%s: %s: '%s' does not say '%s'", cases[i].variant, assay_status_name(r.status),
				 r.reason, cases[i].reason);
		assert_false(r.correct && r.status == ASSAY_STATUS_WRONG);
		assert_int_equal(0, r.n_samples);
		assert_int_equal(0, r.n_metrics);
		assay_result_release(&r);
	}
}

static void threads_agree(void **state)
{
	struct world *w = *state;
	unsigned all = (unsigned)assay_placement_max(w->topology, &(struct assay_placement_options){ 0 });
	char digest[ASSAY_DIGEST_LEN + 1] = "";

	for (unsigned t = 1; t <= all && t <= 4; t++) {
		struct assay_case c = make_case("ref", 1u << 16, t, ASSAY_CACHE_WARM);
		struct assay_result r;

		measure_with(w, &c, false, &r);
		assert_int_equal(ASSAY_STATUS_OK, r.status);
		assert_int_equal(t, r.n_cpus);
		for (unsigned i = 1; i < t; i++)
			assert_true(r.cpus[i] != r.cpus[i - 1]);
		if (t > 1)
			assert_string_equal(digest, r.digest);
		memcpy(digest, r.digest, sizeof(digest));
		assay_result_release(&r);
	}
}

static void cold_rotates(void **state)
{
	struct world *w = *state;
	struct assay_case c = make_case("ref", 1u << 20, 1, ASSAY_CACHE_COLD);
	struct assay_result r;

	measure_with(w, &c, false, &r);
	assert_int_equal(ASSAY_STATUS_OK, r.status);
	assert_int_equal(2 * w->host.llc_bytes / (4u << 20) + 1, r.copies);
	assert_true(assay_result_metric(&r, "op_bytes")->value == (double)r.copies * (8u << 20));
	assay_result_release(&r);
}

static double calls_of(const struct assay_result *r)
{
	const struct assay_count *c = assay_counters_find(&r->counters, "example_calls");

	return c ? c->value : -1;
}

/* The same work, twice: not a call more or less. */
static void deterministic_runs_do_equal_work(void **state)
{
	struct world *w = *state;
	struct assay_case c = make_case("ref", 4096, 1, ASSAY_CACHE_WARM);
	struct assay_result a, b;

	measure_with(w, &c, true, &a);
	measure_with(w, &c, true, &b);
	assert_int_equal(ASSAY_STATUS_OK, a.status);
	assert_int_equal(20, a.n_samples);
	assert_int_equal(a.iterations, b.iterations);
	assert_true(calls_of(&a) == 1 && calls_of(&b) == 1);
	assay_result_release(&a);
	assay_result_release(&b);
}

static void interrupt_stops_a_case(void **state)
{
	struct world *w = *state;
	static volatile sig_atomic_t stop = 1;
	struct assay_case c = make_case("hang", 100, 1, ASSAY_CACHE_WARM);
	const struct assay_measure_options o = {
		.plugins = &w->plugins,
		.topology = w->topology,
		.host = &w->host,
		.clock = &w->clock,
		.seed = 42,
		.interrupted = &stop,
	};
	struct assay_case_facts facts;
	struct assay_result r;

	assert_int_equal(0, assay_inventory_describe(w->inv, &c, 1, &facts, NULL));
	assert_int_equal(ASSAY_EINTERRUPTED,
			 assay_measure_case(&c, assay_inventory_catalog(w->inv), &facts, &o, &r, NULL));
	assay_result_release(&r);
}

/* A controller that is killed takes its workers with it. */
static void workers_die_with_their_parent(void **state)
{
	struct world *w = *state;
	struct assay_case c = make_case("hang", 100, 1, ASSAY_CACHE_WARM);
	char path[64], line[512];
	int pipe_fd[2], status;
	pid_t parent, worker = 0;

	assert_int_equal(0, pipe(pipe_fd));
	parent = fork();
	assert_true(parent >= 0);
	if (parent == 0) {
		const int cpu = sched_getcpu();
		const struct assay_worker_options wo = {
			.plugins = &w->plugins,
			.c = &c,
			.copies = 1,
			.cpus = &cpu,
			.clock = &w->clock,
			.host = &w->host,
			.deadline_ns = UINT64_MAX,
		};
		struct assay_worker *worker_handle;
		enum assay_status st;
		char reason[512];

		if (assay_worker_start(&worker_handle, &wo, NULL))
			_exit(1);
		worker = assay_worker_pid(worker_handle);
		if (write(pipe_fd[1], &worker, sizeof(worker)) != sizeof(worker))
			_exit(1);
		assay_worker_call(worker_handle, ASSAY_CMD_PREPARE, NULL, &st, reason, sizeof(reason), NULL);
		assay_worker_call(worker_handle, ASSAY_CMD_VERIFY, NULL, &st, reason, sizeof(reason), NULL);
		_exit(0);
	}
	assert_int_equal(sizeof(worker), read(pipe_fd[0], &worker, sizeof(worker)));
	kill(parent, SIGKILL);
	waitpid(parent, &status, 0);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)worker);
	for (int i = 0; i < 500 && assay_file_line(path, line, sizeof(line)) && !strstr(line, ") Z"); i++)
		usleep(10000);
	assert_true(!assay_file_line(path, line, sizeof(line)) || strstr(line, ") Z"));
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

/* Descendants in a session of their own, which a signal to the worker's group does not reach. */
static void strays_are_killed(void **state)
{
	struct world *w = *state;
	struct assay_case c = make_case("strays", 100, 1, ASSAY_CACHE_WARM);
	char path[] = "/tmp/assay-strays-XXXXXX";
	int fd = mkstemp(path), pid, n = 0;
	struct assay_result r;
	FILE *f;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(0, setenv("STRAYS", path, 1));
	measure_with(w, &c, false, &r);
	unsetenv("STRAYS");
	assert_int_equal(ASSAY_STATUS_OK, r.status);
	f = fopen(path, "r");
	assert_non_null(f);
	for (; fscanf(f, "%d", &pid) == 1; n++) {
		assert_int_equal(-1, kill(pid, 0));
		assert_int_equal(ESRCH, errno);
	}
	assert_int_equal(2, n);
	fclose(f);
	unlink(path);
	/* whoever was a child before is none of them */
	assert_int_equal(0, assay_inventory_describe(w->inv, &c, 1, &(struct assay_case_facts){ 0 }, NULL));
	assay_result_release(&r);
}

static void digests_are_compared(void **state)
{
	struct world *w = *state;
	struct assay_result results[3] = { 0 };
	struct assay_run run = { .results = results, .n_results = 3 };
	struct assay_case_facts facts[3] = { 0 };
	bool changed[3];

	results[0].c = make_case("doubled", 64, 1, ASSAY_CACHE_WARM);
	results[1].c = make_case("ref", 64, 2, ASSAY_CACHE_WARM);
	results[2].c = make_case("ref", 128, 1, ASSAY_CACHE_WARM); /* another problem: may differ */
	snprintf(results[0].digest, sizeof(results[0].digest), "aaaa");
	snprintf(results[1].digest, sizeof(results[1].digest), "bbbb");
	snprintf(results[2].digest, sizeof(results[2].digest), "cccc");
	assert_int_equal(0,
			 assay_measure_finish(&run, facts, &w->host, assay_inventory_catalog(w->inv), changed, NULL));
	assert_true(changed[0] && !changed[1] && !changed[2]);
	assert_int_equal(ASSAY_STATUS_WRONG, results[0].status);
	assert_int_equal(ASSAY_STATUS_OK, results[1].status);
	assert_int_equal(ASSAY_STATUS_OK, results[2].status);
	assert_non_null(strstr(results[0].reason, "differs from bbbb"));
}

/* Against one thread of the same variant, problem and cache state, by the work of a call. */
static void efficiency_is_against_one_thread(void **state)
{
	struct world *w = *state;
	struct assay_result results[5] = { 0 };
	struct assay_run run = { .results = results, .n_results = 5 };
	struct assay_case_facts facts[5] = { 0 };
	bool changed[5];

	results[0].c = make_case("ref", 64, 2, ASSAY_CACHE_WARM);
	results[1].c = make_case("ref", 64, 1, ASSAY_CACHE_WARM);
	results[2].c = make_case("ref", 64, 2, ASSAY_CACHE_COLD); /* no other like it */
	results[3].c = make_case("doubled", 128, 1, ASSAY_CACHE_WARM);
	results[4].c = make_case("doubled", 128, 4, ASSAY_CACHE_WARM); /* each thread has work of its own */
	for (int i = 0; i < 5; i++) {
		facts[i].cost.ops = i == 4 ? 400 : 100;
		results[i].median_ns = i == 1 ? 180 : 100;
	}
	results[4].median_ns = 125;
	assert_int_equal(0,
			 assay_measure_finish(&run, facts, &w->host, assay_inventory_catalog(w->inv), changed, NULL));
	for (int i = 0; i < 5; i++) {
		const struct assay_metric *m = assay_result_metric(&results[i], "parallel_efficiency");
		double want = i == 0 ? 0.9 : 0.8;

		assert_int_equal(m != NULL, i == 0 || i == 4);
		assert_true(changed[i]);
		if (m)
			assert_true(fabs(m->value - want) < 1e-12);
		assay_result_release(&results[i]);
	}
}

/* The share lies in the interval that @how tells, which is one. */
static void interval_holds(const char *how, double share)
{
	const char *text = strstr(how, "; in turn, ");
	double least = 0, most = 0;

	if (!text || sscanf(text, "; in turn, %lf to %lf %%", &least, &most) != 2 || least >= most ||
	    100 * share < least - 0.05 || 100 * share > most + 0.05)
		fail_msg("'%s' and a share of %g", how, share);
}

/* A case of the plugin roof_ops: @us a call, with this work. */
static struct assay_case roof_case(const char *op, const char *variant, int64_t us, int64_t read, int64_t written,
				   int64_t ops)
{
	static const char *const names[] = { "level", "us", "read", "written", "ops" };
	const int64_t values[] = { 0, us, read, written, ops };
	struct assay_case c = { .n_axes = 5, .threads = 1, .budget_ns = 80000000, .timeout_ns = 20000000000 };

	snprintf(c.op, sizeof(c.op), "%s", op);
	snprintf(c.variant, sizeof(c.variant), "%s", variant);
	for (unsigned i = 0; i < c.n_axes; i++) {
		c.axes[i] = (struct assay_axis_value){ .name = "", .value = values[i] };
		snprintf(c.axes[i].name, sizeof(c.axes[i].name), "%s", names[i]);
		snprintf(c.axes[i].text, sizeof(c.axes[i].text), "%lld", (long long)values[i]);
	}
	assert_int_equal(0, assay_case_make_key(&c, NULL));
	snprintf(c.axes[0].text, sizeof(c.axes[0].text), "l1"); /* where all of it lies */
	return c;
}

/*
 * What limit and case take in turn counts, not what the run measured of the limit; who ends badly is told. The clock is
 * the plugin's: reading 1000 bytes takes 250 us, copying 500 (1000 moved) 500 us, 1000 operations 10 us, the case 1000
 * us.
 */
static void the_roof_in_turn(void **state)
{
	enum { LIMIT_READ, LIMIT_COPY, LIMIT_DOT, CASE, N };
	static const struct {
		const char *limits, *variant;
		int64_t read, written, ops;
		enum assay_status status;
		double want; /* share of the roof; 0: none; -1: not known, but it has an interval */
		const char *text;
	} rows[] = {
		{ "plain", "plain", 600, 0, 0, ASSAY_STATUS_OK, 0.15, "stream.read at l1; in turn, 15.0 to 15.0 %" },
		{ "plain", "plain", 750, 250, 0, ASSAY_STATUS_OK, 0.375, "stream.read at l1; in turn, 37.5 to 37.5 %" },
		{ "plain", "plain", 300, 300, 0, ASSAY_STATUS_OK, 0.3, "stream.copy at l1; in turn, 30.0 to 30.0 %" },
		{ "plain", "plain", 300, 0, 40000, ASSAY_STATUS_OK, 0.4, "peak.i8_dot; in turn, 40.0 to 40.0 %" },
		{ "plain", "uneven", 750, 250, 0, ASSAY_STATUS_OK, -1, "" },
		/* reading is far from binding, and is not measured again */
		{ "dies", "plain", 10, 600, 0, ASSAY_STATUS_OK, 0,
		  "'stream.copy/dies/level=0,us=500,read=500,written=500,ops=0/t=1/warm', in turn: "
		  "killed by signal 11 (SIGSEGV)" },
		{ "dies", "plain", 600, 0, 0, ASSAY_STATUS_OK, 0,
		  "'stream.read/dies/level=0,us=250,read=1000,written=0,ops=0/t=1/warm', in turn: "
		  "killed by signal 11 (SIGSEGV)" },
		{ "hangs", "plain", 600, 0, 0, ASSAY_STATUS_OK, 0,
		  "'stream.read/hangs/level=0,us=250,read=1000,written=0,ops=0/t=1/warm', in turn: "
		  "not done after 2 s" },
		{ "plain", "dies", 600, 0, 0, ASSAY_STATUS_CRASHED, 0,
		  "in turn with 'stream.read/plain/level=0,us=250,read=1000,written=0,ops=0/t=1/warm'"
		  ": killed by signal 11 (SIGSEGV)" },
	};
	struct world *w = *state;
	struct assay_strings plugins = { 0 };
	struct assay_inventory *inv;
	struct assay_err err = { 0 };

	add_plugin(&plugins, w->dir, "roof_ops");
	if (assay_inventory_open(&inv, &plugins, NULL, &w->host, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct assay_measure_options o = {
			.plugins = &plugins,
			.topology = w->topology,
			.host = &w->host,
			.clock = &w->clock,
			.seed = 42,
		};
		struct assay_result results[N] = {
			{ .c = roof_case("stream.read", rows[i].limits, 250, 1000, 0, 0) },
			{ .c = roof_case("stream.copy", rows[i].limits, 500, 500, 500, 0) },
			{ .c = roof_case("peak.i8_dot", rows[i].limits, 10, 0, 0, 1000) },
			{ .c = roof_case("roof.case", rows[i].variant, 1000, rows[i].read, rows[i].written,
					 rows[i].ops) },
		}, *r = &results[CASE];
		struct assay_run run = { .results = results, .n_results = CASE };
		struct assay_case_facts facts[N];
		const struct assay_metric *share;
		const struct assay_count *roof;

		for (size_t k = 0; k < N; k++) {
			if (assay_inventory_describe(inv, &results[k].c, 1, &facts[k], &err))
				fail_msg("%s", err.text);
			results[k].median_ns = 1e6;
			results[k].ci95_reached = true;
			if (!strcmp(rows[i].limits, "hangs"))
				results[k].c.timeout_ns = 1000000000; /* of each, which wait for each other */
		}
		/* in the run all of them were twice as fast */
		assert_int_equal(0, assay_result_add_metric(&results[LIMIT_READ], "bytes_per_s", "B/s", 1, 8e6));
		assert_int_equal(0, assay_result_add_metric(&results[LIMIT_COPY], "bytes_per_s", "B/s", 1, 4e6));
		assert_int_equal(0, assay_result_add_metric(&results[LIMIT_DOT], "ops_per_s", "OP/s", 1, 2e8));
		if (assay_measure_roof(&run, facts, &facts[CASE], &o, r, &err))
			fail_msg("row %zu: %s", i, err.text);
		share = assay_result_metric(r, "roof_frac");
		roof = assay_counters_find(&r->counters, "roof_ns");
		if (r->status != rows[i].status)
			fail_msg("row %zu: %s: %s", i, assay_status_name(r->status), r->reason);
		if (rows[i].want > 0) {
			assert_true(share && fabs(share->value - rows[i].want) < 1e-9);
			assert_string_equal(roof->how, rows[i].text);
		} else if (rows[i].want < 0) {
			assert_true(share && roof);
			interval_holds(roof->how, share->value);
		} else {
			const char *why = r->status == ASSAY_STATUS_OK
						  ? assay_counters_find_missing(&r->counters, "roof_frac")->reason
						  : r->reason;

			assert_true(!share && !roof);
			if (strncmp(why, rows[i].text, strlen(rows[i].text)))
				fail_msg("row %zu: '%s' does not say '%s'", i, why, rows[i].text);
		}
		/* nothing measured yet: left to the end of the run */
		assay_counters_release(&r->counters);
		run.n_results = 0;
		r->median_ns = 1e6;
		assert_int_equal(0, assay_measure_roof(&run, facts, &facts[CASE], &o, r, &err));
		assert_true(!r->counters.n && !r->counters.n_missing);
		for (int k = 0; k < N; k++)
			assay_result_release(&results[k]);
	}
	assay_inventory_close(inv);
	assay_strings_release(&plugins);
}

static void keep_sampled(void *arg, enum assay_stage stage, double done_frac)
{
	if (arg && stage == ASSAY_STAGE_SAMPLE)
		*(double *)arg = done_frac;
}

static struct assay_result measure_paced(struct world *w, const struct assay_clock *clock,
					 struct assay_core_paces *paces, double *sampled)
{
	struct assay_case c = make_case("doubled", 1000, 1, ASSAY_CACHE_WARM);
	struct assay_measure_options o = {
		.plugins = &w->plugins,
		.topology = w->topology,
		.host = &w->host,
		.clock = clock,
		.paces = paces,
		.seed = 42,
		.progress = keep_sampled,
		.progress_arg = sampled,
	};
	struct assay_case_facts facts;
	struct assay_err err = { 0 };
	struct assay_result r;

	assert_int_equal(0, assay_inventory_describe(w->inv, &c, 1, &facts, &err));
	if (assay_measure_case(&c, assay_inventory_catalog(w->inv), &facts, &o, &r, &err))
		fail_msg("%s", err.text);
	if (r.status != ASSAY_STATUS_OK)
		fail_msg("%s", r.reason);
	assert_true(r.n_samples > 0 && r.cpus[0] >= 0 && r.cpus[0] < ASSAY_PACE_CPUS);
	return r;
}

/*
 * A table that knows the cores to be far faster than they are: all samples were slow then, and are taken to the
 * budget's end.
 */
static void slow_cores_are_told(void **state)
{
	struct assay_core_paces paces = { 0 };
	struct assay_core_pace *known = assay_core_paces_of(&paces, "doubled", 1);
	const struct assay_count *slow;
	struct world *w = *state;
	struct assay_clock fine = w->clock;
	struct assay_result r;
	double sampled = 0;

	fine.resolution_ns = 1; /* it is tried on any machine */
	for (int i = 0; i < ASSAY_PACE_CPUS; i++)
		known->least[i] = 1;
	r = measure_paced(w, &fine, &paces, &sampled);
	slow = assay_counters_find(&r.counters, "slow_core_samples");
	assert_true(slow && slow->value == (double)r.n_samples);
	assert_true(r.slow_core && r.slow_core_frac == 1);
	assert_true(sampled >= 1);
	assert_int_equal(1, known->least[r.cpus[0]]);
	assay_result_release(&r);
	assay_core_paces_release(&paces);
}

/* A case adds to the table of its variant and threads, for its own CPU. */
static void the_pace_is_learnt(void **state)
{
	struct assay_core_paces paces = { 0 };
	struct world *w = *state;
	struct assay_clock fine = w->clock;
	struct assay_core_pace *learnt;
	struct assay_result r;

	fine.resolution_ns = 1;
	r = measure_paced(w, &fine, &paces, NULL);
	assert_int_equal(1, paces.n);
	learnt = assay_core_paces_of(&paces, "doubled", 1);
	assert_int_equal(1, paces.n);
	assert_true(learnt->least[r.cpus[0]] > 1);
	learnt->least[r.cpus[0]] = 0;
	for (int i = 0; i < ASSAY_PACE_CPUS; i++)
		assert_int_equal(0, learnt->least[i]);
	assay_result_release(&r);
	assay_core_paces_release(&paces);
}

/* Where the loop would tell nothing, no sample is slow, nothing is learnt, and the result says why. */
static void the_pace_is_not_tried_in_vain(void **state)
{
	struct assay_core_paces paces = { 0 };
	struct assay_core_pace *known = assay_core_paces_of(&paces, "doubled", 1);
	struct world *w = *state;
	struct assay_clock coarse = w->clock;
	const struct assay_unavailable *why;
	struct assay_result r;

	coarse.resolution_ns = 280;
	for (int i = 0; i < ASSAY_PACE_CPUS; i++)
		known->least[i] = 1000000000;
	r = measure_paced(w, &coarse, &paces, NULL);
	why = assay_counters_find_missing(&r.counters, "slow_core_samples");
	assert_non_null(why);
	assert_string_equal("the steps of the clock are too coarse", why->reason);
	assert_false(assay_result_pace_tried(&r));
	assert_true(!r.slow_core && r.slow_core_frac == 0);
	assert_int_equal(1000000000, known->least[r.cpus[0]]);
	/* nor does a further round find what the first did not look for */
	assert_int_equal(0, assay_disturbance_counts(&r, NULL));
	assert_false(assay_result_pace_tried(&r));
	assay_result_release(&r);
	assay_core_paces_release(&paces);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inventory_describes),
		cmocka_unit_test(inventory_refuses_bad_plugins),
		cmocka_unit_test(describe_gives_facts),
		cmocka_unit_test(good_variants_measure),
		cmocka_unit_test(bad_variants_get_a_reason),
		cmocka_unit_test(threads_agree),
		cmocka_unit_test(cold_rotates),
		cmocka_unit_test(slow_cores_are_told),
		cmocka_unit_test(the_pace_is_learnt),
		cmocka_unit_test(the_pace_is_not_tried_in_vain),
		cmocka_unit_test(deterministic_runs_do_equal_work),
		cmocka_unit_test(interrupt_stops_a_case),
		cmocka_unit_test(workers_die_with_their_parent),
		cmocka_unit_test(strays_are_killed),
		cmocka_unit_test(digests_are_compared),
		cmocka_unit_test(efficiency_is_against_one_thread),
		cmocka_unit_test(the_roof_in_turn),
	};

	if (assay_worker_is_command(argc, argv))
		return assay_worker_main(argc, argv);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
