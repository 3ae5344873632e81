/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of quantize_isa.h for x86, with the widest vectors that the file is compiled for: AVX-512 16 floats at a
 * time, AVX2 and F16C 8. First what differs between the two, then what is the same for both.
 */
#ifndef QUANTIZE_X86_H
#define QUANTIZE_X86_H

#include <immintrin.h>

#include "quantize_isa.h"

#define FLOATS WIDE_FLOATS

typedef WIDE_INTS mags;

static inline mags larger(mags a, mags b)
{
	return WIDE(max_epi32)(a, b);
}

#if defined(__AVX512F__)

#define SUM_STREAMS 4

static inline uint32_t largest(mags m)
{
	return (uint32_t)_mm512_reduce_max_epi32(m);
}

static inline bool any_set(mags m)
{
	return _mm512_test_epi32_mask(m, m) != 0;
}

/* Vectors are merged, two by two, instead of each being reduced. */
static inline mags largest_each(const mags m[16], int n)
{
	mags v[8];

	EACH (i, n / 2)
		v[i] = larger(_mm512_unpacklo_epi32(m[2 * i], m[2 * i + 1]),
			      _mm512_unpackhi_epi32(m[2 * i], m[2 * i + 1]));
	EACH (i, n / 4)
		v[i] = larger(_mm512_unpacklo_epi64(v[2 * i], v[2 * i + 1]),
			      _mm512_unpackhi_epi64(v[2 * i], v[2 * i + 1]));
	if (n == 4) {
		v[0] = larger(v[0], _mm512_shuffle_i32x4(v[0], v[0], 0x4e));
		return larger(v[0], _mm512_shuffle_i32x4(v[0], v[0], 0xb1));
	}
	EACH (i, n / 8)
		v[i] = larger(_mm512_shuffle_i32x4(v[2 * i], v[2 * i + 1], 0x88),
			      _mm512_shuffle_i32x4(v[2 * i], v[2 * i + 1], 0xdd));
	return larger(_mm512_shuffle_i32x4(v[0], v[1], 0x88), _mm512_shuffle_i32x4(v[0], v[1], 0xdd));
}

static inline void halves_of(__m512 d, uint16_t h[16])
{
	_mm256_storeu_si256((void *)h, _mm512_cvtps_ph(d, _MM_FROUND_TO_NEAREST_INT));
}

/* In order, what packing has left by quarters. */
static inline __m512i in_order(__m512i v)
{
	return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v);
}

static inline __m512i in_all_quarters(__m128i v)
{
	return _mm512_broadcast_i32x4(v);
}

static inline double sum_of_doubles(const __m512d v[1])
{
	__m256d h = _mm256_add_pd(_mm512_castpd512_pd256(v[0]), _mm512_extractf64x4_pd(v[0], 1));
	__m128d p = _mm_add_pd(_mm256_castpd256_pd128(h), _mm256_extractf128_pd(h, 1));

	return _mm_cvtsd_f64(_mm_add_sd(p, _mm_unpackhi_pd(p, p)));
}

#else

#define SUM_STREAMS 2

static inline uint32_t largest(mags v)
{
	__m128i m = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
	m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
	return (uint32_t)_mm_cvtsi128_si32(m);
}

static inline bool any_set(mags m)
{
	return !_mm256_testz_si256(m, m);
}

/* Vectors are merged, two by two, instead of each being reduced. */
static inline mags largest_each(const mags m[8], int n)
{
	mags v[4];

	EACH (i, n / 2)
		v[i] = larger(_mm256_unpacklo_epi32(m[2 * i], m[2 * i + 1]),
			      _mm256_unpackhi_epi32(m[2 * i], m[2 * i + 1]));
	EACH (i, n / 4)
		v[i] = larger(_mm256_unpacklo_epi64(v[2 * i], v[2 * i + 1]),
			      _mm256_unpackhi_epi64(v[2 * i], v[2 * i + 1]));
	if (n == 4)
		return larger(v[0], _mm256_permute2x128_si256(v[0], v[0], 0x01));
	return larger(_mm256_permute2x128_si256(v[0], v[1], 0x20), _mm256_permute2x128_si256(v[0], v[1], 0x31));
}

static inline void halves_of(__m256 d, uint16_t h[8])
{
	_mm_storeu_si128((void *)h, _mm256_cvtps_ph(d, _MM_FROUND_TO_NEAREST_INT));
}

/* In order, what packing has left by halves. */
static inline __m256i in_order(__m256i v)
{
	return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

static inline __m256i in_all_quarters(__m128i v)
{
	return _mm256_broadcastsi128_si256(v);
}

static inline double sum_of_doubles(const __m256d v[2])
{
	__m256d h = _mm256_add_pd(v[0], v[1]);
	__m128d p = _mm_add_pd(_mm256_castpd256_pd128(h), _mm256_extractf128_pd(h, 1));

	return _mm_cvtsd_f64(_mm_add_sd(p, _mm_unpackhi_pd(p, p)));
}

#endif

static inline mags zero_mags(void)
{
	return WIDE_BITS(setzero)();
}

static inline mags load_mags(const float *x)
{
	mags m = WIDE_BITS(and)(WIDE_BITS(loadu)((const void *)x), WIDE(set1_epi32)(MAG_MASK));

	IN_SOURCE_ORDER(m);
	return m;
}

static inline void put(void *p, WIDE_INTS v, bool around)
{
	if (around)
		WIDE_BITS(stream)(p, v);
	else
		WIDE_BITS(storeu)(p, v);
}

static inline void store_line_around(uint8_t *dst, const uint8_t *src)
{
	put(dst, WIDE_BITS(loadu)((const void *)src), true);
	if (FLOATS < 16)
		put(dst + 32, WIDE_BITS(loadu)((const void *)(src + 32)), true);
}

static inline void stores_done(void)
{
	_mm_sfence();
}

/*
 * The words of a, then those of b, as bytes in the order of the values: packing two vectors of dwords has left these in
 * turn by 128 bits. Of words outside -128 to 127, which only blocks that are corrected later have, any byte.
 */
#if defined(__AVX512VBMI__)
#define EVERY_2ND(b)   (b), (b) + 2, (b) + 4, (b) + 6
#define OF_QUARTERS(b) EVERY_2ND(b), EVERY_2ND((b) + 16), EVERY_2ND((b) + 32), EVERY_2ND((b) + 48)

static const uint8_t words_order[64]
	__attribute__((aligned(64))) = { OF_QUARTERS(0), OF_QUARTERS(8), OF_QUARTERS(64), OF_QUARTERS(72) };

static inline WIDE_INTS bytes_in_order(WIDE_INTS a, WIDE_INTS b)
{
	return _mm512_permutex2var_epi8(a, _mm512_load_si512(words_order), b);
}
#else
static inline WIDE_INTS bytes_in_order(WIDE_INTS a, WIDE_INTS b)
{
	return in_order(WIDE(packs_epi16)(a, b));
}
#endif

/* ---- q8_0 ---- */

static inline WIDE_INTS cut_off(const float *x, WIDE_FLOAT by)
{
	return WIDE(cvttps_epi32)(WIDE(mul_ps)(WIDE(loadu_ps)(x), by));
}

/* Words of 2·FLOATS values. */
static inline WIDE_INTS q8_words(const float *x, WIDE_FLOAT by)
{
	return WIDE(mulhrs_epi16)(WIDE(packs_epi32)(cut_off(x, by), cut_off(x + FLOATS, by)),
				  WIDE(set1_epi16)(HALF_AWAY_FACTOR));
}

#if defined(__AVX512F__)
static inline void q8_codes(const float *x, const float by[2], uint8_t *q0, uint8_t *q1)
{
	__m512i codes = bytes_in_order(q8_words(x, _mm512_set1_ps(by[0])), q8_words(x + 32, _mm512_set1_ps(by[1])));

	_mm256_storeu_si256((void *)q0, _mm512_castsi512_si256(codes));
	_mm256_storeu_si256((void *)q1, _mm512_extracti64x4_epi64(codes, 1));
}
#else
static inline __m256i q8_codes_32(const float *x, __m256 by)
{
	return bytes_in_order(q8_words(x, by), q8_words(x + 16, by));
}

static inline void q8_codes(const float *x, const float by[2], uint8_t *q0, uint8_t *q1)
{
	_mm256_storeu_si256((void *)q0, q8_codes_32(x, _mm256_set1_ps(by[0])));
	_mm256_storeu_si256((void *)q1, q8_codes_32(x + 32, _mm256_set1_ps(by[1])));
}
#endif

/* ---- tq2_0 and i2_s ---- */

static inline WIDE_INTS rounded(const float *x, WIDE_FLOAT m, enum rounding rounding)
{
	WIDE_FLOAT y = WIDE(mul_ps)(WIDE(loadu_ps)(x), m);

	return rounding == TO_EVEN ? WIDE(cvtps_epi32)(y) : WIDE(cvttps_epi32)(y);
}

/*
 * The codes, @shift bits up, of the words in a and b, in the order that packing leaves them in. The look-up reads 0
 * where the sign bit is set, else what the four lowest bits say. Nothing that was cut off is above 2.
 */
static inline WIDE_INTS ternary_codes(WIDE_INTS a, WIDE_INTS b, enum rounding rounding, int shift)
{
	const WIDE_INTS up = in_all_quarters(_mm_cvtsi32_si128(0x020201 << shift));
	WIDE_INTS v = WIDE(packs_epi16)(a, b);

	return WIDE(shuffle_epi8)(up, rounding == TO_EVEN ? WIDE(min_epi8)(v, WIDE(set1_epi8)(1)) : v);
}

#if defined(__AVX512F__)
/* A line's words, saturated to 16 bits, of 32 integers. */
static inline __m512i rounded_words(const float *x, __m512 m, enum rounding rounding)
{
	__m512i a = rounded(x, m, rounding), b;

	IN_SOURCE_ORDER(a);
	b = rounded(x + 16, m, rounding);
	IN_SOURCE_ORDER(b);
	return _mm512_packs_epi32(a, b);
}

static inline void ternary_256(const float *x, float m, enum rounding rounding, int first, int step, uint8_t *q,
			       bool around)
{
	const __m512 by = _mm512_set1_ps(m);
	__m512i v[8], ab, cd;

	EACH (i, 8)
		v[i] = rounded_words(x + 32 * i, by, rounding);
	ab = _mm512_or_si512(ternary_codes(v[0], v[4], rounding, first),
			     ternary_codes(v[1], v[5], rounding, first + step));
	cd = _mm512_or_si512(ternary_codes(v[2], v[6], rounding, first + 2 * step),
			     ternary_codes(v[3], v[7], rounding, first + 3 * step));
	put(q, in_order(_mm512_or_si512(ab, cd)), around);
}
#else
/* A line's words, saturated to 16 bits, of 16 integers. */
static inline __m256i rounded_words(const float *x, __m256 m, enum rounding rounding)
{
	__m256i v = _mm256_packs_epi32(rounded(x, m, rounding), rounded(x + 8, m, rounding));

	IN_SOURCE_ORDER(v);
	return v;
}

static inline __m256i ternary_128(const float *x, __m256 m, enum rounding rounding, int first, int step)
{
	__m256i v[8], ab, cd;

	EACH (i, 8)
		v[i] = rounded_words(x + 16 * i, m, rounding);
	ab = _mm256_or_si256(ternary_codes(v[0], v[1], rounding, first),
			     ternary_codes(v[2], v[3], rounding, first + step));
	cd = _mm256_or_si256(ternary_codes(v[4], v[5], rounding, first + 2 * step),
			     ternary_codes(v[6], v[7], rounding, first + 3 * step));
	return in_order(_mm256_or_si256(ab, cd));
}

static inline void ternary_256(const float *x, float m, enum rounding rounding, int first, int step, uint8_t *q,
			       bool around)
{
	const __m256 by = _mm256_set1_ps(m);

	put(q, ternary_128(x, by, rounding, first, step), around);
	put(q + 32, ternary_128(x + 128, by, rounding, first, step), around);
}
#endif

/* Even and odd lanes, of floats made doubles by MOVED_BITS. */
typedef struct {
	WIDE_DOUBLE even[16 / FLOATS], odd[16 / FLOATS];
} lanes;

static inline lanes zero_lanes(void)
{
	lanes l;

	EACH (k, 16 / FLOATS)
		l.even[k] = WIDE(setzero_pd)();
	EACH (k, 16 / FLOATS)
		l.odd[k] = WIDE(setzero_pd)();
	return l;
}

/*
 * A product and a shift, which do the same, since two shifts would take the units of the additions. A compiler that
 * knew the factor would make a shift of the product.
 */
static inline void add_lanes(lanes *l, const float *x)
{
	WIDE_INTS up = WIDE_SET1_64(1 << MOVED_BITS);

	__asm__("" : "+v"(up));
	EACH (k, 16 / FLOATS) {
		const WIDE_INTS v = WIDE_BITS(loadu)((const void *)(x + FLOATS * k));
		const WIDE_INTS even = WIDE(mul_epu32)(WIDE_BITS(and)(v, WIDE_SET1_64(MAG_MASK)), up);
		const WIDE_INTS odd =
			WIDE(srli_epi64)(WIDE_BITS(and)(v, WIDE_SET1_64((int64_t)MAG_MASK << 32)), 32 - MOVED_BITS);

		l->even[k] = WIDE(add_pd)(l->even[k], (WIDE_DOUBLE)even);
		l->odd[k] = WIDE(add_pd)(l->odd[k], (WIDE_DOUBLE)odd);
	}
}

static inline double sum_of_lanes(lanes l, const float *x, int64_t n)
{
	return sum_of_moved(sum_of_doubles(l.even) + sum_of_doubles(l.odd), x, n);
}

/* ---- i8_token ---- */

static inline WIDE_INTS token_words(const float *x, WIDE_FLOAT s)
{
	return WIDE(packs_epi32)(rounded(x, s, TO_EVEN), rounded(x + FLOATS, s, TO_EVEN));
}

static inline void token_codes(const float *x, float s, int8_t *q, bool around)
{
	const WIDE_FLOAT m = WIDE(set1_ps)(s);

	for (int i = 0; i < 64; i += 4 * FLOATS)
		put(q + i, bytes_in_order(token_words(x + i, m), token_words(x + i + 2 * FLOATS, m)), around);
}

#endif
