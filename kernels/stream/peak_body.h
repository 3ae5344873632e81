/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One peak op for one instruction set, whose file includes this after it has defined the type `vec`, step(acc, a, b),
 * PEAK_CHAINS and PEAK_RUN, the name of its run() callback. The ops have the tensors x, a, b and y in this order.
 *
 * PEAK_CHAINS independent sums hide the latency of a step. They must stay in registers: compilers that see the loop as
 * a whole move them about (GCC 12: two copies a step), so each step is opaque to them. So is operand a, or the product
 * of a step that is several instructions would be computed once for all.
 */
#include "../kernel_isa.h"
#include "stream_variants.h"

#define PEAK_VEC_LANES (sizeof(vec) / 4)

/* A vector wherever it lies. */
typedef vec vec_anywhere __attribute__((aligned(4), may_alias));

/* An operand, repeated in all lanes. */
static inline vec load_pattern(const uint32_t *p)
{
	uint32_t lanes[PEAK_VEC_LANES];

	for (unsigned l = 0; l < PEAK_VEC_LANES; l++)
		lanes[l] = p[l % ASSAY_PEAK_PATTERN];
	return *(const vec_anywhere *)lanes;
}

static void peak_lanes(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const uint32_t *x = (const uint32_t *)job->tensors[ASSAY_PEAK_FMA_X].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	uint32_t *y = (uint32_t *)job->tensors[ASSAY_PEAK_FMA_Y].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	vec a = load_pattern(job->tensors[ASSAY_PEAK_FMA_A].data);
	const vec b = load_pattern(job->tensors[ASSAY_PEAK_FMA_B].data);
	const uint32_t steps = assay_peak_steps(job->shape);
	vec acc[PEAK_CHAINS];

	_Static_assert(ASSAY_PEAK_LANES % (PEAK_CHAINS * PEAK_VEC_LANES) == 0, "groups of chains fill the lanes");
	(void)n_threads;
	for (unsigned g = 0; g < ASSAY_PEAK_LANES; g += PEAK_CHAINS * PEAK_VEC_LANES) {
		EACH (i, PEAK_CHAINS)
			acc[i] = *(const vec_anywhere *)(x + g + PEAK_VEC_LANES * i);
		for (unsigned n = 0; n < steps; n++)
			EACH (i, PEAK_CHAINS) {
				acc[i] = step(acc[i], a, b);
				__asm__ volatile("" : "+v"(acc[i]), "+v"(a));
			}
		EACH (i, PEAK_CHAINS)
			*(vec_anywhere *)(y + g + PEAK_VEC_LANES * i) = acc[i];
	}
}

int PEAK_RUN(struct assay_job *job)
{
	job->host->parallel(job, peak_lanes, job);
	return 0;
}
