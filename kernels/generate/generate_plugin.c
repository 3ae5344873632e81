/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of generate-files.so: what runs models of files. */
#include <stdio.h>

#include "../kernel_isa.h"
#include "generate_file_variants.h"

static int supports(const struct assay_shape *shape, struct assay_reason *why)
{
	if (shape->axis[ASSAY_FILE_AXIS_MODEL])
		return 0;
	snprintf(why->text, sizeof(why->text), "no file is named: --model FILE says which");
	return -1;
}

static int run(struct assay_job *job)
{
	const struct assay_file_state *s = job->op_state;

	return s->play(job);
}

#define FILE_VARIANT(on_arch, isa, ...)                                                                                \
	{                                                                                                              \
		.op = "generate.file", .name = #isa, .supports = supports,                                             \
		.prepare = on_arch(assay_generate_file_prepare_##isa, NULL), .run = run, __VA_ARGS__                   \
	}

static const struct assay_variant variants[] = {
	FILE_VARIANT(ON_ANY, ref, .help = "plain C, four floats at a time", .flags = ASSAY_VARIANT_REFERENCE),
	FILE_VARIANT(ON_X86_64, avx2, .help = "eight floats at a time", .needs = ASSAY_NEEDS(avx2)),
	FILE_VARIANT(ON_X86_64, avx512, .help = "sixteen floats at a time", .needs = ASSAY_NEEDS(avx512)),
	FILE_VARIANT(ON_X86_64, avx512vnni, .help = "the same, and dot products of eight bits for rows of blocks",
		     .needs = ASSAY_NEEDS(avx512vnni)),
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "generate",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
