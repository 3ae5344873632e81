/* SPDX-License-Identifier: Apache-2.0 */
/* Variants of example.scale that cannot be stepped, each in its own way, and are right all the same. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <assay/plugin.h>

static int scale(struct assay_job *job)
{
	const int32_t *x = job->tensors[0].data;
	int32_t *y = job->tensors[1].data;

	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		y[i] = (int32_t)((uint32_t)x[i] * 2 + 1);
	return 0;
}

static int run_flags(struct assay_job *job)
{
#if defined(__x86_64__)
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; popfq; lea 128(%%rsp), %%rsp" ::: "memory", "cc");
#endif
	return scale(job);
}

static int run_signal(struct assay_job *job)
{
	sigset_t none;

	sigemptyset(&none);
	pthread_sigmask(SIG_BLOCK, &none, NULL);
	return scale(job);
}

static void *nothing(void *arg)
{
	return arg;
}

static int run_thread(struct assay_job *job)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, nothing, NULL))
		pthread_join(t, NULL);
	return scale(job);
}

static void *forever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* A thread that stays, begun by the first call, which nobody steps. */
static int run_keeps(struct assay_job *job)
{
	static bool begun;
	pthread_t t;

	begun = begun || !pthread_create(&t, NULL, forever, NULL);
	return scale(job);
}

/* The second call differs from the first by a few instructions. */
static int run_varies(struct assay_job *job)
{
	static volatile unsigned calls;

	for (volatile unsigned i = 0; i < calls; i++)
		;
	calls++;
	return scale(job);
}

/* The check is the first call. */
static int run_dies(struct assay_job *job)
{
	static unsigned calls;

	if (calls++)
		kill(getpid(), SIGKILL);
	return scale(job);
}

static int run_crashes(struct assay_job *job)
{
	static unsigned calls;

	if (calls++)
		__builtin_trap();
	return scale(job);
}

#define VARIANT(way)                                                                                                   \
	{                                                                                                              \
		.op = "example.scale", .name = #way, .help = #way, .run = run_##way,                                   \
	}

static const struct assay_variant variants[] = {
	VARIANT(flags),  VARIANT(signal), VARIANT(thread),  VARIANT(keeps),
	VARIANT(varies), VARIANT(dies),   VARIANT(crashes),
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "step-hostile",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
