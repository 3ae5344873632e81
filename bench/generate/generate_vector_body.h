/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of one table of generate_vector.h, for vectors of VEC floats; VECTOR_TABLE is its name. 16 lanes are
 * LANE_VECS vectors.
 */
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "generate_vector.h"
#include "kernels/block_rows.h"

#define LANE_VECS (16 / VEC)

typedef float vf __attribute__((vector_size(4 * VEC)));
typedef int32_t vi __attribute__((vector_size(4 * VEC)));
typedef uint32_t vu __attribute__((vector_size(4 * VEC)));
typedef uint16_t vh __attribute__((vector_size(2 * VEC)));

struct lanes {
	vf v[LANE_VECS];
};

static inline vf load(const float *p)
{
	vf v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void store(float *p, vf v)
{
	memcpy(p, &v, sizeof(v));
}

/* ---- what compilers do not find by themselves ---- */

#if defined(__AVX512F__)

/* Sixteen bf16, each the upper half of a float. */
static inline struct lanes load_bf16(const uint16_t *p)
{
	__m512i words = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p));

	return (struct lanes){ { (vf)_mm512_slli_epi32(words, 16) } };
}

static inline void store_low_bytes(int8_t *p, vi v)
{
	_mm_storeu_si128((void *)p, _mm512_cvtepi32_epi8((__m512i)v));
}

#elif defined(__AVX2__)

static inline struct lanes load_bf16(const uint16_t *p)
{
	__m256i lo = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)p));
	__m256i hi = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(p + 8)));

	return (struct lanes){ { (vf)_mm256_slli_epi32(lo, 16), (vf)_mm256_slli_epi32(hi, 16) } };
}

static inline void store_low_bytes(int8_t *p, vi v)
{
	const __m256i low = _mm256_set1_epi32(0x0c080400);
	__m256i bytes = _mm256_shuffle_epi8((__m256i)v, low);

	_mm_storel_epi64((void *)p, _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(
					    bytes, _mm256_setr_epi32(0, 4, 0, 0, 0, 0, 0, 0))));
}

#else

typedef uint16_t v8h __attribute__((vector_size(16)));

/* Interleaved with zeros, the lower halves. */
static inline struct lanes load_bf16(const uint16_t *p)
{
	const v8h zero = { 0 };
	struct lanes l;

	for (int v = 0; v < LANE_VECS; v += 2) {
		v8h h;

		memcpy(&h, p + v * VEC, sizeof(h));
#if defined(__clang__)
		l.v[v] = (vf)__builtin_shufflevector(zero, h, 0, 8, 1, 9, 2, 10, 3, 11);
		l.v[v + 1] = (vf)__builtin_shufflevector(zero, h, 4, 12, 5, 13, 6, 14, 7, 15);
#else
		l.v[v] = (vf)__builtin_shuffle(zero, h, (v8h){ 0, 8, 1, 9, 2, 10, 3, 11 });
		l.v[v + 1] = (vf)__builtin_shuffle(zero, h, (v8h){ 4, 12, 5, 13, 6, 14, 7, 15 });
#endif
	}
	return l;
}

static inline void store_low_bytes(int8_t *p, vi v)
{
	for (int i = 0; i < VEC; i++)
		p[i] = (int8_t)v[i];
}

#endif

/* ---- helpers ---- */

static inline vf splat(float x)
{
	return x - (vf){ 0 };
}

static inline vf larger(vf a, vf b)
{
	vi take_a = a > b;

	return (vf)(((vi)a & take_a) | ((vi)b & ~take_a));
}

static inline float largest(vf v)
{
	float max = v[0];

	for (int i = 1; i < VEC; i++)
		max = v[i] > max ? v[i] : max;
	return max;
}

typedef float v4f __attribute__((vector_size(16)));
typedef float v8f __attribute__((vector_size(32)));

/* Lanes 0…15 added in pairs: (i, i+8), (i, i+4) here, (i, i+2), (i, i+1) in what follows. */
static inline v4f four_of(struct lanes s)
{
	v8f e[2];
	v4f q[2];

	memcpy(e, s.v, sizeof(e));
	e[0] += e[1];
	memcpy(q, e, sizeof(q));
	return q[0] + q[1];
}

static inline float sum_of(struct lanes s)
{
	v4f p = four_of(s);

	return (p[0] + p[2]) + (p[1] + p[3]);
}

/* Of four at once. */
static inline v4f sums_of(const struct lanes *s)
{
	v4f p[4], a, b;

	EACH (i, 4)
		p[i] = four_of(s[i]);
	a = __builtin_shufflevector(p[0], p[1], 0, 4, 1, 5) + __builtin_shufflevector(p[0], p[1], 2, 6, 3, 7);
	b = __builtin_shufflevector(p[2], p[3], 0, 4, 1, 5) + __builtin_shufflevector(p[2], p[3], 2, 6, 3, 7);
	return __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
}

/*
 * exp(x) = 2^n · exp(r) with |r| ≤ ln2/2, for x ≤ 0: n by the rounding of a large constant, ln2 in two parts so that
 * n·ln2 is exact in the first, and the Taylor polynomial of degree 7 in Horner's form (its remainder is under 2^-27).
 */
static inline vf exp_vec(vf x)
{
	const vf magic = splat(0x1.8p23f), lowest = splat(-87.0f);
	vi in_range = x >= lowest;
	vf t, n, r, p;
	vi e;

	x = larger(x, lowest);
	t = x * 0x1.715476p+0f + magic;
	n = t - magic;
	r = x - n * 0x1.62ep-1f;
	r = r - n * 0x1.0bfbe8p-15f;
	p = splat(1.0f / 5040);
	p = p * r + 1.0f / 720;
	p = p * r + 1.0f / 120;
	p = p * r + 1.0f / 24;
	p = p * r + 1.0f / 6;
	p = p * r + 0.5f;
	p = p * r + 1.0f;
	p = p * r + 1.0f;
	e = ((vi)t - (vi)magic + 127) << 23;
	return (vf)((vi)(p * (vf)e) & in_range);
}

static void rmsnorm(const float *x, const float *gain, int64_t n, float *out)
{
	struct lanes s = { { { 0 } } };
	float scale;

	for (int64_t i = 0; i < n; i += 16)
		for (int v = 0; v < LANE_VECS; v++)
			s.v[v] += load(x + i + v * VEC) * load(x + i + v * VEC);
	scale = 1.0f / sqrtf(sum_of(s) / (float)n + 1e-5f);
	for (int64_t i = 0; i < n; i += VEC)
		store(out + i, load(x + i) * scale * load(gain + i));
}

static float quantize(const float *x, int64_t n, int8_t *q)
{
	vf top = splat(0);
	float max, scale;

	for (int64_t i = 0; i < n; i += VEC) {
		vf v = load(x + i);

		top = larger(top, larger(v, -v));
	}
	max = largest(top);
	if (max == 0) {
		memset(q, 0, (size_t)n);
		return 0;
	}
	scale = 127.0f / max;
	for (int64_t i = 0; i < n; i += VEC)
		/* the low byte of the sum's bits is the rounded value */
		store_low_bytes(q + i, (vi)(load(x + i) * scale + 0x1.8p23f));
	return max / 127.0f;
}

static inline struct lanes load_row(const void *rows, bool bf16, int64_t at)
{
	struct lanes l;

	if (bf16)
		return load_bf16((const uint16_t *)rows + at);
	memcpy(l.v, (const float *)rows + at, sizeof(l.v));
	return l;
}

static inline void add_products(struct lanes *s, const float *a, struct lanes b)
{
	for (int v = 0; v < LANE_VECS; v++)
		s->v[v] += load(a + v * VEC) * b.v[v];
}

/*
 * Sums that are named so are made in this order, and the compiler does not move the loads that lead to them far: the
 * hardware reads ahead of rows only where their lines are touched in order.
 */
static inline void in_source_order(struct lanes *s)
{
#if defined(__x86_64__)
	for (int v = 0; v < LANE_VECS; v++)
		__asm__ volatile("" : "+v"(s->v[v]));
#else
	(void)s;
#endif
}

/*
 * Rows by twos, whose sums wait for themselves and not for each other; far apart, since the hardware reads ahead of two
 * streams that go on, but not of two that leap over each other.
 */
INLINE void dots(const float *a, const void *rows, bool bf16, int64_t n_rows, int64_t dim, float *out)
{
	int64_t half = n_rows / 2;

	for (int64_t r = 0; r < half; r++) {
		const int64_t p = r * dim, q = p + half * dim;
		struct lanes s = { { { 0 } } }, t = s;

		for (int64_t i = 0; i < dim; i += 16) {
			add_products(&s, a + i, load_row(rows, bf16, p + i));
			in_source_order(&s);
			add_products(&t, a + i, load_row(rows, bf16, q + i));
			in_source_order(&t);
		}
		out[r] = sum_of(s);
		out[r + half] = sum_of(t);
	}
	if (n_rows % 2) {
		struct lanes s = { { { 0 } } };

		for (int64_t i = 0; i < dim; i += 16)
			add_products(&s, a + i, load_row(rows, bf16, 2 * half * dim + i));
		out[2 * half] = sum_of(s);
	}
}

/* A key is widened once for all heads; four sums at a time are added up together. */
INLINE void keys(int n, const struct gen_heads *h, int64_t at, const uint16_t *rows, int64_t n_rows)
{
	const int step = 4 / n;
	int64_t r = 0;

	for (; r + step <= n_rows; r += step) {
		struct lanes s[4];
		v4f sums;

		EACH (i, 4)
			s[i] = (struct lanes){ { { 0 } } };
		for (int64_t i = 0; i < h->dim; i += 16)
			EACH (k, step) {
				const struct lanes key = load_bf16(rows + (r + k) * h->dim + i);

				EACH (j, n)
					add_products(&s[k * n + j], h->q + j * h->dim + i, key);
			}
		sums = sums_of(s);
		EACH (i, 4)
			h->scores[i % n * h->stride + at + r + i / n] = sums[i];
	}
	for (; r < n_rows; r++)
		EACH (j, n) {
			struct lanes s = { { { 0 } } };

			for (int64_t i = 0; i < h->dim; i += 16)
				add_products(&s, h->q + j * h->dim + i, load_bf16(rows + r * h->dim + i));
			h->scores[j * h->stride + at + r] = sum_of(s);
		}
}

static void attend_keys(const struct gen_heads *h, int64_t at, const uint16_t *rows, int64_t n_rows)
{
	if (h->n == 4)
		keys(4, h, at, rows, n_rows);
	else if (h->n == 2)
		keys(2, h, at, rows, n_rows);
	else
		keys(1, h, at, rows, n_rows);
}

/* Sixteen columns at a time stay in registers over all rows. */
INLINE void values(int n, const struct gen_heads *h, int64_t at, const uint16_t *rows, int64_t n_rows)
{
	for (int64_t c = 0; c < h->dim; c += 16) {
		struct lanes s[4];

		EACH (j, n)
			memcpy(s[j].v, h->out + j * h->dim + c, sizeof(s[j].v));
		for (int64_t r = 0; r < n_rows; r++) {
			const struct lanes row = load_bf16(rows + r * h->dim + c);

			EACH (j, n)
				EACH (v, LANE_VECS)
					s[j].v[v] += h->scores[j * h->stride + at + r] * row.v[v];
		}
		EACH (j, n)
			memcpy(h->out + j * h->dim + c, s[j].v, sizeof(s[j].v));
	}
}

static void attend_values(const struct gen_heads *h, int64_t at, const uint16_t *rows, int64_t n_rows)
{
	if (h->n == 4)
		values(4, h, at, rows, n_rows);
	else if (h->n == 2)
		values(2, h, at, rows, n_rows);
	else
		values(1, h, at, rows, n_rows);
}

static const void *head_input(enum assay_generate_head head, const float *x, int64_t n, void *room)
{
	const struct assay_block_inputs in = assay_block_inputs(room, n);

	switch (head) {
	case ASSAY_GENERATE_HEAD_Q8_0:
		block_inputs(ASSAY_BLOCK_Q8_0, x, n, room);
		return room;
	case ASSAY_GENERATE_HEAD_Q6_K:
		block_inputs(ASSAY_BLOCK_Q6_K, x, n, room);
		return room;
	case ASSAY_GENERATE_HEAD_I8_ROW:
		in.d[0] = quantize(x, n, in.q);
		return room;
	default:
		return x;
	}
}

static void head_rows(enum assay_generate_head head, const void *input, const uint8_t *rows, int64_t n_rows,
		      int64_t dim, float *out)
{
	const struct block_product p = { .w = rows, .in = input, .y = out, .m = n_rows, .k = dim, .n = 1 };

	switch (head) {
	case ASSAY_GENERATE_HEAD_F32:
		dots(input, rows, false, n_rows, dim, out);
		break;
	case ASSAY_GENERATE_HEAD_Q8_0:
		block_product(ASSAY_BLOCK_Q8_0, &p, 0, n_rows);
		break;
	case ASSAY_GENERATE_HEAD_Q6_K:
		block_product(ASSAY_BLOCK_Q6_K, &p, 0, n_rows);
		break;
	case ASSAY_GENERATE_HEAD_I8_ROW:
		block_product(BLOCK_I8_ROW, &p, 0, n_rows);
		break;
	default:
		dots(input, rows, true, n_rows, dim, out);
	}
}

static void relu2_gate(const float *gate, const float *up, int64_t n, float *out)
{
	for (int64_t i = 0; i < n; i += VEC) {
		vf g = larger(load(gate + i), splat(0));

		store(out + i, g * g * load(up + i));
	}
}

static void add(float *acc, const float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i += VEC)
		store(acc + i, load(acc + i) + load(x + i));
}

/* An element beyond n counts as minus infinity: it is never the maximum, and its exponential is 0. */
static float softmax(float *x, int64_t n, float inv_temperature)
{
	int64_t whole = n - n % 16;
	struct lanes s = { { { 0 } } };
	float rest[16], max;
	vf top;

	for (int i = 0; i < 16; i++)
		rest[i] = whole + i < n ? x[whole + i] : -INFINITY;
	top = load(rest);
	for (int v = 1; v < LANE_VECS; v++)
		top = larger(top, load(rest + v * VEC));
	for (int64_t i = 0; i < whole; i += VEC)
		top = larger(top, load(x + i));
	max = largest(top);
	for (int64_t i = 0; i < whole; i += 16)
		for (int v = 0; v < LANE_VECS; v++) {
			vf e = exp_vec((load(x + i + v * VEC) - max) * inv_temperature);

			store(x + i + v * VEC, e);
			s.v[v] += e;
		}
	for (int v = 0; v < LANE_VECS; v++) {
		vf e = exp_vec((load(rest + v * VEC) - max) * inv_temperature);

		store(rest + v * VEC, e);
		s.v[v] += e;
	}
	memcpy(x + whole, rest, (size_t)(n - whole) * sizeof(*x));
	return sum_of(s);
}

/* Half a head may be shorter than a vector: the compiler finds its own width. */
static void rope(const float *row, int64_t dim, float *x)
{
	int64_t half = dim / 2;
	const float *restrict c = row, *restrict s = row + half;
	float *restrict a = x, *restrict b = x + half;

	for (int64_t i = 0; i < half; i++) {
		float u = a[i] * c[i] - b[i] * s[i], w = b[i] * c[i] + a[i] * s[i];

		a[i] = u;
		b[i] = w;
	}
}

static void to_bf16(const float *x, int64_t n, uint16_t *out)
{
	for (int64_t i = 0; i < n; i += VEC) {
		vu bits = (vu)load(x + i);
		vh h = __builtin_convertvector((bits + 0x7fff + (bits >> 16 & 1)) >> 16, vh);

		memcpy(out + i, &h, sizeof(h));
	}
}

const struct gen_vector VECTOR_TABLE = {
	.bits = 32 * VEC,
	.rmsnorm = rmsnorm,
	.quantize = quantize,
	.attend_keys = attend_keys,
	.attend_values = attend_values,
	.head_input = head_input,
	.head_rows = head_rows,
	.relu2_gate = relu2_gate,
	.add = add,
	.softmax = softmax,
	.rope = rope,
	.to_bf16 = to_bf16,
};
