/* SPDX-License-Identifier: Apache-2.0 */
/* Draws that make random texts for tokenizers. */
#ifndef TOKENIZER_RANDOM_CHARS_H
#define TOKENIZER_RANDOM_CHARS_H

#include <stddef.h>
#include <stdint.h>

#include "assay/random.h"

struct draws {
	uint64_t seed, next;
};

/* A number below @n. */
static inline uint32_t below(struct draws *d, uint32_t n)
{
	return (uint32_t)((uint64_t)assay_random4(d->seed, 0, d->next++).v[0] * n >> 32);
}

/* Put @c as UTF-8: its number of bytes. */
static inline size_t put_char(uint8_t *out, uint32_t c)
{
	const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (uint8_t)(0x80 | (c & 0x3f));
	out[0] = (uint8_t)(n == 1 ? c : (0xf00u >> n & 0xff) | c);
	return n;
}

#endif
