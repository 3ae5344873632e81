/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of assay/op_quantize.h back to floats with NEON. There are no stores around the caches. */
#if defined(__aarch64__)
#include <arm_neon.h>
#include <string.h>

#include "quantize_half.h"

#define FLOATS 4

typedef float32x4_t vec;
typedef uint32x4_t packed;
typedef uint8x16_t table;

static inline vec canonical_all(vec y)
{
	return vbslq_f32(vceqq_f32(y, y), y, vreinterpretq_f32_u32(vdupq_n_u32(QUANTIZE_FLOAT_NAN)));
}

static inline void store_floats_around(float *p, vec v)
{
	vst1q_f32(p, v);
}

static inline void stores_done(void)
{
}

static inline uint32x2_t load_4(const void *q)
{
	uint32_t bytes;

	memcpy(&bytes, q, sizeof(bytes));
	return vdup_n_u32(bytes);
}

static inline vec floats_of(const int8_t *q)
{
	return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u32(load_4(q))))));
}

static inline packed load_packed(const uint8_t *q)
{
	return vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(load_4(q)))));
}

static inline table table_of(float v0, float v1, float v2, float v3)
{
	const float v[4] = { v0, v1, v2, v3 };

	return vreinterpretq_u8_f32(vld1q_f32(v));
}

/* The bytes of entry i are 4·i to 4·i + 3. */
static inline vec look_up(table t, packed codes, int shift)
{
	uint32x4_t entry = vandq_u32(vshlq_u32(codes, vdupq_n_s32(-shift)), vdupq_n_u32(3));
	uint32x4_t bytes = vmlaq_n_u32(vdupq_n_u32(0x03020100), entry, 0x04040404);

	return vreinterpretq_f32_u8(vqtbl1q_u8(t, vreinterpretq_u8_u32(bytes)));
}

static inline float float_of_half(uint16_t half)
{
	return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(half))), 0);
}

#define DEQUANTIZE_ISA neon
#include "dequantize_body.h"
#endif
