/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of ggml's blocks times inputs in eight bits, by the definition in assay/op_blocks.h, with the instructions that
 * the including file is compiled for. The bits are the same for all of them.
 */
#ifndef BLOCK_ROWS_H
#define BLOCK_ROWS_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "assay/float_bits.h"
#include "assay/op_blocks.h"
#include "kernel_isa.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
#endif

/*
 * Rows that are multiplied together, so that their sums do not wait for each other; tokens of a tile, so that codes are
 * unpacked once for all of them; and rows that stay in a cache while all tokens pass.
 */
#define BLOCK_ROWS   2
#define BLOCK_TOKENS 4
#define BLOCK_PANEL  64

/* ---- inputs ---- */

INLINE float block_nearest(float x)
{
	return (x + 0x1.8p23f) - 0x1.8p23f;
}

INLINE void block_inputs_of_32(const float *x, int8_t *q, float *d)
{
	float most = 0, by;

	for (int i = 0; i < 32; i++)
		most = __builtin_fabsf(x[i]) > most ? __builtin_fabsf(x[i]) : most;
	by = most > 0 ? 127 / most : 0;
	*d = assay_f32_of_half(assay_half_of_f32(most / 127));
	for (int i = 0; i < 32; i++)
		q[i] = (int8_t)block_nearest(x[i] * by);
}

/* The value of largest magnitude, the first of them, becomes -127. */
INLINE void block_inputs_of_256(const float *x, int8_t *q, float *d, int16_t *sums)
{
	float most = 0, first = 0, by;

	for (int i = 0; i < 256; i++)
		most = __builtin_fabsf(x[i]) > most ? __builtin_fabsf(x[i]) : most;
	for (int i = 255; i >= 0; i--)
		first = __builtin_fabsf(x[i]) == most ? x[i] : first;
	by = most > 0 ? -127.0f / first : 0;
	*d = most > 0 ? 1 / by : 0;
	for (int i = 0; i < 256; i++) {
		const float v = block_nearest(by * x[i]);

		q[i] = (int8_t)(v > 127 ? 127 : v);
	}
	for (int i = 0; i < 16; i++) {
		int sum = 0;

		for (int k = 0; k < 16; k++)
			sum += q[16 * i + k];
		sums[i] = (int16_t)sum;
	}
}

/* Round @n inputs to blocks; @to has assay_block_inputs_bytes(n). */
INLINE void block_inputs(uint32_t type, const float *x, int64_t n, void *to)
{
	const struct assay_block_inputs in = assay_block_inputs(to, n);

	if (type == ASSAY_BLOCK_Q8_0)
		for (int64_t b = 0; b < n / 32; b++)
			block_inputs_of_32(x + 32 * b, in.q + 32 * b, in.d + b);
	else
		for (int64_t b = 0; b < n / 256; b++)
			block_inputs_of_256(x + 256 * b, in.q + 256 * b, in.d + b, in.sums + 16 * b);
}

/* ---- eight lanes ---- */

#if defined(__AVX2__)

typedef __m256 block_floats;
typedef __m256i block_ints;

INLINE block_floats block_zero(void)
{
	return _mm256_setzero_ps();
}

INLINE block_floats block_add(block_floats sum, float d, block_ints n)
{
	return _mm256_fmadd_ps(_mm256_set1_ps(d), _mm256_cvtepi32_ps(n), sum);
}

INLINE float block_sum(block_floats v)
{
	const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
	const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));

	return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

INLINE float block_scale(const uint8_t *at)
{
	uint16_t h;

	memcpy(&h, at, sizeof(h));
	return _cvtsh_ss(h);
}

INLINE __m256i block_load(const void *at)
{
	return _mm256_loadu_si256((const __m256i *)at);
}

INLINE __m256i block_load_16(const void *at)
{
	return _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)at));
}

/* Sums of four products each, of unsigned codes and signed inputs, added to @sum. */
INLINE __m256i block_dot(__m256i sum, __m256i codes, __m256i q)
{
#if defined(__AVX512VNNI__)
	return _mm256_dpbusd_epi32(sum, codes, q);
#else
	const __m256i pairs = _mm256_maddubs_epi16(codes, q);

	return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#endif
}

/* The integers of a block for @n tokens, whose inputs are @q and, of blocks of 256, @sums, go to @out. */
INLINE void block_q8_0(const uint8_t *block, int n, const struct assay_block_inputs *in, block_ints *out)
{
	const __m256i codes = block_load(block + 2), size = _mm256_abs_epi8(codes);

	EACH (t, n)
		out[t] = block_dot(_mm256_setzero_si256(), size, _mm256_sign_epi8(block_load(in[t].q), codes));
}

/* @part of four: values 32 part and on of the half of a block. */
INLINE __m256i block_q6_k_codes(__m256i low, __m256i high, int part)
{
	const __m256i nibbles = _mm256_and_si256(part >= 2 ? _mm256_srli_epi16(low, 4) : low, _mm256_set1_epi8(15));
	const __m256i bits = part == 3   ? _mm256_srli_epi16(high, 2)
			     : part == 2 ? high
					 : _mm256_slli_epi16(high, part ? 2 : 4);

	return _mm256_or_si256(nibbles, _mm256_and_si256(bits, _mm256_set1_epi8(48)));
}

INLINE void block_q6_k(const uint8_t *block, int n, const struct assay_block_inputs *in, block_ints *out)
{
	const __m128i scales = _mm_loadu_si128((const __m128i *)(block + 192));

	EACH (t, n) {
		const __m256i sums = _mm256_madd_epi16(_mm256_cvtepi8_epi16(scales), block_load(in[t].sums));

		out[t] = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(sums, 5));
	}
	EACH (i, 8) {
		const int half = i / 4, part = i % 4;
		const __m256i codes = block_q6_k_codes(block_load(block + 64 * half + 32 * (part & 1)),
						       block_load(block + 128 + 32 * half), part);
		const __m128i which = _mm_set_epi64x((2 * i + 1) * 0x0101010101010101, 2 * i * 0x0101010101010101);
		const __m256i scale = _mm256_cvtepi8_epi16(_mm_shuffle_epi8(scales, which));

		EACH (t, n) {
			const __m256i pairs = _mm256_maddubs_epi16(codes, block_load(in[t].q + 32 * i));

#if defined(__AVX512VNNI__)
			out[t] = _mm256_dpwssd_epi32(out[t], pairs, scale);
#else
			out[t] = _mm256_add_epi32(out[t], _mm256_madd_epi16(pairs, scale));
#endif
		}
	}
}

/* Begin with minus the sums of the inputs, since each code is stored plus one. */
INLINE void block_minus_sums(int n, const struct assay_block_inputs *in, block_ints *out)
{
	EACH (t, n)
		out[t] = _mm256_madd_epi16(block_load(in[t].sums), _mm256_set1_epi16(-1));
}

/* Add the 32 products from @at on. */
INLINE void block_add_codes(__m256i codes, int at, int n, const struct assay_block_inputs *in, block_ints *out)
{
	EACH (t, n)
		out[t] = block_dot(out[t], codes, block_load(in[t].q + at));
}

INLINE void block_tq2_0(const uint8_t *block, int n, const struct assay_block_inputs *in, block_ints *out)
{
	block_minus_sums(n, in, out);
	EACH (i, 8) {
		const __m256i bits = _mm256_srli_epi16(block_load(block + 32 * (i / 4)), 2 * (i % 4));

		block_add_codes(_mm256_and_si256(bits, _mm256_set1_epi8(3)), 32 * i, n, in, out);
	}
}

/* 0, 1 or 2 by the third of 256 that a byte lies in. */
INLINE __m256i block_trits(__m256i bytes)
{
	const __m256i one = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, _mm256_set1_epi8(86)), bytes);
	const __m256i two = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, _mm256_set1_epi8((char)171)), bytes);

	return _mm256_sub_epi8(_mm256_setzero_si256(), _mm256_add_epi8(one, two));
}

INLINE __m256i block_times_3(__m256i bytes)
{
	return _mm256_add_epi8(bytes, _mm256_add_epi8(bytes, bytes));
}

/* The low halves of both. */
INLINE __m256i block_both(__m256i low, __m256i high)
{
	return _mm256_inserti128_si256(low, _mm256_castsi256_si128(high), 1);
}

INLINE void block_tq1_0(const uint8_t *block, int n, const struct assay_block_inputs *in, block_ints *out)
{
	__m256i bytes = block_load(block), part[5];
	__m128i last[4];
	int32_t four;

	block_minus_sums(n, in, out);
	EACH (i, 5) {
		block_add_codes(block_trits(bytes), 32 * i, n, in, out);
		bytes = block_times_3(bytes);
	}
	part[0] = block_load_16(block + 32);
	EACH (i, 4)
		part[i + 1] = block_times_3(part[i]);
	memcpy(&four, block + 48, sizeof(four));
	last[0] = _mm_cvtsi32_si128(four);
	EACH (i, 3)
		last[i + 1] = _mm_add_epi8(last[i], _mm_add_epi8(last[i], last[i]));
	last[0] = _mm_unpacklo_epi64(_mm_unpacklo_epi32(last[0], last[1]), _mm_unpacklo_epi32(last[2], last[3]));
	block_add_codes(block_trits(block_both(part[0], part[1])), 160, n, in, out);
	block_add_codes(block_trits(block_both(part[2], part[3])), 192, n, in, out);
	block_add_codes(block_trits(block_both(part[4], _mm256_castsi128_si256(last[0]))), 224, n, in, out);
}

#else

#if defined(__ARM_FEATURE_DOTPROD)

typedef struct {
	float32x4_t v[2];
} block_floats;
typedef struct {
	int32x4_t v[2];
} block_ints;

INLINE block_floats block_zero(void)
{
	return (block_floats){ { vdupq_n_f32(0), vdupq_n_f32(0) } };
}

INLINE block_floats block_add(block_floats sum, float d, block_ints n)
{
	return (block_floats){ { vfmaq_n_f32(sum.v[0], vcvtq_f32_s32(n.v[0]), d),
				 vfmaq_n_f32(sum.v[1], vcvtq_f32_s32(n.v[1]), d) } };
}

INLINE float block_sum(block_floats s)
{
	const float32x4_t four = vaddq_f32(s.v[0], s.v[1]);

	return vpadds_f32(vadd_f32(vget_low_f32(four), vget_high_f32(four)));
}

INLINE void block_q8_0(const uint8_t *block, int n, const struct assay_block_inputs *in, block_ints *out)
{
	EACH (t, n)
		EACH (half, 2)
			out[t].v[half] = vdotq_s32(vdupq_n_s32(0), vld1q_s8((const int8_t *)block + 2 + 16 * half),
						   vld1q_s8(in[t].q + 16 * half));
}

/* @codes are too great by @offset; @scales are of each 16 of them, NULL: 1. */
INLINE void block_codes(const uint8_t *codes, const int8_t *scales, int offset, int n,
			const struct assay_block_inputs *in, block_ints *out)
{
	int8x16_t s = vdupq_n_s8(1);
	int32x4_t by[16];

	if (scales)
		s = vld1q_s8(scales);
	EACH (i, 16)
		by[i] = vdupq_n_s32(scales ? scales[i] : 1);
	EACH (t, n) {
		EACH (half, 2) {
			const int16x8_t sums = vld1q_s16(in[t].sums + 8 * half);
			const int16x8_t wide = half ? vmovl_high_s8(s) : vmovl_s8(vget_low_s8(s));
			const int32x4_t low = vmull_s16(vget_low_s16(sums), vget_low_s16(wide));

			out[t].v[half] = vmulq_n_s32(vpaddq_s32(low, vmull_high_s16(sums, wide)), -offset);
		}
		EACH (i, 16)
			out[t].v[i % 2] =
				vmlaq_s32(out[t].v[i % 2],
					  vdotq_s32(vdupq_n_s32(0), vreinterpretq_s8_u8(vld1q_u8(codes + 16 * i)),
						    vld1q_s8(in[t].q + 16 * i)),
					  by[i]);
	}
}

#else

typedef struct {
	float v[8];
} block_floats;
typedef struct {
	int32_t v[8];
} block_ints;

INLINE block_floats block_zero(void)
{
	return (block_floats){ { 0 } };
}

INLINE block_floats block_add(block_floats sum, float d, block_ints n)
{
	for (int j = 0; j < 8; j++)
		sum.v[j] = fmaf(d, (float)n.v[j], sum.v[j]);
	return sum;
}

INLINE float block_sum(block_floats s)
{
	float four[4];

	for (int j = 0; j < 4; j++)
		four[j] = s.v[j] + s.v[j + 4];
	return (four[0] + four[2]) + (four[1] + four[3]);
}

INLINE void block_q8_0(const uint8_t *block, int n, const struct assay_block_inputs *in, block_ints *out)
{
	for (int t = 0; t < n; t++) {
		out[t] = (block_ints){ { 0 } };
		for (int i = 0; i < 32; i++)
			out[t].v[i / 4] += (int8_t)block[2 + i] * in[t].q[i];
	}
}

/* @codes are too great by @offset; @scales are of each 16 of them, NULL: 1. */
INLINE void block_codes(const uint8_t *codes, const int8_t *scales, int offset, int n,
			const struct assay_block_inputs *in, block_ints *out)
{
	for (int t = 0; t < n; t++) {
		out[t] = (block_ints){ { 0 } };
		for (int i = 0; i < 256; i++)
			out[t].v[i % 32 / 4] += (scales ? scales[i / 16] : 1) * codes[i] * in[t].q[i];
		for (int i = 0; i < 16; i++)
			out[t].v[i / 2] -= offset * (scales ? scales[i] : 1) * in[t].sums[i];
	}
}

#endif

INLINE float block_scale(const uint8_t *at)
{
#if defined(__ARM_FEATURE_DOTPROD)
	__fp16 h;

	memcpy(&h, at, sizeof(h));
	return h;
#else
	uint16_t h;

	memcpy(&h, at, sizeof(h));
	return assay_f32_of_half(h);
#endif
}

INLINE void block_q6_k(const uint8_t *block, int n, const struct assay_block_inputs *in, block_ints *out)
{
	uint8_t codes[256];
	int8_t scales[16];

	memcpy(scales, block + 192, sizeof(scales));
	EACH (part, 8) {
		const uint8_t *low = block + 64 * (part / 4) + 32 * (part & 1), *high = block + 128 + 32 * (part / 4);

		for (int i = 0; i < 32; i++)
			codes[32 * part + i] =
				(uint8_t)((low[i] >> 4 * (part % 4 / 2) & 15) | (high[i] >> 2 * (part % 4) & 3) << 4);
	}
	block_codes(codes, scales, 32, n, in, out);
}

INLINE void block_tq2_0(const uint8_t *block, int n, const struct assay_block_inputs *in, block_ints *out)
{
	uint8_t codes[256];

	EACH (part, 8)
		for (int i = 0; i < 32; i++)
			codes[32 * part + i] = block[32 * (part / 4) + i] >> 2 * (part % 4) & 3;
	block_codes(codes, NULL, 1, n, in, out);
}

/* @n bytes of @trits each; trit i of byte m is value m + n i. */
INLINE void block_trits(const uint8_t *bytes, int n, int trits, uint8_t *codes)
{
	for (int m = 0; m < n; m++) {
		uint8_t b = bytes[m];

		for (int i = 0; i < trits; i++, b = (uint8_t)(b * 3))
			codes[m + n * i] = (uint8_t)(b * 3 >> 8);
	}
}

INLINE void block_tq1_0(const uint8_t *block, int n, const struct assay_block_inputs *in, block_ints *out)
{
	uint8_t codes[256];

	block_trits(block, 32, 5, codes);
	block_trits(block + 32, 16, 5, codes + 160);
	block_trits(block + 48, 4, 4, codes + 240);
	block_codes(codes, NULL, 1, n, in, out);
}

#endif

/* ---- rows ---- */

/* y[n][m] = inputs · w^T, or that added to y. The inputs are rounded: block_inputs(). */
struct block_product {
	const uint8_t *w;
	const uint8_t *in;
	int64_t in_bytes; /* from a row of inputs to the next */
	float *y;
	int64_t m, k, n;
	int add;
};

/*
 * Rows of a float and of codes in eight bits, as the heads of generate.* have them: blocks of q8_0 whose scale, and
 * that of the inputs, is the row's. No type of GGUF files has this number.
 */
#define BLOCK_I8_ROW 255

/* Integers of the block whose codes @block has, for @n tokens. */
INLINE void block_lanes(uint32_t type, const uint8_t *block, int n, const struct assay_block_inputs *in,
			block_ints *out)
{
	if (type == ASSAY_BLOCK_Q8_0)
		block_q8_0(block, n, in, out);
	else if (type == BLOCK_I8_ROW)
		block_q8_0(block - 2, n, in, out); /* its codes lie behind two bytes */
	else if (type == ASSAY_BLOCK_Q6_K)
		block_q6_k(block, n, in, out);
	else if (type == ASSAY_BLOCK_TQ1_0)
		block_tq1_0(block, n, in, out);
	else
		block_tq2_0(block, n, in, out);
}

/* Rows @row and, if there are two, @row + @apart times some tokens. */
struct block_tile {
	int64_t row, apart, token;
	int rows, tokens;
};

INLINE void block_tile(uint32_t type, const struct block_product *p, struct block_tile at)
{
	const bool of_row = type == BLOCK_I8_ROW;
	const int64_t size = of_row ? 32 : assay_block_size(type), bytes = of_row ? 32 : assay_block_bytes(type);
	const int64_t blocks = p->k / size, head = of_row ? sizeof(float) : 0, row_bytes = head + blocks * bytes;
	const uint8_t *first = p->w + at.row * row_bytes, *w = first + head;
	struct assay_block_inputs in[BLOCK_TOKENS];
	block_floats sum[BLOCK_ROWS * BLOCK_TOKENS];
	block_ints lanes[BLOCK_TOKENS];

	EACH (t, at.tokens)
		in[t] = assay_block_inputs((void *)(p->in + (at.token + t) * p->in_bytes), p->k);
	EACH (i, at.rows * at.tokens)
		sum[i] = block_zero();
	for (int64_t b = 0; b < blocks; b++, w += bytes) {
		EACH (r, at.rows) {
			const uint8_t *block = w + r * at.apart * row_bytes;
			const float scale = of_row ? 1 : block_scale(block + assay_block_scale_at(type));

			block_lanes(type, block, at.tokens, in, lanes);
			EACH (t, at.tokens)
				sum[r * at.tokens + t] =
					block_add(sum[r * at.tokens + t], of_row ? 1 : scale * in[t].d[b], lanes[t]);
		}
		EACH (t, at.tokens) {
			in[t].q += size;
			in[t].sums += size / 16;
		}
	}
	EACH (t, at.tokens)
		EACH (r, at.rows) {
			float *out = p->y + (at.token + t) * p->m + at.row + r * at.apart;
			float y = block_sum(sum[r * at.tokens + t]), scale = 1;

			if (of_row) {
				memcpy(&scale, first + r * at.apart * row_bytes, sizeof(scale));
				y *= scale * in[t].d[0];
			}
			*out = p->add ? *out + y : y;
		}
}

/*
 * Rows @first to @end - 1, by twos of which one is half of them away: the hardware reads ahead of two streams that go
 * on, but not of streams that leap over each other.
 */
INLINE void block_panel(uint32_t type, const struct block_product *p, int64_t first, int64_t end, struct block_tile at)
{
	at.apart = (end - first) / 2;
	at.rows = BLOCK_ROWS;
	for (at.row = first; at.row < first + at.apart; at.row++)
		block_tile(type, p, at);
	at.rows = 1;
	for (at.row += at.apart; at.row < end; at.row++)
		block_tile(type, p, at);
}

/* Rows @first to @end - 1. */
INLINE void block_product(uint32_t type, const struct block_product *p, int64_t first, int64_t end)
{
	const int64_t step = p->n == 1 ? end - first : BLOCK_PANEL;
	int64_t t, last;

	for (; first < end; first = last) {
		last = first + step < end ? first + step : end;
		for (t = 0; t + BLOCK_TOKENS <= p->n; t += BLOCK_TOKENS)
			block_panel(type, p, first, last, (struct block_tile){ .token = t, .tokens = BLOCK_TOKENS });
		for (; t < p->n; t++)
			block_panel(type, p, first, last, (struct block_tile){ .token = t, .tokens = 1 });
	}
}

#endif
