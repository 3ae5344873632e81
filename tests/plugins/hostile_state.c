/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants that are right and change what the results and times of their thread rest on. hostile_flush does so as soon
 * as it is loaded, as an object that some compilers linked with -ffast-math does.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "side.h"

/* Sets bits of the register that controls floating-point arithmetic: MXCSR on x86-64, FPCR on AArch64. */
static void float_control_set(uint32_t mxcsr, uint64_t fpcr)
{
#if defined(__x86_64__)
	(void)fpcr;
	__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | mxcsr);
#elif defined(__aarch64__)
	uint64_t before;

	(void)mxcsr;
	__asm__ volatile("mrs %0, fpcr" : "=r"(before));
	__asm__ volatile("msr fpcr, %0" : : "r"(before | fpcr));
#else
	(void)mxcsr;
	(void)fpcr;
#endif
}

static void flush_to_zero(void)
{
	float_control_set(1u << 15, 1u << 24);
}

static void round_towards_zero(void)
{
	float_control_set(3u << 13, 3u << 22);
}

#ifdef PLUGIN_hostile_flush
static __attribute__((constructor)) void when_loaded(void)
{
	flush_to_zero();
}
#endif

static int flush_prepare(struct assay_job *job)
{
	flush_to_zero();
	return 0;
}

static int flush_run(struct assay_job *job)
{
	flush_to_zero();
	return side_scale(job);
}

static void flush_last(void *arg, uint32_t tid, uint32_t n_threads)
{
	if (tid == n_threads - 1)
		flush_to_zero();
}

static int flush_thread_run(struct assay_job *job)
{
	job->host->parallel(job, flush_last, NULL);
	return side_scale(job);
}

static int round_run(struct assay_job *job)
{
	round_towards_zero();
	return side_scale(job);
}

static int x87_run(struct assay_job *job)
{
#if defined(__x86_64__)
	uint16_t cw = 0x27f;

	__asm__ volatile("fldcw %0" : : "m"(cw));
#endif
	return side_scale(job);
}

static int affinity(struct assay_job *job)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	return sched_setaffinity(0, sizeof(all), &all) ? job->host->fail(job, "%s", strerror(errno)) : side_scale(job);
}

static int policy_run(struct assay_job *job)
{
	const struct sched_param none = { 0 };
	static int other = -1; /* than the tests were started with */

	if (other < 0)
		other = sched_getscheduler(0) == SCHED_BATCH ? SCHED_OTHER : SCHED_BATCH;
	sched_setscheduler(0, other, &none);
	return side_scale(job);
}

static int nice_run(struct assay_job *job)
{
	static int other; /* than the tests were started with */

	if (!other)
		other = getpriority(PRIO_PROCESS, 0) == 5 ? 6 : 5;
	setpriority(PRIO_PROCESS, 0, other);
	return side_scale(job);
}

static int mask_run(struct assay_job *job)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return side_scale(job);
}

static int limit_run(struct assay_job *job)
{
	struct rlimit l;

	getrlimit(RLIMIT_NOFILE, &l);
	l.rlim_cur = 100;
	setrlimit(RLIMIT_NOFILE, &l);
	return side_scale(job);
}

static const struct assay_variant variants[] = {
#ifdef PLUGIN_hostile_flush
	SCALE_THREADS("flush_load", NULL, side_scale),
#endif
	SCALE_THREADS("flush_prepare", flush_prepare, side_scale),
	SCALE_THREADS("flush_run", NULL, flush_run),
	SCALE_THREADS("flush_thread", NULL, flush_thread_run),
	SCALE_THREADS("round_run", NULL, round_run),
	SCALE_THREADS("x87_run", NULL, x87_run),
	SCALE_THREADS("affinity_prepare", affinity, side_scale),
	SCALE_THREADS("affinity_run", NULL, affinity),
	SCALE_THREADS("policy_run", NULL, policy_run),
	SCALE_THREADS("nice_run", NULL, nice_run),
	SCALE_THREADS("mask_run", NULL, mask_run),
	SCALE_THREADS("limit_run", NULL, limit_run),
};

SIDE_PLUGIN("hostile-state", variants);
