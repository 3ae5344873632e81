/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A long call, on all threads of the case. It writes a record of its begin and of its end to the file
 * ASSAY_TEST_TRACE: the process, the copy of its output, and which of the two it is. It is wrong once anybody else
 * writes to its output meanwhile, or its clock goes back. Call ASSAY_TEST_DIE_AT of a process ends it half
 * way. With ASSAY_TEST_OWN_THREAD the plugin has a thread of its own; with ASSAY_TEST_FAIL_WHEN_CUT a call fails if a
 * signal ends its sleep.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "side.h"

#define CALL_NS 4000000u

static int trace = -1;

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int prepare(struct assay_job *job)
{
	const char *path = getenv("ASSAY_TEST_TRACE");
	pthread_t thread;

	(void)job;
	if (path && trace < 0)
		trace = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (getenv("ASSAY_TEST_OWN_THREAD") && pthread_create(&thread, NULL, sleep_on, NULL))
		return -1;
	return 0;
}

static int tell(const struct assay_job *job, int64_t end)
{
	const int64_t record[3] = { getpid(), (intptr_t)job->tensors[1].data, end };

	return trace < 0 || write(trace, record, sizeof(record)) == sizeof(record);
}

struct call {
	struct assay_job *job;
	int dies;
	int right[64]; /* by thread */
};

static void spin(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct call *c = arg;
	const uint64_t start = c->job->host->now_ns();
	uint64_t last = start, now = start;
	volatile int32_t *mark = (int32_t *)c->job->tensors[1].data + tid;

	(void)n_threads;
	*mark = (int32_t)getpid();
	c->right[tid] = 1;
	while (now - start < CALL_NS) {
		now = c->job->host->now_ns();
		c->right[tid] &= *mark == (int32_t)getpid() && now >= last;
		last = now;
		if (c->dies && now - start > CALL_NS / 2)
			abort();
	}
}

static int run(struct assay_job *job)
{
	static int calls;
	const char *die_at = getenv("ASSAY_TEST_DIE_AT");
	struct call c = { .job = job, .dies = die_at && ++calls == atoi(die_at) };
	int right = tell(job, 0);

	if (getenv("ASSAY_TEST_FAIL_WHEN_CUT") && nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL))
		return job->host->fail(job, "woken");
	job->host->parallel(job, spin, &c);
	for (uint32_t i = 0; i < job->n_threads; i++)
		right &= c.right[i];
	side_triple(job, 1);
	((int32_t *)job->tensors[1].data)[0] += right ? 0 : 1000;
	return tell(job, 1) ? 0 : job->host->fail(job, "cannot write to ASSAY_TEST_TRACE");
}

static const struct assay_variant variants[] = {
	{ .op = "lenient.triple", .name = "work", .help = "one side", .prepare = prepare, .run = run },
};

SIDE_PLUGIN("compare-slices", variants);
