/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Poisson sampling by bytes: each byte that is allocated is drawn with the same small probability, and a block is seen
 * if any of its bytes is. Seen blocks weigh one over their probability to be, which makes sums unbiased (D. G. Horvitz
 * and D. J. Thompson, "A generalization of sampling without replacement from a finite universe", JASA 47, 1952).
 */
#ifndef ASSAY_COUNTERS_PRELOAD_HEAP_SAMPLING_H
#define ASSAY_COUNTERS_PRELOAD_HEAP_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>

/* Is a block of @bytes of this thread seen? @mean: bytes from one drawn byte to the next. An empty block has one. */
bool assay_heap_sampled(size_t bytes, double mean);
/* How many blocks of @bytes one that is seen stands for. */
double assay_heap_sample_weight(size_t bytes, double mean);

#endif
