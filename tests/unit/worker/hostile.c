/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugins that lie in the page, look into it, or change the state of their threads: each costs its own case, and its
 * reason says what it did.
 */
#include "sides_world.h"
#include "worker/main.h"
#include "worker/case/thread_state.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 4096
#if defined(__x86_64__)
#define FLOAT_CONTROL "MXCSR"
#else
#define FLOAT_CONTROL "FPCR"
#endif

struct attack {
	const char *variant;
	enum assay_status status;
	const char *reason;
};

static const struct attack on_page[] = {
	/* opening it takes a privilege, and shrinking it is refused to all */
	{ "resize", ASSAY_STATUS_FAILED, "the page: Operation not permitted" },
	{ "status", ASSAY_STATUS_FAILED, "worker's reply makes no sense: status 77" },
	{ "n_counts", ASSAY_STATUS_FAILED, "worker's reply makes no sense: n_counts 4294967295 of at most 192" },
	{ "n_samples", ASSAY_STATUS_FAILED, "worker's reply makes no sense: n_samples 1073741824 of at most 4096" },
	{ "samples", ASSAY_STATUS_FAILED, "samples[0].ns 18446744073709551615 is longer than the worker ran" },
	{ "forged", ASSAY_STATUS_FAILED, "worker's reply makes no sense: it does not answer the command" },
};

static const struct attack on_state[] = {
	{ "flush_prepare", ASSAY_STATUS_FAILED, "prepare changed " FLOAT_CONTROL ": flush-to-zero is on" },
	{ "flush_run", ASSAY_STATUS_FAILED, "a call changed " FLOAT_CONTROL ": flush-to-zero is on" },
	{ "round_run", ASSAY_STATUS_FAILED, "a call changed " FLOAT_CONTROL ": it rounds towards zero" },
#if defined(__x86_64__)
	{ "x87_run", ASSAY_STATUS_FAILED, "a call changed the x87 control word: 0x27f, was 0x37f" },
#endif
};

/* Changes that alter no result are told beside the counts. */
static const struct attack noted[] = {
	{ "policy_run", ASSAY_STATUS_OK, "a call changed the scheduling policy: " },
	{ "nice_run", ASSAY_STATUS_OK, "a call changed the nice value: " },
	{ "mask_run", ASSAY_STATUS_OK, "a call changed the signal mask: signal 12 is blocked" },
	{ "limit_run", ASSAY_STATUS_OK, "a call changed RLIMIT_NOFILE: 100, was " },
};

/* Does the kernel keep a process that asked for it from signalling its parent? */
static bool signals_are_confined(void)
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		assay_confine_signals();
		_exit(kill(getppid(), 0) ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

static void check(const struct attack *a, enum assay_status status, const char *reason)
{
	if (status != a->status || !strstr(reason, a->reason))
		fail_msg("%s: %s: '%s' does not say '%s'", a->variant, assay_status_name(status), reason, a->reason);
}

static void expect_alone(struct sides *s, const struct attack *a, unsigned threads)
{
	struct assay_result r;

	measure_alone(s, a->variant, N, ASSAY_CACHE_WARM, threads, &r);
	check(a, r.status, r.reason);
	assert_int_equal(r.n_samples, 0);
	assay_result_release(&r);
}

/* The base is unharmed. */
static void expect_in_pair(struct sides *s, const struct attack *a)
{
	struct assay_pair p;

	measure_in_pair(s, a->variant, N, &p);
	check(a, p.side[ASSAY_HEAD].status, p.side[ASSAY_HEAD].reason);
	if (p.side[ASSAY_BASE].status != ASSAY_STATUS_OK &&
	    !strstr(p.side[ASSAY_BASE].reason, "the other side of the pair ended"))
		fail_msg("%s: the base: '%s'", a->variant, p.side[ASSAY_BASE].reason);
	assay_pair_release(&p);
}

TEST(an_answer_that_makes_no_sense_fails_its_case)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "hostile_base", "hostile_page" }, &s);
	for (size_t i = 0; i < N_OF(on_page); i++)
		expect_alone(&s, &on_page[i], 1);
	for (size_t i = 0; i < N_OF(on_page); i++)
		expect_in_pair(&s, &on_page[i]);
	close_sides(&s);
}

/* Whatever is written there while the controller reads, it comes to an end that has a reason. */
TEST(scribbling_over_the_page_ends_with_a_reason)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "hostile_base", "hostile_page" }, &s);
	s.timeout_ns = 500000000; /* an order that was written over may be to run for ever */
	for (int i = 0; i < 30; i++) {
		struct assay_result r;

		measure_alone(&s, "scribble", N, ASSAY_CACHE_WARM, 1, &r);
		assert_true(r.status == ASSAY_STATUS_OK || r.reason[0]);
		assay_result_release(&r);
	}
	for (int i = 0; i < 10; i++) {
		struct assay_pair p;

		measure_in_pair(&s, "scribble", N, &p);
		assert_true(p.side[ASSAY_HEAD].status == ASSAY_STATUS_OK || p.side[ASSAY_HEAD].reason[0]);
		assay_pair_release(&p);
	}
	close_sides(&s);
}

TEST(what_alters_results_fails_the_case)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "hostile_base", "hostile_state" }, &s);
	for (size_t i = 0; i < N_OF(on_state); i++)
		expect_alone(&s, &on_state[i], 1);
	expect_in_pair(&s, &on_state[0]);
	expect_in_pair(&s, &on_state[1]);
	close_sides(&s);
}

/* One that gives the right time is told by its state alone; one that halves it may be told by the controller first. */
TEST(a_clock_that_traps_fails_the_case)
{
#if defined(__x86_64__)
	static const struct attack traps = { "traps", ASSAY_STATUS_FAILED,
					     "a call changed the clock: reading it traps" },
				   halves = { "halves", ASSAY_STATUS_FAILED, "clock" };
	struct sides s;

	open_sides(*state, (const char *const[2]){ "hostile_base", "cheat_clock" }, &s);
	expect_alone(&s, &traps, 1);
	expect_alone(&s, &halves, 1);
	expect_in_pair(&s, &halves);
	close_sides(&s);
#else
	skip();
#endif
}

TEST(all_threads_are_looked_at)
{
	static const struct attack thread = { "flush_thread", ASSAY_STATUS_FAILED,
					      "a call changed " FLOAT_CONTROL " of thread 1: flush-to-zero is on" },
				   affinity[] = {
					   { "affinity_prepare", ASSAY_STATUS_FAILED, "prepare changed the affinity" },
					   { "affinity_run", ASSAY_STATUS_FAILED, "a call changed the affinity" },
				   };
	struct world *w = *state;
	struct sides s;

	if (assay_placement_max(w->topology, &(struct assay_placement_options){ 0 }) < 2)
		skip(); /* with one CPU there is no other to go to */
	open_sides(w, (const char *const[2]){ "hostile_base", "hostile_state" }, &s);
	expect_alone(&s, &thread, 2);
	expect_alone(&s, &affinity[0], 1);
	expect_alone(&s, &affinity[1], 1);
	expect_in_pair(&s, &affinity[1]);
	close_sides(&s);
}

TEST(loading_a_plugin_changes_nothing)
{
	static const struct attack load = { "flush_load", ASSAY_STATUS_FAILED,
					    "loading 'hostile_flush.so' changed " FLOAT_CONTROL
					    ": flush-to-zero is on" };
	struct sides s;

	open_sides(*state, (const char *const[2]){ "hostile_base", "hostile_flush" }, &s);
	expect_alone(&s, &load, 1);
	expect_in_pair(&s, &load);
	close_sides(&s);
}

TEST(what_alters_no_result_is_named)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "hostile_base", "hostile_state" }, &s);
	for (size_t i = 0; i < N_OF(noted); i++) {
		const struct assay_unavailable *told;
		struct assay_result r;

		measure_alone(&s, noted[i].variant, N, ASSAY_CACHE_WARM, 1, &r);
		told = assay_counters_find_missing(&r.counters, ASSAY_STATE_NAME);
		check(&noted[i], r.status, told ? told->reason : r.reason);
		assay_result_release(&r);
	}
	close_sides(&s);
}

/* Its controller is this program. */
TEST(a_signal_does_not_reach_the_controller)
{
	static const struct attack interrupt = { "interrupt", ASSAY_STATUS_FAILED,
						 "cannot signal its parent: Operation not permitted" };
	struct sides s;

	if (!signals_are_confined())
		skip(); /* the kernel has no such scope */
	open_sides(*state, (const char *const[2]){ "hostile_base", "hostile_signal" }, &s);
	expect_alone(&s, &interrupt, 1);
	expect_in_pair(&s, &interrupt);
	close_sides(&s);
}

/* A variant that sees when it is timed writes to the file. */
TEST(nothing_shared_tells_that_a_sample_is_taken)
{
	static const char *const spies[] = { "spy_words", "spy_change" };
	static const struct attack turn = { "spy_turn", ASSAY_STATUS_WRONG, "" };
	char path[] = "/tmp/assay-spied-XXXXXX";
	int fd = mkstemp(path);
	struct sides s;
	struct stat st;

	assert_true(fd >= 0);
	setenv("SPIED", path, 1);
	open_sides(*state, (const char *const[2]){ "hostile_base", "cheat_spy" }, &s);
	for (size_t i = 0; i < N_OF(spies); i++) {
		const struct attack none = { spies[i], ASSAY_STATUS_OK, "" };
		struct assay_result r;

		measure_alone(&s, spies[i], N, ASSAY_CACHE_WARM, 1, &r);
		check(&none, r.status, r.reason);
		assay_result_release(&r);
		expect_in_pair(&s, &none);
	}
	expect_in_pair(&s, &turn);
	close_sides(&s);
	unsetenv("SPIED");
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	unlink(path);
	if (st.st_size)
		fail_msg("a variant saw that it was timed");
}

MEASURE_GROUP
