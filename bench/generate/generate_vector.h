/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The float kernels of generate_math.h once for each vector width. A lane is an IEEE operation of its own, sums have 16
 * lanes whatever the width, and nothing is fused, so that all tables give the same bits.
 */
#ifndef ASSAY_GENERATE_VECTOR_H
#define ASSAY_GENERATE_VECTOR_H

#include <stdint.h>

struct gen_vector {
	const char *name;
	void (*rmsnorm)(const float *x, const float *gain, int64_t n, float *out);
	float (*quantize)(const float *x, int64_t n, int8_t *q);
	void (*dots_bf16)(const float *a, const uint16_t *rows, int64_t n_rows, int64_t dim, float *out);
	void (*weighted_sum)(const float *w, const uint16_t *rows, int64_t n_rows, int64_t dim, float *acc);
	void (*relu2_gate)(const float *gate, const float *up, int64_t n, float *out);
	void (*add)(float *acc, const float *x, int64_t n);
	float (*softmax)(float *x, int64_t n, float inv_temperature);
	void (*rope)(const float *row, int64_t dim, float *x);
	void (*to_bf16)(const float *x, int64_t n, uint16_t *out);
};

/* What every CPU of the architecture has, and wider. */
extern const struct gen_vector assay_generate_vector_base;
#if defined(__x86_64__)
extern const struct gen_vector assay_generate_vector_avx2, assay_generate_vector_avx512;
#endif

/* The widest that this CPU has. */
const struct gen_vector *assay_generate_vector(void);

#endif
