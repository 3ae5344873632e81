/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of matmul.so. */
#include "matmul_variants.h"

static const struct assay_variant variants[] = {
	{ .op = "matmul.f32",
	  .name = "ref",
	  .help = "three loops in plain C",
	  .flags = ASSAY_VARIANT_REFERENCE,
	  .run = assay_matmul_f32_ref },
	{ .op = "matmul.f32",
	  .name = "blocked",
	  .help = "plain C, blocked for caches and registers",
	  .run = assay_matmul_f32_blocked },
	{ .op = "matmul.ternary",
	  .name = "ref",
	  .help = "three loops in plain C",
	  .flags = ASSAY_VARIANT_REFERENCE,
	  .run = assay_matmul_ternary_ref },
#if defined(__x86_64__)
	{ .op = "matmul.ternary",
	  .name = "avx2",
	  .help = "codes times activations in 16-bit sums, tiles in registers",
	  .needs = "avx2,fma,f16c",
	  .run = assay_matmul_ternary_avx2 },
#endif
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "matmul",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
