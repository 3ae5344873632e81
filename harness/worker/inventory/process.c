/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each question has a number that its answers repeat: a line that a plugin wrote by itself answers nothing. How many
 * lines an answer has is known to whoever asked.
 */
#include "worker/inventory/inventory.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/text.h"

#define ANSWER_TIMEOUT_S 10
#define LINE_MAX_BYTES   ((size_t)4 << 20) /* thousands of variants */
#define WORDS_MAX_BYTES  ((size_t)4 << 10)
#define READ_BYTES       ((size_t)64 << 10)

int assay_inventory_process_start(struct assay_inventory_process *p, bool fork_only, struct assay_err *err)
{
	const struct timeval timeout = { .tv_sec = ANSWER_TIMEOUT_S };
	char number[16];
	const char *argv[] = { "/proc/self/exe", ASSAY_INVENTORY_COMMAND, number, NULL };
	struct assay_process_options o = { .argv = argv, .instead = fork_only ? assay_inventory_child : NULL };
	int fds[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return assay_err_set(err, ASSAY_EIO, "cannot make a socket for the inventory: %s", strerror(errno));
	setsockopt(fds[0], SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	snprintf(number, sizeof(number), "%d", fds[1]);
	o.keep_fd = fds[1];
	rc = assay_pipe_open(&p->words, WORDS_MAX_BYTES, err);
	if (!rc) {
		o.stdout_fd = o.stderr_fd = p->words.write_fd;
		assay_strays_watch(&p->strays);
		rc = assay_process_start(&p->process, &o, err);
	}
	assay_pipe_started(&p->words);
	close(fds[1]);
	if (rc) {
		close(fds[0]);
		assay_pipe_release(&p->words);
		return rc;
	}
	p->fd = fds[0];
	p->len = 0;
	return 0;
}

void assay_inventory_process_stop(struct assay_inventory_process *p)
{
	if (!p->process.pid)
		return;
	close(p->fd);
	assay_process_kill(&p->process);
	assay_strays_kill(&p->strays, 0);
	assay_pipe_release(&p->words);
	free(p->buf);
	*p = (struct assay_inventory_process){ .process = { .pidfd = -1 }, .question = p->question };
}

int assay_inventory_process_ask(struct assay_inventory_process *p, json_t *msg, struct assay_err *err)
{
	char *line;
	size_t len, sent = 0;
	int rc = 0;

	json_object_set_new(msg, "question", json_integer(++p->question));
	line = json_dumps(msg, JSON_COMPACT);
	json_decref(msg);
	if (!line)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory while asking the inventory");
	len = strlen(line);
	line[len++] = '\n'; /* in place of the terminator */
	while (sent < len && !rc) {
		ssize_t n = send(p->fd, line + sent, len - sent, MSG_NOSIGNAL);

		if (n > 0)
			sent += (size_t)n;
		else if (n < 0 && errno != EINTR)
			rc = assay_err_set(err, ASSAY_EWORKER, errno == EAGAIN ? "it does not listen" : "it is gone");
	}
	free(line);
	return rc;
}

/* All strings in it. Keys are not: they are only ever looked up. */
static void make_printable(json_t *j)
{
	json_t *part;
	const char *key;
	size_t i;

	if (json_is_string(j)) {
		char *s = strdup(json_string_value(j));

		/* a string that stays as it was could not be shown: none is better */
		if (s)
			assay_printable_line(s, strlen(s) + 1);
		json_string_set(j, s ? s : "");
		free(s);
	} else if (json_is_array(j)) {
		json_array_foreach(j, i, part) make_printable(part);
	} else if (json_is_object(j)) {
		json_object_foreach(j, key, part) make_printable(part);
	}
}

static json_t *understand(const struct assay_inventory_process *p, const char *line, size_t len, struct assay_err *err)
{
	json_t *msg = json_loadb(line, len, 0, NULL), *question = json_object_get(msg, "question");

	if (!json_is_integer(question) || json_integer_value(question) != p->question) {
		json_decref(msg);
		assay_err_set(err, ASSAY_EWORKER, "wrote to the harness by itself");
		return NULL;
	}
	make_printable(msg);
	return msg;
}

/* How it ended and what it printed last; it has closed its socket. */
static int describe_end(struct assay_inventory_process *p, struct assay_err *err)
{
	char how[128] = "closed its socket", last[200];

	assay_process_wait(&p->process, 1000000000u);
	if (p->process.reaped)
		assay_process_describe(&p->process, how, sizeof(how));
	assay_pipe_drain(&p->words);
	assay_text_last_line(&p->words.text, last, sizeof(last));
	assay_printable_line(last, sizeof(last));
	return assay_err_set(err, ASSAY_EWORKER, "%s%s%s", how, last[0] ? ": " : "", last);
}

static int make_room(struct assay_inventory_process *p, struct assay_err *err)
{
	char *grown;

	if (p->len >= LINE_MAX_BYTES)
		return assay_err_set(err, ASSAY_EWORKER, "wrote a line of more than %zu MiB", LINE_MAX_BYTES >> 20);
	if (p->cap - p->len >= READ_BYTES)
		return 0;
	grown = realloc(p->buf, p->cap + 4 * READ_BYTES);
	if (!grown)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory while reading the inventory");
	p->buf = grown;
	p->cap += 4 * READ_BYTES;
	return 0;
}

/* More bytes of it, until @deadline_ns. */
static int read_more(struct assay_inventory_process *p, uint64_t deadline_ns, struct assay_err *err)
{
	struct pollfd fds[] = { { .fd = p->fd, .events = POLLIN }, { .fd = p->words.read_fd, .events = POLLIN } };
	uint64_t now = assay_monotonic_ns();
	ssize_t n;
	int rc = make_room(p, err);

	if (rc)
		return rc;
	if (now >= deadline_ns)
		return assay_err_set(err, ASSAY_EWORKER, "no answer within %d s", ANSWER_TIMEOUT_S);
	poll(fds, 2, (int)((deadline_ns - now) / 1000000 + 1));
	assay_pipe_drain(&p->words);
	n = recv(p->fd, p->buf + p->len, READ_BYTES, MSG_DONTWAIT);
	if (n > 0)
		p->len += (size_t)n;
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)) ? 0 : describe_end(p, err);
}

json_t *assay_inventory_process_answer(struct assay_inventory_process *p, struct assay_err *err)
{
	uint64_t deadline_ns = assay_monotonic_ns() + ANSWER_TIMEOUT_S * UINT64_C(1000000000);
	size_t searched = 0;

	for (;;) {
		char *nl = p->len > searched ? memchr(p->buf + searched, '\n', p->len - searched) : NULL;

		if (nl) {
			size_t line = (size_t)(nl - p->buf);
			json_t *msg = understand(p, p->buf, line, err);

			p->len -= line + 1;
			memmove(p->buf, nl + 1, p->len);
			return msg;
		}
		searched = p->len;
		if (read_more(p, deadline_ns, err))
			return NULL;
	}
}
