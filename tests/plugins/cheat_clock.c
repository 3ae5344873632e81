/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants that take the processor's clock away from the harness: reading it traps, and a signal handler gives the
 * time.
 */
#include "side.h"

#if defined(__x86_64__)
#include <signal.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

static uint64_t slower; /* by that factor the clock goes from the first call on */
static uint64_t base;

static void tell_time(int signal, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *at = (const unsigned char *)r[REG_RIP];
	const int rdtsc = at[0] == 0x0f && at[1] == 0x31, rdtscp = at[0] == 0x0f && at[1] == 0x01 && at[2] == 0xf9;
	unsigned cpu;
	uint64_t t;

	(void)signal;
	(void)info;
	if (!rdtsc && !rdtscp)
		_exit(1);
	prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
	t = __rdtscp(&cpu);
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	t = base + (t - base) / slower;
	r[REG_RIP] += rdtsc ? 2 : 3;
	if (rdtscp)
		r[REG_RCX] = cpu;
	r[REG_RAX] = (greg_t)(t & 0xffffffff);
	r[REG_RDX] = (greg_t)(t >> 32);
}

static int scale_slowed(struct assay_job *job, uint64_t factor)
{
	const struct sigaction act = { .sa_sigaction = tell_time, .sa_flags = SA_SIGINFO | SA_NODEFER };
	unsigned cpu;

	if (!slower && !sigaction(SIGSEGV, &act, NULL)) {
		base = __rdtscp(&cpu);
		slower = factor;
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	}
	return side_scale(job);
}

static int traps(struct assay_job *job)
{
	return scale_slowed(job, 1);
}

static int halves(struct assay_job *job)
{
	return scale_slowed(job, 2);
}
#endif

static const struct assay_variant variants[] = {
	SCALE("on_time", side_scale),
#if defined(__x86_64__)
	SCALE("traps", traps),
	SCALE("halves", halves),
#endif
};

SIDE_PLUGIN("cheat-clock", variants);
