/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of what all threads of a process and of its children execute in user space, at even steps of the CPU time of
 * each: registers and the top of the stack, from perf_event_open(2)'s software clock. One ring of memory for each CPU,
 * nothing on disk.
 */
#ifndef ASSAY_PROFILE_CPU_SAMPLER_H
#define ASSAY_PROFILE_CPU_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define ASSAY_SAMPLE_REGISTERS 33 /* the most that an architecture has: AArch64's x0 to x30, sp and pc */

struct assay_cpu_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	pid_t pid, tid;
	uint64_t ip, sp;
	uint64_t registers[ASSAY_SAMPLE_REGISTERS]; /* in the order of DWARF's numbers, for this architecture */
	const unsigned char *stack;                 /* copied from `sp` upwards; valid during the call */
	size_t stack_bytes;
};

/* What is told of the processes that are sampled. Texts and samples are valid during the call. */
struct assay_cpu_listener {
	void *arg;
	void (*mapped)(void *arg, pid_t pid, const char *path, uint64_t start, uint64_t bytes, uint64_t file_offset);
	void (*forked)(void *arg, pid_t parent, pid_t child); /* with the same files mapped */
	void (*executed)(void *arg, pid_t pid);               /* another program: nothing is mapped any more */
	void (*sampled)(void *arg, const struct assay_cpu_sample *sample);
};

struct assay_cpu_sampler;

/*
 * Attach to @pid and all its threads, and to those that it starts later; nothing is sampled before
 * assay_cpu_sampler_go(). ASSAY_EUNAVAILABLE says what forbids it and what to do, ASSAY_ENOTFOUND that the process has
 * ended.
 */
int assay_cpu_sampler_open(struct assay_cpu_sampler **out, pid_t pid, unsigned rate_hz, struct assay_err *err);
void assay_cpu_sampler_close(struct assay_cpu_sampler *s);

void assay_cpu_sampler_go(struct assay_cpu_sampler *s);
void assay_cpu_sampler_pause(struct assay_cpu_sampler *s);

/*
 * Tell of all that happened so far: of processes first, then samples, those of one CPU in order of time. To be called
 * more often than rings fill.
 */
void assay_cpu_sampler_drain(struct assay_cpu_sampler *s, const struct assay_cpu_listener *l);
/* How long a ring takes to fill half, at this rate. */
uint64_t assay_cpu_sampler_patience_ns(const struct assay_cpu_sampler *s);
/* Samples that the kernel dropped, because a ring was full. */
uint64_t assay_cpu_sampler_lost(const struct assay_cpu_sampler *s);

#endif
