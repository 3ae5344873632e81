/* SPDX-License-Identifier: Apache-2.0 */
/* Variants that are honest in one plugin and in another of the same names are not. */
#ifndef ASSAY_TESTS_CHEAT_SIDE_H
#define ASSAY_TESTS_CHEAT_SIDE_H

#include "side.h"

#define CHEAT_MAX_N 4096

/* The function that cheat.i8 and cheat.u8 compute of each byte. */
#define CHEAT_MASK 0x55

/* Honest, too, but it has a branch for each element, and how well those are foreseen is up to the data. */
static inline int cheat_branchy(struct assay_job *job)
{
	const volatile int32_t *x = side_x(job);
	volatile int32_t *y = side_y(job);

	for (int64_t i = 0; i < side_n(job); i++) {
		const int32_t v = x[i];

		if (v & 64)
			y[i] = v * 2 + 1;
		else
			y[i] = (v << 1) | 1;
	}
	return 0;
}

/* Honest variants of cheat.i8 and cheat.u8, of cheat.state, of example.scale on threads, and in parts. */
static inline int cheat_bytes(struct assay_job *job)
{
	const volatile unsigned char *x = job->tensors[0].data;
	volatile unsigned char *y = job->tensors[1].data;

	for (int64_t i = 0; i < side_n(job); i++)
		y[i] = x[i] ^ CHEAT_MASK;
	return 0;
}

static inline int cheat_state(struct assay_job *job)
{
	const volatile int32_t *x = side_x(job);
	const int32_t factor = *(const int32_t *)job->op_state;
	volatile int32_t *y = side_y(job);

	for (int64_t i = 0; i < side_n(job); i++)
		y[i] = x[i] * factor;
	return 0;
}

static inline void cheat_slice(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const volatile int32_t *x = side_x(job);
	volatile int32_t *y = side_y(job);

	for (int64_t i = side_n(job) * tid / n_threads; i < side_n(job) * (tid + 1) / n_threads; i++)
		y[i] = x[i] * 2 + 1;
}

static inline int cheat_threads(struct assay_job *job)
{
	job->host->parallel(job, cheat_slice, job);
	return 0;
}

#define CHEAT_PARTS   4
#define CHEAT_PART_NS 1500000u

/* Parts that take their time, and nothing else. */
static inline void cheat_wait_in_parts(struct assay_job *job)
{
	for (int i = 0; i < CHEAT_PARTS; i++) {
		const uint64_t start = job->host->now_ns();

		while (job->host->now_ns() - start < CHEAT_PART_NS)
			;
		assay_part(job);
	}
}

static inline int cheat_parts(struct assay_job *job)
{
	cheat_wait_in_parts(job);
	return side_scale(job);
}

/* Does nothing; a variant that prepares may keep something of its inputs. */
static inline int cheat_prepare(struct assay_job *job)
{
	return 0;
}

#endif
