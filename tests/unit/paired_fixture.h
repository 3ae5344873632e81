/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of a comparison with made-up samples, for the tests of the paired judge. */
#ifndef ASSAY_TESTS_PAIRED_FIXTURE_H
#define ASSAY_TESTS_PAIRED_FIXTURE_H

#include <math.h>

#include "unit.h"
#include "model/comparison.h"

#define PAIRED_NS 1e9 /* of an undisturbed sample; long enough that rounding is below 1e-9 */

/* Pairs of samples that all take PAIRED_NS, measured well; free with paired_release. */
static inline void paired_make(struct assay_comparison_case *c, const char *key, size_t n_pairs, size_t n_blocks)
{
	*c = (struct assay_comparison_case){ .in_base = true, .in_head = true, .n_pairs = n_pairs };
	snprintf(c->c.key, sizeof(c->c.key), "%s", key);
	c->pairs = calloc(n_pairs + 1, sizeof(*c->pairs));
	for (size_t i = 0; i < n_pairs; i++) {
		c->pairs[i].n_blocks = n_blocks;
		c->pairs[i].iterations = 1;
		c->pairs[i].steady = true;
		c->pairs[i].wall_ns = 500000000;
		for (int side = 0; side < 2; side++) {
			struct assay_result *s = &c->pairs[i].side[side];

			s->max_rel_err = -1;
			snprintf(s->code_hash, sizeof(s->code_hash), "%s", side ? "code of head" : "code of base");
			s->samples = calloc(2 * n_blocks + 1, sizeof(*s->samples));
			for (size_t k = 0; k < 2 * n_blocks; k++)
				s->samples[k] = (struct assay_sample){ .iterations = 1, .ns = (uint64_t)PAIRED_NS };
		}
	}
}

/* All blocks of pair @i say that the head takes exp(@log_ratio) of the base's time. */
static inline void paired_set(struct assay_comparison_case *c, size_t i, double log_ratio)
{
	struct assay_pair *p = &c->pairs[i];

	for (size_t k = 0; k < 2 * p->n_blocks; k++)
		p->side[ASSAY_HEAD].samples[k].ns = (uint64_t)llround(PAIRED_NS * exp(log_ratio));
}

static inline void paired_release(struct assay_comparison_case *c)
{
	for (size_t i = 0; i < c->n_pairs; i++)
		for (int side = 0; side < 2; side++) {
			free(c->pairs[i].side[side].samples);
			free(c->pairs[i].side[side].metrics);
		}
	free(c->pairs);
	c->pairs = NULL;
	c->n_pairs = 0;
}

#endif
