/* SPDX-License-Identifier: Apache-2.0 */
/* Products by columns as BLAS has them, A transposed and B not, for what stands in for NVIDIA's libraries. */
#ifndef CUBLAS_PRODUCTS_H
#define CUBLAS_PRODUCTS_H

#include <stdint.h>

#define STANDIN_EXPORT __attribute__((visibility("default")))

enum { STANDIN_OK = 0, STANDIN_INVALID = 7, STANDIN_NOT_SUPPORTED = 15 };

/* c[j][i] = Σ a[i][l] · b[j][l], rows of ld elements. */
#define STANDIN_PRODUCT(m, n, k, a, lda, b, ldb, c, ldc, sum_type, of_a, of_b)                                         \
	do {                                                                                                           \
		for (int64_t j_ = 0; j_ < (n); j_++)                                                                   \
			for (int64_t i_ = 0; i_ < (m); i_++) {                                                         \
				sum_type sum_ = 0;                                                                     \
                                                                                                                       \
				for (int64_t l_ = 0; l_ < (k); l_++)                                                   \
					sum_ += of_a((a)[i_ * (lda) + l_]) * of_b((b)[j_ * (ldb) + l_]);               \
				(c)[j_ * (ldc) + i_] = sum_;                                                           \
			}                                                                                              \
	} while (0)

static inline float standin_half(uint16_t h)
{
	const int exponent = h >> 10 & 31, mantissa = h & 1023;
	float value = exponent ? (float)(1024 + mantissa) : (float)mantissa;

	for (int e = exponent ? exponent : 1; e < 25; e++)
		value /= 2;
	for (int e = 25; e < exponent; e++)
		value *= 2;
	return h >> 15 ? -value : value;
}

static inline int standin_aligned(const void *p, uintptr_t bytes)
{
	return p && (uintptr_t)p % bytes == 0;
}

#endif
