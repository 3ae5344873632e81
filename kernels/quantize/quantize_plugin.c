/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of quantize.so: every instruction set with all eight ops, and VBMI2 with three. */
#include "assay/plugin.h"

#include "../kernel_isa.h"
#include "quantize_variants.h"

#define VARIANT(on_arch, op_, fn_, isa_, ...)                                                                          \
	{                                                                                                              \
		.op = op_, .name = #isa_, .run = on_arch(assay_##fn_##_##isa_, kernel_of_other_arch), __VA_ARGS__      \
	}

#define VARIANTS(on_arch, isa, ...)                                                                                    \
	VARIANT(on_arch, "quantize.i2_s", quantize_i2_s, isa, __VA_ARGS__),                                            \
		VARIANT(on_arch, "quantize.tq2_0", quantize_tq2_0, isa, __VA_ARGS__),                                  \
		VARIANT(on_arch, "quantize.q8_0", quantize_q8_0, isa, __VA_ARGS__),                                    \
		VARIANT(on_arch, "quantize.i8_token", quantize_i8_token, isa, __VA_ARGS__),                            \
		VARIANT(on_arch, "dequantize.i2_s", dequantize_i2_s, isa, __VA_ARGS__),                                \
		VARIANT(on_arch, "dequantize.tq2_0", dequantize_tq2_0, isa, __VA_ARGS__),                              \
		VARIANT(on_arch, "dequantize.q8_0", dequantize_q8_0, isa, __VA_ARGS__),                                \
		VARIANT(on_arch, "dequantize.i8_token", dequantize_i8_token, isa, __VA_ARGS__)

#define VBMI2(op, fn)                                                                                                  \
	VARIANT(ON_X86_64, op, fn, avx512vbmi2, .needs = ASSAY_NEEDS(avx512vbmi2),                                     \
		.help = "as avx512, codes put in order by VPERMT2B, of tq2_0 by VPSHLDD")

static const struct assay_variant variants[] = {
	VARIANTS(ON_ANY, ref, .help = "plain C, one value at a time", .flags = ASSAY_VARIANT_REFERENCE),
	VARIANTS(ON_X86_64, avx2, .help = "8 floats at a time", .needs = ASSAY_NEEDS(avx2)),
	VARIANTS(ON_X86_64, avx512, .help = "16 floats at a time", .needs = ASSAY_NEEDS(avx512)),
	VBMI2("quantize.tq2_0", quantize_tq2_0),
	VBMI2("quantize.q8_0", quantize_q8_0),
	VBMI2("quantize.i8_token", quantize_i8_token),
	VARIANTS(ON_AARCH64, neon, .help = "4 floats at a time", .needs = ASSAY_NEEDS(neon)),
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "quantize",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
