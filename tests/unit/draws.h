/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers of simulations, from Philox by a seed: zero but for the seed begins. */
#ifndef ASSAY_TESTS_DRAWS_H
#define ASSAY_TESTS_DRAWS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "assay/random.h"

struct draws {
	uint64_t seed, index;
	struct assay_philox words;
	unsigned used;
	double spare;
	bool has_spare;
};

static inline uint32_t draw_word(struct draws *d)
{
	if (d->used % 4 == 0)
		d->words = assay_random4(d->seed, 0, d->index++);
	return d->words.v[d->used++ % 4];
}

/* In (0, 1). */
static inline double draw_uniform(struct draws *d)
{
	uint64_t high = draw_word(d), low = draw_word(d);

	return ((double)((high << 32 | low) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller 1958. */
static inline double draw_normal(struct draws *d)
{
	double r, angle;

	if (d->has_spare) {
		d->has_spare = false;
		return d->spare;
	}
	r = sqrt(-2 * log(draw_uniform(d)));
	angle = 2 * M_PI * draw_uniform(d);
	d->spare = r * sin(angle);
	d->has_spare = true;
	return r * cos(angle);
}

/* Student's t with 3 degrees of freedom, over its root of 3: standard deviation 1. */
static inline double draw_heavy(struct draws *d)
{
	double a = draw_normal(d), b = draw_normal(d), c = draw_normal(d);

	return draw_normal(d) / sqrt(a * a + b * b + c * c);
}

#endif
