/* SPDX-License-Identifier: Apache-2.0 */
/* Do hardware and software events of perf_event_open count here? Tried on a loop that must tick. */
#ifndef ASSAY_MACHINE_PMU_PROBE_H
#define ASSAY_MACHINE_PMU_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* How to allow user code to be counted if assay_perf_paranoid_at() says that it is not. */
#define ASSAY_PERF_PARANOID_ADVICE "sudo sysctl kernel.perf_event_paranoid=2"

struct assay_pmu_probe {
	bool works;
	char value[128];  /* "counts cycles of user code", "no PMU exposed by the hypervisor" */
	char advice[200]; /* how to get it; "" when it works or cannot be had */
};

/*
 * Is kernel.perf_event_paranoid above the value that permits counting user code? Then @buf says so, with the value that
 * is needed: "kernel.perf_event_paranoid is 4, 2 or lower is needed". Otherwise, and if there is no such file below
 * @root, @buf is "".
 */
bool assay_perf_paranoid_at(const char *root, char *buf, size_t size);

/* The cycle counter, user code only. */
void assay_pmu_probe_hardware(struct assay_pmu_probe *out);
/* The task clock, user code only. */
void assay_pmu_probe_software(struct assay_pmu_probe *out);

#endif
