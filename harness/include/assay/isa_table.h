/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction sets that have a name: for `--isa NAME`, for files whose name ends in _NAME.c, and for the needs of
 * variants. This table is the only list of them; make, the harness and the kernels all read it.
 */
#ifndef ASSAY_ISA_TABLE_H
#define ASSAY_ISA_TABLE_H

/*
 * One row a set, which says everything by itself:
 *
 *	name         as `--isa` and file names spell it
 *	arch         as `uname -m` spells it; "" is any
 *	vector_bits  of its widest vectors
 *	flags        what the compiler gets for a file whose name ends so. make reads them: they end the first line
 *	needs        CPU features that these flags let the compiler use, by their names in /proc/cpuinfo
 *	also         further features that a variant may need under `--isa name`
 */
/* clang-format off */
#define ASSAY_ISA_SETS(ISA)                                                                                           \
ISA(baseline, "", 128, "",                                                                                            \
    "", "")                                                                                                           \
ISA(avx2, "x86_64", 256, "-mavx2 -mfma -mf16c",                                                                       \
    "avx2,fma,f16c", "sse4_2,avx")                                                                                    \
ISA(avxvnni, "x86_64", 256, "-mavx2 -mfma -mf16c -mavxvnni",                                                          \
    "avx2,fma,f16c,avx_vnni", "sse4_2,avx")                                                                           \
ISA(avx512, "x86_64", 512, "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c",                                 \
    "avx512f,avx512bw,avx512dq,avx512vl,fma,f16c", "sse4_2,avx,avx2,avx512cd")                                        \
ISA(avx512vbmi2, "x86_64", 512, "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c -mavx512vbmi -mavx512vbmi2", \
    "avx512f,avx512bw,avx512dq,avx512vl,fma,f16c,avx512vbmi,avx512_vbmi2", "sse4_2,avx,avx2,avx512cd")                \
ISA(avx512vnni, "x86_64", 512, "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c -mavx512vnni",                \
    "avx512f,avx512bw,avx512dq,avx512vl,fma,f16c,avx512_vnni",                                                        \
    "sse4_2,avx,avx2,avx512cd,avx_vnni,avx512vbmi,avx512_vbmi2,gfni")                                                 \
ISA(neon, "aarch64", 128, "",                                                                                         \
    "asimd", "")                                                                                                      \
ISA(dotprod, "aarch64", 128, "-march=armv8.2-a+dotprod",                                                              \
    "asimd,asimddp", "")
/* clang-format on */

/* For .needs of a variant whose code is in such a file: ASSAY_NEEDS(avx2) is "avx2,fma,f16c". */
#define ASSAY_NEEDS(name) (assay_isa_needs.name)

#define ASSAY_ISA_MEMBER(name, arch, vector_bits, flags, needs, also) char name[sizeof(needs)];
#define ASSAY_ISA_VALUE(name, arch, vector_bits, flags, needs, also)  needs,
static const struct {
	ASSAY_ISA_SETS(ASSAY_ISA_MEMBER)
} assay_isa_needs = { ASSAY_ISA_SETS(ASSAY_ISA_VALUE) };
#undef ASSAY_ISA_MEMBER
#undef ASSAY_ISA_VALUE

#endif
