/* SPDX-License-Identifier: Apache-2.0 */
/* Variants that do less when they are timed than when they are checked are found out, alone and in a comparison. */
#include "audit_world.h"
#include "unit.h"
#include "worker/audit/data.h"

static const char *const cheats[] = { "glance", "burst", "cachecopy", "prepared", "skip", "late", "memo", "peek" };

/* The last three compare, and with a sanitizer too few calls fit into a pair. */
#define N_CHEATS (N_OF(cheats) - 3 * (size_t)comparing_is_slow())

/*
 * One that compares all of its output with the answer takes half as long as one that computes, which a short call hides
 * behind the clock and the slack of the audit.
 */
static int64_t length_of(const char *cheat)
{
	return strcmp(cheat, "peek") ? N : 16 * N;
}

TEST(alone)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	check_alone(&s, "honest", N, ASSAY_CACHE_WARM, 1, NULL);
	for (size_t i = 0; i < N_CHEATS; i++)
		check_alone(&s, cheats[i], length_of(cheats[i]), ASSAY_CACHE_WARM, 1, "");
	close_sides(&s);
}

/* A processor that learns the data's pattern is no cheat. */
TEST(branches_are_honest)
{
	static const int64_t lengths[] = { 16, 64, 256, 1024, N };
	struct sides s;

	if (ASSAY_SANITIZED_HEAP) /* the checks of a sanitizer are branches of their own, around calls of 16 elements */
		skip();
	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	for (size_t i = 0; i < N_OF(lengths); i++)
		check_alone(&s, "branchy", lengths[i], ASSAY_CACHE_WARM, 1, NULL);
	close_sides(&s);
}

TEST(in_a_pair)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	check_in_pair(&s, "honest", N, NULL);
	for (size_t i = 0; i < N_CHEATS; i++)
		check_in_pair(&s, cheats[i], length_of(cheats[i]), "");
	close_sides(&s);
}

/* Each copy may hold the answer of its last call. */
TEST(cold)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	check_alone(&s, "honest", N, ASSAY_CACHE_COLD, 1, NULL);
	check_alone(&s, "glance", N, ASSAY_CACHE_COLD, 1, "");
	check_alone(&s, "cachecopy", N, ASSAY_CACHE_COLD, 1, "");
	check_alone(&s, "late", N, ASSAY_CACHE_COLD, 1, "");
	check_alone(&s, "skip", N, ASSAY_CACHE_COLD, 1, "");
	close_sides(&s);
}

/* ---- audit kinds ---- */

/* Audits of the kinds of ops and calls that are not like most: bytes, threads, devices, parts, state, large inputs. */

static const char *const kinds[2] = { "cheat_base", "cheat_kinds" };

/* The final checks take a share of the samples' time: allow enough for that on a busy machine. */
#define BUDGET_NS 200000000

TEST(bytes)
{
	struct sides s;

	open_sides_of(*state, "cheat_op", kinds, &s);
	s.op = "cheat.i8";
	check_alone(&s, "honest", N, ASSAY_CACHE_WARM, 1, NULL);
	check_alone(&s, "peek", N, ASSAY_CACHE_WARM, 1, "does not compute when it is timed");
	check_in_pair(&s, "honest", N, NULL);
	check_in_pair(&s, "peek", N, "does not compute when it is timed");
	/* keyed by so little of the input that single elements do not change the key; all of it changes, too */
	check_alone(&s, "sparse", 65536, ASSAY_CACHE_WARM, 1, "inputs");
	s.op = "cheat.u8";
	check_alone(&s, "honest", N, ASSAY_CACHE_WARM, 1, NULL);
	check_alone(&s, "peek", N, ASSAY_CACHE_WARM, 1, "does not compute when it is timed");
	close_sides(&s);
}

/* One answer, of inputs that take long to make; or answers by parts, where one changed element costs little. */
TEST(answers_kept_by_inputs)
{
	struct sides s;

	if (comparing_is_slow())
		skip();
	open_sides_of(*state, "cheat_op", kinds, &s);
	s.op = "cheat.i8";
	check_alone(&s, "once", 65536, ASSAY_CACHE_WARM, 1, "when the inputs have changed");
	check_alone(&s, "blocks", N, ASSAY_CACHE_WARM, 1, "when the inputs have changed");
	close_sides(&s);
}

/* Too large to be made anew. */
TEST(large_inputs)
{
	struct sides s;

	if (ASSAY_SANITIZED_HEAP) /* fifty million calls of instrumented code */
		skip();
	open_sides_of(*state, "cheat_op", kinds, &s);
	s.op = "cheat.i8";
	check_alone(&s, "sparse", (16 << 20) + 64, ASSAY_CACHE_WARM, 1, "with some inputs changed");
	close_sides(&s);
}

TEST(state_of_the_op)
{
	struct sides s;

	open_sides_of(*state, "cheat_op", kinds, &s);
	s.op = "cheat.state";
	s.budget_ns = BUDGET_NS;
	check_alone(&s, "honest", N, ASSAY_CACHE_WARM, 1, NULL);
	check_alone(&s, "keep", N, ASSAY_CACHE_WARM, 1, "with other inputs than before");
	if (!ASSAY_SANITIZED_HEAP) /* too few calls fit into the samples */
		check_alone(&s, "late", N, ASSAY_CACHE_WARM, 1, "between samples, with other inputs");
	check_in_pair(&s, "honest", N, NULL);
	check_in_pair(&s, "keep", N, "with other inputs than before");
	close_sides(&s);
}

TEST(prepared_inputs)
{
	struct sides s;

	if (ASSAY_SANITIZED_HEAP) /* likewise */
		skip();
	open_sides_of(*state, "cheat_op", kinds, &s);
	s.budget_ns = BUDGET_NS;
	check_alone(&s, "prepared_late", N, ASSAY_CACHE_WARM, 1, "between samples, with other inputs");
	close_sides(&s);
}

TEST(threads)
{
	const struct world *w = *state;
	struct sides s;

	if (w->host.n_cores < 2)
		skip();
	open_sides_of(w, "cheat_op", kinds, &s);
	check_alone(&s, "threads", 8 * N, ASSAY_CACHE_WARM, 2, NULL);
	check_alone(&s, "threads_peek", 8 * N, ASSAY_CACHE_WARM, 2, "between samples, with scrambled outputs");
	close_sides(&s);
}

/* Calls that are divided are samples of one call each: their outputs are scrambled before, and looked at behind. */
TEST(divided_calls)
{
	struct sides s;

	open_sides_of(*state, "cheat_op", kinds, &s);
	s.calibration = (struct assay_pair_calibration){
		.sample_ns = 6e6, .turn_parts = 1, .call_turns = 4, .inputs_only = true
	};
	check_in_pair(&s, "parts", N, NULL);
	check_in_pair(&s, "parts_peek", N, "between samples, with scrambled outputs");
	close_sides(&s);
}

TEST(calls_that_tell_samples_from_checks)
{
	struct sides s;

	open_sides_of(*state, "cheat_op", kinds, &s);
	check_alone(&s, "gap", N, ASSAY_CACHE_WARM, 1, "between samples, with scrambled outputs");
	/* an audit finds it, or the guard of its inputs, if all calls are made before there is one */
	check_alone(&s, "input", N, ASSAY_CACHE_WARM, 1, "");
	close_sides(&s);
}

/*
 * Pairs after the first check other inputs at their end, so that the first calls do not tell whether they do. This
 * kernel copies only where its second call had the inputs of the first, and is honest in pairs that check earlier.
 */
TEST(who_looks_out_for_audits)
{
	static const char *const honest_then_not = "wary";
	struct sides s;
	int wrong = 0;

	open_sides_of(*state, "cheat_op", kinds, &s);
	check_in_pair(&s, honest_then_not, N, NULL);
	s.calibration = (struct assay_pair_calibration){ .sample_ns = 1e6 };
	for (s.pair_seed = 1; s.pair_seed <= 20 && !wrong; s.pair_seed++) {
		struct assay_pair p;

		measure_in_pair(&s, honest_then_not, N, &p);
		wrong = p.side[ASSAY_HEAD].status == ASSAY_STATUS_WRONG;
		assay_pair_release(&p);
	}
	assert_true(wrong);
	close_sides(&s);
}

TEST(devices)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "mock_cheat", "mock_cheat" }, &s);
	check_alone(&s, "mock_honest", N, ASSAY_CACHE_WARM, 1, NULL);
	check_alone(&s, "mock_glance", N, ASSAY_CACHE_WARM, 1, "between samples, with scrambled outputs");
	check_alone(&s, "mock_peek", N, ASSAY_CACHE_WARM, 1, "does not compute when it is timed");
	check_alone(&s, "mock_keep", N, ASSAY_CACHE_WARM, 1, "with other inputs than before");
	check_alone(&s, "mock_late", N, ASSAY_CACHE_WARM, 1, "between samples, with other inputs");
	/* no rate is too high for a device, but in its time the host has done its part */
	check_alone(&s, "mock_lies", 512, ASSAY_CACHE_WARM, 1, "the clock of device 'mock:0' counts 0.");
	close_sides(&s);
}

/* ---- audit times ---- */

/* Time that a busy machine took from calls in a row is no sign of a cheat. */

TEST(waits_are_left_out)
{
	const struct assay_thread_time told = { .waits_told = true, .waited_ns = 7000 };
	const struct assay_thread_time later = { .waits_told = true, .waited_ns = 17000 };
	const struct assay_thread_time silent = { .waits_told = false };

	(void)state;
	assert_true(assay_audit_times_less_waits(15000, &told, &later, false) == 5000);
	assert_true(assay_audit_times_less_waits(15000, &told, &told, false) == 15000);
	/* a wait that began before the calls did */
	assert_true(assay_audit_times_less_waits(9000, &told, &later, false) == 0);
	/* a kernel that does not tell */
	assert_true(assay_audit_times_less_waits(15000, &silent, &later, false) == 15000);
	assert_true(assay_audit_times_less_waits(15000, &told, &silent, false) == 15000);
}

/* Time that a hypervisor gave to others is no wait. A thread that slept may have let another one calculate. */
TEST(time_without_a_cpu_is_left_out)
{
	const struct assay_thread_time begun = { .cpu_told = true, .cpu_ns = 1000, .waits_told = true };
	const struct assay_thread_time ended = {
		.cpu_told = true, .cpu_ns = 5000, .waits_told = true, .waited_ns = 2000
	};
	const struct assay_thread_time coarse = { .cpu_ns = 5000, .waits_told = true, .waited_ns = 2000 };

	(void)state;
	assert_true(assay_audit_times_less_waits(15000, &begun, &ended, false) == 4000);
	assert_true(assay_audit_times_less_waits(15000, &begun, &ended, true) == 13000);
	assert_true(assay_audit_times_less_waits(15000, &begun, &coarse, false) == 13000);
	/* reading the clocks takes some, too */
	assert_true(assay_audit_times_less_waits(5000, &begun, &ended, false) == 3000);
}

/* Nor is it what acquits one: an audit goes on as long as the shortest calls of both kinds differ. */
TEST(disturbed_calls_do_not_end_an_audit)
{
	const struct assay_worker_spec spec = { .c.threads = 1 };
	const struct assay_case_job j = { .spec = &spec, .n_jobs = 1 };
	struct assay_audit_times t = { .n = 0 };

	(void)state;
	assert_false(assay_audit_times_may_tell(&j, &t));
	for (int i = 0; i < ASSAY_AUDIT_ROUNDS; i++) {
		const bool disturbed = i % 6 == 1; /* three, as many as the verdict leaves out */

		assay_audit_times_same(&t, disturbed ? 9000 : 500);
		assay_audit_times_changed(&t, 3000);
		assert_true(assay_audit_times_may_tell(&j, &t));
	}
	assert_true(assay_audit_times_tell(&j, &t));
	t.changed_ns[0] = 600;
	assert_false(assay_audit_times_may_tell(&j, &t));
}

MEASURE_GROUP
