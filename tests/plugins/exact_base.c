/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel of some 7000 instructions that reads a thousand lines. exact_longer has a thousandth more instructions,
 * exact_reads one line in a thousand more to read, and exact_sha an instruction that it does not declare and
 * valgrind does not know, as -march=native makes them; all else is the same.
 */
#include "side.h"

#ifdef PLUGIN_exact_longer
#define LONGER 8
#else
#define LONGER 0
#endif
#ifdef PLUGIN_exact_reads
#define EXTRA_LINES 1
#else
#define EXTRA_LINES 0
#endif

#define LINES      1000
#define LINE_BYTES 64

static const volatile char lines[(LINES + EXTRA_LINES) * LINE_BYTES] __attribute__((aligned(LINE_BYTES))) = { 1 };

static int run_kernel(struct assay_job *job)
{
	int sum = 0;

	side_scale(job);
	for (int i = 0; i < LINES + EXTRA_LINES; i++)
		sum += lines[i * LINE_BYTES];
#if defined(PLUGIN_exact_sha) && defined(__x86_64__)
	__asm__ volatile("sha256msg1 %%xmm1, %%xmm0" : : : "xmm0");
#endif
	/* valgrind leaves out what nobody uses */
	__asm__ volatile(".rept %c1\n\tnop\n\t.endr" : "+r"(sum) : "i"(LONGER));
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "example.scale", .name = "kernel", .help = "reads a thousand lines as well", .run = run_kernel },
};

SIDE_PLUGIN("exact-kernel", variants);
