/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migrations of a thread through perf_event_open, where it is allowed. Faults, switches and CPU time take less by
 * getrusage.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/provider.h"

#define EVENT "migrations"

struct perf_set {
	int fd; /* -1: nothing is counted */
	struct assay_os_kept migrations;
};

/* They happen in the kernel: with the kernel left out they would read 0. */
static int open_event(struct assay_err *err)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_MIGRATIONS };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		assay_err_set(err, ASSAY_EUNAVAILABLE,
			      "the kernel does not let '" EVENT
			      "' be counted: sudo sysctl kernel.perf_event_paranoid=1, or give this "
			      "program CAP_PERFMON");
	else if (fd < 0)
		assay_err_set(err, ASSAY_EUNAVAILABLE, "the kernel does not count '" EVENT "': %s", strerror(errno));
	return fd;
}

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	struct assay_err err = { 0 };
	int fd = open_event(&err);

	(void)ctx;
	*out = (struct assay_counter_probe){ .works = fd >= 0 };
	snprintf(out->value, sizeof(out->value), "%.255s", fd >= 0 ? "migrations of every thread" : err.text);
	snprintf(out->advice, sizeof(out->advice), "%s", fd >= 0 ? "" : "without it, migrations are read from /proc");
	if (fd >= 0)
		close(fd);
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	struct perf_set *s = calloc(1, sizeof(*s));

	(void)ctx;
	if (!s)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	s->fd = -1;
	*set = s;
	return 0;
}

static int add(void *set, const char *event, struct assay_err *err)
{
	struct perf_set *s = set;

	if (strcmp(event, EVENT))
		return assay_err_set(err, ASSAY_ENOTFOUND, "'%s' is not counted by perf_event_open", event);
	if (s->fd >= 0)
		return assay_err_set(err, ASSAY_ELIMIT, "the set is full");
	s->fd = open_event(err);
	return s->fd < 0 ? ASSAY_EUNAVAILABLE : 0;
}

static int start(void *set, struct assay_err *err)
{
	(void)set;
	(void)err;
	return 0;
}

static int read_os(void *set, const struct assay_os_counts *now, uint64_t *values)
{
	struct perf_set *s = set;

	if (!assay_os_kept_holds(&s->migrations, now) &&
	    read(s->fd, &s->migrations.value, sizeof(s->migrations.value)) != sizeof(s->migrations.value))
		return ASSAY_EIO;
	*values = s->migrations.value;
	return 0;
}

static void stop(void *set)
{
	(void)set;
}

static void close_set(void *set)
{
	struct perf_set *s = set;

	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)event;
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
	.read_os = read_os,
	.stop = stop,
	.close = close_set,
	.how = how,
};
