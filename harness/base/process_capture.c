/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program to its end and keeps what it wrote. */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/text.h"

#define OUTPUT_MAX ((size_t)64 << 20)
#define POLL_MS    20

struct stream {
	int read_fd, write_fd;
	struct assay_text text;
	bool too_long;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int stream_open(struct stream *s)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return -1;
	s->read_fd = fd[0];
	s->write_fd = fd[1];
	return fcntl(fd[0], F_SETFL, O_NONBLOCK);
}

static void stream_release(struct stream *s)
{
	close_fd(&s->read_fd);
	close_fd(&s->write_fd);
	assay_text_release(&s->text);
}

/* Everything that is there now; closed at its end. */
static void stream_drain(struct stream *s)
{
	char buf[8192];

	while (s->read_fd >= 0) {
		ssize_t n = read(s->read_fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			close_fd(&s->read_fd);
			return;
		}
		assay_text_addn(&s->text, buf, (size_t)n);
		if (s->text.len > OUTPUT_MAX) {
			s->too_long = true;
			close_fd(&s->read_fd);
		}
	}
}

/* The last line with something in it, to quote in a message; @out holds 160 bytes. */
static void last_line(const struct assay_text *t, char *out)
{
	size_t end = t->len, start, n;

	while (end && strchr(" \t\r\n", t->s[end - 1]))
		end--;
	for (start = end; start && t->s[start - 1] != '\n'; start--)
		;
	while (start < end && strchr(" \t\r", t->s[start]))
		start++;
	n = end - start < 159 ? end - start : 159;
	if (n)
		memcpy(out, t->s + start, n);
	out[n] = '\0';
}

static bool is_interrupted(const struct assay_capture *c)
{
	return c->interrupted && *c->interrupted;
}

/* True when the program ended by itself in time. */
static bool pump(struct assay_process *p, struct stream *out, struct stream *errs, const struct assay_capture *c)
{
	uint64_t start = assay_monotonic_ns();

	while (!out->too_long && !errs->too_long && !is_interrupted(c)) {
		struct pollfd fds[3] = {
			{ .fd = out->read_fd, .events = POLLIN },
			{ .fd = errs->read_fd, .events = POLLIN },
			{ .fd = p->pidfd, .events = POLLIN },
		};
		/* Ended first, drained after: what it wrote last is in the pipe by then. */
		bool ended = assay_process_ended(p);

		stream_drain(out);
		stream_drain(errs);
		if (ended)
			return true;
		if (assay_monotonic_ns() - start >= c->timeout_ns)
			return false;
		poll(fds, 3, POLL_MS);
	}
	return false;
}

int assay_process_capture(const struct assay_capture *c, char **out, struct assay_err *err)
{
	const char *name = c->argv[0];
	struct assay_process p = { .pidfd = -1 };
	struct stream o = { .read_fd = -1, .write_fd = -1 }, e = { .read_fd = -1, .write_fd = -1 };
	char line[160], how[80];
	bool ended;
	int rc;

	if (stream_open(&o) || stream_open(&e)) {
		rc = assay_err_set(err, ASSAY_EIO, "cannot start '%s': %s", name, strerror(errno));
		goto out;
	}
	rc = assay_process_start(&p,
				 &(struct assay_process_options){ .argv = c->argv,
								  .keep_fd = -1,
								  .cwd = c->cwd,
								  .stdout_fd = o.write_fd,
								  .stderr_fd = e.write_fd },
				 err);
	if (rc)
		goto out;
	close_fd(&o.write_fd);
	close_fd(&e.write_fd);

	ended = pump(&p, &o, &e, c);
	assay_process_kill(&p);
	last_line(e.text.len ? &e.text : &o.text, line);
	if (o.too_long || e.too_long) {
		rc = assay_err_set(err, ASSAY_EIO, "'%s' wrote more than %zu MiB, stopped", name, OUTPUT_MAX >> 20);
	} else if (!ended && is_interrupted(c)) {
		rc = assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted");
	} else if (!ended) {
		rc = assay_err_set(err, ASSAY_EIO, "'%s' did not end within %.3g s, stopped%s%s", name,
				   (double)c->timeout_ns / 1e9, *line ? "; its last line: " : "", line);
	} else if (p.status) {
		assay_process_describe(&p, how, sizeof(how));
		rc = assay_err_set(err, ASSAY_EIO, "'%s' %s%s%s", name, how, *line ? ": " : "", line);
	} else {
		*out = assay_text_take(&o.text);
		if (!*out)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for the output of '%s'", name);
	}
out:
	stream_release(&o);
	stream_release(&e);
	return rc;
}
