/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats with int8 codes and tq2_0 with AVX-512 VBMI2, which is as quantize_avx512.c but for how codes are put
 * together: bytes are taken out of two vectors in any order, and those of tq2_0 are made of bits.
 */
#if defined(__x86_64__)
#include "quantize_x86.h"

#include "quantize_i8_token.h"
#include "quantize_q8_0.h"

/*
 * What a code of tq2_0 is shows in the two upper bits of the product 4·x·id, whose magnitude is at most a rounding
 * error above 4: the sign, and below it whether the exponent is that of 2 or more, which is where x·id rounds away from
 * zero.
 */
#define TQ2_0_MULTIPLE 4

/* Dword i: the upper bits of the products in dword i of each line so far, those of the last line lowest. */
static inline __m512i collect(__m512i bits, __m512i line)
{
	return _mm512_shldi_epi32(bits, line, 2);
}

/*
 * Of 128 values: dword i is of the values 16·line + i. Its lowest byte is of the odd lines, the next of the even ones,
 * with the first line lowest.
 */
static inline __m512i upper_bits_128(const float *x, __m512 by)
{
	__m512i line[8], bits = _mm512_setzero_si512();

	EACH (i, 8) {
		line[i] = _mm512_castps_si512(_mm512_mul_ps(_mm512_loadu_ps(x + 16 * i), by));
		IN_SOURCE_ORDER(line[i]);
	}
	EACH (i, 4)
		bits = collect(bits, line[6 - 2 * i]);
	EACH (i, 4)
		bits = collect(bits, line[7 - 2 * i]);
	return bits;
}

#define EVERY_4TH(b) (b), (b) + 4, (b) + 8, (b) + 12
#define OF_DWORDS(b) EVERY_4TH(b), EVERY_4TH((b) + 16), EVERY_4TH((b) + 32), EVERY_4TH((b) + 48)

/* The bytes of two halves of a block, the second 64 on: even lines of each before the odd ones. */
static const uint8_t halves_order[64]
	__attribute__((aligned(64))) = { OF_DWORDS(1), OF_DWORDS(0), OF_DWORDS(65), OF_DWORDS(64) };

static inline void tq2_0_codes(const float *x, float by, uint8_t *q)
{
	const __m512 m = _mm512_set1_ps(by);
	const __m512i first = upper_bits_128(x, m), second = upper_bits_128(x + 128, m);
	const __m512i bits = _mm512_permutex2var_epi8(first, _mm512_load_si512(halves_order), second);
	const __m512i upper = _mm512_set1_epi8((char)0xaa);

	/* Of sign and exponent 00 and 10 become 01, 01 becomes 10, 11 becomes 00: ~bits & (bits << 1 | ~upper). */
	put(q, _mm512_ternarylogic_epi32(_mm512_add_epi8(bits, bits), bits, upper, 0x31), false);
}

#include "quantize_tq2_0.h"

QUANTIZE_RUN(quantize_q8_0, avx512vbmi2, quantize_q8_0)
QUANTIZE_RUN(quantize_tq2_0, avx512vbmi2, quantize_tq2_0)
QUANTIZE_RUN(quantize_i8_token, avx512vbmi2, quantize_i8_token)
#endif
