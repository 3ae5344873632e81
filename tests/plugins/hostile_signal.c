/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants that are right and once try to interrupt the process that started theirs. They do so only where that is
 * still the program or a test of it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "side.h"

/* 0: the parent is gone, and whoever took its place is to be left alone. */
static pid_t controller(void)
{
	const pid_t parent = getppid();
	char path[64], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)parent);
	f = parent > 1 ? fopen(path, "re") : NULL;
	if (f) {
		if (!fgets(name, sizeof(name), f))
			name[0] = '\0';
		fclose(f);
	}
	return !strncmp(name, "assay", 5) || !strncmp(name, "test_", 5) ? parent : 0;
}

static int interrupt_once(struct assay_job *job, pid_t target)
{
	if (target && kill(target, SIGINT))
		return job->host->fail(job, "cannot signal its parent: %s", strerror(errno));
	return side_scale(job);
}

static int run(struct assay_job *job)
{
	static int calls;

	return calls++ ? side_scale(job) : interrupt_once(job, controller());
}

/* Its child does it, and stays until the signal has arrived. */
static int child_run(struct assay_job *job)
{
	static int calls;
	const pid_t target = controller();
	int status = 0;
	pid_t pid;

	if (calls++ || !target)
		return side_scale(job);
	pid = fork();
	if (pid == 0) {
		int rc = kill(target, SIGINT);

		usleep(100000);
		_exit(rc ? 1 : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return job->host->fail(job, "cannot signal its parent");
	return side_scale(job);
}

static const struct assay_variant variants[] = {
	SCALE_THREADS("interrupt", NULL, run),
	SCALE_THREADS("interrupt_child", NULL, child_run),
};

SIDE_PLUGIN("hostile-signal", variants);
