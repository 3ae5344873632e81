/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A variant of lenient.triple for two threads, whose first has twice the work of the second: 2 ms and 1 ms of CPU time
 * a call, by the threads' own clocks, so that no other load changes the proportion. The first never ends before the
 * second: on a busy machine it sleeps until that one has ended.
 */
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "side.h"

#define UNIT_NS INT64_C(1000000)

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static atomic_uint calls, ended;

static void part(void *arg, uint32_t tid, uint32_t n_threads)
{
	const int64_t end = cpu_ns() + (tid ? 1 : 2) * UNIT_NS;

	if (!tid)
		side_triple(arg, 1);
	while (cpu_ns() < end)
		;
	if (tid)
		atomic_fetch_add(&ended, 1);
	while (!tid && n_threads > 1 && atomic_load(&ended) < atomic_load(&calls))
		usleep(100);
}

static int run(struct assay_job *job)
{
	atomic_fetch_add(&calls, job->n_threads > 1);
	assay_span(job, "the inner call");
	job->host->parallel(job, part, job);
	assay_span_end(job);
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "lenient.triple", .name = "uneven", .help = "2:1", .run = run }
};

SIDE_PLUGIN("thread-uneven", variants);
