/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A variant of lenient.triple whose work is divided evenly over five functions. Of these, number FIVE_SLOW (1 to 5; 0:
 * none) has FIVE_PERCENT more to do: what a profile must find out. Each adds something else, so that compilers do not
 * make one function of several; the last adds nothing. With FIVE_BY_DATA the number of rounds is read from a
 * constant, so that no instruction differs.
 */
#include "side.h"

#if defined(PLUGIN_compare_five_slower)
#define FIVE_SLOW    3
#define FIVE_PERCENT 25
#elif defined(PLUGIN_compare_five_triple)
/* eleven times as long, so that all five together take three times as long */
#define FIVE_SLOW    3
#define FIVE_PERCENT 1000
#elif !defined(FIVE_SLOW)
#define FIVE_SLOW    0
#define FIVE_PERCENT 0
#endif

#define FIVE_ROUNDS          100
#define FIVE_ROUNDS_OF(part) ((part) == FIVE_SLOW ? FIVE_ROUNDS + FIVE_PERCENT : FIVE_ROUNDS)
#ifdef FIVE_BY_DATA
static const volatile int five_rounds[] = {
	0, FIVE_ROUNDS_OF(1), FIVE_ROUNDS_OF(2), FIVE_ROUNDS_OF(3), FIVE_ROUNDS_OF(4), FIVE_ROUNDS_OF(5)
};
#define FIVE_LIMIT(part) five_rounds[part]
#else
#define FIVE_LIMIT(part) FIVE_ROUNDS_OF(part)
#endif
#define FIVE_PART(name, part)                                                                                          \
	static __attribute__((noinline)) void name(struct assay_job *job)                                              \
	{                                                                                                              \
		const volatile int32_t *x = job->tensors[0].data;                                                      \
		volatile int32_t *y = job->tensors[1].data;                                                            \
                                                                                                                       \
		for (int r = 0; r < FIVE_LIMIT(part); r++)                                                             \
			for (int64_t i = 0; i < job->shape->axis[0]; i++)                                              \
				y[i] = x[i] * 3 + (part) % 5;                                                          \
	}

FIVE_PART(part_one, 1)
FIVE_PART(part_two, 2)
FIVE_PART(part_three, 3)
FIVE_PART(part_four, 4)
FIVE_PART(part_five, 5)

static int run(struct assay_job *job)
{
	part_one(job);
	part_two(job);
	part_three(job);
	part_four(job);
	part_five(job);
	return 0;
}

static const struct assay_variant variants[] = { TRIPLE("work", run) };

SIDE_PLUGIN("compare-five", variants);
