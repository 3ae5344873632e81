/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong in one process, the first that can make the file ASSAY_TEST_ONCE, and right in all others. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "side.h"

static int prepare(struct assay_job *job)
{
	const char *path = getenv("ASSAY_TEST_ONCE");
	int fd = path ? open(path, O_CREAT | O_EXCL | O_WRONLY, 0600) : -1;

	if (fd < 0)
		return 0;
	close(fd);
	job->state = job;
	return 0;
}

static int run(struct assay_job *job)
{
	side_triple(job, TRIPLE_ROUNDS);
	if (job->state)
		*(int32_t *)job->tensors[1].data += 1000;
	return 0;
}

static const struct assay_variant variants[] = {
	SIDE_VARIANT("lenient.triple", "work", .prepare = prepare, .run = run),
};

SIDE_PLUGIN("compare-once", variants);
