/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipe from each task, and one page that all share with the parent, by which it asks them to stop. A record of the
 * pipe is a head and its bytes; the last one is what work() returned.
 */
#include "base/lanes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/process.h"
#include "base/text.h"

#define SLICE_MS   50
#define READ_BYTES ((size_t)64 << 10)
/* A task that has told its end has nothing left to do; one that shall stop gives its worker time to end. */
#define END_NS UINT64_C(5000000000)
/* A task that others hold stopped for so long, or that does not heed the wish to stop, is killed. */
#define STOPPED_MOST_NS UINT64_C(5000000000)
#define HEED_MOST_NS    UINT64_C(20000000000)
/* The kind of the last record. */
#define KIND_END 256

/* Shared by all. */
struct page {
	volatile sig_atomic_t stop;
	volatile sig_atomic_t sender; /* a descendant of a task, whose signal that ignored; 0: none */
};

struct assay_lane {
	int fd;
	struct page *page;
};

struct head {
	uint32_t kind, n;
};

struct running {
	size_t task;
	pid_t pid; /* 0: free */
	int fd;
	struct assay_text in; /* not yet taken */
	struct assay_err why; /* by the last record */
	bool told_end, was_stopped;
	uint64_t stopped_ns, unheeded_ns;
};

struct lanes {
	const struct assay_lanes *l;
	struct running v[ASSAY_LANES_MOST];
	struct page *page;
	struct assay_err *err;
	int rc; /* what ends them all */
	uint64_t looked_ns;
};

/* ---- the task's process ---- */

static bool put(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n) {
		ssize_t done = write(fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		at += done;
		n -= (size_t)done;
	}
	return true;
}

static bool tell(const struct assay_lane *lane, unsigned kind, const void *bytes, size_t n)
{
	const struct head head = { kind, (uint32_t)n };

	return put(lane->fd, &head, sizeof(head)) && put(lane->fd, bytes, n);
}

bool assay_lane_tell(const struct assay_lane *lane, unsigned kind, const void *bytes, size_t n)
{
	return kind < KIND_END && n <= UINT32_MAX && tell(lane, kind, bytes, n);
}

const volatile sig_atomic_t *assay_lane_stop(const struct assay_lane *lane)
{
	return &lane->page->stop;
}

static struct page *page_of_signals;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_code <= 0 && assay_process_is_kin(info->si_pid))
		page_of_signals->sender = info->si_pid;
}

/*
 * A signal to stop that the terminal sends to the whole group is passed on by the parent, who also reports signals from
 * descendants.
 */
static void leave_signals(struct page *page)
{
	struct sigaction tell = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	page_of_signals = page;
	sigaction(SIGINT, &tell, NULL);
	sigaction(SIGTERM, &tell, NULL);
	sigaction(SIGHUP, &tell, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

static __attribute__((noreturn)) void task_main(const struct lanes *k, size_t task, int fd, pid_t parent)
{
	const struct assay_lane lane = { fd, k->page };
	struct assay_err why = { 0 };
	int rc;

	leave_signals(k->page);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (size_t i = 0; i < ASSAY_LANES_MOST; i++)
		if (k->v[i].pid)
			close(k->v[i].fd);
	rc = k->l->work(k->l->arg, task, &lane, &why);
	why.code = rc;
	tell(&lane, KIND_END, &why, sizeof(why));
	_exit(0);
}

/* ---- the parent ---- */

static void end_all(struct lanes *k, int rc)
{
	if (!k->rc)
		k->rc = rc;
	k->page->stop = 1;
}

static void begin(struct lanes *k, struct running *r, size_t task)
{
	const pid_t parent = getpid();
	int fd[2];

	if (pipe2(fd, O_CLOEXEC)) {
		end_all(k, assay_err_set(k->err, ASSAY_EIO, "cannot make a pipe: %s", strerror(errno)));
		return;
	}
	r->pid = fork();
	if (!r->pid) {
		close(fd[0]);
		task_main(k, task, fd[1], parent);
	}
	close(fd[1]);
	if (r->pid < 0) {
		end_all(k, assay_err_set(k->err, ASSAY_EIO, "cannot start a process: %s", strerror(errno)));
		close(fd[0]);
		r->pid = 0;
		return;
	}
	r->task = task;
	r->fd = fd[0];
	r->told_end = r->was_stopped = false;
	r->stopped_ns = r->unheeded_ns = 0;
	r->why = (struct assay_err){ 0 };
}

static size_t fill(struct lanes *k)
{
	size_t busy = 0, task;

	for (size_t i = 0; i < ASSAY_LANES_MOST; i++) {
		struct running *r = &k->v[i];

		if (!r->pid && !k->rc && !(k->l->interrupted && *k->l->interrupted) && k->l->next(k->l->arg, &task))
			begin(k, r, task);
		busy += r->pid != 0;
	}
	return busy;
}

/* All whole records. */
static void take_records(struct lanes *k, struct running *r)
{
	size_t at = 0;
	struct head head;

	while (!r->in.failed && r->in.len - at >= sizeof(head)) {
		const char *bytes = r->in.s + at + sizeof(head);

		memcpy(&head, r->in.s + at, sizeof(head));
		if (r->in.len - at - sizeof(head) < head.n)
			break;
		at += sizeof(head) + head.n;
		if (head.kind == KIND_END && head.n == sizeof(r->why)) {
			memcpy(&r->why, bytes, sizeof(r->why));
			r->told_end = true;
		} else if (!k->rc) {
			int rc = k->l->heard(k->l->arg, r->task, head.kind, bytes, head.n, k->err);

			if (rc)
				end_all(k, rc);
		}
	}
	if (at) {
		memmove(r->in.s, r->in.s + at, r->in.len - at);
		r->in.len -= at;
	}
}

static void finish(struct lanes *k, struct running *r)
{
	struct assay_process p = { .pid = r->pid, .pidfd = -1, .interrupted = k->l->interrupted };
	int rc, status;

	close(r->fd);
	if (!assay_process_wait(&p, END_NS))
		assay_process_kill(&p);
	status = p.status;
	if (r->in.failed)
		assay_err_set(&r->why, ASSAY_ENOMEM, "out of memory");
	else if (!r->told_end && r->was_stopped)
		assay_err_set(&r->why, ASSAY_EIO, "a process of this program was stopped by another");
	else if (!r->told_end && status == -1)
		assay_err_set(&r->why, ASSAY_EIO, "a process of this program does not end");
	else if (!r->told_end && WIFSIGNALED(status))
		assay_err_set(&r->why, ASSAY_EIO, "a process of this program was ended by signal %d (%s)",
			      WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (!r->told_end)
		assay_err_set(&r->why, ASSAY_EIO, "a process of this program ended with status %d",
			      WEXITSTATUS(status));
	assay_text_release(&r->in);
	r->pid = 0;
	rc = k->l->ended(k->l->arg, r->task, &r->why, k->err);
	if (rc)
		end_all(k, rc);
}

/* False at the end of what the task tells. */
static bool listen_to(struct lanes *k, struct running *r)
{
	char buf[READ_BYTES];
	ssize_t n = read(r->fd, buf, sizeof(buf));

	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	assay_text_addn(&r->in, buf, (size_t)n);
	take_records(k, r);
	return true;
}

/* Kill tasks that can, or do, not go on; the end of their pipe follows. */
static void kill_stuck(struct lanes *k)
{
	const uint64_t slice_ns = SLICE_MS * UINT64_C(1000000), now = assay_monotonic_ns(), gone = now - k->looked_ns;
	/* this process itself may have been stopped meanwhile */
	const uint64_t counted = gone < 2 * slice_ns ? gone : 2 * slice_ns;

	if (gone < slice_ns)
		return;
	k->looked_ns = now;
	for (size_t i = 0; i < ASSAY_LANES_MOST; i++) {
		struct running *r = &k->v[i];
		const char state = r->pid ? assay_process_state(r->pid) : 0;

		r->stopped_ns = state == 'T' || state == 't' ? r->stopped_ns + counted : 0;
		r->unheeded_ns += k->page->stop ? counted : 0;
		if (!r->pid || (r->stopped_ns < STOPPED_MOST_NS && r->unheeded_ns < HEED_MOST_NS))
			continue;
		r->was_stopped = r->was_stopped || r->stopped_ns >= STOPPED_MOST_NS;
		assay_process_kin_end(r->pid);
	}
}

static void wait_for_any(struct lanes *k)
{
	struct pollfd p[ASSAY_LANES_MOST];
	struct running *of[ASSAY_LANES_MOST];
	nfds_t n = 0;

	for (size_t i = 0; i < ASSAY_LANES_MOST; i++)
		if (k->v[i].pid) {
			of[n] = &k->v[i];
			p[n++] = (struct pollfd){ .fd = k->v[i].fd, .events = POLLIN };
		}
	if (poll(p, n, SLICE_MS) <= 0)
		return;
	for (nfds_t i = 0; i < n; i++)
		if (p[i].revents && !listen_to(k, of[i]))
			finish(k, of[i]);
}

int assay_lanes_run(const struct assay_lanes *l, struct assay_err *err)
{
	const size_t bytes = sizeof(struct page);
	struct lanes *k = calloc(1, sizeof(*k));
	struct assay_strays strays;
	void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (!k || page == MAP_FAILED) {
		free(k);
		if (page != MAP_FAILED)
			munmap(page, bytes);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	*k = (struct lanes){ .l = l, .page = page, .err = err, .looked_ns = assay_monotonic_ns() };
	assay_strays_watch(&strays);
	while (fill(k)) {
		if (l->interrupted && *l->interrupted)
			k->page->stop = 1;
		kill_stuck(k);
		wait_for_any(k);
		if (k->page->sender && l->signalled)
			l->signalled(l->arg, k->page->sender);
		k->page->sender = 0;
	}
	assay_strays_kill(&strays, 0);
	rc = k->rc;
	if (!rc && l->interrupted && *l->interrupted)
		rc = assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted");
	munmap(page, bytes);
	free(k);
	return rc;
}
