/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the variants of all instruction sets share: how the work of a job is cut for its threads, and the types of the
 * kernels that an instruction set hands to it. Kernels know nothing of jobs; they may be given data of any alignment.
 */
#ifndef QUANTIZE_VARIANTS_H
#define QUANTIZE_VARIANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/plugin.h"

#define QUANTIZE_LINE_BLOCKS 32 /* blocks of 34 or of 66 bytes, laid end to end, fill whole 64-byte lines */

/*
 * With @around an output will not be found in the caches anyway and may be written around them, where it is aligned;
 * the kernel sees to it that other threads find what it wrote.
 *
 * All but the sums return whether they fell back (ASSAY_WORK_FALLBACKS in assay/op_work.h): the output was to be
 * written around the caches and is not aligned for it, or a token is too short for the vectors.
 */

static inline bool quantize_stores_plainly(const void *output, bool around)
{
	return around && (uintptr_t)output % 64;
}

/* Flat block formats: n values, a multiple of the block. */
typedef bool (*quantize_blocks_fn)(const float *x, uint8_t *q, int64_t n, bool around);
typedef bool (*dequantize_blocks_fn)(const uint8_t *q, float *x, int64_t n, bool around);

/*
 * i2_s: the sums of the sum blocks of n values, which come from memory with @around; codes of n values for the
 * multiplier s (NaN: all zero).
 */
typedef void (*quantize_i2_s_sums_fn)(const float *x, int64_t n, double *sums, bool around);
typedef bool (*quantize_i2_s_codes_fn)(const float *x, uint8_t *q, int64_t n, float s, bool around);
typedef bool (*dequantize_i2_s_fn)(const uint8_t *q, float *x, int64_t n, float gamma, bool around);

/* i8_token: one token of dim values. */
typedef bool (*quantize_token_fn)(const float *x, int8_t *q, float *scale, int64_t dim, bool around);
typedef bool (*dequantize_token_fn)(const int8_t *q, float *x, float scale, int64_t dim, bool around);

int assay_quantize_q8_0(struct assay_job *job, quantize_blocks_fn fn);
int assay_quantize_tq2_0(struct assay_job *job, quantize_blocks_fn fn);
int assay_quantize_i2_s(struct assay_job *job, quantize_i2_s_sums_fn sum_up, quantize_i2_s_codes_fn codes);
int assay_quantize_i8_token(struct assay_job *job, quantize_token_fn fn);
int assay_dequantize_q8_0(struct assay_job *job, dequantize_blocks_fn fn);
int assay_dequantize_tq2_0(struct assay_job *job, dequantize_blocks_fn fn);
int assay_dequantize_i2_s(struct assay_job *job, dequantize_i2_s_fn fn);
int assay_dequantize_i8_token(struct assay_job *job, dequantize_token_fn fn);

/* The sum as it is defined, one value at a time: of `ref`, and for blocks that break another kernel's arithmetic. */
double assay_quantize_plain_i2_s_sum(const float *x, int64_t n);

/* The run() callbacks of an instruction set: its files define them, the plugin's descriptor lists them. */
#define QUANTIZE_DECLARE(isa)                                                                                          \
	int assay_quantize_q8_0_##isa(struct assay_job *job);                                                          \
	int assay_quantize_tq2_0_##isa(struct assay_job *job);                                                         \
	int assay_quantize_i2_s_##isa(struct assay_job *job);                                                          \
	int assay_quantize_i8_token_##isa(struct assay_job *job);                                                      \
	int assay_dequantize_q8_0_##isa(struct assay_job *job);                                                        \
	int assay_dequantize_tq2_0_##isa(struct assay_job *job);                                                       \
	int assay_dequantize_i2_s_##isa(struct assay_job *job);                                                        \
	int assay_dequantize_i8_token_##isa(struct assay_job *job)

QUANTIZE_DECLARE(ref);
QUANTIZE_DECLARE(avx2);
QUANTIZE_DECLARE(avx512);
QUANTIZE_DECLARE(neon);
int assay_quantize_q8_0_avx512vbmi2(struct assay_job *job);
int assay_quantize_tq2_0_avx512vbmi2(struct assay_job *job);
int assay_quantize_i8_token_avx512vbmi2(struct assay_job *job);

/* Their definitions, in files whose kernels have these names. */
#define QUANTIZE_RUN(op, isa, ...)                                                                                     \
	int assay_##op##_##isa(struct assay_job *job)                                                                  \
	{                                                                                                              \
		return assay_##op(job, __VA_ARGS__);                                                                   \
	}
#define QUANTIZE_RUNS(isa)                                                                                             \
	QUANTIZE_RUN(quantize_q8_0, isa, quantize_q8_0)                                                                \
	QUANTIZE_RUN(quantize_tq2_0, isa, quantize_tq2_0)                                                              \
	QUANTIZE_RUN(quantize_i2_s, isa, i2_s_sums, quantize_i2_s)                                                     \
	QUANTIZE_RUN(quantize_i8_token, isa, quantize_i8_token)
#define DEQUANTIZE_RUNS(isa)                                                                                           \
	QUANTIZE_RUN(dequantize_q8_0, isa, dequantize_q8_0)                                                            \
	QUANTIZE_RUN(dequantize_tq2_0, isa, dequantize_tq2_0)                                                          \
	QUANTIZE_RUN(dequantize_i2_s, isa, dequantize_i2_s)                                                            \
	QUANTIZE_RUN(dequantize_i8_token, isa, dequantize_i8_token)

#endif
