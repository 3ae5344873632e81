/* SPDX-License-Identifier: Apache-2.0 */
/* Where the memory of the sides of a pair lies. */
#include "pair_trace.h"

#include <sys/personality.h>

/* May this process start others without drawn addresses? Some sandboxes refuse it. */
static bool addresses_can_be_fixed(void)
{
	const int now = personality(0xffffffff);
	const bool can = now >= 0 && personality((unsigned long)now | ADDR_NO_RANDOMIZE) >= 0;

	if (can)
		personality((unsigned long)now);
	return can;
}

/* The sides of a pair have all that they use at the same addresses, which each pair draws anew. */
TEST(sides_lie_alike)
{
	struct assay_pair_lessons lessons = { 0 };
	struct assay_measure_options o;
	int64_t tensor[2], prepared[2], code[2], stack[2];
	struct measured m;
	struct trace t;

	trace_open(&t, "0");
	setenv("ASSAY_TEST_PREPARE", "100000", 1);
	plan(*state, (const char *const[2]){ "compare_trace", "compare_trace" }, &m);
	o = options_of(*state, &m);
	take_pair(&o, &lessons, &m);
	for (uint64_t i = 0; i < 2; i++) {
		trace_clear(&t);
		take_pair_as(&o, (struct assay_pair_options){ .pair_seed = 7 + i, .iterations = m.pair.iterations },
			     &lessons, &m);
		assert_ok(&m);
		trace_read(&t);
		assert_true(t.tensor[0] == t.tensor[1] && t.prepared[0] && t.prepared[0] == t.prepared[1]);
		if (addresses_can_be_fixed())
			assert_true(t.code[0] == t.code[1] && t.stack[0] == t.stack[1] && t.job[0] == t.job[1]);
		tensor[i] = t.tensor[0];
		prepared[i] = t.prepared[0];
		code[i] = t.code[0];
		stack[i] = t.stack[0];
	}
	assert_true(tensor[0] != tensor[1] && prepared[0] != prepared[1]);
	assert_true(code[0] != code[1] && stack[0] != stack[1]);
	unsetenv("ASSAY_TEST_PREPARE");
	trace_close(&t);
	release(&m);
}

static bool same_pages(const struct trace *t)
{
	for (size_t i = 0; i < t->n_stack_pages[0]; i++) {
		bool there = false;

		for (size_t k = 0; k < t->n_stack_pages[1]; k++)
			there |= t->stack_pages[1][k] == t->stack_pages[0][i];
		if (!there)
			return false;
	}
	return t->n_stack_pages[0] == t->n_stack_pages[1];
}

static bool many_pages_drawn(const struct later *l)
{
	for (int side = 0; side < 2; side++)
		if (l->t.n_stack_pages[side] < 6 || (l->t.job_pages[side][0] && l->t.n_job_pages[side] < 14))
			return false;
	return !addresses_can_be_fixed() || same_pages(&l->t);
}

static bool no_pages_drawn(const struct later *l)
{
	return l->t.n_stack_pages[0] <= 3 && l->t.n_stack_pages[1] <= 3 && l->t.n_job_pages[0] == 1 &&
	       l->t.n_job_pages[1] == 1;
}

/*
 * Short calls meet many pages of what their side has to itself: the same ones of the stack, and physical ones of the
 * job. Long calls do not, since they would not show it.
 */
TEST(own_pages_of_short_calls_are_drawn)
{
	static const struct {
		const char *spin_ns;
		bool (*as_wanted)(const struct later *l);
	} rows[] = { { "20000", many_pages_drawn }, { "100000", no_pages_drawn } };

	for (size_t i = 0; i < N_OF(rows); i++) {
		bool as_wanted = false;

		/* on a busy machine a short call can take long, a pair have few turns, or one side an audit */
		for (uint64_t k = 0; k < 10 && !as_wanted; k++) {
			struct later l;
			size_t others[2];

			later_open(&l, *state, rows[i].spin_ns, 1);
			later_take(&l, 3 + k, others);
			as_wanted = rows[i].as_wanted(&l);
			later_close(&l);
		}
		if (!as_wanted)
			fail_msg("row %zu: pages are drawn otherwise", i);
	}
}

MEASURE_GROUP
