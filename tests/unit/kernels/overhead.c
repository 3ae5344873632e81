/* SPDX-License-Identifier: Apache-2.0 */
/* overhead.*: right for any number of threads, and an oracle that finds a thread that missed a round or a wrong word.
 */
#include "mini_host.h"

#include "assay/op_overhead.h"

static const char *const ops[][2] = {
	{ "overhead.dispatch", "" },
	{ "overhead.barrier", "" },
	{ "overhead.false_sharing", "lines=own" },
	{ "overhead.false_sharing", "lines=shared" },
	{ "overhead.false_sharing", "lines=shared,adds=3" },
};

#define N_OPS N_OF(ops)

TEST(test_counts)
{
	for (size_t op = 0; op < N_OPS; op++)
		for (uint32_t t = 1; t <= 3; t++) {
			struct mini_case *c =
				mini_new(ops[op][0], "ref", ops[op][1], &(struct mini_options){ .n_threads = t });

			mini_fill(c);
			mini_run(c);
			mini_check(c);
			mini_run(c);
			mini_check(c);
			mini_free(c);
		}
}

TEST(test_oracle)
{
	for (size_t op = 0; op < N_OPS; op++) {
		struct mini_case *c = mini_new(ops[op][0], "ref", ops[op][1], &(struct mini_options){ .n_threads = 2 });
		int64_t *count = c->tensors[ASSAY_OVERHEAD_COUNT].data;

		mini_fill(c);
		mini_run(c);
		for (int64_t i = 0; i < 2 * ASSAY_OVERHEAD_WORDS; i++) {
			struct assay_check out;

			count[i]--;
			out = mini_try_check(c);
			assert_int_equal(out.correct, 0);
			assert_int_equal(out.first_bad, i);
			assert_string_equal(out.tensor, "count");
			count[i]++;
		}
		mini_check(c);
		mini_free(c);
	}
}

UNIT_GROUP(NULL, NULL)
