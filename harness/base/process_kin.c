/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the parents in /proc. All of it is safe in a signal handler, so numbers are written and read by hand. */
#include "base/process_kin.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* More generations are a loop that changes while it is read. */
#define MAX_GENERATIONS 1000

/* "/proc/PID/stat" */
static void stat_path(pid_t pid, char *path)
{
	char digits[24];
	size_t n = 0;

	for (; pid > 0; pid /= 10)
		digits[n++] = (char)('0' + pid % 10);
	memcpy(path, "/proc/", 6);
	path += 6;
	while (n)
		*path++ = digits[--n];
	memcpy(path, "/stat", 6);
}

/* 0: nobody knows. The name in parentheses may hold anything; behind the last of them come the state and the parent. */
static pid_t parent_of(pid_t pid)
{
	char path[48], text[512];
	ssize_t len = 0, at;
	pid_t parent = 0;
	int fd;

	stat_path(pid, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text));
	close(fd);
	for (at = len - 1; at >= 0 && text[at] != ')'; at--)
		;
	if (at < 0)
		return 0;
	for (at += 4; at < len && text[at] >= '0' && text[at] <= '9'; at++)
		parent = 10 * parent + (text[at] - '0');
	return parent;
}

bool assay_process_is_kin(pid_t pid)
{
	const int saved = errno;
	const pid_t self = getpid();
	bool kin = false;

	for (int i = 0; i < MAX_GENERATIONS && pid > 1 && !kin; i++) {
		pid = parent_of(pid);
		kin = pid == self;
	}
	errno = saved;
	return kin;
}
