/* SPDX-License-Identifier: Apache-2.0 */
/* Variants with threads, or a signal handler, that nobody gave them, and what they do when. */
#include "side.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

/* Calls of a sample are nearer to each other; a turn of the partner is longer. */
#define PAUSE_NS 200000u

static _Atomic uint64_t called_ns; /* when the last call began */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is_paused(void)
{
	return atomic_load(&called_ns) && now_ns() - atomic_load(&called_ns) > PAUSE_NS;
}

/* It would share the CPU of the thread that began it. */
static void go_anywhere(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
}

static void *spin(void *arg)
{
	volatile uint64_t n = 0;

	(void)arg;
	go_anywhere();
	pthread_setname_np(pthread_self(), "blas-pool-1");
	for (;;)
		n = n + 1;
	return NULL;
}

static void *spin_in_pauses(void *arg)
{
	const struct timespec nap = { .tv_nsec = 50000 };

	(void)arg;
	go_anywhere();
	pthread_setname_np(pthread_self(), "flusher");
	for (;;)
		if (!is_paused())
			nanosleep(&nap, NULL);
	return NULL;
}

static void *spin_a_while(void *arg)
{
	const uint64_t begun_ns = now_ns();

	(void)arg;
	while (now_ns() - begun_ns < 30000000)
		;
	return NULL;
}

/* Once; @n, so that a busy machine leaves some of them a CPU. */
static int begin(struct assay_job *job, void *(*f)(void *), int n)
{
	static int begun;
	pthread_t thread;

	for (; begun < n; begun++)
		if (pthread_create(&thread, NULL, f, NULL) || pthread_detach(thread))
			return job->host->fail(job, "no thread");
	return 0;
}

static int hidden(struct assay_job *job)
{
	return begin(job, spin, 32) || side_scale(job);
}

static int away_prepare(struct assay_job *job)
{
	return begin(job, spin_in_pauses, 8);
}

static void work_in_pauses(int signal)
{
	const uint64_t begun_ns = now_ns();

	(void)signal;
	while (is_paused() && now_ns() - begun_ns < 800000)
		;
}

static int alarm_prepare(struct assay_job *job)
{
	const struct itimerval each = { .it_interval = { .tv_usec = 1000 }, .it_value = { .tv_usec = 1000 } };
	const struct sigaction act = { .sa_handler = work_in_pauses, .sa_flags = SA_RESTART };

	if (sigaction(SIGALRM, &act, NULL) || setitimer(ITIMER_REAL, &each, NULL))
		return job->host->fail(job, "no timer");
	return 0;
}

static int told(struct assay_job *job)
{
	atomic_store(&called_ns, now_ns());
	return side_scale(job);
}

/* Repacking weights on all cores is no cheat: what prepare takes is told apart. */
static int packs_prepare(struct assay_job *job)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, spin_a_while, NULL) || pthread_join(thread, NULL))
		return job->host->fail(job, "no thread");
	return 0;
}

static const struct assay_variant variants[] = {
	SCALE("hidden", hidden),
	SIDE_VARIANT("example.scale", "away", .prepare = away_prepare, .run = told),
	SIDE_VARIANT("example.scale", "alarm", .prepare = alarm_prepare, .run = told),
	SIDE_VARIANT("example.scale", "packs", .prepare = packs_prepare, .run = side_scale),
};

SIDE_PLUGIN("cheat-threads", variants);
