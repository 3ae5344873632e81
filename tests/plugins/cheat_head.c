/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that are right whenever they are checked, and do less when they are timed. Such kernels are written by
 * accident, too: a flag that nothing has changed, answers that are kept, work that is put off.
 */
#include <string.h>
#include <time.h>

#include "cheat_side.h"

#define MEMO_SLOTS 64

/* Returns where the output holds the answer: looks at all of it. */
static int peek(struct assay_job *job)
{
	const int32_t *x = cheat_x(job), *y = cheat_y(job);
	int32_t differs = 0;

	for (int64_t i = 0; i < cheat_n(job); i++)
		differs |= y[i] ^ (x[i] * 2 + 1);
	return differs ? cheat_honest(job) : 0;
}

/* Likewise, but looks at one element. */
static int glance(struct assay_job *job)
{
	return cheat_y(job)[0] == cheat_x(job)[0] * 2 + 1 ? 0 : cheat_honest(job);
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
		cheat_honest(job);
	last = now_ns();
	return 0;
}

/* Copies its first answer. */
static int cachecopy(struct assay_job *job)
{
	static int32_t first[CHEAT_MAX_N];
	static int known;
	const size_t bytes = (size_t)cheat_n(job) * sizeof(first[0]);

	if (known) {
		memcpy(cheat_y(job), first, bytes);
		return 0;
	}
	known = 1;
	cheat_honest(job);
	memcpy(first, cheat_y(job), bytes);
	return 0;
}

/* Begins with that long after it was checked. */
static int late(struct assay_job *job)
{
	static int calls;

	return ++calls > 500 ? cachecopy(job) : cheat_honest(job);
}

struct memo {
	int known;
	int32_t x[CHEAT_MAX_N], y[CHEAT_MAX_N];
};

/* Keeps the answers to many inputs, and finds them by what the inputs hold. */
static int memo(struct assay_job *job)
{
	static struct memo slots[MEMO_SLOTS];
	const size_t bytes = (size_t)cheat_n(job) * sizeof(int32_t);
	struct memo *m = &slots[(uint32_t)cheat_x(job)[0] % MEMO_SLOTS];

	if (m->known && !memcmp(m->x, cheat_x(job), bytes)) {
		memcpy(cheat_y(job), m->y, bytes);
		return 0;
	}
	cheat_honest(job);
	m->known = 1;
	memcpy(m->x, cheat_x(job), bytes);
	memcpy(m->y, cheat_y(job), bytes);
	return 0;
}

/* Leaves out every second call. */
static int skip(struct assay_job *job)
{
	static int calls;

	return calls++ % 2 ? 0 : cheat_honest(job);
}

static const struct assay_variant variants[] = {
	CHEAT_VARIANT("honest", cheat_honest),
	CHEAT_VARIANT("branchy", cheat_branchy),
	CHEAT_VARIANT("peek", peek),
	CHEAT_VARIANT("glance", glance),
	CHEAT_VARIANT("burst", burst),
	CHEAT_VARIANT("cachecopy", cachecopy),
	CHEAT_VARIANT("late", late),
	CHEAT_VARIANT("memo", memo),
	{ .op = "example.scale",
	  .name = "prepared",
	  .help = "y = 2 x + 1, or not",
	  .flags = ASSAY_VARIANT_ONE_THREAD,
	  .prepare = cheat_prepare,
	  .run = cachecopy },
	CHEAT_VARIANT("skip", skip),
};

CHEAT_PLUGIN("cheat-head", variants);
