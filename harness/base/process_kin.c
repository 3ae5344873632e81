/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the parents in /proc. All of it is safe in a signal handler, so numbers are written and read by hand. */
#include "base/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* More generations are a loop that changes while it is read. */
#define MAX_GENERATIONS 1000
/* A process that is killed starts none any more, so few rounds find those that were started during the one before. */
#define KILL_ROUNDS 5
#define MAX_TRACERS 8

/* "/proc/PID/@name"; -1 where it cannot be opened. */
static int open_proc(pid_t pid, const char *name)
{
	char digits[24], path[64], *at = path;
	size_t n = 0;

	for (; pid > 0; pid /= 10)
		digits[n++] = (char)('0' + pid % 10);
	memcpy(at, "/proc/", 6);
	at += 6;
	while (n)
		*at++ = digits[--n];
	*at++ = '/';
	memcpy(at, name, strlen(name) + 1);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Up to @size bytes of "/proc/PID/@name" as a string. */
static bool read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	const int fd = open_proc(pid, name);
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, text, size - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	return len > 0;
}

static pid_t number_at(const char *s)
{
	pid_t n = 0;

	for (; *s >= '0' && *s <= '9'; s++)
		n = 10 * n + (*s - '0');
	return n;
}

/*
 * The parent, 0 where nobody knows it, the state, and the session. The name in parentheses may hold anything; all come
 * behind it.
 */
static pid_t read_stat(pid_t pid, char *state, pid_t *session)
{
	pid_t numbers[3] = { 0 };
	const char *name_end;
	int number = 0;
	char text[512];

	*state = 0;
	*session = 0;
	if (!read_proc(pid, "stat", text, sizeof(text)))
		return 0;
	name_end = strrchr(text, ')');
	if (!name_end || strlen(name_end) < 5)
		return 0;
	*state = name_end[2];
	/* ") S PARENT GROUP SESSION" */
	for (const char *at = name_end + 4; *at && number < 3; number++) {
		numbers[number] = number_at(at);
		at += strcspn(at, " ");
		at += *at == ' ';
	}
	*session = numbers[2];
	return numbers[0];
}

static pid_t parent_of(pid_t pid, char *state)
{
	pid_t session;

	return read_stat(pid, state, &session);
}

static bool descends(pid_t pid, pid_t above)
{
	char state;

	for (int i = 0; i < MAX_GENERATIONS && pid > 1; i++) {
		pid = parent_of(pid, &state);
		if (pid == above)
			return true;
	}
	return false;
}

bool assay_process_is_kin(pid_t pid)
{
	const int saved = errno;
	const bool kin = descends(pid, getpid());

	errno = saved;
	return kin;
}

char assay_process_state(pid_t pid)
{
	const int saved = errno;
	char state;

	parent_of(pid, &state);
	errno = saved;
	return state;
}

pid_t assay_process_tracer(pid_t pid)
{
	static const char key[] = "\nTracerPid:\t";
	const int saved = errno;
	char text[2048];
	const char *at = read_proc(pid, "status", text, sizeof(text)) ? strstr(text, key) : NULL;

	errno = saved;
	return at ? number_at(at + strlen(key)) : 0;
}

struct dirent64_head {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

static bool is_in_session(pid_t pid, pid_t leader)
{
	pid_t session;
	char state;

	read_stat(pid, &state, &session);
	return session == leader;
}

/* Does the kernel's list say that no thread of @pid has a child? False where there is no such list. */
static bool is_childless(pid_t pid)
{
	_Alignas(8) char buf[4096];
	const int threads = open_proc(pid, "task");
	bool none = threads >= 0;
	long n;

	while (none && (n = syscall(SYS_getdents64, threads, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < n && none;) {
			const struct dirent64_head *e = (const struct dirent64_head *)(buf + at);
			const size_t len = strlen(e->name);
			char path[64], first;
			int fd;

			at += e->reclen;
			if (e->name[0] == '.' || len + sizeof("/children") > sizeof(path))
				continue;
			memcpy(path, e->name, len);
			memcpy(path + len, "/children", sizeof("/children"));
			fd = openat(threads, path, O_RDONLY | O_CLOEXEC);
			none = fd >= 0 && !read(fd, &first, 1);
			if (fd >= 0)
				close(fd);
		}
	}
	if (threads >= 0)
		close(threads);
	return none;
}

/* One round over all processes that are so to @of; whether it killed any that was alive. */
static bool kill_all(bool (*is_so)(pid_t pid, pid_t of), pid_t of)
{
	_Alignas(8) char buf[4096];
	int dir = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool any = false;
	long n;

	while (dir >= 0 && (n = syscall(SYS_getdents64, dir, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < n;) {
			const struct dirent64_head *e = (const struct dirent64_head *)(buf + at);
			const pid_t pid = number_at(e->name);

			if (pid > 1 && is_so(pid, of) && assay_process_state(pid) != 'Z')
				any = !kill(pid, SIGKILL) || any;
			at += e->reclen;
		}
	}
	if (dir >= 0)
		close(dir);
	return any;
}

void assay_process_kin_kill(pid_t above)
{
	const int saved = errno;

	/* what a machine with many processes would take milliseconds to find out */
	for (int i = 0; i < KILL_ROUNDS && !is_childless(above) && kill_all(descends, above); i++)
		;
	errno = saved;
}

void assay_process_kin_end(pid_t pid)
{
	const int saved = errno;

	for (int i = 0; i < MAX_TRACERS && pid > 1; i++) {
		const pid_t tracer = assay_process_tracer(pid);

		/* so that it neither starts others nor acts upon their end */
		kill(pid, SIGSTOP);
		assay_process_kin_kill(pid);
		kill(pid, SIGKILL);
		pid = assay_process_is_kin(tracer) ? tracer : 0;
	}
	errno = saved;
}

void assay_process_session_end(pid_t leader)
{
	const int saved = errno;

	assay_process_kin_end(leader);
	for (int i = 0; i < KILL_ROUNDS && kill_all(is_in_session, leader); i++)
		;
	errno = saved;
}

/* ---- process strays ---- */

/* Finds children by the kernel's list, thread by thread, and kills those that nobody here started. */

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
