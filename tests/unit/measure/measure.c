/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker and measurement against example plugins and against plugins that crash, hang, cheat, write out of bounds or
 * eat all memory.
 */
#include "measure_world.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/worker.h"

TEST(good_variants_measure)
{
	static const char *const names[] = { "ref", "doubled", "newer_a", "newer_b", "chatty", "mock" };
	struct world *w = *state;
	char digest[ASSAY_DIGEST_LEN + 1] = "";

	for (size_t i = 0; i < N_OF(names); i++) {
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
		if (!strcmp(names[i], "chatty"))
			assert_string_equal("this line must not reach standard output\n", r.log);
		else
			assert_null(r.log);
		assay_result_release(&r);
	}
}

TEST(bad_variants_get_a_reason)
{
	static const struct {
		const char *variant;
		enum assay_status status;
		const char *reason;
	} cases[] = {
		{ "crash", ASSAY_STATUS_CRASHED, "signal 11 (SIGSEGV) while running" },
		{ "abort_prepare", ASSAY_STATUS_CRASHED, "signal 6 (SIGABRT) while preparing" },
		{ "exit", ASSAY_STATUS_CRASHED, "status 7 while running" },
		/* on a busy machine the second may be over before it runs; pace.c has where others hang */
		{ "hang", ASSAY_STATUS_TIMEOUT, "no result after 1 s (while " },
		{ "near_write", ASSAY_STATUS_WRONG, "wrote outside of 'y': byte 400 of a buffer of 400 bytes" },
		{ "before_write", ASSAY_STATUS_WRONG, "wrote outside of 'y': byte -1 of" },
		{ "beyond_alloc", ASSAY_STATUS_WRONG,
		  "wrote outside of what it allocated: byte 100000 of a buffer of 100000 bytes" },
		{ "far_write", ASSAY_STATUS_CRASHED, "signal 11 (SIGSEGV) while running" },
		{ "wrong", ASSAY_STATUS_WRONG, "element 3 of 'y': got" },
		{ "nothing", ASSAY_STATUS_WRONG, "element 0 of 'y': got 2071690107" },
		{ "lazy", ASSAY_STATUS_WRONG, "between samples, with scrambled outputs: element" },
		{ "late_wrong", ASSAY_STATUS_WRONG, "element 0 of 'y': got" },
		{ "input", ASSAY_STATUS_WRONG, "changed its inputs" },
		{ "greedy", ASSAY_STATUS_FAILED, "the memory limit is 256.0 MiB" },
		{ "host_greedy", ASSAY_STATUS_FAILED, "the harness gave no more memory" },
		{ "fail", ASSAY_STATUS_FAILED, "cannot run on a Friday" },
		{ "refuses", ASSAY_STATUS_SKIPPED, "cannot do 100 elements" },
	};
	struct world *w = *state;

	for (size_t i = 0; i < N_OF(cases); i++) {
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

TEST(threads_agree)
{
	struct world *w = *state;
	unsigned all = (unsigned)assay_placement_max(w->topology, &(struct assay_placement_options){ 0 });
	char digest[ASSAY_DIGEST_LEN + 1] = "";

	for (unsigned t = 1; t <= all && t <= 4; t++) {
		struct assay_case c = make_case("ref", 1u << 16, t, ASSAY_CACHE_WARM);
		struct assay_result r;

		measure_with(w, &c, false, &r);
		if (r.status != ASSAY_STATUS_OK)
			fail_msg("%s", r.reason);
		assert_int_equal(t, r.n_cpus);
		for (unsigned i = 1; i < t; i++)
			assert_true(r.cpus[i] != r.cpus[i - 1]);
		if (t > 1)
			assert_string_equal(digest, r.digest);
		memcpy(digest, r.digest, sizeof(digest));
		assay_result_release(&r);
	}
}

TEST(cold_rotates)
{
	struct world *w = *state;
	struct assay_case c = make_case("ref", 1u << 20, 1, ASSAY_CACHE_COLD);
	struct assay_result r;

	measure_with(w, &c, false, &r);
	assert_int_equal(ASSAY_STATUS_OK, r.status);
	const uint64_t llc = w->host.llc_bytes, eight = 8 * llc < 512u << 20 ? 8 * llc : 512u << 20,
		       cold = eight > 2 * llc ? eight : 2 * llc;
	assert_int_equal(cold / (4u << 20) / 2 * 2 + 2, r.copies);
	assert_true(assay_result_metric(&r, "op_bytes")->value == (double)r.copies * (8u << 20));
	assay_result_release(&r);
}

/* A controller that is killed takes its workers with it. */
TEST(workers_die_with_their_parent)
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
		int cpu = sched_getcpu();
		const struct assay_worker_options wo = {
			.setup = setup_of(w, &w->plugins),
			.c = &c,
			.copies = 1,
			.cpus = &cpu,
			.deadline_ns = UINT64_MAX,
		};
		struct assay_worker *worker_handle;
		enum assay_status st;
		char reason[512];
		const struct assay_ending end = { &st, reason, sizeof(reason) };

		if (assay_worker_start(&worker_handle, &wo, NULL))
			_exit(1);
		worker = assay_worker_pid(worker_handle);
		if (write(pipe_fd[1], &worker, sizeof(worker)) != sizeof(worker))
			_exit(1);
		assay_worker_call(worker_handle, ASSAY_CMD_PREPARE, NULL, end, NULL);
		assay_worker_call(worker_handle, ASSAY_CMD_VERIFY, NULL, end, NULL);
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
TEST(strays_are_killed)
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

MEASURE_GROUP
