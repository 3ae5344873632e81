/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of the machine (fingerprint) and its state (environment). */
#ifndef ASSAY_MACHINE_ENVIRONMENT_H
#define ASSAY_MACHINE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/clock.h"
#include "machine/topology.h"
#include "model/reports.h"
#include "model/result.h"

/*
 * Facts that decide speed and do not change between runs: CPU, microcode, caches, topology, memory, GPU, driver,
 * kernel.
 */
int assay_fingerprint_take(const struct assay_topology *t, struct assay_fingerprint *out, struct assay_err *err);
/* From the /proc and /sys recorded below @root (host_facts.h). */
int assay_fingerprint_take_at(const char *root, const struct assay_topology *t, struct assay_fingerprint *out,
			      struct assay_err *err);

/*
 * State that may change between runs: governor, turbo, SMT, ASLR, THP, load, steal, container limits, clock. @out is
 * malloc'ed.
 */
int assay_environment_take(const struct assay_clock *clock, struct assay_fact **out, size_t *n, struct assay_err *err);
int assay_environment_take_at(const char *root, const struct assay_clock *clock, struct assay_fact **out, size_t *n,
			      struct assay_err *err);

/* ---- disturbance ---- */

/*
 * Signs of disturbance that the host shows while samples are taken: stolen time, throttling of the control group,
 * changes of the CPU's frequency, pressure stall information. What the kernel itself counts for each sample (switches,
 * faults) is not here.
 */

/* Counters as they were last read. Whatever the host does not show stays unknown and never flags a sample. */
struct assay_disturbance {
	const char *root; /* "" is this machine, see host_facts.h */
	const int *cpus;  /* borrowed */
	size_t n_cpus;
	bool steal_known, quota_known, pressure_known;
	uint64_t steal_ticks, throttled_ns, pressure_us;
	int64_t frequency_khz; /* of the first CPU; 0: not shown */
};

void assay_disturbance_begin(struct assay_disturbance *d, const char *root, const int *cpus, size_t n_cpus);
/*
 * Flags (enum assay_disturb) of what happened since the last call, and the steal ticks. Costs some 20 µs, and steal
 * is counted in ticks of 10 ms: to be called about so often.
 */
uint32_t assay_disturbance_poll(struct assay_disturbance *d, uint32_t *steal_ticks);

/* ---- health ---- */

/* Findings of `assay doctor` about the host: its state, and what is installed. */

/* Adds to @out, all-zero before; release it in either case. ASSAY_ENOMEM. */
int assay_doctor(const struct assay_topology *t, const struct assay_clock *clock, struct assay_findings *out,
		 struct assay_err *err);
/* Files are read below @root; perf events and PATH are always those of this machine. */
int assay_doctor_at(const char *root, const struct assay_topology *t, const struct assay_clock *clock,
		    struct assay_findings *out, struct assay_err *err);

/* A finding for each GPU: where it is and how it is joined with the others. @xml_path as in gpu_topology.h. */
void assay_doctor_gpu_places(struct assay_findings *l, const char *xml_path);

#endif
