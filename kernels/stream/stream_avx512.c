/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.* with 512-bit vectors. Plain loads without software prefetch: on sequential arrays the hardware's own is
 * ahead of it. Stores go around the caches where the arrays exceed them.
 */
#if defined(__x86_64__)
#include <immintrin.h>

#include "stream_variants.h"

#define VEC_FLOATS 16

static void read_slice(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	uint64_t bytes;
	const char *a = stream_slice(job, ASSAY_STREAM_READ_A, tid, &bytes);
	__m512i acc[8];
	char *sum = (char *)job->tensors[ASSAY_STREAM_READ_SUM].data + (uint64_t)tid * 8 * ASSAY_STREAM_SUM_LANES;

	(void)n_threads;
	for (unsigned v = 0; v < 8; v++)
		acc[v] = _mm512_setzero_si512();
	for (uint64_t pass = assay_stream_passes(bytes, 1); pass; pass--) {
		for (uint64_t i = 0; i < bytes; i += 8 * sizeof(acc[0]))
			for (unsigned v = 0; v < 8; v++)
				acc[v] = _mm512_add_epi64(
					acc[v], _mm512_loadu_si512((const void *)(a + i + v * sizeof(acc[0]))));
		stream_next_pass();
	}
	for (unsigned v = 1; v < 8; v++)
		acc[0] = _mm512_add_epi64(acc[0], acc[v]);
	_mm512_storeu_si512(sum, acc[0]);
}

static void copy_slice(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	uint64_t bytes;
	const float *a = (const float *)stream_slice(job, ASSAY_STREAM_COPY_A, tid, &bytes);
	float *b = (float *)stream_slice(job, ASSAY_STREAM_COPY_B, tid, &bytes);

	(void)n_threads;
	if (stream_around_caches(job, b)) {
		for (uint64_t i = 0; i < bytes / 4; i += 4 * VEC_FLOATS)
			for (unsigned v = 0; v < 4 * VEC_FLOATS; v += VEC_FLOATS)
				_mm512_stream_ps(b + i + v, _mm512_loadu_ps(a + i + v));
		_mm_sfence();
		return;
	}
	for (uint64_t pass = assay_stream_passes(bytes, 2); pass; pass--) {
		for (uint64_t i = 0; i < bytes / 4; i += 4 * VEC_FLOATS)
			for (unsigned v = 0; v < 4 * VEC_FLOATS; v += VEC_FLOATS)
				_mm512_storeu_ps(b + i + v, _mm512_loadu_ps(a + i + v));
		stream_next_pass();
	}
}

static inline __m512 triad(const float *b, const float *c)
{
	return _mm512_add_ps(_mm512_loadu_ps(b), _mm512_mul_ps(_mm512_set1_ps(ASSAY_STREAM_SCALE), _mm512_loadu_ps(c)));
}

static void triad_slice(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	uint64_t bytes;
	const float *b = (const float *)stream_slice(job, ASSAY_STREAM_TRIAD_B, tid, &bytes);
	const float *c = (const float *)stream_slice(job, ASSAY_STREAM_TRIAD_C, tid, &bytes);
	float *a = (float *)stream_slice(job, ASSAY_STREAM_TRIAD_A, tid, &bytes);

	(void)n_threads;
	if (stream_around_caches(job, a)) {
		for (uint64_t i = 0; i < bytes / 4; i += 4 * VEC_FLOATS)
			for (unsigned v = 0; v < 4 * VEC_FLOATS; v += VEC_FLOATS)
				_mm512_stream_ps(a + i + v, triad(b + i + v, c + i + v));
		_mm_sfence();
		return;
	}
	for (uint64_t pass = assay_stream_passes(bytes, 3); pass; pass--) {
		for (uint64_t i = 0; i < bytes / 4; i += 4 * VEC_FLOATS)
			for (unsigned v = 0; v < 4 * VEC_FLOATS; v += VEC_FLOATS)
				_mm512_storeu_ps(a + i + v, triad(b + i + v, c + i + v));
		stream_next_pass();
	}
}

int assay_stream_read_avx512(struct assay_job *job)
{
	job->host->parallel(job, read_slice, job);
	return 0;
}

int assay_stream_copy_avx512(struct assay_job *job)
{
	job->host->parallel(job, copy_slice, job);
	return 0;
}

int assay_stream_triad_avx512(struct assay_job *job)
{
	job->host->parallel(job, triad_slice, job);
	return 0;
}
#endif
