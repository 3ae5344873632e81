/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner is gone when no process has its number and start, and nobody holds the lock. The lock alone would do, but
 * for the moment between making a folder and locking it; the number alone would not, where a container shares /tmp and
 * has processes of its own.
 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "assay-"

/*
 * When process @pid began, in ticks since the machine did (proc(5), field 22 of stat); 0: it is not there, or has ended
 * and waits for a parent that does not ask.
 */
static uint64_t start_of(long pid)
{
	char path[64], line[1024], state = 0;
	unsigned long long start = 0;
	const char *at;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	/* the name of the program may hold anything, and ends with the last parenthesis */
	at = assay_file_line(path, line, sizeof(line)) ? strrchr(line, ')') : NULL;
	if (at && sscanf(at + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
			 &state, &start) != 2)
		start = 0;
	return state == 'Z' || state == 'X' ? 0 : start;
}

static bool is_gone(long pid, uint64_t start)
{
	/* a folder of 0 was made where /proc tells nothing */
	if (!start || !start_of(getpid()))
		return kill((pid_t)pid, 0) && errno == ESRCH;
	return start_of(pid) != start;
}

static const char *place(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/tmp";
}

int assay_temporary_make(struct assay_temporary *t, const char *what, struct assay_err *err)
{
	const long pid = getpid();
	char dir[PATH_MAX];
	int n;

	*t = (struct assay_temporary){ .fd = -1 };
	if (!realpath(place(), dir))
		n = -1;
	else
		n = snprintf(t->path, sizeof(t->path), "%s/" PREFIX "%s-%ld-%llu-XXXXXX", dir, what, pid,
			     (unsigned long long)start_of(pid));
	if (n >= (int)sizeof(t->path))
		errno = ENAMETOOLONG;
	if (n < 0 || n >= (int)sizeof(t->path) || !mkdtemp(t->path)) {
		*t = (struct assay_temporary){ 0 };
		return assay_err_set(err, assay_error_of_errno(errno, ASSAY_EUSAGE),
				     "cannot make a folder in '%s': %s, set TMPDIR to one that can be written", place(),
				     strerror(errno));
	}
	t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* a file system without locks has its folders swept by nobody */
	if (t->fd >= 0)
		flock(t->fd, LOCK_EX | LOCK_NB);
	return 0;
}

int assay_temporary_room(const struct assay_temporary *t, uint64_t bytes, struct assay_err *err)
{
	const int fd = openat(t->fd, "room", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const int no = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)bytes);

	if (fd >= 0) {
		close(fd);
		unlinkat(t->fd, "room", 0);
	}
	return no ? assay_err_set(err, assay_error_of_errno(no, ASSAY_EUSAGE),
				  "no room in '%s': %s, free some space or set TMPDIR to another folder", place(),
				  strerror(no))
		  : 0;
}

/* Closes @fd, the open folder @name of @dir. */
static void remove_folder(int dir, const char *name, int fd)
{
	DIR *d = fdopendir(fd);
	const struct dirent *e;

	if (!d) {
		close(fd);
		return;
	}
	while ((e = readdir(d))) {
		int below;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || !unlinkat(fd, e->d_name, 0))
			continue;
		below = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			remove_folder(fd, e->d_name, below);
	}
	unlinkat(dir, name, AT_REMOVEDIR);
	closedir(d);
}

void assay_temporary_remove(struct assay_temporary *t)
{
	if (t->path[0] && t->fd >= 0)
		remove_folder(AT_FDCWD, t->path, t->fd);
	else if (t->path[0])
		rmdir(t->path);
	*t = (struct assay_temporary){ 0 };
}

/* Is it the name of a folder whose owner is gone? */
static bool is_left(const char *name)
{
	const char *at = name + strlen(name);
	unsigned long long start;
	long pid;
	int len = 0;

	if (strncmp(name, PREFIX, strlen(PREFIX)))
		return false;
	/* what it is for may have such a line in it, what follows does not */
	for (int lines = 0; at > name && lines < 3; at--)
		lines += at[-1] == '-';
	return sscanf(at, "-%ld-%llu-%*6[a-zA-Z0-9]%n", &pid, &start, &len) == 2 && len && !at[len] && pid > 0 &&
	       is_gone(pid, start);
}

void assay_temporary_sweep(void)
{
	DIR *d = opendir(place());
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		struct stat st;
		int fd;

		if (!is_left(e->d_name))
			continue;
		fd = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB))
			remove_folder(dirfd(d), e->d_name, fd);
		else
			close(fd);
	}
	if (d)
		closedir(d);
}
