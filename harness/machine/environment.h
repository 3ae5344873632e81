/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine is (fingerprint) and in which state it is (environment); what it can measure, for `assay doctor`. */
#ifndef ASSAY_MACHINE_ENVIRONMENT_H
#define ASSAY_MACHINE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/result.h"
#include "machine/clock.h"
#include "machine/topology.h"

/*
 * Facts that decide speed and do not change between runs: CPU, microcode, caches, topology, memory, GPU, driver,
 * kernel.
 */
int assay_fingerprint_take(const struct assay_topology *t, struct assay_fingerprint *out, struct assay_err *err);
/* From the /proc and /sys recorded below @root (host_files.h). */
int assay_fingerprint_take_at(const char *root, const struct assay_topology *t, struct assay_fingerprint *out,
			      struct assay_err *err);

/*
 * State that may change between runs: governor, turbo, SMT, ASLR, THP, load, steal, container limits, clock. @out is
 * malloc'ed.
 */
int assay_environment_take(const struct assay_clock *clock, struct assay_fact **out, size_t *n, struct assay_err *err);
int assay_environment_take_at(const char *root, const struct assay_clock *clock, struct assay_fact **out, size_t *n,
			      struct assay_err *err);

/* What a fact says when the host has no such file. */
#define ASSAY_NOT_EXPOSED "not exposed by this host"

struct assay_memory_state {
	uint64_t total_bytes;     /* of the machine */
	uint64_t available_bytes; /* without swapping; not above what the container still allows */
	uint64_t limit_bytes;     /* of the container (cgroup v1 or v2); 0: none */
};
int assay_memory_state(struct assay_memory_state *out, struct assay_err *err);
int assay_memory_state_at(const char *root, struct assay_memory_state *out, struct assay_err *err);

/*
 * Steal ticks (USER_HZ) summed over @cpus, and whether the host shows them at all. Reads /proc/stat: tens of
 * microseconds, more on big machines; not for timed regions.
 */
bool assay_steal_ticks(const int *cpus, size_t n, uint64_t *ticks);
bool assay_steal_ticks_at(const char *root, const int *cpus, size_t n, uint64_t *ticks);
/* Share of all CPU time since boot. */
bool assay_steal_frac_at(const char *root, double *frac);

/* One line of `assay doctor`. */
enum assay_health {
	ASSAY_HEALTH_GOOD,
	ASSAY_HEALTH_WARN,    /* measures, but worse than it could */
	ASSAY_HEALTH_MISSING, /* a capability is absent */
};
struct assay_finding {
	char name[ASSAY_NAME_MAX]; /* "pmu", "governor" */
	enum assay_health health;
	char value[256];  /* what was found */
	char advice[256]; /* how to fix it; empty when good or not fixable */
};
struct assay_findings {
	struct assay_finding *v;
	size_t n, capacity;
	bool failed; /* out of memory: some are missing */
};
void assay_findings_release(struct assay_findings *l);

/* Adds to @out, all-zero before; release it in either case. ASSAY_ENOMEM. */
int assay_doctor(const struct assay_topology *t, const struct assay_clock *clock, struct assay_findings *out,
		 struct assay_err *err);
/* Files are read below @root; perf events and PATH are always those of this machine. */
int assay_doctor_at(const char *root, const struct assay_topology *t, const struct assay_clock *clock,
		    struct assay_findings *out, struct assay_err *err);

#endif
