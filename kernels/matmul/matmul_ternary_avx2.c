/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.ternary with AVX2. The codes 0, 1, 2 are multiplied as they are, unsigned by signed (VPMADDUBSW), and the sum
 * of the activations is taken off once: Σ(c−1)x = Σcx − Σx. A pair of products is at most 2·2·127 = 508 (512 should an
 * activation be −128), so 16-bit lanes take 64 of them, 16 blocks, before they are widened: exact for all inputs.
 */
#if defined(__x86_64__)
#include <immintrin.h>

#include "matmul_variants.h"

#define WIDEN_BLOCKS     16
#define MAX_ROWS         4
#define MAX_TOKENS       4
#define MAX_BLOCK_TOKENS 64
#define BLOCK_BYTES      (256 << 10) /* activations of a block of tokens */
#define BAND_BYTES       (16 << 10)  /* weights of a band of rows */

#define INLINE static inline __attribute__((always_inline))

static inline int32_t sum_i32(__m256i v)
{
	__m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
	s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
	return _mm_cvtsi128_si32(s);
}

/* A quarter of a block: the codes at bits @shift of each byte times 32 activations. */
INLINE void quarter(__m256i acc[MAX_ROWS][MAX_TOKENS], const uint8_t *w, int64_t w_stride, const int8_t *x, int64_t k,
		    const int shift, const int rows, const int tokens)
{
	const __m256i mask = _mm256_set1_epi8(3);
	__m256i codes[MAX_ROWS];

	for (int r = 0; r < rows; r++)
		codes[r] = _mm256_and_si256(
			_mm256_srli_epi16(_mm256_loadu_si256((const void *)(w + r * w_stride)), shift), mask);
	for (int t = 0; t < tokens; t++) {
		__m256i v = _mm256_loadu_si256((const void *)(x + t * k));

		for (int r = 0; r < rows; r++) {
			acc[r][t] = _mm256_add_epi16(acc[r][t], _mm256_maddubs_epi16(codes[r], v));
			__asm__("" : "+x"(acc[r][t])); /* GCC 12 spills the sums without it */
		}
	}
}

/* Σcx of @rows rows and @tokens tokens, both constant where this is called, so that all sums stay in registers. */
INLINE void tile(const uint8_t *w, const int8_t *x, int64_t k, const int rows, const int tokens,
		 int32_t out[MAX_ROWS][MAX_TOKENS])
{
	const int64_t w_stride = k / 4, n_blocks = k / ASSAY_I2S_BLOCK;
	const __m256i ones = _mm256_set1_epi16(1);
	__m256i wide[MAX_ROWS][MAX_TOKENS];

	for (int r = 0; r < rows; r++)
		for (int t = 0; t < tokens; t++)
			wide[r][t] = _mm256_setzero_si256();
	for (int64_t b = 0; b < n_blocks;) {
		int64_t end = b + WIDEN_BLOCKS < n_blocks ? b + WIDEN_BLOCKS : n_blocks;
		__m256i acc[MAX_ROWS][MAX_TOKENS];

		for (int r = 0; r < rows; r++)
			for (int t = 0; t < tokens; t++)
				acc[r][t] = _mm256_setzero_si256();
		for (; b < end; b++) {
			const uint8_t *wb = w + b * ASSAY_I2S_BLOCK_BYTES;
			const int8_t *xb = x + b * ASSAY_I2S_BLOCK;

			quarter(acc, wb, w_stride, xb, k, 6, rows, tokens);
			quarter(acc, wb, w_stride, xb + 32, k, 4, rows, tokens);
			quarter(acc, wb, w_stride, xb + 64, k, 2, rows, tokens);
			quarter(acc, wb, w_stride, xb + 96, k, 0, rows, tokens);
		}
		for (int r = 0; r < rows; r++)
			for (int t = 0; t < tokens; t++)
				wide[r][t] = _mm256_add_epi32(wide[r][t], _mm256_madd_epi16(acc[r][t], ones));
	}
	for (int r = 0; r < rows; r++)
		for (int t = 0; t < tokens; t++)
			out[r][t] = sum_i32(wide[r][t]);
}

/* Σx of a token: 128 is added to make it unsigned for VPSADBW, and taken off at the end. */
static int32_t sum_token(const int8_t *x, int64_t k)
{
	const __m256i offset = _mm256_set1_epi8((char)0x80);
	__m256i sum = _mm256_setzero_si256();
	int64_t lanes[4];

	for (int64_t i = 0; i < k; i += 32)
		sum = _mm256_add_epi64(
			sum, _mm256_sad_epu8(_mm256_xor_si256(_mm256_loadu_si256((const void *)(x + i)), offset),
					     _mm256_setzero_si256()));
	_mm256_storeu_si256((void *)lanes, sum);
	return (int32_t)(lanes[0] + lanes[1] + lanes[2] + lanes[3] - 128 * k);
}

/* y of rows [row, row + rows) and tokens [t0, t0 + tokens). */
INLINE void store_tile(const struct matmul_ternary *p, int64_t row, int64_t t0, const int32_t *sums, const int rows,
		       const int tokens)
{
	int32_t out[MAX_ROWS][MAX_TOKENS];

	tile(p->w + row * (p->k / 4), p->x + t0 * p->k, p->k, rows, tokens, out);
	for (int t = 0; t < tokens; t++) {
		for (int r = 0; r < rows; r++) {
			/* Σcx alone may wrap for the longest k; the difference never does */
			uint32_t acc = (uint32_t)out[r][t] - (uint32_t)sums[t];

			p->y[(t0 + t) * p->m + row + r] = matmul_ternary_scale(p, (int32_t)acc, t0 + t);
		}
	}
}

/* Rows in tiles of a constant height for tokens of a constant number; rows left over go one by one. */
INLINE void strip(const struct matmul_ternary *p, int64_t first, int64_t end, int64_t t0, const int32_t *sums,
		  const int rows, const int tokens)
{
	int64_t row = first;

	for (; row + rows <= end; row += rows)
		store_tile(p, row, t0, sums, rows, tokens);
	for (; row < end; row++)
		store_tile(p, row, t0, sums, 1, tokens);
}

/* Rows [first, end) of the block of @n tokens from @t0 whose Σx are @sums. */
static void band(const struct matmul_ternary *p, int64_t first, int64_t end, int64_t t0, int64_t n, const int32_t *sums)
{
	int64_t t = 0;

	for (; t + 4 <= n; t += 4)
		strip(p, first, end, t0 + t, sums + t, 2, 4);
	for (; t + 2 <= n; t += 2)
		strip(p, first, end, t0 + t, sums + t, 4, 2);
	for (; t < n; t++)
		strip(p, first, end, t0 + t, sums + t, 4, 1);
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/*
 * A block of tokens stays in the level-2 cache while bands of rows pass, a band in the level-1 cache while the tokens
 * of the block pass over it. Each thread sums the activations itself: that costs less than to wait for the others.
 */
static void ternary_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct matmul_ternary p = matmul_ternary_of(arg);
	int64_t block_tokens = clamp(BLOCK_BYTES / p.k, MAX_TOKENS, MAX_BLOCK_TOKENS) / MAX_TOKENS * MAX_TOKENS;
	int64_t band_rows = clamp(BAND_BYTES / (p.k / 4), MAX_ROWS, 1024) / MAX_ROWS * MAX_ROWS;
	int32_t sums[MAX_BLOCK_TOKENS];
	int64_t first, end;

	matmul_rows(p.m, tid, n_threads, &first, &end);
	for (int64_t t0 = 0; t0 < p.n; t0 += block_tokens) {
		int64_t n = clamp(p.n - t0, 1, block_tokens);

		for (int64_t t = 0; t < n; t++)
			sums[t] = sum_token(p.x + (t0 + t) * p.k, p.k);
		for (int64_t row = first; row < end; row += band_rows)
			band(&p, row, clamp(row + band_rows, row, end), t0, n, sums);
	}
}

int assay_matmul_ternary_avx2(struct assay_job *job)
{
	job->host->parallel(job, ternary_rows, job);
	return 0;
}
#endif
