/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs leave for report(): latencies of the latest runs in rings of fixed size, so that warm-up runs fall out and
 * a long benchmark takes no more memory than a short one.
 */
#ifndef ASSAY_GENERATE_STATS_H
#define ASSAY_GENERATE_STATS_H

#include <stdbool.h>

#include "generate_model.h"

#define GEN_RING 1024 /* token latencies kept; runs and first tokens likewise */

struct gen_ring {
	double values[GEN_RING];
	uint64_t n; /* pushed so far */
};

/* How long runs, and what they are made of, took. */
struct gen_latencies {
	struct gen_ring run_s, forward_s, sampling_s, ttft_s, tpot_s;
	double sorted[GEN_RING];
};

/* op_state of the generate ops. */
struct gen_stats {
	struct assay_generate_state state; /* for variants that do the whole op; first */
	struct gen_plan plan;
	struct gen_latencies took;
	double phase_s[5];                 /* enum gen_phase, all runs */
	uint64_t lookups, hits, evictions; /* prefix cache, of the last run: tokens, tokens, blocks */
};

/* Fill what variants of a device see of @plan. */
void assay_generate_state_fill(const struct gen_plan *plan, struct assay_generate_state *state);
void assay_generate_ring_push(struct gen_ring *r, double value);
/* A token of an answer, its first or a later one, took @seconds. */
void assay_generate_took_token(const struct assay_job *job, struct gen_latencies *l, bool first, double seconds);
/* The median, 0 of none; @sorted has room for GEN_RING. */
double assay_generate_ring_median(const struct gen_ring *r, double *sorted);
/* Publish all that were pushed; @tokens: of a run. */
void assay_generate_report_latencies(const struct assay_job *job, struct gen_latencies *l, int64_t tokens);

#endif
