/* SPDX-License-Identifier: Apache-2.0 */
/* Which function a change of time is blamed on, and when none is. */
#include "unit.h"

#include <math.h>

#include "judge/function_blame.h"

struct part {
	const char *base_name, *head_name;
	uint64_t base, head; /* samples */
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

/* An iteration of 1000 ns that @ratio changed, in 4 s of two process pairs. */
static struct assay_gate_because blame(const struct part *v, size_t n, double ratio, double profiled)
{
	struct assay_profile side[2] = { { .kind = "cpu", .unit = "samples", .is_case = true },
					 { .kind = "cpu", .unit = "samples", .is_case = true } };
	const struct assay_blame_input in = { .side = { &side[0], &side[1] },
					      .base_ns = 1000,
					      .ratio = ratio,
					      .ci = { ratio - 0.002, ratio + 0.002 },
					      .profiled_ratio = { profiled - 0.0001, profiled + 0.0001 },
					      .n = 2,
					      .seconds = 4 };
	struct assay_gate_because out;

	for (size_t i = 0; i < n; i++) {
		add(&side[0], v[i].base_name, (unsigned)i + 1, v[i].base);
		add(&side[1], v[i].head_name, (unsigned)i + 11, v[i].head);
	}
	assert_int_equal(assay_function_blame(&in, &out, NULL), 0);
	assert_true(out.asked && fabs(out.whole_ns - 1000 * (ratio - 1)) < 1e-9);
	for (unsigned i = 0; i < 2; i++)
		assay_profile_release(&side[i]);
	return out;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' lacks '%s'", text, part);
}

TEST(the_one_that_grew)
{
	static const struct part v[] = { { "one", "one", 4000, 4000 },
					 { "two", "two.constprop.0", 4000, 6000 },
					 { "three", "three", 2000, 2000 } };
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
	static const struct part even[] = { { "one", "one", 400, 402 }, { "two", "two", 400, 410 } };
	struct assay_gate_because b = blame(even, 2, 1.02, 1.02);

	assert_string_equal(b.function, "");
	assert_true(isnan(b.change_ns));
	has(b.text, "because of no single function that is known: +20.0 ns is 16 of 812 samples in 4 s; --profile-for ");
	has(b.text, " would tell");
}

TEST(what_differs_while_it_is_profiled_is_not_explained)
{
	static const struct part v[] = { { "one", "one", 4000, 6000 } };

	has(blame(v, 1, 1.2, 1.1).text, "while they were profiled, the sides differed by +9.");
	assert_string_equal(blame(v, 1, 1.2, 1.1).function, "");
	/* a tenth of the change may lie between */
	assert_string_equal(blame(v, 1, 1.2, 1.185).function, "one");
}

TEST(code_that_moved_is_not_blamed)
{
	static const struct part v[] = { { "one", "one", 4000, 8000 }, { "two", "two", 4000, 0 }, { "x", "x", 2000, 3000 } };
	const struct assay_gate_because b = blame(v, 3, 1.1, 1.1);

	assert_string_equal(b.function, "");
	has(b.text, "work moved between functions: one (a.c:11) takes +400 ns");
	has(b.text, "two (a.c:2) takes -400 ns");
}

TEST(several_and_none)
{
	static const struct part v[] = { { "one", "one", 4000, 5000 }, { "two", "two", 4000, 4600 }, { "x", "x", 2000, 2000 } };
	const struct assay_gate_because b = blame(v, 3, 1.16, 1.16), none = blame(v, 0, 1.16, 1.16);

	assert_string_equal(b.function, "one");
	has(b.text, "because one (a.c:11) takes +100 ns");
	has(b.text, ", two (a.c:12) takes +60.0 ns");
	has(none.text, "no samples were taken");
}

UNIT_MAIN(NULL, NULL)
