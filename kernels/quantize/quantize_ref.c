/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of assay/op_quantize.h written down as defined: the variant that the others are compared with. */
#include <math.h>
#include <stdint.h>

#include "assay/op_matmul.h"
#include "assay/op_quantize.h"
#include "quantize_half.h"
#include "quantize_variants.h"

static void store_half(uint8_t *p, uint16_t half)
{
	p[0] = (uint8_t)half;
	p[1] = (uint8_t)(half >> 8);
}

static float load_half(const uint8_t *p)
{
	return quantize_float_of_half((uint16_t)(p[0] | p[1] << 8));
}

static float amax_of(const float *x, int64_t n)
{
	uint32_t amax = 0;

	for (int64_t i = 0; i < n; i++) {
		uint32_t mag = assay_f32_bits(x[i]) & MAG_MASK;

		amax = mag > amax ? mag : amax;
	}
	return assay_f32_of_bits(amax);
}

/* The multiplier of a block whose scale is d, and the half to store; 0 where all codes are zero. */
static float block_scale(float amax, float d, uint16_t *half)
{
	float id;

	if (!isfinite(amax)) {
		*half = QUANTIZE_HALF_NAN;
		return 0;
	}
	*half = quantize_half_of_float(d);
	id = 1.0f / d;
	return d > 0 && isfinite(id) ? id : 0;
}

/* ---- q8_0 ---- */

static bool quantize_q8_0(const float *x, uint8_t *q, int64_t n, bool around)
{
	(void)around;
	for (; n > 0; n -= ASSAY_Q8_0_BLOCK, x += ASSAY_Q8_0_BLOCK, q += ASSAY_Q8_0_BLOCK_BYTES) {
		float amax = amax_of(x, ASSAY_Q8_0_BLOCK);
		uint16_t half;
		float id = block_scale(amax, amax / 127.0f, &half);

		store_half(q, half);
		for (int i = 0; i < ASSAY_Q8_0_BLOCK; i++)
			q[2 + i] = (uint8_t)(id == 0 ? 0 : (int)roundf(x[i] * id));
	}
	return false;
}

static bool dequantize_q8_0(const uint8_t *q, float *x, int64_t n, bool around)
{
	(void)around;
	for (; n > 0; n -= ASSAY_Q8_0_BLOCK, x += ASSAY_Q8_0_BLOCK, q += ASSAY_Q8_0_BLOCK_BYTES) {
		float d = load_half(q);

		for (int i = 0; i < ASSAY_Q8_0_BLOCK; i++)
			x[i] = canonical((float)(int8_t)q[2 + i] * d);
	}
	return false;
}

/* ---- tq2_0 ---- */

static bool quantize_tq2_0(const float *x, uint8_t *q, int64_t n, bool around)
{
	(void)around;
	for (; n > 0; n -= ASSAY_TQ2_0_BLOCK, x += ASSAY_TQ2_0_BLOCK, q += ASSAY_TQ2_0_BLOCK_BYTES) {
		float amax = amax_of(x, ASSAY_TQ2_0_BLOCK);
		uint16_t half;
		float id = block_scale(amax, amax, &half);

		for (int byte = 0; byte < 64; byte++) {
			const float *v = x + byte / 32 * 128 + byte % 32;
			unsigned bits = 0;

			for (int i = 0; i < 4; i++)
				bits |= (unsigned)(id == 0 ? 1 : (int)roundf(v[32 * i] * id) + 1) << 2 * i;
			q[byte] = (uint8_t)bits;
		}
		store_half(q + 64, half);
	}
	return false;
}

static bool dequantize_tq2_0(const uint8_t *q, float *x, int64_t n, bool around)
{
	(void)around;
	for (; n > 0; n -= ASSAY_TQ2_0_BLOCK, x += ASSAY_TQ2_0_BLOCK, q += ASSAY_TQ2_0_BLOCK_BYTES) {
		float d = load_half(q + 64);

		for (int i = 0; i < ASSAY_TQ2_0_BLOCK; i++) {
			int byte = i / 128 * 32 + i % 32, shift = i % 128 / 32 * 2;

			x[i] = canonical((float)((q[byte] >> shift & 3) - 1) * d);
		}
	}
	return false;
}

/* ---- i2_s ---- */

double assay_quantize_plain_i2_s_sum(const float *x, int64_t n)
{
	double lane[ASSAY_I2_S_SUM_LANES] = { 0 };

	for (int64_t i = 0; i < n; i += ASSAY_I2_S_SUM_LANES)
		for (int j = 0; j < ASSAY_I2_S_SUM_LANES; j++)
			lane[j] += (double)fabsf(x[i + j]);
	for (int width = ASSAY_I2_S_SUM_LANES / 2; width; width /= 2)
		for (int j = 0; j < width; j++)
			lane[j] += lane[j + width];
	return lane[0];
}

static void i2_s_sums(const float *x, int64_t n, double *sums, bool around)
{
	(void)around;
	for (; n > 0; n -= ASSAY_I2_S_SUM_BLOCK, x += ASSAY_I2_S_SUM_BLOCK)
		*sums++ = assay_quantize_plain_i2_s_sum(x, n < ASSAY_I2_S_SUM_BLOCK ? n : ASSAY_I2_S_SUM_BLOCK);
}

static unsigned i2_s_code(float x, float s)
{
	float y = rintf(x * s);

	return 1u + (y >= 1) - (y <= -1);
}

static bool quantize_i2_s(const float *x, uint8_t *q, int64_t n, float s, bool around)
{
	(void)around;
	for (; n > 0; n -= ASSAY_I2S_BLOCK, x += ASSAY_I2S_BLOCK, q += ASSAY_I2S_BLOCK_BYTES)
		for (int j = 0; j < ASSAY_I2S_BLOCK_BYTES; j++)
			q[j] = (uint8_t)(i2_s_code(x[j], s) << 6 | i2_s_code(x[j + 32], s) << 4 |
					 i2_s_code(x[j + 64], s) << 2 | i2_s_code(x[j + 96], s));
	return false;
}

static bool dequantize_i2_s(const uint8_t *q, float *x, int64_t n, float gamma, bool around)
{
	static const float value[4] = { -1, 0, 1, 0 };

	(void)around;
	for (int64_t i = 0; i < n; i++) {
		int64_t byte = i / ASSAY_I2S_BLOCK * ASSAY_I2S_BLOCK_BYTES + i % 32;
		int64_t shift = 6 - i % ASSAY_I2S_BLOCK / 32 * 2;

		x[i] = canonical(value[q[byte] >> shift & 3] * gamma);
	}
	return false;
}

/* ---- i8_token ---- */

static bool quantize_i8_token(const float *x, int8_t *q, float *scale, int64_t dim, bool around)
{
	float a = amax_of(x, dim), s;

	(void)around;
	if (!isfinite(a)) {
		*scale = assay_f32_of_bits(QUANTIZE_FLOAT_NAN);
		for (int64_t i = 0; i < dim; i++)
			q[i] = 0;
		return false;
	}
	a = a < ASSAY_I8_TOKEN_MIN_AMAX ? ASSAY_I8_TOKEN_MIN_AMAX : a;
	s = 127.0f / a;
	*scale = a / 127.0f;
	for (int64_t i = 0; i < dim; i++) {
		float y = rintf(x[i] * s);

		q[i] = (int8_t)(y < -128 ? -128 : y > 127 ? 127 : y);
	}
	return false;
}

static bool dequantize_i8_token(const int8_t *q, float *x, float scale, int64_t dim, bool around)
{
	(void)around;
	for (int64_t i = 0; i < dim; i++)
		x[i] = canonical((float)q[i] * scale);
	return false;
}

QUANTIZE_RUNS(ref)
DEQUANTIZE_RUNS(ref)
