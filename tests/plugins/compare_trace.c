/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a record of every run to the file ASSAY_TEST_TRACE: the process, the copy of the inputs, and where its first
 * tensor, what was prepared, its code, its stack and its job are. A run takes ASSAY_TEST_SPIN_NS at least.
 * ASSAY_TEST_PREPARE bytes are prepared for all copies together.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "side.h"

static int trace = -1;
static uint64_t spin_ns;
static void *prepared;

/* Copies are prepared in their order. */
static int prepare(struct assay_job *job)
{
	static intptr_t copies;
	const char *path = getenv("ASSAY_TEST_TRACE"), *spin = getenv("ASSAY_TEST_SPIN_NS"),
		   *bytes = getenv("ASSAY_TEST_PREPARE");

	job->state = (void *)copies++;
	spin_ns = spin ? strtoull(spin, NULL, 10) : 0;
	if (path && trace < 0)
		trace = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (bytes && !prepared)
		prepared = job->host->alloc(job, strtoull(bytes, NULL, 10));
	return 0;
}

static int run(struct assay_job *job)
{
	const int64_t record[7] = { getpid(),           (intptr_t)job->state, (intptr_t)job->tensors[0].data,
				    (intptr_t)prepared, (intptr_t)run,        (intptr_t)__builtin_frame_address(0),
				    (intptr_t)job };
	const uint64_t start = job->host->now_ns();

	if (write(trace, record, sizeof(record)) != sizeof(record))
		return job->host->fail(job, "cannot write to ASSAY_TEST_TRACE");
	side_triple(job, 1);
	while (job->host->now_ns() - start < spin_ns)
		;
	return 0;
}

static const struct assay_variant variants[] = {
	SIDE_VARIANT("lenient.triple", "work", .prepare = prepare, .run = run),
};

SIDE_PLUGIN("compare-trace", variants);
