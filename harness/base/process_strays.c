/* SPDX-License-Identifier: Apache-2.0 */
/* Finds children by the kernel's list, thread by thread, and kills those that nobody here started. */
#include "base/process.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

/*
 * One that was killed hands its own children on, and one that is traced ends only when its tracer has: look again, but
 * not for ever. These are 2 s.
 */
#define MAX_ROUNDS 200
#define NAP_NS     10000000

typedef void (*child_fn)(void *arg, pid_t pid);

static void each_child(child_fn fn, void *arg)
{
	DIR *threads = opendir("/proc/self/task");
	const struct dirent *e;

	while (threads && (e = readdir(threads))) {
		char path[300];
		FILE *f;
		long pid;

		snprintf(path, sizeof(path), "/proc/self/task/%s/children", e->d_name);
		f = e->d_name[0] == '.' ? NULL : fopen(path, "re");
		while (f && fscanf(f, "%ld", &pid) == 1)
			fn(arg, (pid_t)pid);
		if (f)
			fclose(f);
	}
	if (threads)
		closedir(threads);
}

static void note(void *arg, pid_t pid)
{
	struct assay_strays *s = arg;

	if (s->n < ASSAY_STRAYS_KNOWN)
		s->known[s->n] = pid;
	s->n++;
}

void assay_strays_watch(struct assay_strays *s)
{
	s->n = 0;
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	each_child(note, s);
}

struct hunt {
	const struct assay_strays *s;
	pid_t keep;
	bool killed, left;
};

static bool is_stray(const struct hunt *h, pid_t pid)
{
	for (size_t i = 0; i < h->s->n; i++)
		if (h->s->known[i] == pid)
			return false;
	return pid != h->keep;
}

static void kill_stray(void *arg, pid_t pid)
{
	struct hunt *h = arg;

	if (!is_stray(h, pid))
		return;
	assay_process_kin_end(pid);
	h->killed = true;
}

static void reap_stray(void *arg, pid_t pid)
{
	struct hunt *h = arg;

	if (is_stray(h, pid) && waitpid(pid, NULL, WNOHANG) != pid)
		h->left = true;
}

void assay_strays_kill(const struct assay_strays *s, pid_t keep)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	for (int round = 0; round < MAX_ROUNDS && s->n <= ASSAY_STRAYS_KNOWN; round++) {
		struct hunt h = { .s = s, .keep = keep };

		/* all are killed before any is waited for, since they may trace each other */
		each_child(kill_stray, &h);
		if (!h.killed)
			return;
		each_child(reap_stray, &h);
		if (h.left)
			nanosleep(&nap, NULL);
	}
}
