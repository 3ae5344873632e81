/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of assay/op_quantize.h with AVX2 and F16C, 8 floats at a time. Every float operation is the definition's
 * own, in another order only where order cannot be seen; no fused multiply-add.
 */
#if defined(__x86_64__)
#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "assay/op_matmul.h"
#include "assay/op_quantize.h"
#include "quantize_half.h"
#include "quantize_threads.h"

#define MAG_INFINITE 0x7f800000u

static inline void store_half(uint8_t *p, uint16_t half)
{
	memcpy(p, &half, sizeof(half));
}

static inline float load_half(const uint8_t *p)
{
	uint16_t half;

	memcpy(&half, p, sizeof(half));
	return _cvtsh_ss(half);
}

static inline __m256i magnitudes(const float *x)
{
	return _mm256_and_si256(_mm256_loadu_si256((const __m256i *)x), _mm256_set1_epi32(0x7fffffff));
}

static inline uint32_t largest(__m256i v)
{
	__m128i m = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
	m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
	return (uint32_t)_mm_cvtsi128_si32(m);
}

/* 32 int32 in −128 … 127, as int8 in order. */
static inline __m256i pack_i8(__m256i a, __m256i b, __m256i c, __m256i d)
{
	__m256i v = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));

	return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* The multiplier of a block whose scale is d, and the half to store; 0 where all codes are zero. */
static inline float block_scale(uint32_t amax, float d, uint16_t *half)
{
	float id;

	if (amax >= MAG_INFINITE) {
		*half = QUANTIZE_HALF_NAN;
		return 0;
	}
	*half = _cvtss_sh(d, _MM_FROUND_TO_NEAREST_INT);
	if (amax == 0)
		return 0;
	id = 1.0f / d;
	return quantize_bits(id) < MAG_INFINITE ? id : 0;
}

/* ---- q8_0 ---- */

/*
 * Round to nearest, ties away from zero, for |y| < 2^22: adding the float just below one half with y's sign and cutting
 * off the fraction. One half itself would round 0.5 − 2^-25 up.
 */
static inline __m256i round_away(__m256 y)
{
	const __m256 below_half = _mm256_set1_ps(0x1.fffffep-2f), sign = _mm256_set1_ps(-0.0f);

	return _mm256_cvttps_epi32(_mm256_add_ps(y, _mm256_or_ps(below_half, _mm256_and_ps(sign, y))));
}

static void quantize_q8_0(const float *x, uint8_t *q, int64_t n)
{
	for (; n > 0; n -= ASSAY_Q8_0_BLOCK, x += ASSAY_Q8_0_BLOCK, q += ASSAY_Q8_0_BLOCK_BYTES) {
		__m256i m01 = _mm256_max_epi32(magnitudes(x), magnitudes(x + 8));
		__m256i m23 = _mm256_max_epi32(magnitudes(x + 16), magnitudes(x + 24));
		uint32_t amax = largest(_mm256_max_epi32(m01, m23));
		uint16_t half;
		float id = block_scale(amax, quantize_float(amax) / 127.0f, &half);
		__m256 m = _mm256_set1_ps(id);
		__m256i codes = _mm256_setzero_si256();

		if (id != 0)
			codes = pack_i8(round_away(_mm256_mul_ps(_mm256_loadu_ps(x), m)),
					round_away(_mm256_mul_ps(_mm256_loadu_ps(x + 8), m)),
					round_away(_mm256_mul_ps(_mm256_loadu_ps(x + 16), m)),
					round_away(_mm256_mul_ps(_mm256_loadu_ps(x + 24), m)));
		store_half(q, half);
		_mm256_storeu_si256((__m256i *)(q + 2), codes);
	}
}

/* x[i] = q[i] * d for n values in steps of 8; d may be NaN or infinite. */
static inline void scale_i8(const int8_t *q, float *x, int64_t n, float d)
{
	const __m256 scale = _mm256_set1_ps(d), nan = _mm256_castsi256_ps(_mm256_set1_epi32(QUANTIZE_FLOAT_NAN));

	if ((quantize_bits(d) & 0x7fffffffu) < MAG_INFINITE) {
		for (int64_t i = 0; i < n; i += 8) {
			__m256i v = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(q + i)));

			_mm256_storeu_ps(x + i, _mm256_mul_ps(_mm256_cvtepi32_ps(v), scale));
		}
		return;
	}
	for (int64_t i = 0; i < n; i += 8) {
		__m256i v = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(q + i)));
		__m256 y = _mm256_mul_ps(_mm256_cvtepi32_ps(v), scale);

		_mm256_storeu_ps(x + i, _mm256_blendv_ps(y, nan, _mm256_cmp_ps(y, y, _CMP_UNORD_Q)));
	}
}

static void dequantize_q8_0(const uint8_t *q, float *x, int64_t n)
{
	for (; n > 0; n -= ASSAY_Q8_0_BLOCK, x += ASSAY_Q8_0_BLOCK, q += ASSAY_Q8_0_BLOCK_BYTES)
		scale_i8((const int8_t *)q + 2, x, ASSAY_Q8_0_BLOCK, load_half(q));
}

/* ---- tq2_0 and i2_s ---- */

/* 8 int32: (y is over one half) − (y is under minus one half), y = x * mul; `away` counts one half itself as over. */
static inline __m256i signs_8(const float *x, __m256 mul, bool away)
{
	const __m256 half = _mm256_set1_ps(0.5f), minus_half = _mm256_set1_ps(-0.5f);
	__m256 y = _mm256_mul_ps(_mm256_loadu_ps(x), mul);
	__m256 over = away ? _mm256_cmp_ps(y, half, _CMP_GE_OQ) : _mm256_cmp_ps(y, half, _CMP_GT_OQ);
	__m256 under = away ? _mm256_cmp_ps(y, minus_half, _CMP_LE_OQ) : _mm256_cmp_ps(y, minus_half, _CMP_LT_OQ);

	return _mm256_sub_epi32(_mm256_castps_si256(under), _mm256_castps_si256(over));
}

/* Codes of 32 values as bytes, in the order that packing leaves them in. */
static inline __m256i codes_32(const float *x, float mul, bool away)
{
	const __m256 m = _mm256_set1_ps(mul);
	__m256i ab = _mm256_packs_epi32(signs_8(x, m, away), signs_8(x + 8, m, away));
	__m256i cd = _mm256_packs_epi32(signs_8(x + 16, m, away), signs_8(x + 24, m, away));

	return _mm256_add_epi8(_mm256_packs_epi16(ab, cd), _mm256_set1_epi8(1));
}

/* Four codes to a byte, a lowest. Codes are below 4, so 16-bit shifts carry nothing into the neighbour byte. */
static inline void store_codes(uint8_t *q, __m256i a, __m256i b, __m256i c, __m256i d)
{
	__m256i ab = _mm256_or_si256(a, _mm256_slli_epi16(b, 2));
	__m256i cd = _mm256_or_si256(_mm256_slli_epi16(c, 4), _mm256_slli_epi16(d, 6));
	__m256i v = _mm256_permutevar8x32_epi32(_mm256_or_si256(ab, cd), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));

	_mm256_storeu_si256((__m256i *)q, v);
}

static void quantize_tq2_0(const float *x, uint8_t *q, int64_t n)
{
	for (; n > 0; n -= ASSAY_TQ2_0_BLOCK, x += ASSAY_TQ2_0_BLOCK, q += ASSAY_TQ2_0_BLOCK_BYTES) {
		__m256i m0 = magnitudes(x), m1 = magnitudes(x + 8), m2 = magnitudes(x + 16), m3 = magnitudes(x + 24);
		uint32_t amax;
		uint16_t half;
		float id;

		for (int i = 32; i < ASSAY_TQ2_0_BLOCK; i += 32) {
			m0 = _mm256_max_epi32(m0, magnitudes(x + i));
			m1 = _mm256_max_epi32(m1, magnitudes(x + i + 8));
			m2 = _mm256_max_epi32(m2, magnitudes(x + i + 16));
			m3 = _mm256_max_epi32(m3, magnitudes(x + i + 24));
		}
		amax = largest(_mm256_max_epi32(_mm256_max_epi32(m0, m1), _mm256_max_epi32(m2, m3)));
		id = block_scale(amax, quantize_float(amax), &half);
		/* A multiplier of 0 gives 0 or NaN, and neither passes a limit: the codes are those of zero. */
		for (int h = 0; h < 2; h++)
			store_codes(q + 32 * h, codes_32(x + 128 * h, id, true), codes_32(x + 128 * h + 32, id, true),
				    codes_32(x + 128 * h + 64, id, true), codes_32(x + 128 * h + 96, id, true));
		store_half(q + 64, half);
	}
}

static double i2_s_sum(const float *x, int64_t n)
{
	const __m128 mask = _mm_castsi128_ps(_mm_set1_epi32(0x7fffffff));
	__m256d l0 = _mm256_setzero_pd(), l4 = l0, l8 = l0, l12 = l0;
	__m128d s;

	for (int64_t i = 0; i < n; i += ASSAY_I2_S_SUM_LANES) {
		l0 = _mm256_add_pd(l0, _mm256_cvtps_pd(_mm_and_ps(_mm_loadu_ps(x + i), mask)));
		l4 = _mm256_add_pd(l4, _mm256_cvtps_pd(_mm_and_ps(_mm_loadu_ps(x + i + 4), mask)));
		l8 = _mm256_add_pd(l8, _mm256_cvtps_pd(_mm_and_ps(_mm_loadu_ps(x + i + 8), mask)));
		l12 = _mm256_add_pd(l12, _mm256_cvtps_pd(_mm_and_ps(_mm_loadu_ps(x + i + 12), mask)));
	}
	l0 = _mm256_add_pd(_mm256_add_pd(l0, l8), _mm256_add_pd(l4, l12));
	s = _mm_add_pd(_mm256_castpd256_pd128(l0), _mm256_extractf128_pd(l0, 1));
	return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}

static void quantize_i2_s(const float *x, uint8_t *q, int64_t n, float s)
{
	for (; n > 0; n -= ASSAY_I2S_BLOCK, x += ASSAY_I2S_BLOCK, q += ASSAY_I2S_BLOCK_BYTES)
		store_codes(q, codes_32(x + 96, s, false), codes_32(x + 64, s, false), codes_32(x + 32, s, false),
			    codes_32(x, s, false));
}

static inline float canonical(float x)
{
	return isnan(x) ? quantize_float(QUANTIZE_FLOAT_NAN) : x;
}

/* 128 values from 32 bytes, each code looked up in `table`; the i-th 32 values lie `first + i * step` bits up. */
static inline void look_up(const uint8_t *q, float *x, __m256 table, int first, int step)
{
	const __m128i s0 = _mm_cvtsi32_si128(first), s1 = _mm_cvtsi32_si128(first + step);
	const __m128i s2 = _mm_cvtsi32_si128(first + 2 * step), s3 = _mm_cvtsi32_si128(first + 3 * step);

	/* permutevar reads the two lowest bits of an index and ignores the rest. */
	for (int j = 0; j < 32; j += 8) {
		__m256i v = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(q + j)));

		_mm256_storeu_ps(x + j, _mm256_permutevar_ps(table, _mm256_srl_epi32(v, s0)));
		_mm256_storeu_ps(x + j + 32, _mm256_permutevar_ps(table, _mm256_srl_epi32(v, s1)));
		_mm256_storeu_ps(x + j + 64, _mm256_permutevar_ps(table, _mm256_srl_epi32(v, s2)));
		_mm256_storeu_ps(x + j + 96, _mm256_permutevar_ps(table, _mm256_srl_epi32(v, s3)));
	}
}

static inline __m256 table_of(float v0, float v1, float v2, float v3)
{
	return _mm256_setr_ps(v0, v1, v2, v3, v0, v1, v2, v3);
}

static void dequantize_tq2_0(const uint8_t *q, float *x, int64_t n)
{
	for (; n > 0; n -= ASSAY_TQ2_0_BLOCK, x += ASSAY_TQ2_0_BLOCK, q += ASSAY_TQ2_0_BLOCK_BYTES) {
		float d = load_half(q + 64);
		__m256 table = table_of(canonical(-1 * d), canonical(0 * d), canonical(d), canonical(2 * d));

		look_up(q, x, table, 0, 2);
		look_up(q + 32, x + 128, table, 0, 2);
	}
}

static void dequantize_i2_s(const uint8_t *q, float *x, int64_t n, float gamma)
{
	float zero = canonical(0 * gamma);
	__m256 table = table_of(canonical(-1 * gamma), zero, canonical(gamma), zero);

	for (; n > 0; n -= ASSAY_I2S_BLOCK, x += ASSAY_I2S_BLOCK, q += ASSAY_I2S_BLOCK_BYTES)
		look_up(q, x, table, 6, -2);
}

/* ---- i8_token ---- */

static uint32_t token_amax(const float *x, int64_t dim)
{
	__m256i m0 = _mm256_setzero_si256(), m1 = m0, m2 = m0, m3 = m0;
	uint32_t amax;
	int64_t i = 0;

	for (; i + 32 <= dim; i += 32) {
		m0 = _mm256_max_epi32(m0, magnitudes(x + i));
		m1 = _mm256_max_epi32(m1, magnitudes(x + i + 8));
		m2 = _mm256_max_epi32(m2, magnitudes(x + i + 16));
		m3 = _mm256_max_epi32(m3, magnitudes(x + i + 24));
	}
	amax = largest(_mm256_max_epi32(_mm256_max_epi32(m0, m1), _mm256_max_epi32(m2, m3)));
	for (; i < dim; i++) {
		uint32_t mag = quantize_bits(x[i]) & 0x7fffffffu;

		amax = mag > amax ? mag : amax;
	}
	return amax;
}

static void quantize_i8_token(const float *x, int8_t *q, float *scale, int64_t dim)
{
	uint32_t amax = token_amax(x, dim);
	float a = quantize_float(amax), s;
	__m256 m;
	int64_t i = 0;

	if (amax >= MAG_INFINITE) {
		*scale = quantize_float(QUANTIZE_FLOAT_NAN);
		memset(q, 0, (size_t)dim);
		return;
	}
	a = a < ASSAY_I8_TOKEN_MIN_AMAX ? ASSAY_I8_TOKEN_MIN_AMAX : a;
	s = 127.0f / a;
	*scale = a / 127.0f;
	m = _mm256_set1_ps(s);
	/* |x * s| is at most 127 and a rounding error: conversion rounds to even, packing never has to clamp. */
	for (; i + 32 <= dim; i += 32)
		_mm256_storeu_si256((__m256i *)(q + i),
				    pack_i8(_mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i), m)),
					    _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i + 8), m)),
					    _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i + 16), m)),
					    _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i + 24), m))));
	for (; i < dim; i++)
		q[i] = (int8_t)_mm_cvtss_si32(_mm_set_ss(x[i] * s));
}

static void dequantize_i8_token(const int8_t *q, float *x, float scale, int64_t dim)
{
	int64_t whole = dim & ~(int64_t)7;

	scale_i8(q, x, whole, scale);
	for (int64_t i = whole; i < dim; i++)
		x[i] = canonical((float)q[i] * scale);
}

/* ---- variants ---- */

int assay_quantize_q8_0_avx2(struct assay_job *job)
{
	return assay_quantize_q8_0(job, quantize_q8_0);
}

int assay_quantize_tq2_0_avx2(struct assay_job *job)
{
	return assay_quantize_tq2_0(job, quantize_tq2_0);
}

int assay_quantize_i2_s_avx2(struct assay_job *job)
{
	return assay_quantize_i2_s(job, i2_s_sum, quantize_i2_s);
}

int assay_quantize_i8_token_avx2(struct assay_job *job)
{
	return assay_quantize_i8_token(job, quantize_i8_token);
}

int assay_dequantize_q8_0_avx2(struct assay_job *job)
{
	return assay_dequantize_q8_0(job, dequantize_q8_0);
}

int assay_dequantize_tq2_0_avx2(struct assay_job *job)
{
	return assay_dequantize_tq2_0(job, dequantize_tq2_0);
}

int assay_dequantize_i2_s_avx2(struct assay_job *job)
{
	return assay_dequantize_i2_s(job, dequantize_i2_s);
}

int assay_dequantize_i8_token_avx2(struct assay_job *job)
{
	return assay_dequantize_i8_token(job, dequantize_i8_token);
}
#endif
