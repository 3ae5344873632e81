/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's software events of a thread, through perf_event_open where it is allowed. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/provider.h"
#include "machine/pmu_probe.h"

static const struct {
	const char *name;
	uint64_t config;
	bool in_kernel; /* happens there: with the kernel left out it would read 0 */
} events[] = {
	{ "minor_faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, false },
	{ "major_faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, false },
	{ "context_switches", PERF_COUNT_SW_CONTEXT_SWITCHES, true },
	{ "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, true },
	{ "task_clock_ns", PERF_COUNT_SW_TASK_CLOCK, false },
};
#define N_EVENTS (sizeof(events) / sizeof(events[0]))

/* One group: a single read gives all of it. */
struct perf_set {
	size_t n;
	int fd[N_EVENTS];
};

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	struct assay_pmu_probe p;

	(void)ctx;
	assay_pmu_probe_software(&p);
	*out = (struct assay_counter_probe){ .works = p.works };
	snprintf(out->value, sizeof(out->value), "%s", p.value);
	snprintf(out->advice, sizeof(out->advice), "%s", p.advice);
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	(void)ctx;
	*set = calloc(1, sizeof(struct perf_set));
	return *set ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
}

static int refused(struct assay_err *err, const char *event, bool in_kernel, int error)
{
	if (error == EACCES || error == EPERM)
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "the kernel does not let '%s' be counted: sudo sysctl "
				     "kernel.perf_event_paranoid=%d, or give this "
				     "program CAP_PERFMON",
				     event, in_kernel ? 1 : 2);
	return assay_err_set(err, ASSAY_EUNAVAILABLE, "the kernel does not count '%s': %s", event, strerror(error));
}

static int add(void *set, const char *event, struct assay_err *err)
{
	struct perf_set *s = set;

	for (size_t i = 0; i < N_EVENTS; i++) {
		struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
						.size = sizeof(attr),
						.config = events[i].config,
						.disabled = s->n == 0,
						.read_format = PERF_FORMAT_GROUP };
		long fd;

		if (strcmp(events[i].name, event))
			continue;
		if (s->n == N_EVENTS)
			return assay_err_set(err, ASSAY_ELIMIT, "the set is full");
		fd = syscall(SYS_perf_event_open, &attr, 0, -1, s->n ? s->fd[0] : -1, PERF_FLAG_FD_CLOEXEC);
		/* counting in the kernel needs a right that user code alone does not */
		if (fd < 0 && !events[i].in_kernel && (errno == EACCES || errno == EPERM)) {
			attr.exclude_kernel = 1;
			fd = syscall(SYS_perf_event_open, &attr, 0, -1, s->n ? s->fd[0] : -1, PERF_FLAG_FD_CLOEXEC);
		}
		if (fd < 0)
			return refused(err, event, events[i].in_kernel, errno);
		s->fd[s->n++] = (int)fd;
		return 0;
	}
	return assay_err_set(err, ASSAY_ENOTFOUND, "the kernel has no software event '%s'", event);
}

static int start(void *set, struct assay_err *err)
{
	struct perf_set *s = set;

	if (s->n && ioctl(s->fd[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP))
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot start software events: %s", strerror(errno));
	return 0;
}

static int read_set(void *set, uint64_t *values)
{
	const struct perf_set *s = set;
	uint64_t buf[1 + N_EVENTS];
	ssize_t want = (ssize_t)((1 + s->n) * sizeof(buf[0]));

	if (read(s->fd[0], buf, (size_t)want) != want)
		return ASSAY_EIO;
	memcpy(values, buf + 1, s->n * sizeof(buf[0]));
	return 0;
}

static void stop(void *set)
{
	struct perf_set *s = set;

	if (s->n)
		ioctl(s->fd[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
}

static void close_set(void *set)
{
	struct perf_set *s = set;

	for (size_t i = s->n; i-- > 0;)
		close(s->fd[i]);
	free(s);
}

static void how(const struct assay_counter_context *ctx, char *buf, size_t size)
{
	(void)ctx;
	snprintf(buf, size, "perf_event_open");
}

const struct assay_counter_provider assay_provider_perf = {
	.name = "perf_event",
	.source = ASSAY_SOURCE_OS,
	.probe = probe,
	.open = open_set,
	.add = add,
	.start = start,
	.read = read_set,
	.stop = stop,
	.close = close_set,
	.how = how,
};
