/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which event of perf_event_open(2) takes samples: cycles where the machine has a PMU that counts them, else the
 * software clock of the kernel.
 */
#ifndef ASSAY_PROFILE_PERF_EVENT_H
#define ASSAY_PROFILE_PERF_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event_attr;

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
	/* What it counted while the thread worked a little; 0: it does not tick. Closes it. */
	uint64_t (*close)(void *arg, int fd);
	void *arg;
};

/* The first event that opens and ticks. NULL: none does, and errno says why the last, the software clock, did not. */
const struct assay_perf_event *assay_perf_event_choose(const struct assay_perf_opener *opener);
/* Of the running kernel. */
extern const struct assay_perf_opener assay_perf_kernel;

#endif
