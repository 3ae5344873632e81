/* SPDX-License-Identifier: Apache-2.0 */
/* One side of a comparison: variants of lenient.triple that take a known amount of work. */
#ifndef ASSAY_TESTS_COMPARE_SIDE_H
#define ASSAY_TESTS_COMPARE_SIDE_H

#include <assay/plugin.h>

#define COMPARE_ROUNDS 20

/* Read and written through volatile pointers, so that every round is done. */
static inline void compare_triple(struct assay_job *job, int rounds)
{
	const volatile int32_t *x = job->tensors[0].data;
	volatile int32_t *y = job->tensors[1].data;

	for (int r = 0; r < rounds; r++)
		for (int64_t i = 0; i < job->shape->axis[0]; i++)
			y[i] = x[i] * 3;
}

#define COMPARE_VARIANT(n, f)                                                                                          \
	{                                                                                                              \
		.op = "lenient.triple", .name = n, .help = "known work", .flags = ASSAY_VARIANT_ONE_THREAD, .run = f   \
	}

#define COMPARE_PLUGIN(n, list)                                                                                        \
	ASSAY_PLUGIN = {                                                                                               \
		ASSAY_PLUGIN_HEADER,                                                                                   \
		.name = n,                                                                                             \
		.version = "1",                                                                                        \
		.variants = list,                                                                                      \
		.n_variants = sizeof(list) / sizeof((list)[0]),                                                        \
	}

#endif
