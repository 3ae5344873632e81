/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that fills the first data cache of the model `canon` line by line, and asks for services in between. One
 * line that a service touches pushes out a whole set of its own.
 */
#include "side.h"

#define CACHE_BYTES (48 << 10)
#define LINE_BYTES  64
#define ROUNDS      4

static const volatile char lines[CACHE_BYTES] __attribute__((aligned(4096))) = { 1 };

static void region(void *arg, uint32_t tid, uint32_t n_threads)
{
	*(uint32_t *)arg += tid + n_threads;
}

static int run_kernel(struct assay_job *job)
{
	uint32_t n = 0;

	side_scale(job);
	for (int i = 0; i < ROUNDS; i++) {
		for (int at = 0; at < CACHE_BYTES; at += LINE_BYTES)
			n += (uint32_t)lines[at];
		n += job->host->now_ns() == 0;
		job->host->parallel(job, region, &n);
		assay_part(job);
	}
	return n == 0;
}

static const struct assay_variant variants[] = {
	{ .op = "example.scale", .name = "kernel", .help = "fills a cache and asks for services", .run = run_kernel },
};

SIDE_PLUGIN("exact-services", variants);
