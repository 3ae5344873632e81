/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files in and out. Knows nothing of what is in them. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/text.h"

#define NULL_DEVICE makedev(1, 3) /* /dev/null of Linux, which is as good as an empty file */

/* Read at a time: a power of two with the NUL, as texts grow. */
#define READ_BYTES 16383

static ssize_t read_some(int fd, void *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n;
}

static const struct {
	const char *name;
	uint64_t most_bytes;
} kinds[] = {
#define X(kind, name, mib) [ASSAY_FILE_##kind] = { name, (uint64_t)(mib) << 20 },
	ASSAY_FILE_KINDS(X)
#undef X
};

static const char *kind_text(mode_t mode)
{
	return S_ISFIFO(mode) ? "it is a pipe" : S_ISSOCK(mode) ? "it is a socket" : "it is a device";
}

static int too_large(const char *path, enum assay_file_kind kind, struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ELIMIT,
			     "cannot read '%.250s': it is too large: %s may have at most %" PRIu64 " MiB", path,
			     kinds[kind].name, kinds[kind].most_bytes >> 20);
}

/*
 * Open what can be read to its end, of a size that its kind may have; @st is of what was opened. Negative on error. A
 * pipe without a writer would be waited for, hence O_NONBLOCK, which files know nothing of.
 */
static int open_whole(const char *path, enum assay_file_kind kind, struct stat *st, struct assay_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = 0;

	if (fd < 0)
		return assay_err_set(err, errno == ENOENT ? ASSAY_ENOTFOUND : ASSAY_EIO, "cannot read '%s': %s", path,
				     strerror(errno));
	if (fstat(fd, st))
		rc = assay_err_set(err, ASSAY_EIO, "cannot read '%s': %s", path, strerror(errno));
	else if (S_ISDIR(st->st_mode))
		rc = assay_err_set(err, ASSAY_EIO, "cannot read '%s': %s", path, strerror(EISDIR));
	else if (!S_ISREG(st->st_mode) && !(S_ISCHR(st->st_mode) && st->st_rdev == NULL_DEVICE))
		rc = assay_err_set(err, ASSAY_EUSAGE, "cannot read '%.250s': %s, expected %s", path,
				   kind_text(st->st_mode), kinds[kind].name);
	else if (st->st_size > 0 && (uint64_t)st->st_size > kinds[kind].most_bytes)
		rc = too_large(path, kind, err);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int assay_file_read_as(const char *path, enum assay_file_kind kind, char **out, size_t *len, struct assay_err *err)
{
	struct assay_text t = { 0 };
	struct stat st;
	ssize_t n = 0;
	char *room;
	int rc = 0, fd = open_whole(path, kind, &st, err);

	if (fd < 0)
		return fd;
	/* Files of /proc and /sys state no size: read until there is no more. */
	while ((room = assay_text_room(&t, READ_BYTES)) && (n = read_some(fd, room, READ_BYTES)) > 0 &&
	       t.len <= kinds[kind].most_bytes)
		assay_text_grow(&t, (size_t)n);
	if (room && n > 0)
		rc = too_large(path, kind, err);
	if (room && n < 0)
		rc = assay_err_set(err, ASSAY_EIO, "cannot read '%s': %s", path, strerror(errno));
	if (rc)
		goto out;

	*len = t.len;
	*out = assay_text_take(&t);
	if (!*out)
		rc = assay_err_set(err, ASSAY_ENOMEM, "cannot read '%s': out of memory", path);
out:
	assay_text_release(&t);
	close(fd);
	return rc;
}

int assay_file_read(const char *path, char **out, size_t *len, struct assay_err *err)
{
	return assay_file_read_as(path, ASSAY_FILE_ANY, out, len, err);
}

int assay_file_map(const char *path, const void **data, size_t *len, struct assay_err *err)
{
	struct stat st;
	void *map;
	int fd = open_whole(path, ASSAY_FILE_PLUGIN, &st, err), rc = 0;

	*data = NULL;
	*len = 0;
	if (fd < 0)
		return fd;
	if (!st.st_size)
		goto out;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		rc = assay_err_set(err, ASSAY_EIO, "cannot read '%s': %s", path, strerror(errno));
	} else {
		*data = map;
		*len = (size_t)st.st_size;
	}
out:
	close(fd);
	return rc;
}

void assay_file_unmap(const void *data, size_t len)
{
	if (data)
		munmap((void *)(uintptr_t)data, len);
}

bool assay_file_line(const char *path, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n = 0;
	int fd;

	if (!size)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (len + 1 < size && (n = read_some(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	buf[len] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return n >= 0;
}

/* An interrupt waits for a file that is begun: half of it, or a temporary one, would stay behind. */
void assay_file_hold_interrupts(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, old);
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Describe errno after writing @path failed, with a remedy. */
static int cannot_write(const char *path, struct assay_err *err)
{
	const int code = assay_error_of_errno(errno, ASSAY_EIO);

	return assay_err_set(err, code, "cannot write '%s': %s%s", path, strerror(errno),
			     code == ASSAY_ENOSPACE ? ", free some space or name a file on another disk" : "");
}

/* Terminals, pipes and devices cannot be replaced by a rename. */
static int write_in_place(const char *path, const void *data, size_t len, struct assay_err *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0 || write_all(fd, data, len))
		rc = cannot_write(path, err);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Is @name, behind that of the file it was to become, of a temporary file whose program is gone? */
static bool is_left(const char *name)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
	unsigned i;
	long pid;
	int len = 0;

	if (sscanf(name, ".%ld-%u.tmp%n", &pid, &i, &len) != 2 || !len || pid <= 0)
		return false;
	if (!kill((pid_t)pid, 0) || errno != ESRCH)
		return false;
	for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++)
		if (!strcmp(name + len, ends[k]))
			return true;
	return false;
}

/*
 * Remove what programs that were killed left of the file at @path. One in another container, whose number means nothing
 * here, holds a lock as long as it writes.
 */
static void sweep_beside(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	char *dir = slash ? strndup(path, (size_t)(base - path)) : strdup(".");
	DIR *d = dir ? opendir(dir) : NULL;
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		struct stat st;
		int fd;

		if (strncmp(e->d_name, base, strlen(base)) != 0 || !is_left(e->d_name + strlen(base)))
			continue;
		fd = openat(dirfd(d), e->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB))
			unlinkat(dirfd(d), e->d_name, 0);
		close(fd);
	}
	if (d)
		closedir(d);
	free(dir);
}

/* Not mkstemp: it would give the file mode 0600 whatever the umask allows. */
int assay_file_open_temporary(const char *path, char *name, size_t size)
{
	sweep_beside(path);
	for (unsigned i = 0; i < 1000; i++) {
		int n = snprintf(name, size, "%s.%ld-%u.tmp", path, (long)getpid(), i);
		int fd;

		if (n < 0 || (size_t)n >= size) {
			errno = ENAMETOOLONG;
			return -1;
		}
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			flock(fd, LOCK_EX | LOCK_NB);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

static int replace(const char *path, const void *data, size_t len, struct assay_err *err)
{
	char name[PATH_MAX];
	int fd, rc = 0;

	fd = assay_file_open_temporary(path, name, sizeof(name));
	if (fd < 0)
		return cannot_write(path, err);
	/* Without fsync a power cut could leave the new name on an empty file. */
	if (write_all(fd, data, len) || fsync(fd)) {
		rc = cannot_write(path, err);
		goto out;
	}
	if (close(fd)) {
		fd = -1;
		rc = cannot_write(path, err);
		goto out;
	}
	fd = -1;
	if (rename(name, path))
		rc = cannot_write(path, err);
out:
	if (fd >= 0)
		close(fd);
	if (rc)
		unlink(name);
	return rc;
}

/*
 * Where *@path is written: it becomes the file that a link names (in @real), so that this is replaced, not the link.
 * *in_place: what is there cannot be replaced.
 */
static int find_target(const char **path, char real[PATH_MAX], bool *in_place, struct assay_err *err)
{
	struct stat st;

	*in_place = false;
	if (stat(*path, &st))
		return 0;
	if (S_ISDIR(st.st_mode))
		return assay_err_set(err, ASSAY_EIO, "cannot write '%s': it is a folder", *path);
	*in_place = !S_ISREG(st.st_mode);
	if (!*in_place && realpath(*path, real))
		*path = real;
	return 0;
}

int assay_file_write(const char *path, const void *data, size_t len, struct assay_err *err)
{
	char real[PATH_MAX];
	bool in_place;
	sigset_t old;
	int rc = find_target(&path, real, &in_place, err);

	if (rc)
		return rc;
	/* a pipe may not take it for long */
	if (in_place)
		return write_in_place(path, data, len, err);
	assay_file_hold_interrupts(&old);
	rc = replace(path, data, len, err);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

int assay_file_write_check(const char *path, struct assay_err *err)
{
	char real[PATH_MAX], name[PATH_MAX];
	bool in_place, can;
	sigset_t old;
	int fd, rc = find_target(&path, real, &in_place, err);

	if (rc)
		return rc;
	if (in_place) {
		can = !access(path, W_OK);
	} else {
		assay_file_hold_interrupts(&old);
		fd = assay_file_open_temporary(path, name, sizeof(name));
		can = fd >= 0;
		if (can) {
			close(fd);
			unlink(name);
		}
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	return can ? 0 : cannot_write(path, err);
}

bool assay_file_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

static int make_folder(const char *path, struct assay_err *err)
{
	struct stat st;

	if (!mkdir(path, 0777))
		return 0;
	if (errno == EEXIST && !stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return 0;
		errno = ENOTDIR;
	}
	return assay_err_set(err, ASSAY_EIO, "cannot make the folder '%s': %s", path, strerror(errno));
}

static int create(const char *path, const void *data, size_t len, struct assay_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), rc = 0;

	if (fd < 0 && errno == EEXIST)
		return assay_err_set(err, ASSAY_EUSAGE, "'%s' is there already, and nothing is overwritten", path);
	if (fd < 0)
		return cannot_write(path, err);
	if (write_all(fd, data, len))
		rc = cannot_write(path, err);
	if (close(fd) && !rc)
		rc = cannot_write(path, err);
	if (rc)
		unlink(path);
	return rc;
}

int assay_file_create(const char *path, const void *data, size_t len, struct assay_err *err)
{
	sigset_t old;
	int rc;

	assay_file_hold_interrupts(&old);
	rc = create(path, data, len, err);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

int assay_file_mkdirs(const char *path, struct assay_err *err)
{
	char part[PATH_MAX];
	size_t len = strlen(path);

	if (!len || len >= sizeof(part))
		return assay_err_set(err, ASSAY_EIO, "cannot make the folder '%.80s': its name is %s", path,
				     len ? "too long" : "empty");
	memcpy(part, path, len + 1);
	for (char *p = part + 1; *p; p++) {
		int rc;

		if (*p != '/' || p[-1] == '/')
			continue;
		*p = '\0';
		rc = make_folder(part, err);
		if (rc)
			return rc;
		*p = '/';
	}
	return make_folder(part, err);
}

int assay_file_exe_dir(char *buf, size_t size, struct assay_err *err)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (n < 0)
		return assay_err_set(err, ASSAY_EIO, "cannot read '/proc/self/exe': %s, is /proc mounted?",
				     strerror(errno));
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return assay_err_set(err, ASSAY_EINTERNAL, "'/proc/self/exe' points to '%s', which is not a path",
				     path);
	*slash = '\0';
	if (strlen(path) >= size)
		return assay_err_set(err, ASSAY_ELIMIT, "the path of the program is longer than %zu bytes", size - 1);
	strcpy(buf, path);
	return 0;
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A file that opens but has no end, such as a named pipe, must not be waited for. */
static int check_regular(int dir, const char *folder, const char *name, struct assay_err *err)
{
	struct stat st;

	if (fstatat(dir, name, &st, 0))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot read '%s/%s': %s", folder, name, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return assay_err_set(err, ASSAY_EUSAGE, "'%s/%s' is not a regular file", folder, name);
	return 0;
}

int assay_file_list(const char *dir, const char *ending, struct assay_strings *out, struct assay_err *err)
{
	size_t tail = strlen(ending);
	DIR *d = opendir(dir);
	struct dirent *e;
	int rc = 0;

	if (!d)
		return assay_err_set(err, errno == ENOENT ? ASSAY_ENOTFOUND : ASSAY_EUSAGE,
				     "cannot read the folder '%s': %s", dir, strerror(errno));
	while (!rc && (e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (len <= tail || e->d_name[0] == '.' || strcmp(e->d_name + len - tail, ending))
			continue;
		rc = check_regular(dirfd(d), dir, e->d_name, err);
		if (!rc)
			rc = assay_strings_addn(out, e->d_name, len - tail, err);
	}
	closedir(d);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), compare_strings);
	return rc;
}
