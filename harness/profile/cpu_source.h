/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to take samples: a row of functions for each, behind cpu_sampler.h. */
#ifndef ASSAY_PROFILE_CPU_SOURCE_H
#define ASSAY_PROFILE_CPU_SOURCE_H

#include "base/err.h"
#include "profile/sample_ring.h"

struct assay_cpu_sampling {
	unsigned rate_hz;
	bool leaves;   /* no stacks, which cost more than all else: only where code was executed */
	bool own_case; /* the process is a worker: signals while it waits do no harm */
};

struct assay_cpu_sampler;

struct assay_cpu_source {
	/* Set s->state, or say why this does not work here. */
	int (*open)(struct assay_cpu_sampler *s, struct assay_err *err);
	int (*attach)(struct assay_cpu_sampler *s, pid_t pid, struct assay_err *err);
	void (*enable)(struct assay_cpu_sampler *s, bool on);
	/* Copy s->stack_bytes of the stacks of these processes from now on; on failure everything stays as it was. */
	int (*deepen)(struct assay_cpu_sampler *s, const pid_t *pids, size_t n);
	void (*close)(struct assay_cpu_sampler *s); /* also what is half open */
	bool pauses_free;                           /* where it is not enabled it costs nothing */
	/* These may be NULL. */
	uint64_t (*lost)(const struct assay_cpu_sampler *s); /* beyond what rings tell */
	double (*rate_hz)(const struct assay_cpu_sampler *s);
	const char *(*absent)(const struct assay_cpu_sampler *s);
};

struct assay_cpu_sampler {
	const struct assay_cpu_source *source;
	struct assay_cpu_sampling how;
	char name[96];
	const char *environment[3];
	struct assay_sample_ring *rings;
	size_t n_rings;
	uint64_t lost;
	uint32_t stack_bytes; /* copied by a sample, at most */
	bool on;
	void *state; /* of the source; malloc'ed */
};

extern const struct assay_cpu_source assay_perf_source, assay_timer_source;

#endif
