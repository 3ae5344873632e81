/* SPDX-License-Identifier: Apache-2.0 */
/* How long a thread was kept from its CPU, according to the kernel's account of that thread. */
#ifndef ASSAY_MACHINE_LOST_TIME_H
#define ASSAY_MACHINE_LOST_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* Of one thread. */
struct assay_thread_time {
	uint64_t wall_ns;   /* CLOCK_MONOTONIC_RAW */
	uint64_t cpu_ns;    /* CLOCK_THREAD_CPUTIME_ID; leaves out stolen time where the kernel accounts for it */
	uint64_t waited_ns; /* second number of /proc/thread-self/schedstat: ready to run, and not running */
	bool waits_told;    /* false: this kernel does not tell waited_ns */
	bool cpu_told;      /* false: cpu_ns moves in steps too large for a sample */
};

struct assay_lost_time {
	uint64_t waited_ns; /* for a CPU that others had */
	uint64_t stolen_ns; /* with neither CPU nor wait: the hypervisor had the CPU, or interrupts that count apart */
	bool told;          /* false: the kernel did not tell, and both are 0 */
};

/*
 * Read the times of the calling thread, in about 3 µs. The first call of a thread opens a file of /proc that stays
 * open, so this is for the threads of a worker, which live as long as it does.
 */
void assay_thread_time_read(struct assay_thread_time *out);

/*
 * Between two readings of a thread that left its CPU so often meanwhile. A thread that never slept (@voluntary 0) lost
 * all time in which it did not calculate. Of one that slept, or whose clock is too coarse, only the waits are known.
 */
struct assay_lost_time assay_lost_time_between(const struct assay_thread_time *before,
					       const struct assay_thread_time *after, uint64_t voluntary,
					       uint64_t involuntary);

/*
 * The host's counter of steal moves in ticks of 10 ms, which tell neither when nor from whom. Did the threads' own
 * clocks show about as much as these ticks, so that they can be believed instead? A quarter is enough, because the
 * first tick may have been nearly full before.
 */
bool assay_steal_is_timed(uint64_t stolen_ns, uint64_t ticks);

/* Leave out of @before what has happened to the calling thread since @stood. */
void assay_thread_time_leave_out(struct assay_thread_time *before, const struct assay_thread_time *stood);

/* Raise @most, which starts with `told` set, to what another thread lost: side by side, threads lose together. */
void assay_lost_time_most(struct assay_lost_time *most, const struct assay_lost_time *d);

#endif
