/* SPDX-License-Identifier: Apache-2.0 */
/* peak.* in plain C: a few lanes at a time, so that a compiler may keep them in registers of whatever it targets. */
#include <string.h>

#include "stream_variants.h"

#define GROUP 16 /* lanes in flight */

static void fma_lanes(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const float *x = (const float *)job->tensors[ASSAY_PEAK_FMA_X].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	float *y = (float *)job->tensors[ASSAY_PEAK_FMA_Y].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	const uint32_t steps = assay_peak_steps(job->shape);
	float a[ASSAY_PEAK_PATTERN], b[ASSAY_PEAK_PATTERN], acc[GROUP];

	(void)n_threads;
	memcpy(a, job->tensors[ASSAY_PEAK_FMA_A].data, sizeof(a));
	memcpy(b, job->tensors[ASSAY_PEAK_FMA_B].data, sizeof(b));
	for (unsigned g = 0; g < ASSAY_PEAK_LANES; g += GROUP) {
		memcpy(acc, x + g, sizeof(acc));
		for (unsigned step = 0; step < steps; step++)
			for (unsigned l = 0; l < GROUP; l++)
				acc[l] = acc[l] * a[l % ASSAY_PEAK_PATTERN] + b[l % ASSAY_PEAK_PATTERN];
		memcpy(y + g, acc, sizeof(acc));
	}
}

/* Operand bytes as 16-bit numbers, one row for each of the four products of a lane: compilers have vectors for that. */
struct operands {
	int16_t a[4][ASSAY_PEAK_PATTERN], w[4][ASSAY_PEAK_PATTERN];
};

static void widen(const struct assay_job *job, struct operands *o)
{
	const uint8_t *a = job->tensors[ASSAY_PEAK_DOT_A].data;
	const int8_t *w = job->tensors[ASSAY_PEAK_DOT_W].data;

	for (unsigned l = 0; l < ASSAY_PEAK_PATTERN; l++) {
		for (unsigned j = 0; j < 4; j++) {
			o->a[j][l] = a[4 * l + j];
			o->w[j][l] = w[4 * l + j];
		}
	}
}

static void dot_lanes(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const int32_t *x = (const int32_t *)job->tensors[ASSAY_PEAK_DOT_X].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	int32_t *y = (int32_t *)job->tensors[ASSAY_PEAK_DOT_Y].data + (uint64_t)tid * ASSAY_PEAK_LANES;
	const uint32_t steps = assay_peak_steps(job->shape);
	int32_t acc[ASSAY_PEAK_PATTERN];
	struct operands o;

	(void)n_threads;
	widen(job, &o);
	for (unsigned g = 0; g < ASSAY_PEAK_LANES; g += ASSAY_PEAK_PATTERN) {
		memcpy(acc, x + g, sizeof(acc));
		for (unsigned step = 0; step < steps; step++) {
			/* the operands may have changed: the products cannot be kept */
			__asm__ volatile("" : "+m"(o));
			for (unsigned l = 0; l < ASSAY_PEAK_PATTERN; l++)
				acc[l] += o.a[0][l] * o.w[0][l] + o.a[1][l] * o.w[1][l] + o.a[2][l] * o.w[2][l] +
					  o.a[3][l] * o.w[3][l];
		}
		memcpy(y + g, acc, sizeof(acc));
	}
}

int assay_peak_fma_ref(struct assay_job *job)
{
	job->host->parallel(job, fma_lanes, job);
	return 0;
}

int assay_peak_dot_ref(struct assay_job *job)
{
	job->host->parallel(job, dot_lanes, job);
	return 0;
}
