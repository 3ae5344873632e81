/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.ternary with weights at 1.6 bits, for one token. No code is taken out of its byte: with b_0 the byte and
 * b_(q+1) = 3·b_q mod 256,
 *
 *	256·c_q = 3·b_q − b_(q+1),  so  Σ c_q·x_q = (3·Σ b_q·x_q − Σ b_(q+1)·x_q) / 256,
 *
 * two products of unsigned by signed bytes and two additions for 64 weights. It is exact modulo 2^32 as long as
 * 256·Σ c·x of a lane stays within int32. More tokens would wait for the products, which two bits need half of.
 */
#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "matmul_ternary_packed.h"

#define VECS 2 /* of a line */
/* a lane gets at most 256 · 20 · 2 · 128 a line */
#define FLUSH_LINES    1024
#define PREFETCH_BYTES 8192

/* volatile keeps the order, or the compiler gathers broadcasts and spills sums for them */
#define DOT(acc, bytes, x) __asm__ volatile("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(bytes), "v"(x))
#define BROADCAST(v, q)    __asm__ volatile("vpbroadcastd %1, %0" : "=v"(v) : "m"(*(q)))

/* Of one vector: Σ b_q·x_q and Σ b_(q+1)·x_q, apart for each q, since one chain of products would wait for itself. */
struct trit_sums {
	__m512i same[TRITS_PER_BYTE], next[TRITS_PER_BYTE];
};

INLINE void run_line(const uint8_t *w, const int8_t *x, struct trit_sums *s)
{
	__m512i b[VECS];

	EACH (v, VECS) {
		b[v] = _mm512_loadu_si512((const void *)(w + 64 * v));
		__builtin_prefetch(w + 64 * v + PREFETCH_BYTES);
	}
	EACH (q, TRITS_PER_BYTE) {
		__m512i four;

		BROADCAST(four, (const quad *)x + q);
		EACH (v, VECS) {
			DOT(s[v].same[q], b[v], four);
			b[v] = _mm512_add_epi8(_mm512_add_epi8(b[v], b[v]), b[v]);
			DOT(s[v].next[q], b[v], four);
		}
	}
}

/* Add Σcx of @n lines at @w to @sums, one of each row of the group. */
static void run_lines(const uint8_t *w, const int8_t *x, int64_t n, int32_t *sums)
{
	struct trit_sums s[VECS];

	EACH (v, VECS)
		EACH (q, TRITS_PER_BYTE)
			s[v].same[q] = s[v].next[q] = _mm512_setzero_si512();
	for (; n; n--, w += TRITS_LINE_BYTES, x += TRITS_LINE_COLS)
		run_line(w, x, s);
	EACH (v, VECS) {
		__m512i same = _mm512_setzero_si512(), next = same, thrice;

		EACH (q, TRITS_PER_BYTE) {
			same = _mm512_add_epi32(same, s[v].same[q]);
			next = _mm512_add_epi32(next, s[v].next[q]);
		}
		thrice = _mm512_add_epi32(_mm512_add_epi32(same, same), same);
		same = _mm512_srai_epi32(_mm512_sub_epi32(thrice, next), 8);
		_mm512_storeu_si512(sums + 16 * v, _mm512_add_epi32(_mm512_loadu_si512(sums + 16 * v), same));
	}
}

static void trits_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const struct ternary_packed *s = job->state;
	struct matmul_ternary p = matmul_ternary_of(job);
	const int64_t lines = matmul_trits_lines(p.k), whole = p.k / TRITS_LINE_COLS;
	const int32_t token_sum = matmul_ternary_sum(p.x, p.k);
	int8_t last[TRITS_LINE_COLS] = { 0 }; /* activations of the line that reaches beyond k */
	int64_t first, end;

	memcpy(last, p.x + whole * TRITS_LINE_COLS, (size_t)(p.k - whole * TRITS_LINE_COLS));
	matmul_rows(p.m, TRITS_GROUP_ROWS, tid, n_threads, &first, &end);
	for (int64_t row = first; row < end; row += TRITS_GROUP_ROWS) {
		const uint8_t *w = s->trits + row / TRITS_GROUP_ROWS * lines * TRITS_LINE_BYTES;
		int32_t sums[1][TERNARY_GROUP_MAX] = { { 0 } };

		for (int64_t line = 0; line < whole; line += FLUSH_LINES)
			run_lines(w + line * TRITS_LINE_BYTES, p.x + line * TRITS_LINE_COLS,
				  whole - line < FLUSH_LINES ? whole - line : FLUSH_LINES, sums[0]);
		run_lines(w + whole * TRITS_LINE_BYTES, last, lines - whole, sums[0]);
		matmul_ternary_store(&p, sums, &token_sum, row,
				     end - row < TRITS_GROUP_ROWS ? end - row : TRITS_GROUP_ROWS, 0, 1);
	}
}

int assay_matmul_ternary_avx512vnni_trits(struct assay_job *job)
{
	if (job->shape->axis[ASSAY_MATMUL_N] > 1) {
		assay_counter(job, ASSAY_WORK_FALLBACKS, 1);
		return assay_matmul_ternary_avx512vnni(job);
	}
	return matmul_run(job, trits_rows);
}
#endif
