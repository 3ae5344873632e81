/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of calls put together: times and counts add up, and each poll of the host counts once. */
#include "measure/samples.h"
#include "unit.h"

#define GOES_ON ASSAY_SAMPLE_CONTINUES
#define TOLD    ASSAY_SAMPLE_WAIT_TOLD
#define POLLED  ASSAY_SAMPLE_POLLED

static size_t put_together(const struct assay_sample *s, size_t n, struct assay_sample *calls)
{
	struct assay_sample *out;
	size_t n_calls;

	assert_int_equal(assay_whole_calls(s, n, &out, &n_calls, NULL), 0);
	memcpy(calls, out, n_calls * sizeof(*out));
	free(out);
	return n_calls;
}

TEST(parts_add_up)
{
	static const struct assay_sample s[] = {
		{ 1, 100, GOES_ON | TOLD | ASSAY_DISTURB_SWITCH, .switches = 1, .faults = 3, .waited_ns = 10 },
		{ 1, 20, GOES_ON | TOLD, .switches = 0, .waited_ns = 1, .stolen_ns = 5 },
		{ 1, 3, TOLD | ASSAY_DISTURB_MIGRATION, .switches = 2, .faults = 4, .stolen_ns = 6 },
		/* the kernel told of one part only */
		{ 1, 7, GOES_ON | TOLD, .waited_ns = 9 },
		{ 1, 8, 0, .switches = 1 },
	};
	struct assay_sample calls[N_OF(s)];

	assert_int_equal(put_together(s, N_OF(s), calls), 2);
	assert_true(calls[0].iterations == 1 && calls[0].ns == 123);
	assert_int_equal(calls[0].flags, TOLD | ASSAY_DISTURB_SWITCH | ASSAY_DISTURB_MIGRATION);
	assert_true(calls[0].switches == 3 && calls[0].faults == 7);
	assert_true(calls[0].waited_ns == 11 && calls[0].stolen_ns == 11);
	assert_true(calls[1].ns == 15 && calls[1].switches == 1 && calls[1].waited_ns == 9);
	assert_int_equal(calls[1].flags, 0);
}

TEST(whole_calls_stay)
{
	static const struct assay_sample s[] = {
		{ 5, 100, TOLD | POLLED, 1, 2, 3, .waited_ns = 4, .stolen_ns = 6 },
		{ 5, 101, ASSAY_DISTURB_STEAL, .steal_ticks = 1 },
		{ 5, 102, POLLED, .steal_ticks = 1 },
	};
	struct assay_sample calls[N_OF(s)];

	assert_int_equal(put_together(s, N_OF(s), calls), N_OF(s));
	for (size_t i = 0; i < N_OF(s); i++) {
		assert_true(calls[i].iterations == 5 && calls[i].ns == s[i].ns);
		assert_int_equal(calls[i].flags, s[i].flags & ~POLLED);
		assert_true(calls[i].switches == s[i].switches && calls[i].faults == s[i].faults);
		assert_true(calls[i].waited_ns == s[i].waited_ns && calls[i].stolen_ns == s[i].stolen_ns);
		assert_int_equal(calls[i].steal_ticks, s[i].steal_ticks);
	}
	assert_int_equal(put_together(s, 0, calls), 0);
}

/* What a poll says is told of each part since the one before. */
TEST(polls_count_once)
{
	static const struct {
		const char *name;
		uint32_t ticks[6];
		const char *polled; /* after which samples */
		uint32_t want[2];   /* of calls of three parts */
	} rows[] = {
		{ "one poll in a call", { 2, 2, 2, 0, 0, 0 }, "  P   ", { 2, 0 } },
		{ "two that say the same", { 1, 1, 1, 0, 0, 0 }, " PP   ", { 2, 0 } },
		{ "each part has its own", { 1, 4, 2, 0, 0, 0 }, "PPP   ", { 7, 0 } },
		{ "a poll of both calls", { 1, 1, 3, 3, 3, 0 }, " P  P ", { 4, 3 } },
		{ "quiet, then not", { 0, 0, 3, 3, 1, 1 }, " P P P", { 3, 4 } },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_sample s[6], calls[6];

		for (size_t k = 0; k < 6; k++)
			s[k] = (struct assay_sample){ .iterations = 1,
						      .ns = 1,
						      .steal_ticks = rows[i].ticks[k],
						      .flags = (rows[i].polled[k] == 'P' ? POLLED : 0) |
							       (k % 3 < 2 ? GOES_ON : 0) };
		assert_int_equal(put_together(s, 6, calls), 2);
		if (calls[0].steal_ticks != rows[i].want[0] || calls[1].steal_ticks != rows[i].want[1])
			fail_msg("%s: %u and %u", rows[i].name, calls[0].steal_ticks, calls[1].steal_ticks);
	}
}

UNIT_GROUP(NULL, NULL)
