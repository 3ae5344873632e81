/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The next token from logits: greedy, top-k or top-p at a fixed temperature. A draw depends on (seed, position) alone
 * and candidates have one order (logit falling, then token id rising), so equal logits give equal tokens everywhere.
 */
#ifndef ASSAY_GENERATE_SAMPLER_H
#define ASSAY_GENERATE_SAMPLER_H

#include "generate_model.h"
#include "generate_vector.h"

struct gen_sampling {
	enum assay_generate_sampler kind;
	int32_t top_k; /* topk: candidates kept */
	float top_p;   /* topp: the smallest set of candidates with at least this share of the probability */
	float temperature;
	uint64_t seed;
	const struct gen_vector *vector;
};

/*
 * @probs: room for @vocab floats; @heap: room for @vocab ids. The draw is that of @position in the sequence.
 * Of several equal greatest logits the lowest id wins.
 */
int32_t assay_generate_sample(const struct gen_sampling *s, const float *logits, int32_t vocab, int64_t position,
			      float *probs, int32_t *heap);

#endif
