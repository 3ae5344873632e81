/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that do less when they are timed, of the kinds of ops and calls that audits take in other ways. */
#include <string.h>
#include <time.h>

#include "cheat_side.h"

#define KEPT_BYTES (32u << 20)
#define KEY_BYTES  64
#define BLOCK      64

/* Looks at eight bytes of the output at a time, and returns where all are right. */
static int peek(struct assay_job *job)
{
	const unsigned char *x = job->tensors[0].data, *y = job->tensors[1].data;
	uint64_t differs = 0;

	for (int64_t i = 0; i + 8 <= side_n(job); i += 8) {
		uint64_t a, b;

		memcpy(&a, x + i, sizeof(a));
		memcpy(&b, y + i, sizeof(b));
		differs |= a ^ b ^ UINT64_C(0x0101010101010101) * CHEAT_MASK;
	}
	return differs ? cheat_bytes(job) : 0;
}

/* Keeps one answer, and finds it by the first @key_bytes of the input. */
static int kept_by(struct assay_job *job, size_t key_bytes)
{
	static unsigned char key[KEPT_BYTES], kept[KEPT_BYTES];
	static int known;
	const size_t bytes = job->tensors[1].bytes;

	if (known && !memcmp(key, job->tensors[0].data, key_bytes)) {
		memcpy(job->tensors[1].data, kept, bytes);
		return 0;
	}
	known = 1;
	cheat_bytes(job);
	memcpy(key, job->tensors[0].data, key_bytes);
	memcpy(kept, job->tensors[1].data, bytes);
	return 0;
}

static int sparse(struct assay_job *job)
{
	return kept_by(job, KEY_BYTES);
}

static int once(struct assay_job *job)
{
	return kept_by(job, job->tensors[0].bytes);
}

/* Keeps answers block by block, and computes blocks that have changed. */
static int blocks(struct assay_job *job)
{
	static unsigned char x[CHEAT_MAX_N], y[CHEAT_MAX_N];
	const unsigned char *in = job->tensors[0].data;

	for (int64_t at = 0; at < side_n(job); at += BLOCK) {
		if (memcmp(x + at, in + at, BLOCK)) {
			memcpy(x + at, in + at, BLOCK);
			for (volatile int64_t i = at; i < at + BLOCK; i++)
				y[i] = x[i] ^ CHEAT_MASK;
		}
		memcpy((unsigned char *)job->tensors[1].data + at, y + at, BLOCK);
	}
	return 0;
}

/* Copies its first answer. */
static int copy(struct assay_job *job, int (*honest)(struct assay_job *))
{
	static int32_t first[CHEAT_MAX_N];
	static int known;

	if (!known) {
		known = 1;
		honest(job);
		memcpy(first, side_y(job), job->tensors[1].bytes);
	}
	memcpy(side_y(job), first, job->tensors[1].bytes);
	return 0;
}

static int state_keep(struct assay_job *job)
{
	return copy(job, cheat_state);
}

/* Begins with that long after it was checked. */
static int state_late(struct assay_job *job)
{
	static int calls;

	return ++calls > 500 ? copy(job, cheat_state) : cheat_state(job);
}

static int prepared_late(struct assay_job *job)
{
	static int calls;

	return ++calls > 500 ? copy(job, side_scale) : side_scale(job);
}

/* Begins with that where the second call had the inputs of the first. */
static int wary(struct assay_job *job)
{
	static int32_t first[KEY_BYTES];
	static int calls, audited;

	if (++calls == 1)
		memcpy(first, side_x(job), sizeof(first));
	if (calls == 2)
		audited = memcmp(first, side_x(job), sizeof(first)) != 0;
	return calls <= 2 || audited ? side_scale(job) : copy(job, side_scale);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Computes a quarter where the last call has just returned. */
static int gap(struct assay_job *job)
{
	static uint64_t returned;
	static int quarter;
	const int64_t n = side_n(job) / 4;

	if (now_ns() - returned > 500) {
		side_scale(job);
	} else {
		quarter = (quarter + 1) % 4;
		for (volatile int64_t i = n * quarter; i < n * (quarter + 1); i++)
			side_y(job)[i] = side_x(job)[i] * 2 + 1;
	}
	returned = now_ns();
	return 0;
}

/* Makes its inputs easy once it was checked. */
static int input(struct assay_job *job)
{
	static int calls;

	if (++calls < 50)
		return side_scale(job);
	memset(job->tensors[0].data, 0, job->tensors[0].bytes);
	for (int64_t i = 0; i < side_n(job); i++)
		side_y(job)[i] = 1;
	return 0;
}

/* Looks at the first elements. */
static int threads_peek(struct assay_job *job)
{
	for (int i = 0; i < KEY_BYTES; i++)
		if (side_y(job)[i] != side_x(job)[i] * 2 + 1)
			return cheat_threads(job);
	return 0;
}

static int parts_peek(struct assay_job *job)
{
	cheat_wait_in_parts(job);
	return side_y(job)[0] == side_x(job)[0] * 2 + 1 ? 0 : side_scale(job);
}

static const struct assay_variant variants[] = {
	SIDE_VARIANT("cheat.i8", "honest", .run = cheat_bytes),
	SIDE_VARIANT("cheat.i8", "blocks", .run = blocks),
	SIDE_VARIANT("cheat.i8", "once", .run = once),
	SIDE_VARIANT("cheat.i8", "peek", .run = peek),
	SIDE_VARIANT("cheat.i8", "sparse", .run = sparse),
	SIDE_VARIANT("cheat.u8", "honest", .run = cheat_bytes),
	SIDE_VARIANT("cheat.u8", "peek", .run = peek),
	SIDE_VARIANT("cheat.u8", "sparse", .run = sparse),
	SIDE_VARIANT("cheat.state", "honest", .run = cheat_state),
	SIDE_VARIANT("cheat.state", "keep", .run = state_keep),
	SIDE_VARIANT("cheat.state", "late", .run = state_late),
	SCALE_THREADS("threads", NULL, cheat_threads),
	SCALE_THREADS("threads_peek", NULL, threads_peek),
	SCALE("parts", cheat_parts),
	SCALE("parts_peek", parts_peek),
	SCALE("wary", wary),
	SCALE("gap", gap),
	SCALE("input", input),
	SIDE_VARIANT("example.scale", "prepared_late", .prepare = cheat_prepare, .run = prepared_late),
};

SIDE_PLUGIN("cheat-kinds", variants);
