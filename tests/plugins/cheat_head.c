/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that are right whenever they are checked, and do less when they are timed. Such kernels are written by
 * accident, too: a flag that nothing has changed, answers that are kept, work that is put off.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cheat_side.h"

#define MEMO_SLOTS 64

/* Returns where the output holds the answer: looks at all of it. */
static int peek(struct assay_job *job)
{
	const int32_t *x = side_x(job), *y = side_y(job);
	int32_t differs = 0;

	for (int64_t i = 0; i < side_n(job); i++)
		differs |= y[i] ^ (x[i] * 2 + 1);
	return differs ? side_scale(job) : 0;
}

/* Likewise, but looks at one element. */
static int glance(struct assay_job *job)
{
	return side_y(job)[0] == side_x(job)[0] * 2 + 1 ? 0 : side_scale(job);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Computes in the first two calls after a pause. */
static int burst(struct assay_job *job)
{
	static int64_t last;
	static int calls;
	const int64_t now = now_ns();

	calls = now - last > 20000 ? 1 : calls + 1;
	if (calls <= 2)
		side_scale(job);
	last = now_ns();
	return 0;
}

/* Copies its first answer. */
static int cachecopy(struct assay_job *job)
{
	static int32_t first[CHEAT_MAX_N];
	static int known;
	const size_t bytes = (size_t)side_n(job) * sizeof(first[0]);

	if (known) {
		memcpy(side_y(job), first, bytes);
		return 0;
	}
	known = 1;
	side_scale(job);
	memcpy(first, side_y(job), bytes);
	return 0;
}

/* Begins with that long after it was checked. */
static int late(struct assay_job *job)
{
	static int calls;

	return ++calls > 500 ? cachecopy(job) : side_scale(job);
}

struct memo {
	int known;
	int32_t x[CHEAT_MAX_N], y[CHEAT_MAX_N];
};

/* Keeps the answers to many inputs, and finds them by what the inputs hold. */
static int memo(struct assay_job *job)
{
	static struct memo slots[MEMO_SLOTS];
	const size_t bytes = (size_t)side_n(job) * sizeof(int32_t);
	struct memo *m = &slots[(uint32_t)side_x(job)[0] % MEMO_SLOTS];

	if (m->known && !memcmp(m->x, side_x(job), bytes)) {
		memcpy(side_y(job), m->y, bytes);
		return 0;
	}
	side_scale(job);
	m->known = 1;
	memcpy(m->x, side_x(job), bytes);
	memcpy(m->y, side_y(job), bytes);
	return 0;
}

/* Leaves out every second call. */
static int skip(struct assay_job *job)
{
	static int calls;

	return calls++ % 2 ? 0 : side_scale(job);
}

/* Under valgrind, which is there when instructions are counted, only the first call does anything. */
static int simulated(struct assay_job *job)
{
	const char *preload = getenv("LD_PRELOAD");
	static int calls;

	return preload && strstr(preload, "vgpreload") && calls++ ? 0 : side_scale(job);
}

static const struct assay_variant variants[] = {
	SCALE("honest", side_scale),
	SCALE("branchy", cheat_branchy),
	SCALE("peek", peek),
	SCALE("glance", glance),
	SCALE("burst", burst),
	SCALE("cachecopy", cachecopy),
	SCALE("late", late),
	SCALE("memo", memo),
	SIDE_VARIANT("example.scale", "prepared", .prepare = cheat_prepare, .run = cachecopy),
	SCALE("skip", skip),
	SCALE("simulated", simulated),
};

SIDE_PLUGIN("cheat-head", variants);
