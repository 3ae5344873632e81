/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the variants of all instruction sets share: how the work of a job is cut for its threads, and the table of
 * kernels that an instruction set fills in. Kernels know nothing of jobs; they may be given data of any alignment.
 */
#ifndef QUANTIZE_THREADS_H
#define QUANTIZE_THREADS_H

#include <stdint.h>

#include "assay/plugin.h"

/* Flat block formats: n values, a multiple of the block. */
typedef void (*quantize_blocks_fn)(const float *x, uint8_t *q, int64_t n);
typedef void (*dequantize_blocks_fn)(const uint8_t *q, float *x, int64_t n);

/* i2_s: the sum of one sum block of n values; codes of n values for the multiplier s (NaN: all zero). */
typedef double (*quantize_i2_s_sum_fn)(const float *x, int64_t n);
typedef void (*quantize_i2_s_codes_fn)(const float *x, uint8_t *q, int64_t n, float s);
typedef void (*dequantize_i2_s_fn)(const uint8_t *q, float *x, int64_t n, float gamma);

/* i8_token: one token of dim values. */
typedef void (*quantize_token_fn)(const float *x, int8_t *q, float *scale, int64_t dim);
typedef void (*dequantize_token_fn)(const int8_t *q, float *x, float scale, int64_t dim);

int assay_quantize_q8_0(struct assay_job *job, quantize_blocks_fn fn);
int assay_quantize_tq2_0(struct assay_job *job, quantize_blocks_fn fn);
int assay_quantize_i2_s(struct assay_job *job, quantize_i2_s_sum_fn sum, quantize_i2_s_codes_fn codes);
int assay_quantize_i8_token(struct assay_job *job, quantize_token_fn fn);
int assay_dequantize_q8_0(struct assay_job *job, dequantize_blocks_fn fn);
int assay_dequantize_tq2_0(struct assay_job *job, dequantize_blocks_fn fn);
int assay_dequantize_i2_s(struct assay_job *job, dequantize_i2_s_fn fn);
int assay_dequantize_i8_token(struct assay_job *job, dequantize_token_fn fn);

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

#endif
