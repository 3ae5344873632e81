/* SPDX-License-Identifier: Apache-2.0 */
/* A full disk fails in posix_fallocate() and never in a write to the mapping, which would be SIGBUS. */
#include "counters/preload/growing_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counters/preloaded.h"

#define MOST_FILES 1000 /* of one process, which may become another program */

void *assay_growing_file_new(struct assay_growing_file *f, const char *dir, const char *ending, uint64_t most_bytes,
			     char *before)
{
	void *p;
	int fd = -1;

	if (before)
		before[0] = '\0';
	for (unsigned i = 0; dir && fd < 0 && i < MOST_FILES; i++) {
		if (i && before)
			memcpy(before, f->path, sizeof(f->path));
		snprintf(f->path, sizeof(f->path), "%s/%d.%u%s", dir, (int)getpid(), i, ending);
		fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd < 0)
		return NULL;
	p = posix_fallocate(fd, 0, ASSAY_PRELOADED_ROOM_BYTES)
		    ? MAP_FAILED
		    : mmap(NULL, most_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return NULL;
	f->room_bytes = ASSAY_PRELOADED_ROOM_BYTES;
	f->most_bytes = most_bytes;
	return p;
}

bool assay_growing_file_reserve(struct assay_growing_file *f, uint64_t bytes)
{
	while (bytes > f->room_bytes) {
		int fd, failed;

		if (f->room_bytes + ASSAY_PRELOADED_ROOM_BYTES > f->most_bytes)
			return false;
		fd = open(f->path, O_RDWR | O_CLOEXEC);
		failed = fd < 0 || posix_fallocate(fd, 0, (off_t)(f->room_bytes + ASSAY_PRELOADED_ROOM_BYTES));
		if (fd >= 0)
			close(fd);
		if (failed)
			return false;
		f->room_bytes += ASSAY_PRELOADED_ROOM_BYTES;
	}
	return true;
}

void assay_growing_file_program(char *name, size_t size)
{
	const int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	name[0] = '\0';
	if (fd < 0)
		return;
	n = read(fd, name, size - 1);
	name[n > 0 ? n - 1 : 0] = '\0'; /* without the newline */
	close(fd);
}
