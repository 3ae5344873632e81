/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel with an instruction that it does not declare and valgrind does not know, as -march=native makes them. */
#include "side.h"

static int run_kernel(struct assay_job *job)
{
	side_scale(job);
#if defined(__x86_64__)
	__asm__ volatile("sha256msg1 %%xmm1, %%xmm0" : : : "xmm0");
#endif
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "example.scale", .name = "kernel", .help = "and a step of SHA-256", .run = run_kernel },
};

SIDE_PLUGIN("exact-unknown", variants);
