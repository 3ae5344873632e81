/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants of example.scale that are right and cannot be stepped, each for a reason of its own; and one that calls the
 * system a lot, which can.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
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

/* The handler is there before the first step. */
static void go_on(int number, siginfo_t *info, void *context)
{
#if defined(__x86_64__)
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += number == SIGILL ? 2 : 0;
#endif
}

static int prepare_handlers(struct assay_job *job)
{
	const struct sigaction action = { .sa_sigaction = go_on, .sa_flags = SA_SIGINFO };

	return sigaction(SIGILL, &action, NULL) | sigaction(SIGTRAP, &action, NULL);
}

static int run_trap(struct assay_job *job)
{
#if defined(__x86_64__)
	__asm__ volatile("int3");
#endif
	return scale(job);
}

static int run_unknown(struct assay_job *job)
{
#if defined(__x86_64__)
	__asm__ volatile(".byte 0x0f, 0x04");
#endif
	return scale(job);
}

static int run_old_call(struct assay_job *job)
{
#if defined(__x86_64__)
	long number = 20; /* getpid, of 32 bits */

	__asm__ volatile("int $0x80" : "+a"(number) : : "r8", "r9", "r10", "r11", "memory");
#endif
	return scale(job);
}

/* A loop of code whose first instruction is another one in the second turn. */
static int run_changes(struct assay_job *job)
{
#if defined(__x86_64__)
	/* mov ecx, 2; 1: mov eax, 1; inc dword [rdi + 6]; dec ecx; jnz 1b; ret */
	static const unsigned char code[] = { 0xb9, 2,    0,    0, 0,    0xb8, 1,    0,    0,
					      0,    0xff, 0x47, 6, 0xff, 0xc9, 0x75, 0xf4, 0xc3 };
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return -1;
	memcpy(at, code, sizeof(code));
	((void (*)(void *))(uintptr_t)at)(at);
	munmap(at, 4096);
#endif
	return scale(job);
}

/* The work of a kernel is its own; the calls, and the code after each of them, are the variant's. */
static int run_calls(struct assay_job *job)
{
	for (int i = 0; i < 10; i++)
		if (getppid() != syscall(SYS_getppid))
			return -1;
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

#define VARIANT(way, prepared)                                                                                         \
	{                                                                                                              \
		.op = "example.scale", .name = #way, .help = #way, .prepare = (prepared), .run = run_##way,            \
	}

static const struct assay_variant variants[] = {
	VARIANT(flags, NULL),
	VARIANT(signal, NULL),
	VARIANT(trap, prepare_handlers),
	VARIANT(thread, NULL),
	VARIANT(unknown, prepare_handlers),
	VARIANT(old_call, NULL),
	VARIANT(changes, NULL),
	VARIANT(calls, NULL),
	VARIANT(keeps, NULL),
	VARIANT(varies, NULL),
	VARIANT(dies, NULL),
	VARIANT(crashes, NULL),
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "step-hostile",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
