/* SPDX-License-Identifier: Apache-2.0 */
/* Finds children by the kernel's list, thread by thread, and kills those that nobody here started. */
#include "base/process_strays.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* One that was killed hands its own children on: look again, but not for ever where they multiply faster. */
#define MAX_ROUNDS 100

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
	bool again;
};

static void kill_stray(void *arg, pid_t pid)
{
	struct hunt *h = arg;

	for (size_t i = 0; i < h->s->n; i++)
		if (h->s->known[i] == pid)
			return;
	if (pid == h->keep)
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	h->again = true;
}

void assay_strays_kill(const struct assay_strays *s, pid_t keep)
{
	struct hunt h = { .s = s, .keep = keep, .again = s->n <= ASSAY_STRAYS_KNOWN };

	for (int round = 0; round < MAX_ROUNDS && h.again; round++) {
		h.again = false;
		each_child(kill_stray, &h);
	}
}
