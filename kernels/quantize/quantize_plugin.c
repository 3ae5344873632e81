/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of quantize.so: every instruction set that was compiled, with all eight ops. */
#include "assay/plugin.h"

#include "../kernel_isa.h"
#include "quantize_threads.h"

#define VARIANT(op_, fn_, isa_, ...)                                                                                   \
	{                                                                                                              \
		.op = op_, .name = #isa_, .run = assay_##fn_##_##isa_, __VA_ARGS__                                     \
	}

#define VARIANTS(isa, ...)                                                                                             \
	VARIANT("quantize.i2_s", quantize_i2_s, isa, __VA_ARGS__),                                                     \
		VARIANT("quantize.tq2_0", quantize_tq2_0, isa, __VA_ARGS__),                                           \
		VARIANT("quantize.q8_0", quantize_q8_0, isa, __VA_ARGS__),                                             \
		VARIANT("quantize.i8_token", quantize_i8_token, isa, __VA_ARGS__),                                     \
		VARIANT("dequantize.i2_s", dequantize_i2_s, isa, __VA_ARGS__),                                         \
		VARIANT("dequantize.tq2_0", dequantize_tq2_0, isa, __VA_ARGS__),                                       \
		VARIANT("dequantize.q8_0", dequantize_q8_0, isa, __VA_ARGS__),                                         \
		VARIANT("dequantize.i8_token", dequantize_i8_token, isa, __VA_ARGS__)

static const struct assay_variant variants[] = {
	VARIANTS(ref, .help = "plain C, one value at a time", .flags = ASSAY_VARIANT_REFERENCE),
#if defined(__x86_64__)
	VARIANTS(avx2, .help = "8 floats at a time", .needs = NEEDS_AVX2),
	VARIANTS(avx512, .help = "16 floats at a time", .needs = NEEDS_AVX512),
#elif defined(__aarch64__)
	VARIANTS(neon, .help = "4 floats at a time", .needs = "asimd"),
#endif
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "quantize",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
