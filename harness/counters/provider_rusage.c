/* SPDX-License-Identifier: Apache-2.0 */
/* The operating system's own counts of a thread by getrusage and its CPU clock: allowed everywhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/os_events.h"
#include "counters/provider.h"

static const struct {
	const char *name;
	size_t offset; /* in struct assay_os_counts */
} events[] = {
	{ "minor_faults", offsetof(struct assay_os_counts, minor_faults) },
	{ "major_faults", offsetof(struct assay_os_counts, major_faults) },
	{ "voluntary_switches", offsetof(struct assay_os_counts, voluntary_switches) },
	{ "forced_switches", offsetof(struct assay_os_counts, involuntary_switches) },
	{ "task_clock_ns", offsetof(struct assay_os_counts, cpu_time_ns) },
};
#define N_EVENTS (sizeof(events) / sizeof(events[0]))

struct rusage_set {
	size_t n;
	size_t event[N_EVENTS];
};

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	(void)ctx;
	*out = (struct assay_counter_probe){ .works = true, .value = "faults, switches and CPU time of every thread" };
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	(void)ctx;
	*set = calloc(1, sizeof(struct rusage_set));
	return *set ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
}

static int add(void *set, const char *event, struct assay_err *err)
{
	struct rusage_set *s = set;

	for (size_t i = 0; i < N_EVENTS; i++) {
		if (strcmp(events[i].name, event))
			continue;
		if (s->n == N_EVENTS)
			return assay_err_set(err, ASSAY_ELIMIT, "the set is full");
		s->event[s->n++] = i;
		return 0;
	}
	return assay_err_set(err, ASSAY_ENOTFOUND, "getrusage does not count '%s'", event);
}

static int start(void *set, struct assay_err *err)
{
	(void)set;
	(void)err;
	return 0;
}

static int read_set(void *set, uint64_t *values)
{
	const struct rusage_set *s = set;
	struct assay_os_counts now;

	assay_os_counts_read(&now);
	for (size_t i = 0; i < s->n; i++)
		memcpy(&values[i], (const char *)&now + events[s->event[i]].offset, sizeof(values[i]));
	return 0;
}

static void stop(void *set)
{
	(void)set;
}

static void how(const struct assay_counter_context *ctx, char *buf, size_t size)
{
	(void)ctx;
	snprintf(buf, size, "getrusage");
}

const struct assay_counter_provider assay_provider_rusage = {
	.name = "getrusage",
	.source = ASSAY_SOURCE_OS,
	.probe = probe,
	.open = open_set,
	.add = add,
	.start = start,
	.read = read_set,
	.stop = stop,
	.close = free,
	.how = how,
};
