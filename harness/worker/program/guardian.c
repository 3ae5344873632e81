/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that has to die with this process cannot be tied to it by PR_SET_PDEATHSIG alone, which does not reach what
 * the program has started. So the guardian, a process of its own, waits until this one has ended in whatever way, and
 * then ends the whole tree.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "worker/program/program.h"

/* Shared with the guardian. */
struct assay_guarded {
	_Atomic pid_t program; /* 0: none runs */
};

/* In the guardian: nothing but what is safe in a signal handler, since the parent may have threads. */
static __attribute__((noreturn)) void guard(struct assay_guarded *guarded, int parent_pidfd)
{
	struct pollfd p = { .fd = parent_pidfd, .events = POLLIN };
	sigset_t all;
	pid_t program;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	/* A file of the process that died would stay open for those who wait for its end. */
	if (parent_pidfd > 0)
		syscall(SYS_close_range, 0u, (unsigned)parent_pidfd - 1, 0u);
	syscall(SYS_close_range, (unsigned)parent_pidfd + 1, ~0u, 0u);
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	program = atomic_load(&guarded->program);
	if (program)
		assay_process_session_end(program);
	_exit(0);
}

void assay_guardian_begin(struct assay_guardian *g)
{
	const int parent = (int)syscall(SYS_pidfd_open, getpid(), 0u);
	struct assay_guarded *page =
		mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*g = (struct assay_guardian){ .pidfd = -1 };
	if (parent >= 0 && page != MAP_FAILED)
		g->pid = fork();
	if (parent >= 0 && page != MAP_FAILED && !g->pid)
		guard(page, parent);
	if (g->pid > 0)
		g->pidfd = (int)syscall(SYS_pidfd_open, g->pid, 0u);
	if (g->pidfd >= 0) {
		g->guarded = page;
	} else if (page != MAP_FAILED) {
		if (g->pid > 0 && !kill(g->pid, SIGKILL))
			waitpid(g->pid, NULL, 0);
		munmap(page, sizeof(*page));
	}
	if (parent >= 0)
		close(parent);
}

void assay_guardian_watch(const struct assay_guardian *g, pid_t program)
{
	if (g->guarded)
		atomic_store(&g->guarded->program, program);
}

void assay_guardian_end(struct assay_guardian *g)
{
	if (!g->guarded)
		return;
	/* by its pidfd, since others may have reaped it, so that its number is of another process */
	syscall(SYS_pidfd_send_signal, g->pidfd, SIGKILL, NULL, 0u);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(g->pidfd);
	munmap(g->guarded, sizeof(*g->guarded));
	*g = (struct assay_guardian){ .guarded = NULL };
}
