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
#include <stdbool.h>
#include <string.h>

#include "matmul_ternary_packed.h"

/* two groups of rows at a time, which lie far apart: memory is read faster as two streams */
#define GROUPS 2
/* a lane gets at most 256 · 20 · 2 · 128 a line */
#define FLUSH_LINES 1024

/* volatile keeps the order, or the compiler gathers broadcasts and spills sums for them */
#define DOT(acc, bytes, x) __asm__ volatile("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(bytes), "v"(x))
#define BROADCAST(v, q)    __asm__ volatile("vpbroadcastd %1, %0" : "=v"(v) : "m"(*(q)))

/* Of one group: Σ b_q·x_q and Σ b_(q+1)·x_q, apart for each q, since one chain of products would wait for itself. */
struct trit_sums {
	__m512i same[TRITS_PER_BYTE], next[TRITS_PER_BYTE];
};

INLINE void run_line(const uint8_t *w, int64_t apart, const int8_t *x, struct trit_sums *s, const bool amd)
{
	__m512i b[GROUPS];

	EACH (g, GROUPS)
		matmul_ternary_prefetch(w + g * apart, amd);
	EACH (g, GROUPS)
		b[g] = _mm512_loadu_si512((const void *)(w + g * apart));
	EACH (q, TRITS_PER_BYTE) {
		__m512i four;

		BROADCAST(four, (const quad *)x + q);
		EACH (g, GROUPS) {
			DOT(s[g].same[q], b[g], four);
			b[g] = _mm512_add_epi8(_mm512_add_epi8(b[g], b[g]), b[g]);
		}
		EACH (g, GROUPS)
			DOT(s[g].next[q], b[g], four);
	}
}

/* Add Σcx of @n lines at @w and as many @apart bytes behind to @sums, one of each row of both groups. */
INLINE void add_lines(const uint8_t *w, int64_t apart, const int8_t *x, int64_t n, int32_t (*sums)[TERNARY_GROUP_MAX],
		      const bool amd)
{
	struct trit_sums s[GROUPS];

	EACH (g, GROUPS)
		EACH (q, TRITS_PER_BYTE)
			s[g].same[q] = s[g].next[q] = _mm512_setzero_si512();
	for (; n; n--, w += TRITS_LINE_BYTES, x += TRITS_LINE_COLS)
		run_line(w, apart, x, s, amd);
	EACH (g, GROUPS) {
		__m512i same = _mm512_setzero_si512(), next = same, thrice;

		EACH (q, TRITS_PER_BYTE) {
			same = _mm512_add_epi32(same, s[g].same[q]);
			next = _mm512_add_epi32(next, s[g].next[q]);
		}
		thrice = _mm512_add_epi32(_mm512_add_epi32(same, same), same);
		same = _mm512_srai_epi32(_mm512_sub_epi32(thrice, next), 8);
		_mm512_storeu_si512(sums[g], _mm512_add_epi32(_mm512_loadu_si512(sums[g]), same));
	}
}

/* Functions of their own: within the loop over groups, GCC 12 keeps the sums in memory. */
#define RUN_LINES(name, amd)                                                                                           \
	static __attribute__((noinline)) void name(const uint8_t *w, int64_t apart, const int8_t *x, int64_t n,        \
						   int32_t(*sums)[TERNARY_GROUP_MAX])                                  \
	{                                                                                                              \
		add_lines(w, apart, x, n, sums, amd);                                                                  \
	}
RUN_LINES(run_lines_amd, true)
RUN_LINES(run_lines_any, false)

/* Σx of a token. */
static int32_t token_sum(const int8_t *x, int64_t k)
{
	__m512i sums = _mm512_setzero_si512();

	for (int64_t i = 0; i < k; i += 64)
		DOT(sums, _mm512_set1_epi8(1), _mm512_loadu_si512((const void *)(x + i)));
	return _mm512_reduce_add_epi32(sums);
}

static void trits_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const struct ternary_packed *s = job->state;
	struct matmul_ternary p = matmul_ternary_of(job);
	const int64_t lines = matmul_trits_lines(p.k), whole = p.k / TRITS_LINE_COLS;
	const int32_t sum = token_sum(p.x, p.k);
	int8_t last[TRITS_LINE_COLS] = { 0 }; /* activations of the line that reaches beyond k */
	void (*const run_lines)(const uint8_t *, int64_t, const int8_t *, int64_t, int32_t(*)[TERNARY_GROUP_MAX]) =
		__builtin_cpu_is("amd") ? run_lines_amd : run_lines_any;
	int64_t first, end, groups, apart;

	memcpy(last, p.x + whole * TRITS_LINE_COLS, (size_t)(p.k - whole * TRITS_LINE_COLS));
	matmul_rows(p.m, TRITS_GROUP_ROWS, tid, n_threads, &first, &end);
	groups = (end - first + TRITS_GROUP_ROWS - 1) / TRITS_GROUP_ROWS;
	apart = groups / GROUPS; /* of an odd number, the one in the middle is computed twice */
	for (int64_t i = 0; i < groups - apart; i++) {
		const int64_t row = first + i * TRITS_GROUP_ROWS, bytes = lines * TRITS_LINE_BYTES;
		const uint8_t *w = s->trits + row / TRITS_GROUP_ROWS * bytes;
		int32_t sums[GROUPS][TERNARY_GROUP_MAX] = { 0 };

		for (int64_t line = 0; line < whole; line += FLUSH_LINES) {
			const int64_t n = whole - line < FLUSH_LINES ? whole - line : FLUSH_LINES;

			run_lines(w + line * TRITS_LINE_BYTES, apart * bytes, p.x + line * TRITS_LINE_COLS, n, sums);
		}
		run_lines(w + whole * TRITS_LINE_BYTES, apart * bytes, last, lines - whole, sums);
		EACH (g, GROUPS) {
			const int64_t at = row + g * apart * TRITS_GROUP_ROWS;

			matmul_ternary_store(&p, sums + g, &sum, at,
					     end - at < TRITS_GROUP_ROWS ? end - at : TRITS_GROUP_ROWS, 0, 1);
		}
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
