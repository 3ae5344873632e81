/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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
