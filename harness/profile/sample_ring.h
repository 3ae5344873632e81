/* SPDX-License-Identifier: Apache-2.0 */
/* Reading rings of records in the layout of perf_event_open(2), whoever writes them (counters/sample_record.h). */
#ifndef ASSAY_PROFILE_SAMPLE_RING_H
#define ASSAY_PROFILE_SAMPLE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "counters/sample_record.h"

#define ASSAY_SAMPLE_REGISTERS 33 /* the most that an architecture has: AArch64's x0 to x30, sp and pc */

struct assay_cpu_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	pid_t pid, tid;
	uint64_t ip, sp;                            /* sp 0: only where it was is known */
	uint64_t registers[ASSAY_SAMPLE_REGISTERS]; /* in the order of DWARF's numbers, for this architecture */
	const unsigned char *stack;                 /* copied from `sp` upwards; valid during the call */
	size_t stack_bytes;
};

/* Events of the processes that are sampled. Texts and samples are valid during the call. */
struct assay_cpu_listener {
	void *arg;
	void (*mapped)(void *arg, pid_t pid, const char *path, uint64_t start, uint64_t bytes, uint64_t file_offset);
	void (*forked)(void *arg, pid_t parent, pid_t child); /* with the same files mapped */
	void (*executed)(void *arg, pid_t pid);               /* another program: nothing is mapped any more */
	void (*sampled)(void *arg, const struct assay_cpu_sample *sample);
};

struct assay_sample_ring {
	uint64_t *head, *tail; /* of who writes and who reads; NULL: there is no ring */
	const unsigned char *data;
	size_t bytes;        /* of the data, a power of two */
	bool leaves;         /* its samples have no registers and no stack */
	uint64_t end;        /* to where this drain goes */
	uint64_t next;       /* of its first pass: the next record of a process, */
	uint64_t next_ns;    /* and when that happened; UINT64_MAX: there is none */
	unsigned char *copy; /* of a record that goes round the end; malloc'ed */
};

/*
 * Report everything that @n rings hold: first what happened to processes, in order of time, because a program may start
 * another one on another CPU, and then samples, those of one ring in order of time. Returns how many samples the
 * writers dropped.
 */
uint64_t assay_sample_rings_drain(struct assay_sample_ring *rings, size_t n, const struct assay_cpu_listener *l);

#endif
