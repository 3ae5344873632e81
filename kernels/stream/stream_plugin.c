/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of stream.so: the variants that find out what this machine can do. */
#include "../kernel_isa.h"
#include "stream_variants.h"

#define STREAM(on_arch, isa, ...)                                                                                      \
	{ .op = "stream.read",                                                                                         \
	  .name = #isa,                                                                                                \
	  .run = on_arch(assay_stream_read_##isa, kernel_of_other_arch),                                               \
	  __VA_ARGS__ },                                                                                               \
		{ .op = "stream.copy",                                                                                 \
		  .name = #isa,                                                                                        \
		  .run = on_arch(assay_stream_copy_##isa, kernel_of_other_arch),                                       \
		  __VA_ARGS__ },                                                                                       \
	{                                                                                                              \
		.op = "stream.triad", .name = #isa, .run = on_arch(assay_stream_triad_##isa, kernel_of_other_arch),    \
		__VA_ARGS__                                                                                            \
	}

#define FMA(on_arch, isa, ...)                                                                                         \
	{                                                                                                              \
		.op = "peak.f32_fma", .name = #isa, .run = on_arch(assay_peak_fma_##isa, kernel_of_other_arch),        \
		__VA_ARGS__                                                                                            \
	}
/* Where one instruction multiplies and adds bytes, ternary codes take the same loop. */
#define TERNARY(on_arch, isa, fn, ...)                                                                                 \
	{                                                                                                              \
		.op = "peak.ternary_dot", .name = #isa, .run = on_arch(fn, kernel_of_other_arch), __VA_ARGS__          \
	}
#define DOT(on_arch, isa, ...)                                                                                         \
	{                                                                                                              \
		.op = "peak.i8_dot", .name = #isa, .run = on_arch(assay_peak_dot_##isa, kernel_of_other_arch),         \
		__VA_ARGS__                                                                                            \
	}

static const struct assay_variant variants[] = {
	STREAM(ON_ANY, ref, .help = "the obvious loop in plain C", .flags = ASSAY_VARIANT_REFERENCE),
	FMA(ON_ANY, ref, .help = "plain C, 16 lanes in flight", .flags = ASSAY_VARIANT_REFERENCE),
	DOT(ON_ANY, ref, .help = "plain C, 8 lanes in flight", .flags = ASSAY_VARIANT_REFERENCE),
	TERNARY(ON_ANY, ref, assay_peak_dot_ref, .help = "plain C, 8 lanes in flight",
		.flags = ASSAY_VARIANT_REFERENCE),
	STREAM(ON_X86_64, avx2, .help = "256-bit vectors, stores around the caches at dram",
	       .needs = ASSAY_NEEDS(avx2)),
	STREAM(ON_X86_64, avx512, .help = "512-bit vectors, stores around the caches at dram",
	       .needs = ASSAY_NEEDS(avx512)),
	FMA(ON_X86_64, avx2, .help = "12 chains of 256-bit FMA", .needs = ASSAY_NEEDS(avx2)),
	FMA(ON_X86_64, avx512, .help = "24 chains of 512-bit FMA", .needs = ASSAY_NEEDS(avx512)),
	DOT(ON_X86_64, avx2, .help = "6 chains of VPMADDUBSW, VPMADDWD, VPADDD", .needs = ASSAY_NEEDS(avx2)),
	DOT(ON_X86_64, avxvnni, .help = "12 chains of 256-bit VPDPBUSD", .needs = ASSAY_NEEDS(avxvnni)),
	DOT(ON_X86_64, avx512vnni, .help = "24 chains of 512-bit VPDPBUSD", .needs = ASSAY_NEEDS(avx512vnni)),
	TERNARY(ON_X86_64, avx2, assay_peak_ternary_avx2, .help = "12 chains of VPMADDUBSW, VPADDW",
		.needs = ASSAY_NEEDS(avx2)),
	TERNARY(ON_X86_64, avxvnni, assay_peak_dot_avxvnni, .help = "12 chains of 256-bit VPDPBUSD",
		.needs = ASSAY_NEEDS(avxvnni)),
	TERNARY(ON_X86_64, avx512vnni, assay_peak_dot_avx512vnni, .help = "24 chains of 512-bit VPDPBUSD",
		.needs = ASSAY_NEEDS(avx512vnni)),
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "stream",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
