/* SPDX-License-Identifier: Apache-2.0 */
/* Counts by line and thread: as a text, and which line of a function grew. */
#include "exact_fixture.h"

#include "model/exact.h"

#include <math.h>

static void add_line(struct assay_text *t, const char *file, unsigned line, const char *function, uint64_t instructions)
{
	struct assay_exact_line l = { .line = line, .counts = { { instructions, instructions / 2 } } };

	snprintf(l.file, sizeof(l.file), "%s", file);
	snprintf(l.function, sizeof(l.function), "%s", function);
	assay_exact_detail_add_line(t, &l);
}

TEST(a_text_holds_all_kinds)
{
	const struct assay_exact_counts threads[2] = { { { 300, 1, 2, 3, 4, 5, 6, 7 } }, { { 100 } } };
	const struct assay_exact_mix mix = { "float_512_operations", 1024 };
	struct assay_exact_case c = { .status = ASSAY_STATUS_OK };
	struct assay_text t = { 0 };
	struct assay_exact_counts thread;
	struct assay_exact_line line;
	struct assay_exact_mix m;
	const char *at;
	unsigned n = 0;

	assert_true(isnan(assay_exact_case_metric(&c, ASSAY_EXACT_IMBALANCE)));
	assay_text_add(&t, "something of a later version\t1\nline\tcut\n");
	add_line(&t, "kernel.c", 12, "f", 1000);
	assay_exact_detail_add_thread(&t, &threads[0]);
	assert_true(isnan(assay_exact_case_metric(&(struct assay_exact_case){ .detail = t.s }, ASSAY_EXACT_IMBALANCE)));
	assay_exact_detail_add_thread(&t, &threads[1]);
	assay_exact_detail_add_mix(&t, &mix);
	c.detail = assay_text_take(&t);
	for (at = c.detail; assay_exact_next_thread(&at, &thread); n++)
		assert_memory_equal(&thread, &threads[n], sizeof(thread));
	assert_int_equal(n, 2);
	at = c.detail;
	assert_true(assay_exact_next_line(&at, &line));
	assert_string_equal(line.file, "kernel.c");
	assert_string_equal(line.function, "f");
	assert_int_equal(line.line, 12);
	assert_int_equal(line.counts.v[ASSAY_EXACT_INSTRUCTIONS], 1000);
	assert_false(assay_exact_next_line(&at, &line));
	at = c.detail;
	assert_true(assay_exact_next_mix(&at, &m));
	assert_string_equal(m.name, "float_512_operations");
	assert_int_equal(m.count, 1024);
	/* 300 of a mean of 200 */
	assert_true(assay_exact_case_metric(&c, ASSAY_EXACT_IMBALANCE) == 1.5);
	assay_exact_case_release(&c);
}

/* Instructions of lines 10, 11, … of a function; 0 ends. */
static struct assay_exact_case function_of(unsigned first, const uint64_t *instructions)
{
	struct assay_exact_case c = { .status = ASSAY_STATUS_OK };
	struct assay_text t = { 0 };

	for (unsigned i = 0; instructions[i]; i++) {
		add_line(&t, "kernel.c", first + i, "f", instructions[i]);
		c.total.v[ASSAY_EXACT_INSTRUCTIONS] += instructions[i];
	}
	c.detail = assay_text_take(&t);
	return c;
}

TEST(the_line_that_grew_is_found)
{
	static const struct {
		const char *name;
		uint64_t base[6], head[6];
		unsigned first; /* line of the head */
		unsigned line;  /* 0: none */
	} cases[] = {
		{ "one grew", { 1000, 500, 2000, 300 }, { 1000, 500, 2003, 300 }, 10, 12 },
		{ "all moved down, one grew", { 1000, 500, 2000, 300 }, { 1000, 500, 2003, 300 }, 20, 22 },
		{ "one was put in", { 1000, 500, 2000, 300 }, { 1000, 7, 500, 2000, 300 }, 10, 11 },
		{ "one was taken out", { 1000, 7, 500, 2000, 300 }, { 1000, 500, 2000, 300 }, 10, 11 },
		{ "none", { 1000, 500 }, { 1000, 500 }, 10, 0 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_exact_case base = function_of(10, cases[i].base),
					head = function_of(cases[i].first, cases[i].head);
		struct assay_exact_line l = { .line = 0 };
		bool found = assay_exact_changed_line(&base, &head, "f", ASSAY_EXACT_INSTRUCTIONS, &l);

		if (found != (cases[i].line != 0) || l.line != cases[i].line)
			fail_msg("%s: %s:%u", cases[i].name, l.file, l.line);
		assert_false(assay_exact_changed_line(&base, &head, "g", ASSAY_EXACT_INSTRUCTIONS, &l));
		assay_exact_case_release(&base);
		assert_false(assay_exact_changed_line(&base, &head, "f", ASSAY_EXACT_INSTRUCTIONS, &l));
		assay_exact_case_release(&head);
	}
}

UNIT_GROUP(NULL, NULL)
