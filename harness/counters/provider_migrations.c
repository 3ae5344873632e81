/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migrations of a thread, or of children: through perf_event_open where it is allowed, otherwise, of the thread alone,
 * as its scheduler counts them in /proc.
 * They happen in the kernel: perf_event_open with the kernel left out would read 0.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/provider.h"

static const char *const events[] = { "migrations", NULL };

/* A thread migrates only while it is switched out, so that its count is read again only after a switch. */
struct migrations {
	int fd;
	int (*read)(int fd, uint64_t *out);
	bool known;
	uint64_t switches, value;
};

static int read_os(void *set, const struct assay_os_counts *now, uint64_t *values)
{
	struct migrations *m = set;
	uint64_t switches = now->voluntary_switches + now->involuntary_switches;
	int rc = m->known && m->switches == switches ? 0 : m->read(m->fd, &m->value);

	m->known = true;
	m->switches = switches;
	*values = m->value;
	return rc;
}

static int open_set(int fd, int (*read_fd)(int fd, uint64_t *out), void **set, struct assay_err *err)
{
	struct migrations *m;

	if (fd < 0)
		return ASSAY_EUNAVAILABLE;
	m = calloc(1, sizeof(*m));
	if (!m) {
		close(fd);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	m->fd = fd;
	m->read = read_fd;
	*set = m;
	return 0;
}

static void close_set(void *set)
{
	close(((struct migrations *)set)->fd);
	free(set);
}

static void found(int fd, const struct assay_err *why, const char *advice, struct assay_counter_probe *out)
{
	*out = (struct assay_counter_probe){ .works = fd >= 0 };
	snprintf(out->value, sizeof(out->value), "%.255s", fd >= 0 ? "migrations of every thread" : why->text);
	snprintf(out->advice, sizeof(out->advice), "%s", fd >= 0 ? "" : advice);
	if (fd >= 0)
		close(fd);
}

/* ---- perf_event_open -------------------------------------------------------------------------------------------- */

/*
 * An event of this thread that waits for exec counts only in the programs that the thread starts, from their first
 * instruction on: each inherits it, and what it counted is added here as it ends.
 */
static int open_perf(bool children, struct assay_err *err)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_MIGRATIONS,
					.inherit = children,
					.disabled = children,
					.enable_on_exec = children };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		assay_err_set(err, ASSAY_EUNAVAILABLE,
			      "the kernel does not allow 'migrations' to be counted: sudo sysctl "
			      "kernel.perf_event_paranoid=1, or give this program CAP_PERFMON");
	else if (fd < 0)
		assay_err_set(err, ASSAY_EUNAVAILABLE, "the kernel does not count 'migrations': %s", strerror(errno));
	return fd;
}

static int read_perf(int fd, uint64_t *out)
{
	return read(fd, out, sizeof(*out)) == sizeof(*out) ? 0 : ASSAY_EIO;
}

static void perf_probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	struct assay_err why = { 0 };

	(void)ctx;
	found(open_perf(false, &why), &why, "without it, migrations are read from /proc", out);
}

static int perf_open(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	return open_set(open_perf(ctx->children, err), read_perf, set, err);
}

static void perf_how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)event;
	snprintf(buf, size, "perf_event_open%s", ctx->children ? ", of the process and what it started" : "");
}

const struct assay_counter_provider assay_provider_perf = {
	.name = "perf_event",
	.source = ASSAY_SOURCE_OS,
	.events = events,
	.probe = perf_probe,
	.open = perf_open,
	.read_os = read_os,
	.close = close_set,
	.how = perf_how,
};

/* ---- /proc ------------------------------------------------------------------------------------------------------ */

/* Of the thread that opens it; /proc/thread-self is /proc/self/task/TID. */
static const char path[] = "/proc/thread-self/sched";

/* Lines are "name : number", the name padded with blanks. In signal handlers, too. */
static int read_sched(int fd, uint64_t *out)
{
	static const char line[] = "\nse.nr_migrations ";
	char text[8192], *at, *end;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n < 0 ? 0 : n] = '\0';
	at = strstr(text, line);
	at = at ? strchr(at, ':') : NULL;
	if (!at)
		return ASSAY_EIO;
	*out = strtoull(at + 1, &end, 10);
	return end == at + 1 ? ASSAY_EIO : 0;
}

static int open_sched(struct assay_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t migrations;

	if (fd < 0) {
		assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot read '%s': %s", path, strerror(errno));
	} else if (read_sched(fd, &migrations)) {
		assay_err_set(err, ASSAY_EUNAVAILABLE, "'%s' has no se.nr_migrations", path);
		close(fd);
		fd = -1;
	}
	return fd;
}

static void sched_probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	struct assay_err why = { 0 };

	(void)ctx;
	found(open_sched(&why), &why,
	      "a kernel with CONFIG_SCHED_DEBUG, or permission to use perf_event_open, provides migrations", out);
}

static int sched_open(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	if (ctx->children)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "'%s' does not count other processes", path);
	return open_set(open_sched(err), read_sched, set, err);
}

static void sched_how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)event;
	(void)ctx;
	snprintf(buf, size, "%s", path);
}

const struct assay_counter_provider assay_provider_sched = {
	.name = "sched",
	.source = ASSAY_SOURCE_OS,
	.events = events,
	.probe = sched_probe,
	.open = sched_open,
	.read_os = read_os,
	.close = close_set,
	.how = sched_how,
};
