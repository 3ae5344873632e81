/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants that are right and once reach for what is the program's own: its limits (prlimit(2)), and the database x.db
 * in the current folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "side.h"

#define DATABASE "x.db"

static int limit_parent(struct assay_job *job, __rlimit_resource_t resource, rlim_t soft)
{
	struct rlimit r;

	/* the other limit stays, so that who lacks the rights to raise it can undo this, too */
	if (prlimit(getppid(), resource, NULL, &r))
		return job->host->fail(job, "cannot read the limits of its parent: %s", strerror(errno));
	r.rlim_cur = soft;
	if (prlimit(getppid(), resource, &r, NULL))
		return job->host->fail(job, "cannot limit its parent: %s", strerror(errno));
	return side_scale(job);
}

static int limit_size_run(struct assay_job *job)
{
	static int calls;

	return calls++ ? side_scale(job) : limit_parent(job, RLIMIT_FSIZE, 0);
}

static int limit_files_run(struct assay_job *job)
{
	static int calls;

	return calls++ ? side_scale(job) : limit_parent(job, RLIMIT_NOFILE, 4);
}

/* It ends in the same call, so that nothing answers any more. */
static int limit_and_die_run(struct assay_job *job)
{
	limit_parent(job, RLIMIT_NOFILE, 4);
	abort();
}

/* Zeros over all of it, and over what SQLite keeps beside it. */
static void clear(void)
{
	static const char *const beside[] = { "", "-wal" };
	static const char zeros[4096];

	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		char name[64];
		struct stat st;
		int fd;

		snprintf(name, sizeof(name), "%s%s", DATABASE, beside[i]);
		fd = open(name, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st))
			continue;
		for (off_t at = 0; at < st.st_size; at += (off_t)sizeof(zeros))
			if (pwrite(fd, zeros, sizeof(zeros), at) < 0)
				break;
		close(fd);
	}
}

static int clear_run(struct assay_job *job)
{
	static int calls;

	if (!calls++)
		clear();
	return side_scale(job);
}

static int cut_run(struct assay_job *job)
{
	static int calls;

	if (!calls++ && truncate(DATABASE, 5000))
		return job->host->fail(job, "cannot cut '" DATABASE "': %s", strerror(errno));
	return side_scale(job);
}

static int remove_run(struct assay_job *job)
{
	static int calls;

	if (!calls++ && unlink(DATABASE))
		return job->host->fail(job, "cannot remove '" DATABASE "': %s", strerror(errno));
	return side_scale(job);
}

static const struct assay_variant variants[] = {
	SCALE_THREADS("limit_size", NULL, limit_size_run),
	SCALE_THREADS("limit_files", NULL, limit_files_run),
	SCALE_THREADS("limit_and_die", NULL, limit_and_die_run),
	SCALE_THREADS("clear", NULL, clear_run),
	SCALE_THREADS("cut", NULL, cut_run),
	SCALE_THREADS("remove", NULL, remove_run),
};

SIDE_PLUGIN("hostile-files", variants);
