/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the 256-bit variants of matmul.ternary share of the list in matmul_ternary_tile.h. Broadcasts and products are
 * volatile assembly to keep their order: compilers gather the loads otherwise, and spill sums for them.
 */
#ifndef MATMUL_TERNARY_256_H
#define MATMUL_TERNARY_256_H

#include <immintrin.h>

#define VEC                    __m256i
#define ACC                    __m256i
#define VEC_LOAD(p)            _mm256_loadu_si256((const void *)(p))
#define VEC_QUAD(v, q)         __asm__ volatile("vpbroadcastd %1, %0" : "=x"(v) : "m"(*(q)))
#define ACC_ZERO               _mm256_setzero_si256()
#define ACC_STORE(sums, total) _mm256_storeu_si256((void *)(sums), total)

#endif
