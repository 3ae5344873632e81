/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of matmul.so. */
#include "matmul_ternary_packed.h"

#define TERNARY(on_arch, isa, packing, ...)                                                                            \
	{                                                                                                              \
		.op = "matmul.ternary", .name = #isa, .prepare = on_arch(assay_matmul_ternary_##packing, NULL),        \
		.run = on_arch(assay_matmul_ternary_##isa, kernel_of_other_arch),                                      \
		.release = on_arch(assay_matmul_ternary_unpack, NULL), __VA_ARGS__                                     \
	}

#define BLOCKS_OF(type, on_arch, isa, ...)                                                                             \
	{                                                                                                              \
		.op = "matmul." #type, .name = #isa,                                                                   \
		.run = on_arch(assay_matmul_##type##_##isa, kernel_of_other_arch), __VA_ARGS__                         \
	}

#define BLOCKS(type)                                                                                                   \
	BLOCKS_OF(type, ON_ANY, ref, .help = "the definition in plain C", .flags = ASSAY_VARIANT_REFERENCE),           \
		BLOCKS_OF(type, ON_X86_64, avx2, .help = "256-bit VPMADDUBSW, rows by twos, tokens by fours",          \
			  .needs = ASSAY_NEEDS(avx2)),                                                                 \
		BLOCKS_OF(type, ON_X86_64, avx512vnni, .help = "the same with 256-bit VPDPBUSD or VPDPWSSD",           \
			  .needs = ASSAY_NEEDS(avx512vnni)),                                                           \
		BLOCKS_OF(type, ON_AARCH64, neon_dotprod, .help = "the same with 128-bit SDOT",                        \
			  .needs = ASSAY_NEEDS(dotprod))

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
	TERNARY(ON_X86_64, avx2, pack32, .help = "packed weights, 256-bit VPMADDUBSW in 16-bit sums",
		.needs = ASSAY_NEEDS(avx2)),
	TERNARY(ON_X86_64, avxvnni, pack32, .help = "packed weights, 256-bit VPDPBUSD", .needs = ASSAY_NEEDS(avxvnni)),
	TERNARY(ON_X86_64, avx512vnni, pack64, .help = "packed weights, 512-bit VPDPBUSD",
		.needs = ASSAY_NEEDS(avx512vnni)),
	TERNARY(ON_X86_64, avx512vnni_trits, pack_trits,
		.help = "weights at 1.6 bits for one token, else as avx512vnni", .needs = ASSAY_NEEDS(avx512vnni),
		.bytes_read = ON_X86_64(assay_matmul_trits_bytes_read, NULL)),
	TERNARY(ON_AARCH64, neon_dotprod, pack16, .help = "packed weights, 128-bit SDOT",
		.needs = ASSAY_NEEDS(dotprod)),
	BLOCKS(q8_0),
	BLOCKS(q6_k),
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "matmul",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
