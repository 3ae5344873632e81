/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the generate driver whose bits do not depend on the compiler, the instruction set or libm: only IEEE
 * additions, multiplications, divisions and square roots in a fixed order. What takes many values is in
 * generate_vector.h.
 */
#ifndef ASSAY_GENERATE_MATH_H
#define ASSAY_GENERATE_MATH_H

#include <stdint.h>

/* Natural exponential, cosine and sine in double for the tables: |x| ≤ 700, |x| ≤ 2^20. */
double assay_generate_exp_f64(double x);
void assay_generate_sincos(double x, double *sin_out, double *cos_out);

/* Row of cosines and sines for a position: inv_freq[i] = theta^(−2i/dim), i < dim/2, as ln_theta says. */
void assay_generate_rope_row(double ln_theta, int64_t dim, int64_t pos, float *row);

#endif
