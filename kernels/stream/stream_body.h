/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.* for one instruction set, whose file includes this after it has defined VEC_BYTES of its vectors,
 * STORE_AROUND(p, v), a store of floats around the caches, and STREAM_ISA, the name of the variant.
 *
 * Plain loads without software prefetch: on sequential arrays the hardware's own is ahead of it. It is thrown off when
 * lines are touched out of order, which compilers do to independent sums, so the loads are kept in order. Stores go
 * around the caches where the arrays exceed them.
 */
#include <stdbool.h>
#include <string.h>

#include "../kernel_isa.h"
#include "stream_variants.h"

#define LANES     (VEC_BYTES / sizeof(uint64_t))
#define FLOATS    (VEC_BYTES / sizeof(float))
#define TURN_VECS 4 /* vectors that copy and triad load and store before the next */

#define READ_SUMS 4   /* chains of additions, of latency one */
#define READ_TURN 256 /* bytes of a half before it is the other's turn */

#define RUN_OF_(op, isa) assay_stream_##op##_##isa
#define RUN_OF(op, isa)  RUN_OF_(op, isa)

typedef uint64_t vec_words __attribute__((vector_size(VEC_BYTES)));
typedef float vec_floats __attribute__((vector_size(VEC_BYTES)));

static inline vec_words load_words(const void *p)
{
	vec_words v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline vec_floats load_floats(const float *p)
{
	vec_floats v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Adds READ_TURN bytes from p on, in order. */
static inline void read_turn(const char *p, vec_words acc[READ_SUMS])
{
	for (unsigned v = 0; v < READ_TURN / VEC_BYTES; v++) {
		acc[v % READ_SUMS] += load_words(p + v * VEC_BYTES);
		IN_SOURCE_ORDER(acc[v % READ_SUMS]);
	}
}

/*
 * Both halves of the slice in turn: two sequential streams keep more lines in flight than one. A half begins on a line,
 * so that the lanes of its vectors are those of the sum.
 */
static void read_slice(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	uint64_t bytes, lanes[READ_SUMS * LANES];
	const char *a = stream_slice(job, ASSAY_STREAM_READ_A, tid, &bytes);
	uint64_t *sum = (uint64_t *)job->tensors[ASSAY_STREAM_READ_SUM].data + (uint64_t)tid * ASSAY_STREAM_SUM_LANES;
	vec_words acc[READ_SUMS] = { { 0 } };

	(void)n_threads;
	for (uint64_t pass = assay_stream_passes(job->shape, bytes, 1); pass; pass--) {
		for (uint64_t i = 0; i < bytes / 2; i += READ_TURN) {
			read_turn(a + i, acc);
			read_turn(a + bytes / 2 + i, acc);
		}
		stream_next_pass();
	}
	memcpy(lanes, acc, sizeof(lanes));
	memset(sum, 0, ASSAY_STREAM_SUM_LANES * sizeof(*sum));
	for (unsigned l = 0; l < READ_SUMS * LANES; l++)
		sum[l % ASSAY_STREAM_SUM_LANES] += lanes[l];
}

INLINE void put(float *p, vec_floats v, const bool around)
{
	if (around)
		STORE_AROUND(p, v);
	else
		memcpy(p, &v, sizeof(v));
}

INLINE void copy_once(const float *a, float *b, uint64_t n, const bool around)
{
	for (uint64_t i = 0; i < n; i += TURN_VECS * FLOATS)
		for (unsigned v = 0; v < TURN_VECS * FLOATS; v += FLOATS)
			put(b + i + v, load_floats(a + i + v), around);
}

INLINE void triad_once(const float *b, const float *c, float *a, uint64_t n, const bool around)
{
	for (uint64_t i = 0; i < n; i += TURN_VECS * FLOATS)
		for (unsigned v = 0; v < TURN_VECS * FLOATS; v += FLOATS)
			put(a + i + v, load_floats(b + i + v) + ASSAY_STREAM_SCALE * load_floats(c + i + v), around);
}

static void copy_slice(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	uint64_t bytes;
	const float *a = (const float *)stream_slice(job, ASSAY_STREAM_COPY_A, tid, &bytes);
	float *b = (float *)stream_slice(job, ASSAY_STREAM_COPY_B, tid, &bytes);
	const bool around = stream_around_caches(job, b);

	(void)n_threads;
	for (uint64_t pass = assay_stream_passes(job->shape, bytes, 2); pass; pass--) {
		if (around)
			copy_once(a, b, bytes / 4, true);
		else
			copy_once(a, b, bytes / 4, false);
		stream_next_pass();
	}
	if (around)
		__builtin_ia32_sfence();
}

static void triad_slice(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	uint64_t bytes;
	const float *b = (const float *)stream_slice(job, ASSAY_STREAM_TRIAD_B, tid, &bytes);
	const float *c = (const float *)stream_slice(job, ASSAY_STREAM_TRIAD_C, tid, &bytes);
	float *a = (float *)stream_slice(job, ASSAY_STREAM_TRIAD_A, tid, &bytes);
	const bool around = stream_around_caches(job, a);

	(void)n_threads;
	for (uint64_t pass = assay_stream_passes(job->shape, bytes, 3); pass; pass--) {
		if (around)
			triad_once(b, c, a, bytes / 4, true);
		else
			triad_once(b, c, a, bytes / 4, false);
		stream_next_pass();
	}
	if (around)
		__builtin_ia32_sfence();
}

int RUN_OF(read, STREAM_ISA)(struct assay_job *job)
{
	job->host->parallel(job, read_slice, job);
	return 0;
}

int RUN_OF(copy, STREAM_ISA)(struct assay_job *job)
{
	job->host->parallel(job, copy_slice, job);
	return 0;
}

int RUN_OF(triad, STREAM_ISA)(struct assay_job *job)
{
	job->host->parallel(job, triad_slice, job);
	return 0;
}
