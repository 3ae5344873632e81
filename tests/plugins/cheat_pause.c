/* SPDX-License-Identifier: Apache-2.0 */
/* Variants that calculate where they believe to be checked, and not where they believe to be timed. */
#include "cheat_side.h"

#include <string.h>

/* Calls of a sample follow each other faster. */
#define PAUSE_NS 20000u
#define MOST     65536

static int after_pause(const struct assay_job *job)
{
	static uint64_t last_ns;
	const uint64_t before_ns = last_ns;

	last_ns = job->host->now_ns();
	return last_ns - before_ns > PAUSE_NS;
}

/* Honest in the first call after a pause, and copying afterwards. */
static int keeps(struct assay_job *job, int (*calculate)(struct assay_job *))
{
	static char kept[MOST];

	if (!after_pause(job)) {
		memcpy(side_y(job), kept, job->tensors[1].bytes);
		return 0;
	}
	calculate(job);
	memcpy(kept, side_y(job), job->tensors[1].bytes);
	return 0;
}

static int pause_run(struct assay_job *job)
{
	return keeps(job, side_scale);
}

static int pause_bytes(struct assay_job *job)
{
	return keeps(job, cheat_bytes);
}

/* Leaves out all but the first call after a pause where it returns to the loop that called it first. */
static __attribute__((noinline)) int loop(struct assay_job *job)
{
	static void *first;
	void *from = __builtin_return_address(0);
	const int paused = after_pause(job);

	if (!first)
		first = from;
	return from == first && !paused ? 0 : side_scale(job);
}

/* Reads the clock as the others do. */
static int calm(struct assay_job *job)
{
	after_pause(job);
	return side_scale(job);
}

static const struct assay_variant variants[] = {
	SCALE("pause", pause_run),
	SIDE_VARIANT("cheat.i8", "pause", .run = pause_bytes),
	SCALE("loop", loop),
	SCALE("calm", calm),
};

SIDE_PLUGIN("cheat-pause", variants);
