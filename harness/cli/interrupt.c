/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/interrupt.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "cli/cli.h"

/* timeout(1) and terminals may send the same signal to a process and to its group: that is one wish, not two. */
#define SAME_WISH_NS 500000000

static volatile sig_atomic_t interrupted, held;
static volatile sig_atomic_t kin; /* a process that a worker started, and whose signal was ignored; 0: none */
static struct timespec first;

static void leave(void)
{
	static const char text[] = "assay: interrupted\n";
	ssize_t n = write(STDERR_FILENO, text, strlen(text));

	(void)n;
	/* children die with this process, but not what made a session of its own below them */
	assay_process_kin_kill(getpid());
	_exit(ASSAY_CLI_EXIT_INTERRUPTED);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	struct timespec now;

	(void)sig;
	(void)context;
	/* nobody who wants the program to stop asks a plugin to say so */
	if (info->si_code <= 0 && assay_process_is_kin(info->si_pid)) {
		kin = info->si_pid;
		return;
	}
	if (!held)
		leave();
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!interrupted) {
		first = now;
		interrupted = 1;
	} else if ((now.tv_sec - first.tv_sec) * 1000000000L + (now.tv_nsec - first.tv_nsec) > SAME_WISH_NS) {
		leave();
	}
}

void assay_interrupt_catch(void)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, hangup;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &sa, NULL);
}

void assay_interrupt_hold(void)
{
	held = 1;
}

bool assay_interrupt_release(void)
{
	held = 0;
	return interrupted;
}

const volatile sig_atomic_t *assay_interrupt_flag(void)
{
	return &interrupted;
}

pid_t assay_interrupt_ignored(void)
{
	pid_t pid = kin;

	kin = 0;
	return pid;
}
