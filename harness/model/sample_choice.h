/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples, or blocks of samples, count. What was disturbed (assay_samples_disturbed) is left out while at least
 * half is clean; otherwise the disturbance is the normal state, and all counts. Of the rest, what a slow core took is
 * left out by the same rule: the pace of a core is tried before and after a sample, so the choice does not see its
 * time.
 */
#ifndef ASSAY_MODEL_SAMPLE_CHOICE_H
#define ASSAY_MODEL_SAMPLE_CHOICE_H

#include "model/result.h"

/* All are counted first, then each is asked for. */
struct assay_sample_choice {
	size_t n, clean, slow, clean_slow;
};

static inline bool assay_samples_slow(const struct assay_sample *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].flags & ASSAY_DISTURB_SLOW)
			return true;
	return false;
}

/* @n samples that count or do not count together. */
static inline void assay_sample_choice_count(struct assay_sample_choice *c, const struct assay_sample *s, size_t n)
{
	bool clean = !assay_samples_disturbed(s, n), slow = assay_samples_slow(s, n);

	c->n++;
	c->clean += clean;
	c->slow += slow;
	c->clean_slow += clean && slow;
}

static inline bool assay_sample_choice_keeps(const struct assay_sample_choice *c, const struct assay_sample *s,
					     size_t n)
{
	bool drop = 2 * c->clean >= c->n;
	bool drop_slow = drop ? 2 * c->clean_slow <= c->clean : 2 * c->slow <= c->n;

	return !(drop && assay_samples_disturbed(s, n)) && !(drop_slow && assay_samples_slow(s, n));
}

#endif
