/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples what all threads of a process and of its children execute in user space, at even steps of the CPU time of
 * each: registers and the top of the stack, through rings in memory, nothing on disk. If the kernel does not permit
 * sampling, a preloaded object samples with a timer for each thread.
 */
#ifndef ASSAY_PROFILE_CPU_SAMPLER_H
#define ASSAY_PROFILE_CPU_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "profile/sample_ring.h"

struct assay_cpu_sampler;
struct perf_event_attr;

/* ---- cpu source ---- */

/* The ways to take samples: a row of functions for each, behind cpu_sampler.h. */

struct assay_cpu_sampling {
	unsigned rate_hz;
	bool leaves;   /* no stacks, which cost more than all else: only where code was executed */
	bool own_case; /* the process is a worker: signals while it waits do no harm */
};

struct assay_cpu_source {
	/* Set s->state, or say why this does not work here. */
	int (*open)(struct assay_cpu_sampler *s, struct assay_err *err);
	/*
	 * Attach to @pid and all its threads, and to those that it starts later; nothing is sampled before
	 * assay_cpu_sampler_go(). ASSAY_ENOTFOUND: the process has ended.
	 */
	int (*attach)(struct assay_cpu_sampler *s, pid_t pid, struct assay_err *err);
	void (*enable)(struct assay_cpu_sampler *s, bool on);
	/* Copy s->stack_bytes of the stacks of these processes from now on; on failure everything stays as it was. */
	int (*deepen)(struct assay_cpu_sampler *s, const pid_t *pids, size_t n);
	void (*close)(struct assay_cpu_sampler *s); /* also what is half open */
	bool pauses_free;                           /* where it is not enabled it costs nothing */
	/* These may be NULL. */
	uint64_t (*lost)(const struct assay_cpu_sampler *s); /* beyond what rings tell */
	double (*rate_hz)(const struct assay_cpu_sampler *s);
	/* Why there may be no samples: no process took part, such as a static program where timers are preloaded. */
	const char *(*absent)(const struct assay_cpu_sampler *s);
};

struct assay_cpu_sampler {
	const struct assay_cpu_source *source;
	struct assay_cpu_sampling how;
	char name[64];              /* of the source, for people */
	const char *environment[3]; /* that the process needs, as "NAME=value" up to a NULL */
	struct assay_sample_ring *rings;
	size_t n_rings;
	uint64_t lost;
	uint32_t stack_bytes; /* copied by a sample, at most */
	bool on;
	void *state; /* of the source; malloc'ed */
};

extern const struct assay_cpu_source assay_perf_source, assay_timer_source;

/*
 * Choose what samples, before the process begins. ASSAY_EUNAVAILABLE says what forbids every way and what to do. Close
 * it in either case; NULL is allowed.
 */
int assay_cpu_sampler_open(struct assay_cpu_sampler **out, const struct assay_cpu_sampling *how, struct assay_err *err);
void assay_cpu_sampler_close(struct assay_cpu_sampler *s);

void assay_cpu_sampler_go(struct assay_cpu_sampler *s);
void assay_cpu_sampler_pause(struct assay_cpu_sampler *s);
/*
 * Copy more of the stacks of these processes and of those that they start: @wanted bytes and what callers beyond need,
 * as far as a sample has room for it.
 */
void assay_cpu_sampler_deepen(struct assay_cpu_sampler *s, const pid_t *pids, size_t n, uint64_t wanted);

/* Report everything that happened so far. Call this more often than rings fill. */
void assay_cpu_sampler_drain(struct assay_cpu_sampler *s, const struct assay_cpu_listener *l);
/* How long a ring takes to fill half, at this rate. */
uint64_t assay_cpu_sampler_read_every_ns(const struct assay_cpu_sampler *s);
/* Samples that were dropped, because a ring was full. */
uint64_t assay_cpu_sampler_lost(const struct assay_cpu_sampler *s);
/* The rate at which samples came: timers of CPU time are bound to the kernel's tick. */
double assay_cpu_sampler_rate_hz(const struct assay_cpu_sampler *s);

/* ---- perf event ---- */

/*
 * Which event of perf_event_open(2) takes samples: cycles where the machine has a PMU that counts them, else the
 * software clock of the kernel.
 */

struct assay_perf_event {
	const char *name; /* for people */
	uint32_t type;
	uint64_t config;
	bool by_frequency; /* the kernel finds the period that gives the rate */
};

/* How events are opened; stands in for the kernel in tests. */
struct assay_perf_opener {
	/* A descriptor of an event of the calling thread that counts, else -1 and errno. */
	int (*open)(void *arg, const struct perf_event_attr *a);
	/* The count while the thread worked a little; 0: it does not tick. Closes it. */
	uint64_t (*close)(void *arg, int fd);
	void *arg;
};

/* The first event that opens and ticks. NULL: none does, and errno says why the last, the software clock, did not. */
const struct assay_perf_event *assay_perf_event_choose(const struct assay_perf_opener *opener);

#endif
