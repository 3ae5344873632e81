/* SPDX-License-Identifier: Apache-2.0 */
/* Variants of example.scale that are honest in one plugin and in another of the same names are not. */
#ifndef ASSAY_TESTS_CHEAT_SIDE_H
#define ASSAY_TESTS_CHEAT_SIDE_H

#include <assay/plugin.h>

#define CHEAT_MAX_N 4096

static inline int64_t cheat_n(const struct assay_job *job)
{
	return job->shape->axis[0];
}

static inline const int32_t *cheat_x(const struct assay_job *job)
{
	return job->tensors[0].data;
}

static inline int32_t *cheat_y(const struct assay_job *job)
{
	return job->tensors[1].data;
}

/* Each element by itself, so that it takes longer than looking at what is there. */
static inline int cheat_honest(struct assay_job *job)
{
	const volatile int32_t *x = cheat_x(job);
	volatile int32_t *y = cheat_y(job);

	for (int64_t i = 0; i < cheat_n(job); i++)
		y[i] = x[i] * 2 + 1;
	return 0;
}

/* Honest, too, but it has a branch for each element, and how well those are foreseen is up to the data. */
static inline int cheat_branchy(struct assay_job *job)
{
	const volatile int32_t *x = cheat_x(job);
	volatile int32_t *y = cheat_y(job);

	for (int64_t i = 0; i < cheat_n(job); i++) {
		const int32_t v = x[i];

		if (v & 64)
			y[i] = v * 2 + 1;
		else
			y[i] = (v << 1) | 1;
	}
	return 0;
}

/* Does nothing; a variant that prepares may keep something of its inputs. */
static inline int cheat_prepare(struct assay_job *job)
{
	(void)job;
	return 0;
}

#define CHEAT_VARIANT(n, f)                                                                                            \
	{                                                                                                              \
		.op = "example.scale", .name = n, .help = "y = 2 x + 1, or not", .flags = ASSAY_VARIANT_ONE_THREAD,    \
		.run = f                                                                                               \
	}

#define CHEAT_PLUGIN(n, list)                                                                                          \
	ASSAY_PLUGIN = {                                                                                               \
		ASSAY_PLUGIN_HEADER,                                                                                   \
		.name = n,                                                                                             \
		.version = "1",                                                                                        \
		.variants = list,                                                                                      \
		.n_variants = sizeof(list) / sizeof((list)[0]),                                                        \
	}

#endif
