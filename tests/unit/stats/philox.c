/* SPDX-License-Identifier: Apache-2.0 */
/* Philox4x32-10 against the known answers that come with Random123 (its kat_vectors), and the order of its values. */
#include "unit.h"

#include <math.h>

#include "assay/random.h"

TEST(test_known_answers)
{
	static const struct {
		const char *name;
		uint32_t ctr[4], key[2], want[4];
	} cases[] = {
		{ "all zero", { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
		{ "all ones",
		  { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
		  { 0xffffffff, 0xffffffff },
		  { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
		{ "digits of pi",
		  { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
		  { 0xa4093822, 0x299f31d0 },
		  { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_philox got = assay_philox4x32(cases[i].ctr, cases[i].key);

		if (memcmp(got.v, cases[i].want, sizeof(got.v)))
			fail_msg("%s: got %08x %08x %08x %08x", cases[i].name, got.v[0], got.v[1], got.v[2], got.v[3]);
	}
}

/* seed is the key, the block is the low half of the counter, the tensor its third word */
TEST(test_stream_layout)
{
	const uint32_t ctr[4] = { 0x89abcdef, 0x01234567, 42, 0 }, key[2] = { 0xcafef00d, 0xdeadbeef };
	struct assay_philox got = assay_random4(0xdeadbeefcafef00d, 42, 0x0123456789abcdef);
	struct assay_philox want = assay_philox4x32(ctr, key);

	assert_memory_equal(got.v, want.v, sizeof(got.v));
}

TEST(test_any_order)
{
	enum { N = 1000 };
	static struct assay_philox forward[N];

	for (uint64_t i = 0; i < N; i++)
		forward[i] = assay_random4(7, 3, i);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t at = (i * 617 + 31) % N; /* 617 is prime to 1000: each once, in another order */
		struct assay_philox again = assay_random4(7, 3, at);

		assert_memory_equal(again.v, forward[at].v, sizeof(again.v));
	}
}

TEST(test_streams_differ)
{
	struct assay_philox base = assay_random4(7, 3, 11);
	struct assay_philox others[] = { assay_random4(8, 3, 11), assay_random4(7, 4, 11), assay_random4(7, 3, 12),
					 assay_random4(7, 3, 11 + (UINT64_C(1) << 32)),
					 assay_random4(7 + (UINT64_C(1) << 32), 3, 11) };

	for (size_t i = 0; i < N_OF(others); i++)
		assert_memory_not_equal(others[i].v, base.v, sizeof(base.v));
}

TEST(test_floats)
{
	double sum = 0, squares = 0;
	const uint64_t n = 1 << 16;

	assert_true(assay_uniform_f32(0) == 0.0f);
	assert_true(assay_uniform_f32(0xffffffff) == 0x1.fffffep-1f);
	assert_true(assay_uniform_f32(0x80000000) == 0.5f);
	assert_true(assay_normal_f32(0xffffffff) == -assay_normal_f32(0));
	assert_true(fabsf(assay_normal_f32(0xffffffff) - 3.4506f) < 1e-3f);
	for (uint64_t i = 0; i < n; i++) {
		struct assay_philox r = assay_random4(1, 0, i);

		for (unsigned j = 0; j < 4; j++) {
			double v = (double)assay_normal_f32(r.v[j]);

			sum += v;
			squares += v * v;
		}
	}
	/* five standard errors of the mean and of the variance of 4 n values; the same values every time */
	assert_true(fabs(sum / (4.0 * (double)n)) < 5 / sqrt(4.0 * (double)n));
	assert_true(fabs(squares / (4.0 * (double)n) - 1) < 5 * sqrt(2 / (4.0 * (double)n)));
}

UNIT_GROUP(NULL, NULL)
