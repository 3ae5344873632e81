/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of stream.so: the variants that find out what this machine can do. */
#include "../kernel_isa.h"
#include "stream_variants.h"

#define STREAM(isa, ...)                                                                                               \
	{ .op = "stream.read", .name = #isa, .run = assay_stream_read_##isa, __VA_ARGS__ },                            \
		{ .op = "stream.copy", .name = #isa, .run = assay_stream_copy_##isa, __VA_ARGS__ },                    \
	{                                                                                                              \
		.op = "stream.triad", .name = #isa, .run = assay_stream_triad_##isa, __VA_ARGS__                       \
	}

#define FMA(isa, ...)                                                                                                  \
	{                                                                                                              \
		.op = "peak.f32_fma", .name = #isa, .run = assay_peak_fma_##isa, __VA_ARGS__                           \
	}
#define DOT(isa, ...)                                                                                                  \
	{                                                                                                              \
		.op = "peak.i8_dot", .name = #isa, .run = assay_peak_dot_##isa, __VA_ARGS__                            \
	}

static const struct assay_variant variants[] = {
	STREAM(ref, .help = "the obvious loop in plain C", .flags = ASSAY_VARIANT_REFERENCE),
	FMA(ref, .help = "plain C, 16 lanes in flight", .flags = ASSAY_VARIANT_REFERENCE),
	DOT(ref, .help = "plain C, 8 lanes in flight", .flags = ASSAY_VARIANT_REFERENCE),
#if defined(__x86_64__)
	STREAM(avx2, .help = "256-bit vectors, stores around the caches at dram", .needs = NEEDS_AVX2),
	STREAM(avx512, .help = "512-bit vectors, stores around the caches at dram", .needs = NEEDS_AVX512),
	FMA(avx2, .help = "12 chains of 256-bit FMA", .needs = NEEDS_AVX2),
	FMA(avx512, .help = "12 chains of 512-bit FMA", .needs = NEEDS_AVX512),
	DOT(avx2, .help = "6 chains of VPMADDUBSW, VPMADDWD, VPADDD", .needs = NEEDS_AVX2),
	DOT(avxvnni, .help = "12 chains of 256-bit VPDPBUSD", .needs = NEEDS_AVXVNNI),
	DOT(avx512vnni, .help = "12 chains of 512-bit VPDPBUSD", .needs = NEEDS_AVX512VNNI),
#endif
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "stream",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
