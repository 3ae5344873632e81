/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracles of the quantize and dequantize ops: what assay/op_quantize.h defines, reasoned in double precision and
 * whole numbers, one value at a time. A double holds the product of two floats exactly and its quotient closely enough
 * that rounding it to float once more gives the float operation's own result, so no step here shares code with a
 * variant.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "assay/op_matmul.h"
#include "assay/op_quantize.h"
#include "quantize_ops.h"

#define HALF_NAN  0x7e00
#define FLOAT_NAN 0x7fc00000u

static uint32_t float_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return isnan(x) ? FLOAT_NAN : bits;
}

/* d as the bits of a half: a whole number of units in the last place, whose carry runs into the exponent by itself. */
static int half_bits(double d)
{
	int exponent, sign = signbit(d) ? 0x8000 : 0;
	double ulps;

	if (isnan(d))
		return HALF_NAN;
	d = fabs(d);
	if (d >= 65520)
		return sign | 0x7c00;
	frexp(d, &exponent);
	exponent = d == 0 || exponent < -13 ? -13 : exponent; /* d < 2^exponent; subnormals share 2^-14's unit */
	ulps = nearbyint(ldexp(d, 11 - exponent));
	return sign | (((exponent + 13) << 10) + (int)ulps);
}

static double half_value(int bits)
{
	int exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
	double mag = exponent == 31 ? (mantissa ? NAN : INFINITY)
		     : exponent     ? ldexp(1024 + mantissa, exponent - 25)
				    : ldexp(mantissa, -24);

	return bits & 0x8000 ? -mag : mag;
}

/* The largest magnitude, or infinity where a value is infinite or NaN. */
static double largest(const float *x, int64_t n)
{
	double max = 0;

	for (int64_t i = 0; i < n; i++) {
		if (!isfinite(x[i]))
			return INFINITY;
		max = fabs((double)x[i]) > max ? fabs((double)x[i]) : max;
	}
	return max;
}

/* Nearest whole number, ties away from zero. |y| is small, so that adding one half is exact. */
static int nearest_away(double y)
{
	int mag = (int)floor(fabs(y) + 0.5);

	return y < 0 ? -mag : mag;
}

/* Nearest whole number, ties to even. */
static int nearest_even(double y)
{
	int mag = (int)floor(fabs(y) + 0.5);

	if (mag % 2 && mag - fabs(y) == 0.5)
		mag--;
	return y < 0 ? -mag : mag;
}

/* The float that x times a multiplier gives, which a double holds. */
static double product(float x, double multiplier)
{
	return (double)(float)((double)x * multiplier);
}

/* 1/d as a float; 0 where d is 0 or the reciprocal is beyond the largest float. */
static double reciprocal(double d)
{
	double id = d > 0 ? 1 / d : 0;

	return id >= 0x1.ffffffp+127 ? 0 : (double)(float)id;
}

static int wrong(struct assay_check *out, const char *tensor, int64_t index, int64_t got, int64_t want)
{
	out->correct = 0;
	out->max_rel_err = -1;
	out->first_bad = index;
	out->tensor = tensor;
	snprintf(out->reason.text, sizeof(out->reason.text), "got %" PRId64 ", want %" PRId64, got, want);
	return 0;
}

static int wrong_float(struct assay_check *out, const char *tensor, int64_t index, float got, float want)
{
	uint32_t bits;

	wrong(out, tensor, index, 0, 0);
	memcpy(&bits, &got, sizeof(bits));
	snprintf(out->reason.text, sizeof(out->reason.text),
		 "got %.9g (bits %08" PRIx32 "), want %.9g (bits %08" PRIx32 ")", (double)got, bits, (double)want,
		 float_bits(want));
	return 0;
}

static int right(struct assay_check *out)
{
	out->correct = 1;
	out->max_rel_err = -1;
	out->first_bad = -1;
	out->tensor = NULL;
	return 0;
}

/* Whether the float has the wanted bits, NaN being the one with the bits FLOAT_NAN. */
static bool same_float(float got, float want)
{
	uint32_t bits;

	memcpy(&bits, &got, sizeof(bits));
	return bits == float_bits(want);
}

static int first_difference(const uint8_t *got, const uint8_t *want, int n)
{
	int i = 0;

	while (i < n && got[i] == want[i])
		i++;
	return i;
}

/* ---- block formats ---- */

static void want_q8_0(const float *x, uint8_t *want)
{
	double amax = largest(x, ASSAY_Q8_0_BLOCK), d = (double)(float)(amax / 127), id = reciprocal(d);
	int half = isfinite(amax) ? half_bits(d) : HALF_NAN;

	want[0] = (uint8_t)(half & 0xff);
	want[1] = (uint8_t)(half >> 8);
	for (int i = 0; i < ASSAY_Q8_0_BLOCK; i++)
		want[2 + i] = (uint8_t)(isfinite(amax) ? nearest_away(product(x[i], id)) : 0);
}

static void want_tq2_0(const float *x, uint8_t *want)
{
	double d = largest(x, ASSAY_TQ2_0_BLOCK), id = reciprocal(d);
	int half = isfinite(d) ? half_bits(d) : HALF_NAN;

	memset(want, 0, ASSAY_TQ2_0_BLOCK_BYTES);
	for (int i = 0; i < ASSAY_TQ2_0_BLOCK; i++) {
		int code = 1 + (isfinite(d) ? nearest_away(product(x[i], id)) : 0);

		want[i / 128 * 32 + i % 32] |= (uint8_t)(code << i % 128 / 32 * 2);
	}
	want[64] = (uint8_t)(half & 0xff);
	want[65] = (uint8_t)(half >> 8);
}

static int check_blocks(const struct assay_job *job, struct assay_check *out,
			void (*want_block)(const float *, uint8_t *), int64_t block, int block_bytes)
{
	const float *x = job->tensors[ASSAY_QUANTIZE_X].data;
	const uint8_t *q = job->tensors[ASSAY_QUANTIZE_Q].data;
	int64_t n_blocks = job->shape->axis[ASSAY_QUANTIZE_N] / block;
	uint8_t want[ASSAY_TQ2_0_BLOCK_BYTES];

	for (int64_t b = 0; b < n_blocks; b++) {
		const uint8_t *got = q + b * block_bytes;
		int bad;

		want_block(x + b * block, want);
		bad = first_difference(got, want, block_bytes);
		if (bad < block_bytes)
			return wrong(out, "q", b * block_bytes + bad, got[bad], want[bad]);
	}
	return right(out);
}

int assay_quantize_q8_0_check(struct assay_job *job, struct assay_check *out)
{
	return check_blocks(job, out, want_q8_0, ASSAY_Q8_0_BLOCK, ASSAY_Q8_0_BLOCK_BYTES);
}

int assay_quantize_tq2_0_check(struct assay_job *job, struct assay_check *out)
{
	return check_blocks(job, out, want_tq2_0, ASSAY_TQ2_0_BLOCK, ASSAY_TQ2_0_BLOCK_BYTES);
}

int assay_dequantize_q8_0_check(struct assay_job *job, struct assay_check *out)
{
	const uint8_t *q = job->tensors[ASSAY_DEQUANTIZE_Q].data;
	const float *x = job->tensors[ASSAY_DEQUANTIZE_BLOCK_X].data;
	int64_t n = job->shape->axis[ASSAY_QUANTIZE_N];

	for (int64_t i = 0; i < n; i++) {
		const uint8_t *block = q + i / ASSAY_Q8_0_BLOCK * ASSAY_Q8_0_BLOCK_BYTES;
		int code = block[2 + i % ASSAY_Q8_0_BLOCK];
		float want = (float)((code < 128 ? code : code - 256) * half_value(block[0] | block[1] << 8));

		if (!same_float(x[i], want))
			return wrong_float(out, "x", i, x[i], want);
	}
	return right(out);
}

int assay_dequantize_tq2_0_check(struct assay_job *job, struct assay_check *out)
{
	const uint8_t *q = job->tensors[ASSAY_DEQUANTIZE_Q].data;
	const float *x = job->tensors[ASSAY_DEQUANTIZE_BLOCK_X].data;
	int64_t n = job->shape->axis[ASSAY_QUANTIZE_N];

	for (int64_t i = 0; i < n; i++) {
		const uint8_t *block = q + i / ASSAY_TQ2_0_BLOCK * ASSAY_TQ2_0_BLOCK_BYTES;
		int at = (int)(i % ASSAY_TQ2_0_BLOCK);
		int code = block[at / 128 * 32 + at % 32] >> at % 128 / 32 * 2 & 3;
		float want = (float)((code - 1) * half_value(block[64] | block[65] << 8));

		if (!same_float(x[i], want))
			return wrong_float(out, "x", i, x[i], want);
	}
	return right(out);
}

/* ---- i2_s ---- */

/* The code of value i in its byte and bits. */
static int i2_s_code(const uint8_t *q, int64_t i)
{
	int64_t at = i % ASSAY_I2S_BLOCK;

	return q[i / ASSAY_I2S_BLOCK * ASSAY_I2S_BLOCK_BYTES + at % 32] >> (6 - at / 32 * 2) & 3;
}

/* Lane j of a sum block in the tree of the given width: the two halves of the tree below it, down to one running sum.
 */
static double lane_sum(const float *x, int64_t n, int j, int width)
{
	double sum = 0;

	if (width < ASSAY_I2_S_SUM_LANES)
		return lane_sum(x, n, j, width * 2) + lane_sum(x, n, j + width, width * 2);
	for (int64_t i = j; i < n; i += ASSAY_I2_S_SUM_LANES)
		sum += fabs((double)x[i]);
	return sum;
}

static float want_gamma(const float *x, int64_t n)
{
	double sum = 0;
	float gamma;

	for (int64_t i = 0; i < n; i += ASSAY_I2_S_SUM_BLOCK)
		sum += lane_sum(x + i, n - i < ASSAY_I2_S_SUM_BLOCK ? n - i : ASSAY_I2_S_SUM_BLOCK, 0, 1);
	if (!isfinite(sum))
		return NAN;
	gamma = (float)(sum / (double)n);
	return gamma > ASSAY_I2_S_MIN_GAMMA ? gamma : ASSAY_I2_S_MIN_GAMMA;
}

int assay_quantize_i2_s_check(struct assay_job *job, struct assay_check *out)
{
	const float *x = job->tensors[ASSAY_QUANTIZE_X].data;
	const float *scale = job->tensors[ASSAY_QUANTIZE_SCALE].data;
	const uint8_t *q = job->tensors[ASSAY_QUANTIZE_Q].data;
	int64_t n = job->shape->axis[ASSAY_QUANTIZE_N];
	float gamma = want_gamma(x, n);
	double s = (double)(float)(1 / (double)gamma);

	if (!same_float(*scale, gamma))
		return wrong_float(out, "scale", 0, *scale, gamma);
	for (int64_t i = 0; i < n; i++) {
		double y = product(x[i], s);
		int want = y > 0.5 ? 2 : y < -0.5 ? 0 : 1; /* a NaN is neither */

		if (i2_s_code(q, i) != want)
			return wrong(out, "q", i / 128 * 32 + i % 32, i2_s_code(q, i), want);
	}
	return right(out);
}

int assay_dequantize_i2_s_check(struct assay_job *job, struct assay_check *out)
{
	const uint8_t *q = job->tensors[ASSAY_DEQUANTIZE_Q].data;
	const float *scale = job->tensors[ASSAY_DEQUANTIZE_SCALE].data, *x = job->tensors[ASSAY_DEQUANTIZE_X].data;
	int64_t n = job->shape->axis[ASSAY_QUANTIZE_N];

	for (int64_t i = 0; i < n; i++) {
		int code = i2_s_code(q, i);
		float want = (float)((code == 3 ? 0 : code - 1) * (double)*scale);

		if (!same_float(x[i], want))
			return wrong_float(out, "x", i, x[i], want);
	}
	return right(out);
}

/* ---- i8_token ---- */

int assay_quantize_i8_token_check(struct assay_job *job, struct assay_check *out)
{
	const float *x = job->tensors[ASSAY_QUANTIZE_X].data, *scale = job->tensors[ASSAY_QUANTIZE_SCALE].data;
	const int8_t *q = job->tensors[ASSAY_QUANTIZE_Q].data;
	int64_t tokens = job->shape->axis[ASSAY_QUANTIZE_TOKENS], dim = job->shape->axis[ASSAY_QUANTIZE_DIM];

	for (int64_t t = 0; t < tokens; t++, x += dim, q += dim) {
		double a = largest(x, dim), least = (double)ASSAY_I8_TOKEN_MIN_AMAX, s;
		float want_scale;

		a = a > least ? a : least;
		s = (double)(float)(127 / a);
		want_scale = isfinite(a) ? (float)(a / 127) : NAN;
		if (!same_float(scale[t], want_scale))
			return wrong_float(out, "scale", t, scale[t], want_scale);
		for (int64_t i = 0; i < dim; i++) {
			int want = isfinite(a) ? nearest_even(product(x[i], s)) : 0;

			want = want < -128 ? -128 : want > 127 ? 127 : want;
			if (q[i] != want)
				return wrong(out, "q", t * dim + i, q[i], want);
		}
	}
	return right(out);
}

int assay_dequantize_i8_token_check(struct assay_job *job, struct assay_check *out)
{
	const int8_t *q = job->tensors[ASSAY_DEQUANTIZE_Q].data;
	const float *scale = job->tensors[ASSAY_DEQUANTIZE_SCALE].data, *x = job->tensors[ASSAY_DEQUANTIZE_X].data;
	int64_t dim = job->shape->axis[ASSAY_QUANTIZE_DIM], n = job->shape->axis[ASSAY_QUANTIZE_TOKENS] * dim;

	for (int64_t i = 0; i < n; i++) {
		float want = (float)(q[i] * (double)scale[i / dim]);

		if (!same_float(x[i], want))
			return wrong_float(out, "x", i, x[i], want);
	}
	return right(out);
}
