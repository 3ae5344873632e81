/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors are four floats wide because that is what SSE2 and NEON have; 16 lanes are four of them. Wider instruction
 * sets would give the same bits, since every lane is an IEEE operation of its own.
 */
#include "generate_math.h"

#include <string.h>

typedef float v4f __attribute__((vector_size(16)));
typedef int32_t v4i __attribute__((vector_size(16)));
typedef uint16_t v8h __attribute__((vector_size(16)));

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a bf16 is the upper half of a float");

static inline v4f load4(const float *p)
{
	v4f v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void store4(float *p, v4f v)
{
	memcpy(p, &v, sizeof(v));
}

/* Eight bf16 as floats: each becomes the upper half of a word whose lower half is zero. */
static inline void load8_bf16(const uint16_t *p, v4f *lo, v4f *hi)
{
	const v8h zero = { 0 };
	v8h h;

	memcpy(&h, p, sizeof(h));
#if defined(__clang__)
	*lo = (v4f)__builtin_shufflevector(zero, h, 0, 8, 1, 9, 2, 10, 3, 11);
	*hi = (v4f)__builtin_shufflevector(zero, h, 4, 12, 5, 13, 6, 14, 7, 15);
#else
	*lo = (v4f)__builtin_shuffle(zero, h, (v8h){ 0, 8, 1, 9, 2, 10, 3, 11 });
	*hi = (v4f)__builtin_shuffle(zero, h, (v8h){ 4, 12, 5, 13, 6, 14, 7, 15 });
#endif
}

static inline v4f splat(float x)
{
	return (v4f){ x, x, x, x };
}

static inline v4f max4(v4f a, v4f b)
{
	v4i take_a = a > b;

	return (v4f)(((v4i)a & take_a) | ((v4i)b & ~take_a));
}

/* Lanes 0…15 in four vectors, added in pairs: (i, i+8), (i, i+4), (i, i+2), (i, i+1). */
static inline float sum16(v4f a, v4f b, v4f c, v4f d)
{
	v4f s = (a + c) + (b + d);

	return (s[0] + s[2]) + (s[1] + s[3]);
}

/* ---- exponentials ---- */

#define EXP_LO -87.0f
#define EXP_HI 88.0f

/*
 * exp(x) = 2^n · exp(r) with |r| ≤ ln2/2: n by the rounding of a large constant, ln2 in two parts so that n·ln2 is
 * exact in the first, and the Taylor polynomial of degree 7 in Horner's form (its remainder is under 2^-27).
 */
static inline v4f exp4(v4f x)
{
	const v4f magic = splat(0x1.8p23f);
	v4i in_range = x >= splat(EXP_LO);
	v4f t, n, r, p;
	v4i e;

	x = max4(x, splat(EXP_LO));
	x = -max4(-x, splat(-EXP_HI));
	t = x * splat(0x1.715476p+0f) + magic;
	n = t - magic;
	r = x - n * splat(0x1.62ep-1f);
	r = r - n * splat(0x1.0bfbe8p-15f);
	p = splat(1.0f / 5040);
	p = p * r + splat(1.0f / 720);
	p = p * r + splat(1.0f / 120);
	p = p * r + splat(1.0f / 24);
	p = p * r + splat(1.0f / 6);
	p = p * r + splat(0.5f);
	p = p * r + splat(1.0f);
	p = p * r + splat(1.0f);
	e = ((v4i)t - (v4i)magic + 127) << 23;
	return (v4f)((v4i)(p * (v4f)e) & in_range);
}

float assay_generate_exp(float x)
{
	return exp4(splat(x))[0];
}

double assay_generate_exp_f64(double x)
{
	int64_t n = (int64_t)(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
	double r = (x - (double)n * 0x1.62e42fefap-1) - (double)n * 0x1.cf79abc9e3b3ap-40;
	double sum = 1, scale;
	uint64_t bits = (uint64_t)(n + 1023) << 52;

	for (int i = 18; i >= 1; i--)
		sum = 1 + sum * r / i;
	memcpy(&scale, &bits, sizeof(scale));
	return sum * scale;
}

/* Taylor series on |r| ≤ pi/4 after taking off the nearest multiple of pi/2, itself in three parts (Cody and Waite). */
void assay_generate_sincos(double x, double *sin_out, double *cos_out)
{
	int64_t n = (int64_t)(x * 0.63661977236758134 + (x < 0 ? -0.5 : 0.5));
	double k = (double)n;
	double r = ((x - k * 0x1.921fb544p+0) - k * 0x1.0b4611a6p-34) - k * 0x1.3198a2e037073p-69;
	double r2 = r * r, s = 1, c = 1;

	for (int i = 20; i >= 2; i -= 2) {
		s = 1 - s * r2 / (i * (i + 1));
		c = 1 - c * r2 / (i * (i - 1));
	}
	s *= r;
	switch (n & 3) {
	case 0:
		*sin_out = s;
		*cos_out = c;
		break;
	case 1:
		*sin_out = c;
		*cos_out = -s;
		break;
	case 2:
		*sin_out = -s;
		*cos_out = -c;
		break;
	default:
		*sin_out = -c;
		*cos_out = s;
	}
}

/* ---- formats ---- */

uint16_t assay_generate_bf16(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float assay_generate_from_bf16(uint16_t x)
{
	uint32_t bits = (uint32_t)x << 16;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

float assay_generate_quantize(const float *x, int64_t n, int8_t *q)
{
	const v4f magic = splat(0x1.8p23f);
	v4f top = splat(0);
	float max;

	for (int64_t i = 0; i < n; i += 4) {
		v4f v = load4(x + i);

		top = max4(top, max4(v, -v));
	}
	max = top[0] > top[1] ? top[0] : top[1];
	max = max > top[2] ? max : top[2];
	max = max > top[3] ? max : top[3];
	if (max == 0) {
		memset(q, 0, (size_t)n);
		return 0;
	}
	for (int64_t i = 0; i < n; i += 4) {
		/* The low byte of the sum's bits is the rounded value. */
		v4i r = (v4i)(load4(x + i) * splat(127.0f / max) + magic);

		for (int j = 0; j < 4; j++)
			q[i + j] = (int8_t)r[j];
	}
	return max / 127.0f;
}

/* ---- sums ---- */

void assay_generate_rmsnorm(const float *x, const float *gain, int64_t n, float *out)
{
	v4f s0 = splat(0), s1 = s0, s2 = s0, s3 = s0;
	float scale;

	for (int64_t i = 0; i < n; i += 16) {
		s0 += load4(x + i) * load4(x + i);
		s1 += load4(x + i + 4) * load4(x + i + 4);
		s2 += load4(x + i + 8) * load4(x + i + 8);
		s3 += load4(x + i + 12) * load4(x + i + 12);
	}
	scale = 1.0f / __builtin_sqrtf(sum16(s0, s1, s2, s3) / (float)n + 1e-5f);
	for (int64_t i = 0; i < n; i += 4)
		store4(out + i, load4(x + i) * splat(scale) * load4(gain + i));
}

float assay_generate_dot_bf16(const float *a, const uint16_t *b, int64_t n)
{
	v4f s0 = splat(0), s1 = s0, s2 = s0, s3 = s0;

	for (int64_t i = 0; i < n; i += 16) {
		v4f b0, b1, b2, b3;

		load8_bf16(b + i, &b0, &b1);
		load8_bf16(b + i + 8, &b2, &b3);
		s0 += load4(a + i) * b0;
		s1 += load4(a + i + 4) * b1;
		s2 += load4(a + i + 8) * b2;
		s3 += load4(a + i + 12) * b3;
	}
	return sum16(s0, s1, s2, s3);
}

/* Sixteen columns at a time stay in registers over all rows. */
void assay_generate_weighted_sum(const float *w, const uint16_t *rows, int64_t n, int64_t dim, float *acc)
{
	for (int64_t c = 0; c < dim; c += 16) {
		v4f s0 = load4(acc + c), s1 = load4(acc + c + 4), s2 = load4(acc + c + 8), s3 = load4(acc + c + 12);

		for (int64_t i = 0; i < n; i++) {
			const uint16_t *row = rows + i * dim + c;
			v4f wi = splat(w[i]), r0, r1, r2, r3;

			load8_bf16(row, &r0, &r1);
			load8_bf16(row + 8, &r2, &r3);
			s0 += wi * r0;
			s1 += wi * r1;
			s2 += wi * r2;
			s3 += wi * r3;
		}
		store4(acc + c, s0);
		store4(acc + c + 4, s1);
		store4(acc + c + 8, s2);
		store4(acc + c + 12, s3);
	}
}

void assay_generate_relu2_gate(const float *gate, const float *up, int64_t n, float *out)
{
	for (int64_t i = 0; i < n; i += 4) {
		v4f g = max4(load4(gate + i), splat(0));

		store4(out + i, g * g * load4(up + i));
	}
}

void assay_generate_add(float *acc, const float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i += 4)
		store4(acc + i, load4(acc + i) + load4(x + i));
}

float assay_generate_softmax(float *x, int64_t n, float inv_temperature)
{
	v4f s[4] = { splat(0), splat(0), splat(0), splat(0) };
	float max = x[0], tail[4] = { 0, 0, 0, 0 };
	int64_t i;

	for (i = 1; i < n; i++)
		max = x[i] > max ? x[i] : max;
	for (i = 0; i + 4 <= n; i += 4) {
		v4f e = exp4((load4(x + i) - splat(max)) * splat(inv_temperature));

		store4(x + i, e);
		s[i / 4 % 4] += e;
	}
	for (int64_t j = i; j < n; j++)
		x[j] = tail[j - i] = exp4(splat((x[j] - max) * inv_temperature))[0];
	s[i / 4 % 4] += load4(tail);
	return sum16(s[0], s[1], s[2], s[3]);
}

/* ---- rotary embedding ---- */

void assay_generate_rope_row(double ln_theta, int64_t dim, int64_t pos, float *row)
{
	int64_t half = dim / 2;

	for (int64_t i = 0; i < half; i++) {
		double s, c;

		assay_generate_sincos((double)pos * assay_generate_exp_f64(-2.0 * (double)i / (double)dim * ln_theta),
				      &s, &c);
		row[i] = (float)c;
		row[half + i] = (float)s;
	}
}

void assay_generate_rope(const float *row, int64_t dim, float *x)
{
	int64_t half = dim / 2;

	for (int64_t i = 0; i < half; i += 4) {
		v4f c = load4(row + i), s = load4(row + half + i), a = load4(x + i), b = load4(x + half + i);

		store4(x + i, a * c - b * s);
		store4(x + half + i, b * c + a * s);
	}
}
