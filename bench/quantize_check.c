/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracles of the quantize and dequantize ops: what assay/op_quantize.h defines, reasoned in double precision and
 * whole numbers, one value at a time. A double holds the product of two floats exactly and its quotient closely enough
 * that rounding it to float once more gives the float operation's own result, so no step here shares code with a
 * variant.
 *
 * What differs on a value on which others decide otherwise (NaN, infinities, subnormals, ties) is a deviation and no
 * error. Everything else has to be right, also in outputs that deviate somewhere.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The formats' rule for inputs that they cannot represent; "" if @x is finite throughout. */
static const char *of_special(const float *x, int64_t n)
{
	const char *text = "";

	for (int64_t i = 0; i < n; i++) {
		if (isnan(x[i]))
			return "; the input has a NaN, see op_quantize.h";
		if (isinf(x[i]))
			text = "; the input has an infinity, see op_quantize.h";
	}
	return text;
}

/* The edge that floats are on which a format cannot represent; 0: they are finite. */
static uint32_t special_edge(const float *x, int64_t n)
{
	uint32_t edge = 0;

	for (int64_t i = 0; i < n; i++) {
		if (isnan(x[i]))
			return ASSAY_EDGE_NAN;
		if (isinf(x[i]))
			edge = ASSAY_EDGE_INFINITY;
	}
	return edge;
}

/* Of a number that a format holds; also of the result of arithmetic with it. */
static uint32_t float_edge(float x)
{
	switch (fpclassify(x)) {
	case FP_NAN:
		return ASSAY_EDGE_NAN;
	case FP_INFINITE:
		return ASSAY_EDGE_INFINITY;
	case FP_SUBNORMAL:
		return ASSAY_EDGE_SUBNORMAL;
	default:
		return 0;
	}
}

/* Of a value that comes of the scale. */
static uint32_t value_edge(float scale, float value)
{
	return float_edge(scale) ? float_edge(scale) : float_edge(value);
}

static uint32_t half_edge(int bits)
{
	const int exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;

	if (exponent == 31)
		return mantissa ? ASSAY_EDGE_NAN : ASSAY_EDGE_INFINITY;
	return !exponent && mantissa ? ASSAY_EDGE_SUBNORMAL : 0;
}

/*
 * Is @got one of the two values around @exact, which lies between them and @want as far as floats can tell? A scale and
 * its reciprocal may come about in several ways, each with a few roundings.
 */
static bool is_tie(double exact, double got, double want)
{
	return fabs(exact - (got + want) / 2) <= 2 * (double)FLT_EPSILON * fabs(exact);
}

static uint32_t code_edge(double exact, int got, int want)
{
	return abs(got - want) == 1 && is_tie(exact, got, want) ? ASSAY_EDGE_TIE : 0;
}

static int wrong(struct assay_check *out, const char *tensor, int64_t index, const char *fmt, ...) ASSAY_PRINTF(4, 5);
static bool may_differ(struct assay_check *out, uint32_t edge, const char *tensor, int64_t index, const char *fmt, ...)
	ASSAY_PRINTF(5, 6);

static int wrong(struct assay_check *out, const char *tensor, int64_t index, const char *fmt, ...)
{
	va_list ap;

	out->correct = 0;
	out->max_rel_err = -1;
	out->first_bad = index;
	out->tensor = tensor;
	va_start(ap, fmt);
	vsnprintf(out->reason.text, sizeof(out->reason.text), fmt, ap);
	va_end(ap);
	return 0;
}

/* An element is another one than it should be. True where that is a deviation, on @edge, and no error. */
static bool may_differ(struct assay_check *out, uint32_t edge, const char *tensor, int64_t index, const char *fmt, ...)
{
	char text[192];
	va_list ap;

	if (edge && edge == (out->deviates & edge))
		return true;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!edge) {
		wrong(out, tensor, index, "%s", text);
	} else {
		if (!out->deviates)
			snprintf(out->deviation.text, sizeof(out->deviation.text), "element %" PRId64 " of '%s': %s",
				 index, tensor, text);
		out->deviates |= edge;
	}
	return edge != 0;
}

/* "got 0.5 (bits 3f000000), want 1 (bits 3f800000)" */
static const char *floats_text(float got, float want, char *buf, size_t size)
{
	uint32_t bits;

	memcpy(&bits, &got, sizeof(bits));
	snprintf(buf, size, "got %.9g (bits %08" PRIx32 "), want %.9g (bits %08" PRIx32 ")", (double)got, bits,
		 (double)want, float_bits(want));
	return buf;
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

/* From byte @i on. */
static int next_difference(const uint8_t *got, const uint8_t *want, int i, int n)
{
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

/* "scale: got half 0x2d87, want 0x7e00" of two bytes each. */
static void tell_half(const uint8_t *got, const uint8_t *want, const char *special, char *buf, size_t size)
{
	snprintf(buf, size, "scale: got half 0x%04x, want 0x%04x%s", got[0] | got[1] << 8, want[0] | want[1] << 8,
		 special);
}

/* "code 5: got 3, want 4; x * id is 3.5, see op_quantize.h", where @scaled is x * id. */
static void tell_code(int value, int got, int want, double scaled, const char *special, char *buf, size_t size)
{
	if (special[0])
		snprintf(buf, size, "code %d: got %d, want %d%s", value, got, want, special);
	else
		snprintf(buf, size, "code %d: got %d, want %d; x * id is %.9g, see op_quantize.h", value, got, want,
			 scaled);
}

/* The value at byte @at of a block of the floats @x, and the right one. */
static void tell_q8_0(const float *x, const uint8_t *got, const uint8_t *want, int at, char *buf, size_t size)
{
	const char *special = of_special(x, ASSAY_Q8_0_BLOCK);
	int value = at - 2;

	if (at < 2) {
		tell_half(got, want, special, buf, size);
	} else {
		double id = reciprocal((double)(float)(largest(x, ASSAY_Q8_0_BLOCK) / 127));

		tell_code(value, (int8_t)got[at], (int8_t)want[at], product(x[value], id), special, buf, size);
	}
}

static void tell_tq2_0(const float *x, const uint8_t *got, const uint8_t *want, int at, char *buf, size_t size)
{
	const char *special = of_special(x, ASSAY_TQ2_0_BLOCK);
	int shift = 0, value;

	if (at >= 64) {
		tell_half(got + 64, want + 64, special, buf, size);
		return;
	}
	while ((got[at] >> shift & 3) == (want[at] >> shift & 3))
		shift += 2;
	value = at / 32 * 128 + shift / 2 * 32 + at % 32;
	tell_code(value, got[at] >> shift & 3, want[at] >> shift & 3,
		  product(x[value], reciprocal(largest(x, ASSAY_TQ2_0_BLOCK))), special, buf, size);
}

/* Of the two bytes of a scale that is @d before it is rounded to half. */
static uint32_t scale_edge(double d, const uint8_t *got, const uint8_t *want)
{
	const int got_bits = got[0] | got[1] << 8, want_bits = want[0] | want[1] << 8;

	if (half_edge(want_bits))
		return half_edge(want_bits);
	if (d > 0 && !want_bits) /* beneath the least subnormal */
		return ASSAY_EDGE_SUBNORMAL;
	return abs(got_bits - want_bits) == 1 && is_tie(d, half_value(got_bits), half_value(want_bits)) ? ASSAY_EDGE_TIE
													: 0;
}

/* Of the code of @value, one of @n with a scale of which @most is the largest code. */
static uint32_t scaled_edge(const float *x, int n, int value, double most, const int codes[2])
{
	const double amax = largest(x, n), d = amax / most;

	if (d > 0 && d < (double)FLT_MIN) /* its reciprocal may overflow */
		return ASSAY_EDGE_SUBNORMAL;
	return amax > 0 ? code_edge((double)x[value] * most / amax, codes[0], codes[1]) : 0;
}

static uint32_t edge_q8_0(const float *x, const uint8_t *got, const uint8_t *want, int at)
{
	const uint32_t special = special_edge(x, ASSAY_Q8_0_BLOCK);

	if (special)
		return special;
	if (at < 2)
		return scale_edge(largest(x, ASSAY_Q8_0_BLOCK) / 127, got, want);
	return scaled_edge(x, ASSAY_Q8_0_BLOCK, at - 2, 127, (const int[]){ (int8_t)got[at], (int8_t)want[at] });
}

/* Each of the four codes of a byte may be right, or differ for a reason of its own. */
static uint32_t edge_tq2_0(const float *x, const uint8_t *got, const uint8_t *want, int at)
{
	uint32_t edges = special_edge(x, ASSAY_TQ2_0_BLOCK);

	if (edges)
		return edges;
	if (at >= 64)
		return scale_edge(largest(x, ASSAY_TQ2_0_BLOCK), got + 64, want + 64);
	for (int i = 0; i < 4; i++) {
		const int codes[2] = { (got[at] >> 2 * i & 3) - 1, (want[at] >> 2 * i & 3) - 1 };
		const uint32_t edge = codes[0] == codes[1] ? 0
							   : scaled_edge(x, ASSAY_TQ2_0_BLOCK,
									 at / 32 * 128 + i * 32 + at % 32, 1, codes);

		if (codes[0] != codes[1] && !edge)
			return 0;
		edges |= edge;
	}
	return edges;
}

struct block_format {
	void (*want)(const float *x, uint8_t *want);
	/* Of byte @at, which differs; 0: that is an error. */
	uint32_t (*edge)(const float *x, const uint8_t *got, const uint8_t *want, int at);
	void (*tell)(const float *x, const uint8_t *got, const uint8_t *want, int at, char *buf, size_t size);
	int values, bytes;
};

static int check_blocks(const struct assay_job *job, struct assay_check *out, const struct block_format *f)
{
	const float *x = job->tensors[ASSAY_QUANTIZE_X].data;
	const uint8_t *q = job->tensors[ASSAY_QUANTIZE_Q].data;
	int64_t n_blocks = job->shape->axis[ASSAY_QUANTIZE_N] / f->values;
	uint8_t want[ASSAY_TQ2_0_BLOCK_BYTES];

	for (int64_t b = 0; b < n_blocks; b++) {
		const uint8_t *got = q + b * f->bytes;
		const float *of = x + b * f->values;

		f->want(of, want);
		for (int i = next_difference(got, want, 0, f->bytes); i < f->bytes;
		     i = next_difference(got, want, i + 1, f->bytes)) {
			const uint32_t edge = f->edge(of, got, want, i);
			char text[160];

			f->tell(of, got, want, i, text, sizeof(text));
			if (!may_differ(out, edge, "q", b * f->bytes + i, "block %" PRId64 ", %s", b, text))
				return 0;
		}
	}
	return right(out);
}

int assay_quantize_q8_0_check(struct assay_job *job, struct assay_check *out)
{
	static const struct block_format q8_0 = { want_q8_0, edge_q8_0, tell_q8_0, ASSAY_Q8_0_BLOCK,
						  ASSAY_Q8_0_BLOCK_BYTES };

	return check_blocks(job, out, &q8_0);
}

int assay_quantize_tq2_0_check(struct assay_job *job, struct assay_check *out)
{
	static const struct block_format tq2_0 = { want_tq2_0, edge_tq2_0, tell_tq2_0, ASSAY_TQ2_0_BLOCK,
						   ASSAY_TQ2_0_BLOCK_BYTES };

	return check_blocks(job, out, &tq2_0);
}

/* Value @i of blocks of @n, from its code and scale. */
static bool value_may_differ(struct assay_check *out, int64_t i, int n, int code, int half, float got, float want)
{
	char text[128];

	return may_differ(out, half_edge(half), "x", i,
			  "block %" PRId64 ", value %d: %s; its code is %d, the scale half 0x%04x", i / n, (int)(i % n),
			  floats_text(got, want, text, sizeof(text)), code, half);
}

int assay_dequantize_q8_0_check(struct assay_job *job, struct assay_check *out)
{
	const uint8_t *q = job->tensors[ASSAY_DEQUANTIZE_Q].data;
	const float *x = job->tensors[ASSAY_DEQUANTIZE_BLOCK_X].data;
	int64_t n = job->shape->axis[ASSAY_QUANTIZE_N];

	for (int64_t i = 0; i < n; i++) {
		const uint8_t *block = q + i / ASSAY_Q8_0_BLOCK * ASSAY_Q8_0_BLOCK_BYTES;
		int code = (int8_t)block[2 + i % ASSAY_Q8_0_BLOCK], half = block[0] | block[1] << 8;
		float want = (float)(code * half_value(half));

		if (!same_float(x[i], want) && !value_may_differ(out, i, ASSAY_Q8_0_BLOCK, code, half, x[i], want))
			return 0;
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
		int code = block[at / 128 * 32 + at % 32] >> at % 128 / 32 * 2 & 3, half = block[64] | block[65] << 8;
		float want = (float)((code - 1) * half_value(half));

		if (!same_float(x[i], want) && !value_may_differ(out, i, ASSAY_TQ2_0_BLOCK, code, half, x[i], want))
			return 0;
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

/* Likewise of the sums of all blocks. */
static double lane_of_blocks(const float *x, int64_t n, int j, int width)
{
	const int64_t blocks = (n + ASSAY_I2_S_SUM_BLOCK - 1) / ASSAY_I2_S_SUM_BLOCK;
	double sum = 0;

	if (width < ASSAY_I2_S_SUM_LANES)
		return lane_of_blocks(x, n, j, width * 2) + lane_of_blocks(x, n, j + width, width * 2);
	for (int64_t b = j; b < blocks; b += ASSAY_I2_S_SUM_LANES) {
		const int64_t at = b * ASSAY_I2_S_SUM_BLOCK, left = n - at;

		sum += lane_sum(x + at, left < ASSAY_I2_S_SUM_BLOCK ? left : ASSAY_I2_S_SUM_BLOCK, 0, 1);
	}
	return sum;
}

static float want_gamma(const float *x, int64_t n)
{
	const double sum = lane_of_blocks(x, n, 0, 1);
	float gamma;

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
	const uint32_t special = special_edge(x, n);
	float gamma = want_gamma(x, n);
	double s = (double)(float)(1 / (double)gamma);
	char text[128];

	if (!same_float(*scale, gamma) && !may_differ(out, special, "scale", 0, "gamma: %s%s",
						      floats_text(*scale, gamma, text, sizeof(text)), of_special(x, n)))
		return 0;
	for (int64_t i = 0; i < n; i++) {
		double y = product(x[i], s);
		int want = y > 0.5 ? 2 : y < -0.5 ? 0 : 1; /* a NaN is neither */
		int got = i2_s_code(q, i);

		if (got != want &&
		    !may_differ(out, special ? special : code_edge((double)x[i] / (double)gamma, got - 1, want - 1),
				"q", i / 128 * 32 + i % 32,
				"block %" PRId64 ", code %d: got %d, want %d; x * s is %.9g%s", i / 128, (int)(i % 128),
				got, want, y, of_special(x, n)))
			return 0;
	}
	return right(out);
}

int assay_dequantize_i2_s_check(struct assay_job *job, struct assay_check *out)
{
	const uint8_t *q = job->tensors[ASSAY_DEQUANTIZE_Q].data;
	const float *scale = job->tensors[ASSAY_DEQUANTIZE_SCALE].data, *x = job->tensors[ASSAY_DEQUANTIZE_X].data;
	int64_t n = job->shape->axis[ASSAY_QUANTIZE_N];
	char text[128];

	for (int64_t i = 0; i < n; i++) {
		int code = i2_s_code(q, i);
		float want = (float)((code == 3 ? 0 : code - 1) * (double)*scale);

		if (!same_float(x[i], want) &&
		    !may_differ(out, value_edge(*scale, want), "x", i,
				"block %" PRId64 ", value %d: %s; its code is %d", i / 128, (int)(i % 128),
				floats_text(x[i], want, text, sizeof(text)), code))
			return 0;
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
		const uint32_t special = special_edge(x, dim);
		float want_scale;
		char text[128];

		a = a > least ? a : least;
		s = (double)(float)(127 / a);
		want_scale = isfinite(a) ? (float)(a / 127) : NAN;
		if (!same_float(scale[t], want_scale) &&
		    !may_differ(out, special, "scale", t, "token %" PRId64 ": %s%s", t,
				floats_text(scale[t], want_scale, text, sizeof(text)), of_special(x, dim)))
			return 0;
		for (int64_t i = 0; i < dim; i++) {
			int want = isfinite(a) ? nearest_even(product(x[i], s)) : 0;

			want = want < -128 ? -128 : want > 127 ? 127 : want;
			if (q[i] != want &&
			    !may_differ(out, special ? special : code_edge((double)x[i] * 127 / a, q[i], want), "q",
					t * dim + i,
					"token %" PRId64 ", code %" PRId64 ": got %d, want %d; x * s is %.9g%s", t, i,
					q[i], want, product(x[i], s), of_special(x, dim)))
				return 0;
		}
	}
	return right(out);
}

int assay_dequantize_i8_token_check(struct assay_job *job, struct assay_check *out)
{
	const int8_t *q = job->tensors[ASSAY_DEQUANTIZE_Q].data;
	const float *scale = job->tensors[ASSAY_DEQUANTIZE_SCALE].data, *x = job->tensors[ASSAY_DEQUANTIZE_X].data;
	int64_t dim = job->shape->axis[ASSAY_QUANTIZE_DIM], n = job->shape->axis[ASSAY_QUANTIZE_TOKENS] * dim;
	char text[128];

	for (int64_t i = 0; i < n; i++) {
		float want = (float)(q[i] * (double)scale[i / dim]);

		if (!same_float(x[i], want) &&
		    !may_differ(out, value_edge(scale[i / dim], want), "x", i,
				"token %" PRId64 ", value %" PRId64 ": %s; its code is %d", i / dim, i % dim,
				floats_text(x[i], want, text, sizeof(text)), q[i]))
			return 0;
	}
	return right(out);
}
