/* SPDX-License-Identifier: Apache-2.0 */
/* What a call takes beside others: their time is no part of it. */
#include "unit.h"

#include "model/result.h"

#define N 100

/* Of @n samples every @each-th waited 2000 ns for its CPU. */
static size_t times(size_t n, size_t each, double out[N])
{
	struct assay_sample s[N];

	for (size_t i = 0; i < n; i++)
		s[i] = (struct assay_sample){ .iterations = 10,
					      .ns = 1000 + (i % each ? 0 : 2000),
					      .flags = ASSAY_SAMPLE_WAIT_TOLD,
					      .waited_ns = i % each ? 0 : 2000 };
	return assay_call_times(s, n, out);
}

TEST(clean_calls_alone_count_where_there_are_enough)
{
	double ns[N];
	size_t n = times(N, 2, ns);

	assert_int_equal(n, N / 2);
	for (size_t i = 0; i < n; i++)
		assert_float_equal(ns[i], 100, 1e-9);
}

TEST(what_others_took_is_left_out)
{
	double ns[N];
	size_t n = times(N, 1, ns);

	assert_int_equal(n, N);
	for (size_t i = 0; i < n; i++)
		assert_float_equal(ns[i], 100, 1e-9);
}

TEST(parts_of_a_call_are_one)
{
	const struct assay_sample s[] = {
		{ .iterations = 2, .ns = 600, .flags = ASSAY_SAMPLE_WAIT_TOLD | ASSAY_SAMPLE_CONTINUES },
		{ .iterations = 2, .ns = 400, .flags = ASSAY_SAMPLE_WAIT_TOLD },
		{ .iterations = 2, .ns = 1000, .flags = ASSAY_SAMPLE_WAIT_TOLD },
	};
	double ns[3];

	assert_int_equal(assay_call_times(s, 3, ns), 2);
	assert_float_equal(ns[0], 500, 1e-9);
	assert_float_equal(ns[1], 500, 1e-9);
}

UNIT_GROUP(NULL, NULL)
