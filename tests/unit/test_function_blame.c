/* SPDX-License-Identifier: Apache-2.0 */
/* Which function a change of time is blamed on, and when none is. */
#include "unit.h"

#include <math.h>

#include "judge/function_blame.h"

struct part {
	const char *base_name, *head_name;
	uint64_t base, head; /* samples of all pairs */
	uint64_t uneven;     /* that the first pair has more */
};

static void add(struct assay_profile *p, const char *name, unsigned line, uint64_t weight)
{
	const struct assay_frame label = { .kind = ASSAY_FRAME_LABEL, .name = ASSAY_PROFILE_TIMED };
	const struct assay_frame f = { .name = name, .object = "a.so", .file = "a.c", .line = line };
	uint32_t at[2];

	if (!weight)
		return;
	assert_int_equal(assay_stack_table_frame(&p->stacks, &label, &at[0], NULL), 0);
	assert_int_equal(assay_stack_table_frame(&p->stacks, &f, &at[1], NULL), 0);
	assert_int_equal(assay_stack_table_add(&p->stacks, at, 2, weight, NULL), 0);
	p->timed_weight += weight;
}

#define PAIRS 10

/* An iteration of 1000 ns that @ratio changed, in 4 s of ten pairs, of which each side has a tenth of the samples. */
static struct assay_gate_because blame(const struct part *v, size_t n, double ratio, double profiled)
{
	struct assay_blame_pair pairs[PAIRS];
	const struct assay_blame_input in = {
		.pairs = pairs, .n = PAIRS, .ratio = ratio, .ci = { ratio - 0.002, ratio + 0.002 }, .seconds = 4
	};
	struct assay_gate_because out;

	for (unsigned i = 0; i < PAIRS; i++) {
		struct assay_profile *side = pairs[i].side;

		for (unsigned k = 0; k < 2; k++)
			side[k] = (struct assay_profile){ .kind = "cpu", .unit = "samples", .is_case = true };
		side[0].iteration_ns = 1000;
		side[1].iteration_ns = 1000 * (profiled + (i % 2 ? 0.0001 : -0.0001));
		for (size_t k = 0; k < n; k++) {
			add(&side[0], v[k].base_name, (unsigned)k + 1, v[k].base / PAIRS);
			add(&side[1], v[k].head_name, (unsigned)k + 11, v[k].head / PAIRS + (i ? 0 : v[k].uneven));
		}
	}
	assert_int_equal(assay_function_blame(&in, &out, NULL), 0);
	assert_true(out.asked && fabs(out.whole_ns - 1000 * (ratio - 1)) < 1e-9);
	for (unsigned i = 0; i < PAIRS; i++)
		for (unsigned k = 0; k < 2; k++)
			assay_profile_release(&pairs[i].side[k]);
	return out;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' lacks '%s'", text, part);
}

TEST(the_one_that_grew)
{
	static const struct part v[] = { { "one", "one", 4000, 4000, 0 },
					 { "two", "two.constprop.0", 4000, 6000, 0 },
					 { "three", "three", 2000, 2000, 0 } };
	const struct assay_gate_because b = blame(v, 3, 1.2, 1.2), down = blame(v, 3, 0.8, 0.8);

	assert_string_equal(b.function, "two");
	assert_string_equal(b.file, "a.c");
	assert_int_equal(b.line, 12);
	assert_float_equal(b.change_ns, 200, 1e-9);
	assert_true(b.ci_lo_ns > 170 && b.ci_hi_ns < 230 && b.ci_lo_ns < 200 && b.ci_hi_ns > 200);
	has(b.text, "because two (a.c:12) takes +200 ns (");
	has(b.text, " of the +200 ns");
	assert_int_equal(b.samples, 22000);
	/* of what became faster nothing that took more is blamed */
	assert_true(!down.function[0] || strcmp(down.function, "two"));
}

TEST(chance_is_not_blamed)
{
	static const struct part even[] = { { "one", "one", 400, 400, 0 }, { "two", "two", 400, 420, 0 } };
	struct assay_gate_because b = blame(even, 2, 1.02, 1.02);

	assert_string_equal(b.function, "");
	assert_true(isnan(b.change_ns));
	has(b.text,
	    "because of no single function that is known: +20.0 ns is 16 of 820 samples in 4 s; --profile-for ");
	has(b.text, " would tell");
}

/* As many samples more, but of one process alone: that is what processes differ by. */
TEST(what_processes_differ_by_is_not_blamed)
{
	static const struct part v[] = { { "one", "one", 4000, 4000, 5000 }, { "two", "two", 4000, 4000, 0 } };

	assert_string_equal(blame(v, 2, 1.02, 1.02).function, "");
}

TEST(what_differs_while_it_is_profiled_is_not_explained)
{
	static const struct part v[] = { { "one", "one", 4000, 6000, 0 } };

	has(blame(v, 1, 1.2, 1.1).text, "while they were profiled, the sides differed by +9.");
	assert_string_equal(blame(v, 1, 1.2, 1.1).function, "");
	/* a tenth of the change may lie between */
	assert_string_equal(blame(v, 1, 1.2, 1.185).function, "one");
}

TEST(code_that_moved_is_not_blamed)
{
	static const struct part v[] = { { "one", "one", 4000, 8000, 0 },
					 { "two", "two", 4000, 0, 0 },
					 { "x", "x", 2000, 3000, 0 } };
	const struct assay_gate_because b = blame(v, 3, 1.1, 1.1);

	assert_string_equal(b.function, "");
	has(b.text, "work moved between functions: one (a.c:11) takes +400 ns");
	has(b.text, "two (a.c:2) takes -400 ns");
}

TEST(several_and_none)
{
	static const struct part v[] = { { "one", "one", 4000, 5000, 0 },
					 { "two", "two", 4000, 4600, 0 },
					 { "x", "x", 2000, 2000, 0 } };
	const struct assay_gate_because b = blame(v, 3, 1.16, 1.16), none = blame(v, 0, 1.16, 1.16);

	assert_string_equal(b.function, "one");
	has(b.text, "because one (a.c:11) takes +100 ns");
	has(b.text, ", two (a.c:12) takes +60.0 ns");
	has(none.text, "no samples were taken");
}

UNIT_MAIN(NULL, NULL)
