/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants of example.scale that attack the harness in one plugin and are honest in another, under the same names, so
 * that comparisons have a base for them.
 */
#ifndef ASSAY_TESTS_HOSTILE_SIDE_H
#define ASSAY_TESTS_HOSTILE_SIDE_H

#include <assay/plugin.h>

static inline int hostile_right(struct assay_job *job)
{
	const int32_t *x = job->tensors[0].data;
	int32_t *y = job->tensors[1].data;

	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		y[i] = x[i] * 2 + 1;
	return 0;
}

#define HOSTILE(n, before, call)                                                                                       \
	{                                                                                                              \
		.op = "example.scale", .name = n, .help = "attacks the harness", .prepare = before, .run = call        \
	}

#define HOSTILE_PLUGIN(n, list)                                                                                        \
	ASSAY_PLUGIN = {                                                                                               \
		ASSAY_PLUGIN_HEADER,                                                                                   \
		.name = n,                                                                                             \
		.version = "1",                                                                                        \
		.variants = list,                                                                                      \
		.n_variants = sizeof(list) / sizeof((list)[0]),                                                        \
	}

#endif
