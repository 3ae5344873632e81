/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of assay/op_quantize.h from floats with AVX-512, 16 at a time.
 */
#if defined(__x86_64__)
#include <immintrin.h>

/* In order, what packing has left by quarters. */
static inline __m512i in_order(__m512i v)
{
	return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v);
}

static inline __m512i in_order_64(__m512i a, __m512i b)
{
	return in_order(_mm512_packs_epi16(a, b));
}

#include "quantize_avx512.h"
#include "quantize_sums.h"

#define SUM_STREAMS 4

static inline __m512i rounded_16(const float *x, __m512 m, enum rounding rounding)
{
	__m512 y = _mm512_mul_ps(_mm512_loadu_ps(x), m);

	return rounding == TO_EVEN ? _mm512_cvtps_epi32(y) : _mm512_cvttps_epi32(y);
}

/* 32 integers, saturated to 16 bits. */
static inline __m512i rounded_32(const float *x, __m512 m, enum rounding rounding)
{
	__m512i a = rounded_16(x, m, rounding), b;

	IN_SOURCE_ORDER(a);
	b = rounded_16(x + 16, m, rounding);
	IN_SOURCE_ORDER(b);
	return _mm512_packs_epi32(a, b);
}

/*
 * 64 codes, @shift bits up, of the integers in a and b, 32 each, in the order that packing leaves them in. The look-up
 * reads 0 where the sign bit is set, else what the four lowest bits say. Nothing that was cut off is above 2.
 */
static inline __m512i ternary_64(__m512i a, __m512i b, enum rounding rounding, int shift)
{
	const __m512i up = _mm512_broadcast_i32x4(_mm_cvtsi32_si128(0x020201 << shift));
	__m512i v = _mm512_packs_epi16(a, b);

	return _mm512_shuffle_epi8(up, rounding == TO_EVEN ? _mm512_min_epi8(v, _mm512_set1_epi8(1)) : v);
}

static inline void ternary_256(const float *x, float m, enum rounding rounding, int first, int step, uint8_t *q,
			       bool around)
{
	const __m512 by = _mm512_set1_ps(m);
	__m512i v[8], ab, cd;

	EACH (i, 8)
		v[i] = rounded_32(x + 32 * i, by, rounding);
	ab = _mm512_or_si512(ternary_64(v[0], v[4], rounding, first), ternary_64(v[1], v[5], rounding, first + step));
	cd = _mm512_or_si512(ternary_64(v[2], v[6], rounding, first + 2 * step),
			     ternary_64(v[3], v[7], rounding, first + 3 * step));
	put_64(q, in_order(_mm512_or_si512(ab, cd)), around);
}

/* Of floats made doubles by MOVED_BITS, see quantize_sums.h. */
typedef struct {
	__m512d even, odd;
} lanes;

static inline lanes zero_lanes(void)
{
	return (lanes){ _mm512_setzero_pd(), _mm512_setzero_pd() };
}

/*
 * A product and a shift, which do the same, since two shifts would take the units of the additions. A compiler that
 * knew the factor would make a shift of the product.
 */
static inline void add_lanes(lanes *l, const float *x)
{
	const __m512i v = _mm512_loadu_si512(x);
	__m512i up = _mm512_set1_epi64(1 << MOVED_BITS), even, odd;

	__asm__("" : "+v"(up));
	even = _mm512_mul_epu32(_mm512_and_si512(v, _mm512_set1_epi64(MAG_MASK)), up);
	odd = _mm512_srli_epi64(_mm512_and_si512(v, _mm512_set1_epi64((int64_t)MAG_MASK << 32)), 32 - MOVED_BITS);
	l->even = _mm512_add_pd(l->even, _mm512_castsi512_pd(even));
	l->odd = _mm512_add_pd(l->odd, _mm512_castsi512_pd(odd));
}

/* Lane i takes in lane i + 4, then i + 2, then i + 1. */
static inline double sum_of_8(__m512d v)
{
	__m256d h = _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
	__m128d p = _mm_add_pd(_mm256_castpd256_pd128(h), _mm256_extractf128_pd(h, 1));

	return _mm_cvtsd_f64(_mm_add_sd(p, _mm_unpackhi_pd(p, p)));
}

static inline double sum_of_lanes(lanes l, const float *x, int64_t n)
{
	return sum_of_moved(sum_of_8(l.even) + sum_of_8(l.odd), x, n);
}

#define QUANTIZE_ISA avx512
#include "quantize_body.h"
#endif
