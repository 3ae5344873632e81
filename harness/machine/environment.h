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

/* A finding for each GPU: where it is and how it is joined with the others. @xml_path as in topology.h. */
void assay_doctor_gpu_places(struct assay_findings *l, const char *xml_path);

/* ---- system state ---- */

/* The work of the machine since it was started, and how much of its memory and disk is in use now. */

/* Zero where the host does not tell. Times of all CPUs together. */
struct assay_system_state {
	double cpu_busy_s, cpu_s; /* since it was started; their differences give the share between two looks */
	double uptime_s, load;    /* load: runnable and waiting threads, mean of a minute */
	unsigned threads, threads_running; /* of all processes now */
	uint64_t memory_bytes, memory_used_bytes;
	uint64_t process_bytes;                       /* resident set of this process */
	uint64_t disk_bytes, disk_used_bytes;         /* of the file system that @path is on */
	uint64_t disk_read_bytes, disk_written_bytes; /* of all disks, since it was started */
	uint64_t network_in_bytes, network_out_bytes; /* since it was started, without the loopback */
};

/* Look now. @root as in host_facts.h; @path: a file or a folder. */
void assay_system_state(const char *root, const char *path, struct assay_system_state *out);

#endif
