/* SPDX-License-Identifier: Apache-2.0 */
/* How long things took: a histogram with a bucket a power of 2, from 10 us to 20 s. */
#ifndef ASSAY_SERVE_LATENCIES_H
#define ASSAY_SERVE_LATENCIES_H

#include <stddef.h>
#include <stdint.h>

#define ASSAY_LATENCY_BUCKETS 22
#define ASSAY_LATENCY_LEAST_S 10e-6

struct assay_latencies {
	uint64_t buckets[ASSAY_LATENCY_BUCKETS + 1]; /* the last one is of all that took longer */
	double sum_s;
};

static inline void assay_latencies_add(struct assay_latencies *l, double s)
{
	size_t i = 0;

	for (double le = ASSAY_LATENCY_LEAST_S; i < ASSAY_LATENCY_BUCKETS && s > le; le *= 2)
		i++;
	l->buckets[i]++;
	l->sum_s += s;
}

#endif
