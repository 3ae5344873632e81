/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants that leave processes behind which trace others (ptrace(2)), in sessions of their own, and ignore what can be
 * ignored. Nobody reaps a process before its tracer has let go of it.
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "side.h"

static __attribute__((noreturn)) void stay(void)
{
	for (;;)
		pause();
}

static void ignore_all(void)
{
	setsid();
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_IGN);
}

/* A process that traces this one from then on, which is left stopped where @stop says so. */
static int be_traced(struct assay_job *job, bool stop)
{
	int fd[2], rc;
	char done;
	pid_t pid;

	if (pipe(fd))
		return job->host->fail(job, "no pipe");
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	pid = fork();
	if (!pid) {
		const pid_t parent = getppid();

		ignore_all();
		done = ptrace(PTRACE_SEIZE, parent, NULL, NULL) ? 'n' : 'y';
		if (done == 'y' && stop)
			ptrace(PTRACE_INTERRUPT, parent, NULL, NULL);
		if (write(fd[1], &done, 1) != 1)
			_exit(1);
		close(fd[1]);
		stay();
	}
	close(fd[1]);
	rc = pid > 0 && read(fd[0], &done, 1) == 1 && done == 'y';
	close(fd[0]);
	return rc ? 0 : job->host->fail(job, "cannot be traced");
}

static int be_traced_once(struct assay_job *job, bool stop)
{
	static int calls;

	return !calls++ && be_traced(job, stop) ? -1 : side_scale(job);
}

static int traced_run(struct assay_job *job)
{
	return be_traced_once(job, false);
}

static int stopped_run(struct assay_job *job)
{
	return be_traced_once(job, true);
}

/* Two that trace each other: the one that is killed first waits for the other. */
static int each_other_run(struct assay_job *job)
{
	static int calls;
	int fd[2];
	char done = 'n';
	pid_t first, second;

	if (calls++)
		return side_scale(job);
	if (pipe(fd))
		return job->host->fail(job, "no pipe");
	first = fork();
	if (!first) {
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		ignore_all();
		second = fork();
		if (!second) {
			ignore_all();
			if (ptrace(PTRACE_SEIZE, getppid(), NULL, NULL))
				_exit(1);
			stay();
		}
		done = second > 0 && !ptrace(PTRACE_SEIZE, second, NULL, NULL) ? 'y' : 'n';
		if (write(fd[1], &done, 1) != 1)
			_exit(1);
		close(fd[1]);
		stay();
	}
	close(fd[1]);
	if (first < 0 || read(fd[0], &done, 1) != 1 || done != 'y')
		return job->host->fail(job, "cannot trace each other");
	close(fd[0]);
	usleep(50000);
	return side_scale(job);
}

static const struct assay_variant variants[] = {
	SCALE_THREADS("traced", NULL, traced_run),
	SCALE_THREADS("stopped", NULL, stopped_run),
	SCALE_THREADS("each_other", NULL, each_other_run),
};

SIDE_PLUGIN("hostile-trace", variants);
