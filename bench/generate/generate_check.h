/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the generate oracle share: the checked sequence, buffers, and the first thing found wrong. */
#ifndef ASSAY_GENERATE_CHECK_H
#define ASSAY_GENERATE_CHECK_H

#include "generate_oracle.h"
#include "generate_stats.h"

/* One per thread; the lowest order wins, so that the verdict does not depend on the number of threads. */
struct gen_finding {
	int64_t order; /* INT64_MAX: nothing */
	const char *tensor;
	int64_t index;
	double worst; /* greatest relative error of a logit */
	double *buf;  /* scratch, struct gen_checking.buf_len doubles */
	char text[160];
};

struct gen_checking {
	const struct assay_job *job;
	const struct gen_stats *stats;
	const struct gen_plan *plan;
	struct gen_oracle o;
	struct gen_trace t;
	const int8_t *i8;
	int16_t *wide; /* the same values as int16 */
	const float *f32, *last;
	int32_t *sequence; /* tokens of the checked sequence */
	int64_t len;       /* how many of them went through the layers */
	int64_t buf_len;
	struct gen_finding *found; /* [n_threads] */
};

/* Keep this finding if it comes before the one there is. @stage, @at: the order. */
void assay_generate_found(struct gen_finding *f, int stage, int64_t at, const char *tensor, int64_t index,
			  const char *fmt, ...) ASSAY_PRINTF(6, 7);

/* Keys and values of the first layer at up to 64 positions, computed from the tokens alone (assay_parallel_fn). */
void assay_generate_check_first_layer(void *checking, uint32_t tid, uint32_t n_threads);
/* The whole sequence from the tokens alone: keys and values of every layer, and the last logits. 0, or −1: out of
 * memory. */
int assay_generate_check_replay(struct gen_checking *c);

#endif
