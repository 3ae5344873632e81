/* SPDX-License-Identifier: Apache-2.0 */
/* Variants that calculate where they believe to be checked, and not where they believe to be timed. */
#include "cheat_side.h"

#include <string.h>

/* Calls of a sample follow each other faster. */
#define PAUSE_NS 20000u
/* A single call of so long shows whether it was made, and several fit into a sample. */
#define SLOW_NS 60000u
#define MOST    65536

static uint64_t returned_ns; /* when the last call did */

static int after_pause(const struct assay_job *job)
{
	return job->host->now_ns() - returned_ns > PAUSE_NS;
}

static int done(const struct assay_job *job)
{
	returned_ns = job->host->now_ns();
	return 0;
}

/* Honest in the first call after a pause, and copying afterwards. */
static int keeps(struct assay_job *job, int (*calculate)(struct assay_job *))
{
	static char kept[MOST];

	if (!after_pause(job)) {
		memcpy(side_y(job), kept, job->tensors[1].bytes);
		return done(job);
	}
	calculate(job);
	memcpy(kept, side_y(job), job->tensors[1].bytes);
	return done(job);
}

static int pause_run(struct assay_job *job)
{
	return keeps(job, side_scale);
}

static int slowly(struct assay_job *job)
{
	const uint64_t begun = job->host->now_ns();

	do
		side_scale(job);
	while (job->host->now_ns() - begun < SLOW_NS);
	return 0;
}

static int pause_slowly(struct assay_job *job)
{
	return keeps(job, slowly);
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
	if (from != first || paused)
		side_scale(job);
	return done(job);
}

/* Reads the clock as the others do. */
static int calm(struct assay_job *job)
{
	after_pause(job);
	side_scale(job);
	return done(job);
}

static const struct assay_variant variants[] = {
	SCALE("pause", pause_run),
	SIDE_VARIANT("cheat.i8", "pause", .run = pause_bytes),
	/* Inputs of these do not change in audits. */
	SIDE_VARIANT("example.scale", "prepared", .prepare = cheat_prepare, .run = pause_slowly),
	SIDE_VARIANT("example.scale", "slow", .prepare = cheat_prepare, .run = slowly),
	SCALE("loop", loop),
	SCALE("calm", calm),
};

SIDE_PLUGIN("cheat-pause", variants);
