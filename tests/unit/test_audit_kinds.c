/* SPDX-License-Identifier: Apache-2.0 */
/* Audits of the kinds of ops and calls that are not like most: bytes, threads, devices, parts, state, large inputs. */
#include "sides_world.h"

#include "counters/sanitized.h"

#define N 4096

static const char *const kinds[2] = { "cheat_base", "cheat_kinds" };

/* The head's variant, alone: WRONG for @reason, or right where that is NULL. */
static void expect(struct sides *s, const char *variant, int64_t n, unsigned threads, const char *reason)
{
	struct assay_result r;

	measure_alone(s, variant, n, ASSAY_CACHE_WARM, threads, &r);
	if (r.status != (reason ? ASSAY_STATUS_WRONG : ASSAY_STATUS_OK) || (reason && !strstr(r.reason, reason)))
		fail_msg("'%s': %s, '%s'", r.c.key, assay_status_name(r.status), r.reason);
	assay_result_release(&r);
}

static void expect_in_pair(struct sides *s, const char *variant, const char *reason)
{
	struct assay_pair p;

	measure_in_pair(s, variant, N, &p);
	if (p.side[ASSAY_BASE].status != ASSAY_STATUS_OK ||
	    p.side[ASSAY_HEAD].status != (reason ? ASSAY_STATUS_WRONG : ASSAY_STATUS_OK) ||
	    (reason && !strstr(p.side[ASSAY_HEAD].reason, reason)))
		fail_msg("'%s': base '%s', head '%s'", variant, p.side[ASSAY_BASE].reason, p.side[ASSAY_HEAD].reason);
	assay_pair_release(&p);
}

TEST(bytes)
{
	struct sides s;

	open_sides_of(*state, "cheat_op", kinds, &s);
	s.op = "cheat.i8";
	expect(&s, "honest", N, 1, NULL);
	expect(&s, "peek", N, 1, "does not compute when it is timed");
	expect_in_pair(&s, "honest", NULL);
	expect_in_pair(&s, "peek", "does not compute when it is timed");
	/* keyed by so little of the input that single elements do not change the key */
	expect(&s, "sparse", 65536, 1, "with some inputs changed");
	s.op = "cheat.u8";
	expect(&s, "honest", N, 1, NULL);
	expect(&s, "peek", N, 1, "does not compute when it is timed");
	close_sides(&s);
}

/* A change of one element costs little where answers are kept by parts. */
TEST(answers_kept_by_blocks)
{
	struct sides s;

	if (ASSAY_SANITIZED_HEAP) /* to compare blocks takes as long as the work */
		skip();
	open_sides_of(*state, "cheat_op", kinds, &s);
	s.op = "cheat.i8";
	expect(&s, "blocks", N, 1, "when the inputs have changed");
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
	expect(&s, "sparse", (16 << 20) + 64, 1, "with some inputs changed");
	close_sides(&s);
}

TEST(state_of_the_op)
{
	struct sides s;

	open_sides_of(*state, "cheat_op", kinds, &s);
	s.op = "cheat.state";
	expect(&s, "honest", N, 1, NULL);
	expect(&s, "keep", N, 1, "with other inputs than before");
	expect(&s, "late", N, 1, "between samples, with other inputs");
	expect_in_pair(&s, "honest", NULL);
	expect_in_pair(&s, "keep", "with other inputs than before");
	close_sides(&s);
}

TEST(prepared_inputs)
{
	struct sides s;

	open_sides_of(*state, "cheat_op", kinds, &s);
	expect(&s, "prepared_late", N, 1, "between samples, with other inputs");
	close_sides(&s);
}

TEST(threads)
{
	const struct world *w = *state;
	struct sides s;

	if (w->host.n_cores < 2)
		skip();
	open_sides_of(w, "cheat_op", kinds, &s);
	expect(&s, "threads", 8 * N, 2, NULL);
	expect(&s, "threads_peek", 8 * N, 2, "between samples, with scrambled outputs");
	close_sides(&s);
}

/* Calls that are divided are samples of one call each: their outputs are scrambled before, and looked at behind. */
TEST(divided_calls)
{
	struct sides s;

	open_sides_of(*state, "cheat_op", kinds, &s);
	s.lessons = (struct assay_pair_lessons){ .sample_ns = 6e6, .turn_parts = 1, .call_turns = 4 };
	expect_in_pair(&s, "parts", NULL);
	expect_in_pair(&s, "parts_peek", "between samples, with scrambled outputs");
	close_sides(&s);
}

/* Pairs after the first check other inputs at their end, so that the first calls do not tell whether they do. */
TEST(who_looks_out_for_audits)
{
	static const char *const honest_then_not = "wary";
	struct sides s;
	int wrong = 0;

	open_sides_of(*state, "cheat_op", kinds, &s);
	expect_in_pair(&s, honest_then_not, NULL);
	s.lessons = (struct assay_pair_lessons){ .sample_ns = 1e6 };
	for (s.pair_seed = 1; s.pair_seed <= 20 && !wrong; s.pair_seed++) {
		struct assay_pair p;

		measure_in_pair(&s, honest_then_not, N, &p);
		wrong = p.side[ASSAY_HEAD].status == ASSAY_STATUS_WRONG &&
			strstr(p.side[ASSAY_HEAD].reason, "with other inputs than before");
		assay_pair_release(&p);
	}
	assert_true(wrong);
	close_sides(&s);
}

TEST(devices)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "mock_cheat", "mock_cheat" }, &s);
	expect(&s, "mock_honest", N, 1, NULL);
	expect(&s, "mock_glance", N, 1, "between samples, with scrambled outputs");
	expect(&s, "mock_peek", N, 1, "does not compute when it is timed");
	expect(&s, "mock_keep", N, 1, "with other inputs than before");
	expect(&s, "mock_late", N, 1, "between samples, with other inputs");
	/* no rate is too high for a device, but in its time the host has done its part */
	expect(&s, "mock_lies", 512, 1, "the clock of device 'mock' counts 0.");
	close_sides(&s);
}

MEASURE_MAIN
