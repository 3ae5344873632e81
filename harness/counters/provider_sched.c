/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations of a thread as its scheduler counts them in /proc, where perf_event_open is not allowed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/provider.h"
#include "counters/sched_file.h"

#define EVENT "migrations"

/* Of the thread that opens it; /proc/thread-self is /proc/self/task/TID. */
static const char path[] = "/proc/thread-self/sched";
static const char advice[] = "a kernel with CONFIG_SCHED_DEBUG, or leave to use perf_event_open, brings migrations";

struct sched_set {
	int fd;
	size_t n;
	struct assay_os_kept migrations;
};

static int read_migrations(int fd, uint64_t *out)
{
	char text[8192];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return ASSAY_EIO;
	text[n] = '\0';
	return assay_sched_migrations(text, out);
}

static int open_file(struct assay_err *err)
{
	uint64_t migrations;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot read '%s': %s", path, strerror(errno));
	} else if (read_migrations(fd, &migrations)) {
		assay_err_set(err, ASSAY_EUNAVAILABLE, "'%s' has no " ASSAY_SCHED_MIGRATIONS, path);
		close(fd);
		fd = -1;
	}
	return fd;
}

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	struct assay_err err = { 0 };
	int fd = open_file(&err);

	(void)ctx;
	*out = (struct assay_counter_probe){ .works = fd >= 0 };
	snprintf(out->value, sizeof(out->value), "%.255s", fd >= 0 ? "migrations of every thread" : err.text);
	snprintf(out->advice, sizeof(out->advice), "%s", fd >= 0 ? "" : advice);
	if (fd >= 0)
		close(fd);
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	struct sched_set *s = calloc(1, sizeof(*s));

	(void)ctx;
	if (!s)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	s->fd = -1;
	*set = s;
	return 0;
}

static int add(void *set, const char *event, struct assay_err *err)
{
	struct sched_set *s = set;

	if (strcmp(event, EVENT))
		return assay_err_set(err, ASSAY_ENOTFOUND, "the scheduler does not count '%s'", event);
	if (s->n)
		return assay_err_set(err, ASSAY_ELIMIT, "the set is full");
	s->fd = open_file(err);
	if (s->fd < 0)
		return ASSAY_EUNAVAILABLE;
	s->n = 1;
	return 0;
}

static int read_os(void *set, const struct assay_os_counts *now, uint64_t *values)
{
	struct sched_set *s = set;
	int rc = assay_os_kept_holds(&s->migrations, now) ? 0 : read_migrations(s->fd, &s->migrations.value);

	*values = s->migrations.value;
	return rc;
}

static void close_set(void *set)
{
	struct sched_set *s = set;

	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)event;
	(void)ctx;
	snprintf(buf, size, "%s", path);
}

const struct assay_counter_provider assay_provider_sched = {
	.name = "sched",
	.source = ASSAY_SOURCE_OS,
	.probe = probe,
	.open = open_set,
	.add = add,
	.read_os = read_os,
	.close = close_set,
	.how = how,
};
