/* SPDX-License-Identifier: Apache-2.0 */
/* stream.* in plain C: what the compiler and its C library make of the obvious loops. */
#include "stream_variants.h"

static void read_slice(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	uint64_t bytes, acc[ASSAY_STREAM_SUM_LANES] = { 0 };
	const uint64_t *a = (const uint64_t *)stream_slice(job, ASSAY_STREAM_READ_A, tid, &bytes);
	uint64_t *sum = (uint64_t *)job->tensors[ASSAY_STREAM_READ_SUM].data + (uint64_t)tid * ASSAY_STREAM_SUM_LANES;

	(void)n_threads;
	for (uint64_t pass = assay_stream_passes(job->shape, bytes, 1); pass; pass--) {
		for (uint64_t i = 0; i < bytes / 8; i += ASSAY_STREAM_SUM_LANES)
			for (unsigned l = 0; l < ASSAY_STREAM_SUM_LANES; l++)
				acc[l] += a[i + l];
		stream_next_pass();
	}
	for (unsigned l = 0; l < ASSAY_STREAM_SUM_LANES; l++)
		sum[l] = acc[l];
}

static void copy_slice(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	uint64_t bytes;
	const float *restrict a = (const float *)stream_slice(job, ASSAY_STREAM_COPY_A, tid, &bytes);
	float *restrict b = (float *)stream_slice(job, ASSAY_STREAM_COPY_B, tid, &bytes);

	(void)n_threads;
	for (uint64_t pass = assay_stream_passes(job->shape, bytes, 2); pass; pass--) {
		for (uint64_t i = 0; i < bytes / 4; i++)
			b[i] = a[i];
		stream_next_pass();
	}
}

static void triad_slice(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	uint64_t bytes;
	const float *restrict b = (const float *)stream_slice(job, ASSAY_STREAM_TRIAD_B, tid, &bytes);
	const float *restrict c = (const float *)stream_slice(job, ASSAY_STREAM_TRIAD_C, tid, &bytes);
	float *restrict a = (float *)stream_slice(job, ASSAY_STREAM_TRIAD_A, tid, &bytes);

	(void)n_threads;
	for (uint64_t pass = assay_stream_passes(job->shape, bytes, 3); pass; pass--) {
		for (uint64_t i = 0; i < bytes / 4; i++)
			a[i] = b[i] + ASSAY_STREAM_SCALE * c[i];
		stream_next_pass();
	}
}

int assay_stream_read_ref(struct assay_job *job)
{
	job->host->parallel(job, read_slice, job);
	return 0;
}

int assay_stream_copy_ref(struct assay_job *job)
{
	job->host->parallel(job, copy_slice, job);
	return 0;
}

int assay_stream_triad_ref(struct assay_job *job)
{
	job->host->parallel(job, triad_slice, job);
	return 0;
}
