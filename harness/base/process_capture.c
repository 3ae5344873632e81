/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program to its end and keeps what it wrote. */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/monotonic.h"

/* ---- pipe reader ---- */

#define READ_BYTES ((size_t)16 << 10)
#define MOST_READS 256

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int assay_pipe_open(struct assay_pipe *p, size_t most, struct assay_err *err)
{
	int fd[2];

	*p = (struct assay_pipe){ .read_fd = -1, .write_fd = -1, .most = most };
	if (pipe2(fd, O_CLOEXEC))
		return assay_err_set(err, ASSAY_EIO, "cannot make a pipe: %s", strerror(errno));
	p->read_fd = fd[0];
	p->write_fd = fd[1];
	if (fcntl(fd[0], F_SETFL, O_NONBLOCK))
		return assay_err_set(err, ASSAY_EIO, "cannot use a pipe: %s", strerror(errno));
	return 0;
}

void assay_pipe_started(struct assay_pipe *p)
{
	close_fd(&p->write_fd);
}

static void keep(struct assay_pipe *p, const char *bytes, size_t n)
{
	size_t room = p->most - p->text.len, kept = n < room ? n : room;

	assay_text_addn(&p->text, bytes, kept);
	p->left_out += n - kept;
}

size_t assay_pipe_drain(struct assay_pipe *p)
{
	char buf[READ_BYTES];
	size_t taken = 0;

	for (int i = 0; i < MOST_READS && p->read_fd >= 0; i++) {
		ssize_t n = read(p->read_fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n <= 0) {
			close_fd(&p->read_fd);
			break;
		}
		keep(p, buf, (size_t)n);
		taken += (size_t)n;
	}
	return taken;
}

void assay_pipe_release(struct assay_pipe *p)
{
	close_fd(&p->read_fd);
	close_fd(&p->write_fd);
	assay_text_release(&p->text);
}

void assay_text_last_line(const struct assay_text *t, char *out, size_t size)
{
	size_t end = t->len, start, n;

	while (end && strchr(" \t\r\n", t->s[end - 1]))
		end--;
	for (start = end; start && t->s[start - 1] != '\n'; start--)
		;
	while (start < end && strchr(" \t\r", t->s[start]))
		start++;
	n = end - start < size - 1 ? end - start : size - 1;
	if (n)
		memcpy(out, t->s + start, n);
	out[n] = '\0';
}

#define OUTPUT_MAX ((size_t)64 << 20)
#define POLL_MS    20

static bool too_long(const struct assay_pipe *out, const struct assay_pipe *errs)
{
	return out->left_out || errs->left_out;
}

static bool is_interrupted(const struct assay_capture *c)
{
	return c->interrupted && *c->interrupted;
}

/* True when the program ended by itself in time. */
static bool pump(struct assay_process *p, struct assay_pipe *out, struct assay_pipe *errs,
		 const struct assay_capture *c)
{
	uint64_t start = assay_monotonic_ns();

	while (!too_long(out, errs) && !is_interrupted(c)) {
		struct pollfd fds[3] = {
			{ .fd = out->read_fd, .events = POLLIN },
			{ .fd = errs->read_fd, .events = POLLIN },
			{ .fd = p->pidfd, .events = POLLIN },
		};
		/* Ended first, drained after: what it wrote last is in the pipe by then. */
		bool ended = assay_process_ended(p);

		while (assay_pipe_drain(out) + assay_pipe_drain(errs) && ended && !too_long(out, errs))
			;
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
	struct assay_pipe o, e = { .read_fd = -1, .write_fd = -1 };
	char line[160], how[80];
	bool ended;
	int rc;

	rc = assay_pipe_open(&o, OUTPUT_MAX, err);
	if (!rc)
		rc = assay_pipe_open(&e, OUTPUT_MAX, err);
	if (rc) {
		assay_err_prefix(err, "cannot start '%s'", name);
		goto out;
	}
	rc = assay_process_start(&p,
				 &(struct assay_process_options){ .argv = c->argv,
								  .keep_fd = -1,
								  .cwd = c->cwd,
								  .stdout_fd = o.write_fd,
								  .stderr_fd = e.write_fd,
								  .interrupted = c->interrupted },
				 err);
	if (rc)
		goto out;
	assay_pipe_started(&o);
	assay_pipe_started(&e);

	ended = pump(&p, &o, &e, c);
	assay_process_kill(&p);
	assay_text_last_line(e.text.len ? &e.text : &o.text, line, sizeof(line));
	if (too_long(&o, &e)) {
		rc = assay_err_set(err, ASSAY_EIO, "'%s' wrote more than %zu MiB, stopped", name, OUTPUT_MAX >> 20);
	} else if (!ended && is_interrupted(c)) {
		rc = assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted");
	} else if (!ended) {
		rc = assay_err_set(err, ASSAY_EIO, "'%s' did not end within %.6g s, stopped%s%s", name,
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
	assay_pipe_release(&o);
	assay_pipe_release(&e);
	return rc;
}
