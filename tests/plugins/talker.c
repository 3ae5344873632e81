/* SPDX-License-Identifier: Apache-2.0 */
/* Variants of example.scale that print while they run, some of them before they die. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <assay/plugin.h>

static void right(struct assay_job *job)
{
	const int32_t *x = job->tensors[0].data;
	int32_t *y = job->tensors[1].data;

	for (int64_t i = 0; i < job->shape->axis[0]; i++)
		y[i] = x[i] * 2 + 1;
}

/* A line without an end, so that nothing but a crash could keep it back. */
static int talk_prepare(struct assay_job *job)
{
	static int times;

	if (times++) /* on other inputs */
		return 0;
	printf("prepared \033[31m%lld\033[0m elements\n", (long long)job->shape->axis[0]);
	fprintf(stderr, "\xe2\x80\xaeto the \xff error\a output");
	return 0;
}

static int talk_run(struct assay_job *job)
{
	right(job);
	return 0;
}

/* 310000 bytes, of lines of 31. */
static int flood_prepare(struct assay_job *job)
{
	static int times;

	if (times++)
		return 0;
	for (int i = 0; i < 10000; i++)
		printf("line %5d of ten thousand....\n", i);
	return 0;
}

static int die_run(struct assay_job *job)
{
	printf("about to die\n");
	abort();
}

static int wrong_run(struct assay_job *job)
{
	memset(job->tensors[1].data, 0, job->tensors[1].bytes);
	return 0;
}

static int refuse_run(struct assay_job *job)
{
	return job->host->fail(job, "cannot run on a \033[31mFriday\033[0m\n\xe2\x80\xae \xff");
}

/* A line a call: in a pair nobody reads the one side while the other is waited for, unless the controller does. */
static int mutter_run(struct assay_job *job)
{
	right(job);
	fprintf(stderr, "%01000d\n", 0);
	return 0;
}

static void late(int status, void *arg)
{
	for (int i = 0; i < 100000; i++)
		fprintf(stderr, "late %5d of many thousand\n", i);
}

/* More than a pipe holds, when the worker has nothing left to do but to end; the code must still be there then. */
static void late_release(struct assay_job *job)
{
	Dl_info own;

	if (dladdr((void *)(uintptr_t)late, &own) && dlopen(own.dli_fname, RTLD_NOW | RTLD_NODELETE))
		on_exit(late, NULL);
}

#define TALKER(n, p, r, e)                                                                                             \
	{                                                                                                              \
		.op = "example.scale", .name = n, .help = "prints", .prepare = p, .run = r, .release = e               \
	}

static const struct assay_variant variants[] = {
	TALKER("talks", talk_prepare, talk_run, NULL), TALKER("floods", flood_prepare, talk_run, NULL),
	TALKER("dies", NULL, die_run, NULL),           TALKER("lies", talk_prepare, wrong_run, NULL),
	TALKER("late", NULL, talk_run, late_release),  TALKER("refuses", NULL, refuse_run, NULL),
	TALKER("mutters", NULL, mutter_run, NULL),
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "talker",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
