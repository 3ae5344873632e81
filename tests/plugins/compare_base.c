/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sides of comparisons whose outcome is known, each built from this source with PLUGIN_<name> defined. All offer
 * lenient.triple/work; compare_base is what the others are compared with.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "side.h"

/* More work than compare_base by a known factor. Busy neighbours slow nothing down tenfold. */
#if defined(PLUGIN_compare_slower)
#define ROUNDS (TRIPLE_ROUNDS + TRIPLE_ROUNDS / 20)
#elif defined(PLUGIN_compare_double)
#define ROUNDS (2 * TRIPLE_ROUNDS)
#elif defined(PLUGIN_compare_tenfold)
#define ROUNDS (10 * TRIPLE_ROUNDS)
#elif defined(PLUGIN_compare_twice)
/* under a name of its own */
#define NAME   "twice"
#define ROUNDS (2 * TRIPLE_ROUNDS)
#elif defined(PLUGIN_compare_two)
/* a second variant, which is lost where this is the base and new where it is the head */
#define MORE TRIPLE("extra", run),
#elif defined(PLUGIN_compare_needs)
/* The variants of compare_two, of which one needs CPU features that no simulator has. */
#define HOOKS .needs = "avx512f",
#define MORE  TRIPLE("extra", run),

#elif defined(PLUGIN_compare_wrong)
#define OWN_RUN
/* Less work than compare_base, and one element wrong. */
static int run(struct assay_job *job)
{
	side_triple(job, TRIPLE_ROUNDS / 2);
	side_y(job)[3] += 100;
	return 0;
}

#elif defined(PLUGIN_compare_bits)
#define OWN_RUN
/* Two elements are one off: the oracle does not mind. */
static int run(struct assay_job *job)
{
	side_triple(job, TRIPLE_ROUNDS);
	side_y(job)[5] += 1;
	side_y(job)[9] -= 1;
	return 0;
}

#elif defined(PLUGIN_compare_crash)
#define OWN_RUN
static int run(struct assay_job *job)
{
	raise(SIGSEGV);
	return 0;
}

#elif defined(PLUGIN_compare_spoils)
#define OWN_RUN
/* Right at first; after some runs, long after it was checked, it changes an input. */
static int run(struct assay_job *job)
{
	static int runs;

	side_triple(job, TRIPLE_ROUNDS);
	if (++runs == 10)
		*(int32_t *)job->tensors[0].data ^= 1;
	return 0;
}

#elif defined(PLUGIN_compare_hangs)
#define OWN_RUN
/* Right at first; one of the calls that take turns does not come back. */
static int run(struct assay_job *job)
{
	static int runs;

	side_triple(job, TRIPLE_ROUNDS);
	while (++runs > 300)
		pause();
	return 0;
}

#elif defined(PLUGIN_compare_lazy)
#define OWN_RUN
/* Right where it finds its output poisoned, as it is when it is verified, and wrong otherwise. */
static int run(struct assay_job *job)
{
	const unsigned char *y = job->tensors[1].data;
	const int poisoned = !memcmp(y, y + 1, job->tensors[1].bytes - 1);

	side_triple(job, TRIPLE_ROUNDS);
	if (!poisoned)
		*side_y(job) += 1000;
	return 0;
}

#elif defined(PLUGIN_compare_keeps)
/* The same work, and memory that prepare takes. */
#define HOOKS .prepare = prepare, .release = side_release,
static int prepare(struct assay_job *job)
{
	return side_take(job, 12345) ? 0 : -1;
}

#elif defined(PLUGIN_compare_refuses)
/* Supports no shape at all, where compare_base supports any. */
#define HOOKS .supports = supports,
static int supports(const struct assay_shape *shape, struct assay_reason *why)
{
	snprintf(why->text, sizeof(why->text), "cannot do %lld elements", (long long)shape->axis[0]);
	return -1;
}

#elif defined(PLUGIN_compare_scratch)
#define OWN_RUN
/* Keeps something in scratch from prepare on, and is wrong once another process has written there. */
#define HOOKS .prepare = prepare,
static int prepare(struct assay_job *job)
{
	*(int32_t *)job->tensors[2].data = (int32_t)getpid();
	return 0;
}

static int run(struct assay_job *job)
{
	side_triple(job, TRIPLE_ROUNDS);
	if (*(const int32_t *)job->tensors[2].data != (int32_t)getpid())
		*side_y(job) += 1000;
	return 0;
}

#elif defined(PLUGIN_compare_once)
#define OWN_RUN
/* Wrong in one process, the first that can make the file ASSAY_TEST_ONCE, and right in all others. */
#define HOOKS .prepare = prepare,
static int prepare(struct assay_job *job)
{
	const char *path = getenv("ASSAY_TEST_ONCE");
	int fd = path ? open(path, O_CREAT | O_EXCL | O_WRONLY, 0600) : -1;

	if (fd < 0)
		return 0;
	close(fd);
	job->state = job;
	return 0;
}

static int run(struct assay_job *job)
{
	side_triple(job, TRIPLE_ROUNDS);
	if (job->state)
		*side_y(job) += 1000;
	return 0;
}

#elif defined(PLUGIN_compare_parts)
#define OWN_RUN
/* A long call of eight parts. It is wrong once anybody else writes to its output while it waits between two of them. */
static int run(struct assay_job *job)
{
	int32_t *y = side_y(job);
	int right = 1;

	for (int i = 0; i < 8; i++) {
		const uint64_t start = job->host->now_ns();
		volatile int32_t *mark = &y[i];

		*mark = (int32_t)getpid();
		while (job->host->now_ns() - start < 1500000u)
			;
		assay_part(job);
		right &= *mark == (int32_t)getpid();
	}
	side_triple(job, 1);
	y[0] += right ? 0 : 1000;
	return 0;
}

#elif defined(PLUGIN_compare_hoards)
#define OWN_RUN
/* Prepares three MiB, and is wrong once anybody else has written there. */
#define HOOKS .prepare = prepare, .release = side_release,
#define WORDS ((3 << 20) / sizeof(int32_t))
#define STEP  1024 /* words of a page */
static int prepare(struct assay_job *job)
{
	int32_t *kept = side_take(job, WORDS * sizeof(*kept));

	for (size_t i = 0; kept && i < WORDS; i++) {
		if (kept[i])
			return job->host->fail(job, "the memory is not zero");
		kept[i] = (int32_t)getpid();
	}
	return kept ? 0 : -1;
}

static int run(struct assay_job *job)
{
	const int32_t *kept = job->state;

	side_triple(job, 1);
	for (size_t i = 0; i < WORDS; i += STEP)
		if (kept[i] != (int32_t)getpid())
			*side_y(job) += 1000;
	return 0;
}
#endif

#ifndef OWN_RUN
#ifndef ROUNDS
#define ROUNDS TRIPLE_ROUNDS
#endif
static int run(struct assay_job *job)
{
	side_triple(job, ROUNDS);
	return 0;
}
#endif

#ifndef NAME
#define NAME "work"
#endif
#ifndef HOOKS
#define HOOKS
#endif
#ifndef MORE
#define MORE
#endif
static const struct assay_variant variants[] = { SIDE_VARIANT("lenient.triple", NAME, HOOKS.run = run), MORE };

SIDE_PLUGIN("compare-side", variants);
