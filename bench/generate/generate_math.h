/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float kernels of the generate driver whose bits do not depend on the compiler, the instruction set or libm: only IEEE
 * additions, multiplications, divisions and square roots in a fixed order. Sums run in 16 lanes by index mod 16, which
 * are then added in pairs; lengths are multiples of 16 unless a function says otherwise. Buffers need no alignment.
 * What takes many values runs on the widest vectors of the CPU (generate_vector.h).
 */
#ifndef ASSAY_GENERATE_MATH_H
#define ASSAY_GENERATE_MATH_H

#include <stdint.h>

/* Natural exponential, cosine and sine in double for the tables: |x| ≤ 700, |x| ≤ 2^20. */
double assay_generate_exp_f64(double x);
void assay_generate_sincos(double x, double *sin_out, double *cos_out);

/* Round to nearest, ties to even; finite values only. */
uint16_t assay_generate_bf16(float x);
float assay_generate_from_bf16(uint16_t x);
void assay_generate_to_bf16(const float *x, int64_t n, uint16_t *out);

/* out = x · gain / sqrt(mean(x²) + eps). */
void assay_generate_rmsnorm(const float *x, const float *gain, int64_t n, float *out);
/* q = round(x · 127 / max|x|), ties to even; returns max|x| / 127. All zeros give scale 0. */
float assay_generate_quantize(const float *x, int64_t n, int8_t *q);
/* out[r] = Σ a·b with b the row r of @n_rows in bf16. */
void assay_generate_dots_bf16(const float *a, const uint16_t *rows, int64_t n_rows, int64_t dim, float *out);
/* acc += w · b with b in bf16, elementwise over @n_rows of @dim values, in order, so that rows may come in pieces. */
void assay_generate_weighted_sum(const float *w, const uint16_t *rows, int64_t n_rows, int64_t dim, float *acc);
/* out = max(gate, 0)² · up. */
void assay_generate_relu2_gate(const float *gate, const float *up, int64_t n, float *out);
void assay_generate_add(float *acc, const float *x, int64_t n);
/*
 * x[i] = exp((x[i] − max) · inv_temperature) for any n; returns their sum. Not normalised. An exponential has a
 * relative error of at most 2^-22, and is 0 below exp(−87).
 */
float assay_generate_softmax(float *x, int64_t n, float inv_temperature);
/* Row of cosines and sines for a position: inv_freq[i] = theta^(−2i/dim), i < dim/2, as ln_theta says. */
void assay_generate_rope_row(double ln_theta, int64_t dim, int64_t pos, float *row);
/* Rotate the pairs (x[i], x[i + dim/2]) of one head by a row of the table. */
void assay_generate_rope(const float *row, int64_t dim, float *x);

#endif
