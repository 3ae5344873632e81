/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of assay/op_quantize.h from floats with NEON, 4 at a time. Both of their ways to round are instructions
 * here. There are no stores around the caches.
 */
#if defined(__aarch64__)
#include <arm_neon.h>
#include <string.h>

#include "quantize_isa.h"

#define FLOATS      4
#define SUM_STREAMS 2

typedef uint32x4_t mags;

static inline mags zero_mags(void)
{
	return vdupq_n_u32(0);
}

static inline mags load_mags(const float *x)
{
	return vandq_u32(vreinterpretq_u32_f32(vld1q_f32(x)), vdupq_n_u32(MAG_MASK));
}

static inline mags larger(mags a, mags b)
{
	return vmaxq_u32(a, b);
}

static inline uint32_t largest(mags m)
{
	return vmaxvq_u32(m);
}

static inline bool any_set(mags m)
{
	return vmaxvq_u32(m) != 0;
}

static inline mags largest_each(const mags m[4], int n)
{
	(void)n;
	return vpmaxq_u32(vpmaxq_u32(m[0], m[1]), vpmaxq_u32(m[2], m[3]));
}

static inline void halves_of(float32x4_t d, uint16_t h[4])
{
	vst1_u16(h, vreinterpret_u16_f16(vcvt_f16_f32(d)));
}

static inline void store_line_around(uint8_t *dst, const uint8_t *src)
{
	memcpy(dst, src, 64);
}

static inline void stores_done(void)
{
}

/* 16 int32, saturated to int8. */
static inline int8x16_t narrow(int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d)
{
	int16x8_t ab = vcombine_s16(vqmovn_s32(a), vqmovn_s32(b)), cd = vcombine_s16(vqmovn_s32(c), vqmovn_s32(d));

	return vcombine_s8(vqmovn_s16(ab), vqmovn_s16(cd));
}

/* ---- q8_0 ---- */

static inline int32x4_t q8_codes_4(const float *x, float id)
{
	return vcvtaq_s32_f32(vmulq_n_f32(vld1q_f32(x), id)); /* ties away from zero */
}

static inline void q8_codes(const float *x, const float by[2], uint8_t *q0, uint8_t *q1)
{
	for (int i = 0; i < 64; i += 16) {
		float m = by[i / 32] / 2;

		vst1q_s8((int8_t *)(i < 32 ? q0 : q1) + i % 32,
			 narrow(q8_codes_4(x + i, m), q8_codes_4(x + i + 4, m), q8_codes_4(x + i + 8, m),
				q8_codes_4(x + i + 12, m)));
	}
}

/* ---- tq2_0 and i2_s ---- */

static inline int32x4_t rounded_4(const float *x, float m, enum rounding rounding)
{
	float32x4_t y = vmulq_n_f32(vld1q_f32(x), m);

	return rounding == TO_EVEN ? vcvtnq_s32_f32(y) : vcvtq_s32_f32(y);
}

static inline uint8x16_t ternary_16(const float *x, float m, enum rounding rounding)
{
	int8x16_t v = narrow(rounded_4(x, m, rounding), rounded_4(x + 4, m, rounding), rounded_4(x + 8, m, rounding),
			     rounded_4(x + 12, m, rounding));

	v = vmaxq_s8(vminq_s8(v, vdupq_n_s8(1)), vdupq_n_s8(-1));
	return vreinterpretq_u8_s8(vaddq_s8(v, vdupq_n_s8(1)));
}

static inline void ternary_256(const float *x, float m, enum rounding rounding, int first, int step, uint8_t *q,
			       bool around)
{
	(void)around;
	for (int j = 0; j < 64; j += 16) {
		const float *v = x + j / 32 * 128 + j % 32;
		uint8x16_t codes = vdupq_n_u8(0);

		for (int i = 0; i < 4; i++)
			codes = vorrq_u8(codes, vshlq_u8(ternary_16(v + 32 * i, m, rounding),
							 vdupq_n_s8((int8_t)(first + i * step))));
		vst1q_u8(q + j, codes);
	}
}

typedef struct {
	float64x2_t l[8]; /* lanes 2k and 2k + 1 */
} lanes;

static inline lanes zero_lanes(void)
{
	lanes a;

	for (int k = 0; k < 8; k++)
		a.l[k] = vdupq_n_f64(0);
	return a;
}

static inline void add_lanes(lanes *a, const float *x)
{
	for (int k = 0; k < 8; k += 2) {
		float32x4_t v = vabsq_f32(vld1q_f32(x + 2 * k));

		a->l[k] = vaddq_f64(a->l[k], vcvt_f64_f32(vget_low_f32(v)));
		a->l[k + 1] = vaddq_f64(a->l[k + 1], vcvt_high_f64_f32(v));
	}
}

static inline double sum_of_lanes(lanes a, const float *x, int64_t n)
{
	(void)x;
	(void)n;
	for (int width = 4; width; width /= 2)
		for (int k = 0; k < width; k++)
			a.l[k] = vaddq_f64(a.l[k], a.l[k + width]);
	return vgetq_lane_f64(a.l[0], 0) + vgetq_lane_f64(a.l[0], 1);
}

/* ---- i8_token ---- */

static inline int32x4_t token_codes_4(const float *x, float s)
{
	return vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x), s)); /* ties to even */
}

static inline void token_codes(const float *x, float s, int8_t *q, bool around)
{
	(void)around;
	for (int i = 0; i < 64; i += 16)
		vst1q_s8(q + i, narrow(token_codes_4(x + i, s), token_codes_4(x + i + 4, s),
				       token_codes_4(x + i + 8, s), token_codes_4(x + i + 12, s)));
}

#define QUANTIZE_ISA neon
#include "quantize_body.h"
#endif
