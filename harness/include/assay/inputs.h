/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the inputs of ops follow from random numbers: what enum assay_filled stands for, bit for bit. An input is made
 * in units that know nothing of each other, so that threads of a CPU and of a GPU make the same one in any order. Most
 * units are 16 bytes, handed out as words; others are blocks of a format.
 */
#ifndef ASSAY_INPUTS_H
#define ASSAY_INPUTS_H

#include <string.h>

#include "float_bits.h"
#include "op_quantize_inputs.h"
#include "op_stream.h"
#include "plugin.h"
#include "random.h"

#define ASSAY_INPUT_WORDS_BYTES 16 /* of a unit that is handed out as words */

struct assay_input {
	uint32_t filled, stream; /* as in the spec, like the next one */
	float scale;
	uint32_t unit_bytes;
	uint64_t seed, bytes, units; /* the last unit may be shorter, or longer for i2_s */
	int64_t rows, cols;          /* the first two dimensions; 1 where there is none */
};

/* 0, or -1: nothing here makes such an input. */
static inline int assay_input_init(struct assay_input *in, const struct assay_tensor_spec *spec, uint64_t bytes,
				   uint64_t seed)
{
	in->filled = spec->filled;
	in->stream = spec->filled_stream;
	in->scale = spec->filled_scale;
	in->seed = seed;
	in->bytes = bytes;
	in->rows = spec->rank > 0 ? spec->dims[0] : 1;
	in->cols = spec->rank > 1 ? spec->dims[1] : 1;
	in->unit_bytes = spec->filled == ASSAY_FILLED_PAGES_F32       ? ASSAY_STREAM_PAGE
			 : spec->filled == ASSAY_FILLED_QUANTIZE_I2_S ? ASSAY_I2_S_SUM_BLOCK * 4
			 : spec->filled == ASSAY_FILLED_Q8_0          ? ASSAY_Q8_0_BLOCK_BYTES
			 : spec->filled == ASSAY_FILLED_TQ2_0         ? ASSAY_TQ2_0_BLOCK_BYTES
								      : ASSAY_INPUT_WORDS_BYTES;
	in->units = (bytes + in->unit_bytes - 1) / in->unit_bytes;
	if (spec->filled == ASSAY_FILLED_QUANTIZE_I2_S) /* what is less than a block belongs to the one before */
		in->units = bytes < in->unit_bytes ? 1 : bytes / in->unit_bytes;
	return spec->filled == ASSAY_FILLED_BY_OP || spec->filled > ASSAY_FILLED_LAST ? -1 : 0;
}

/* ---- matrices ---- */

/* Each two-bit field becomes the number of ones among two random bits: 0, 1, 2 with 25, 50 and 25 %. */
static inline ASSAY_HD uint32_t assay_input_ternary(uint32_t word)
{
	return (word & 0x55555555u) + (word >> 1 & 0x55555555u);
}

/* 255 values from the 256 of each byte, -127 … 127: -127 comes up twice as often as others. */
static inline ASSAY_HD uint32_t assay_input_int8(uint32_t word)
{
	uint32_t out = 0;

	for (int i = 0; i < 32; i += 8)
		out |= ((((word >> i & 0xff) * 255 >> 8) - 127) & 0xff) << i;
	return out;
}

/*
 * What breaks narrow accumulators: in the matrix the last row is all +1 and the middle one all -1; the last token is
 * all 127 and the one before it all -127. A single token is 127 in its first half only, so that GEMV keeps random data.
 */
static inline ASSAY_HD int assay_input_is_planted(const struct assay_input *in, uint64_t unit, uint32_t *planted)
{
	const int64_t at = (int64_t)unit * ASSAY_INPUT_WORDS_BYTES, row = at / in->cols, left = in->rows - 1 - row;

	if (in->filled != ASSAY_FILLED_TERNARY_MATRIX && in->filled != ASSAY_FILLED_INT8_TOKENS)
		return 0;
	if (in->filled == ASSAY_FILLED_TERNARY_MATRIX) {
		*planted = left ? 0 : 0xaaaaaaaau;
		return in->rows >= 2 && (!left || (in->rows >= 3 && row == in->rows / 2));
	}
	*planted = left ? 0x81818181u : 0x7f7f7f7fu;
	return in->rows == 1 ? at < in->cols / 2 : !left || (in->rows >= 3 && left == 1);
}

/* ---- units ---- */

/* Four bytes that follow from a word alone, and from where they are. */
static inline ASSAY_HD uint32_t assay_input_word(const struct assay_input *in, int64_t at, uint32_t word)
{
	switch (in->filled) {
	case ASSAY_FILLED_TERNARY:
	case ASSAY_FILLED_TERNARY_MATRIX:
		return assay_input_ternary(word);
	case ASSAY_FILLED_NORMAL_F32:
		return assay_f32_bits(in->scale * assay_normal_f32(word));
	case ASSAY_FILLED_INT8_TOKENS:
		return assay_input_int8(word);
	case ASSAY_FILLED_QUANTIZE_BLOCKS:
		return assay_input_of_blocks(at, in->rows, word);
	case ASSAY_FILLED_QUANTIZE_TOKENS:
		return assay_input_of_tokens(at, in->rows, in->cols, word);
	case ASSAY_FILLED_TERNARY_BYTES:
		return assay_input_ternary_bytes(word);
	case ASSAY_FILLED_TOKEN_SCALES:
		return assay_input_token_scale(at, in->rows, word);
	default: /* ASSAY_FILLED_BYTES */
		return word;
	}
}

/* Two elements; eight of a unit take two Philox blocks. */
static inline ASSAY_HD uint32_t assay_input_two_bf16(const struct assay_input *in, uint32_t first, uint32_t second)
{
	return (uint32_t)assay_bf16_of_f32(in->scale * assay_normal_f32(first)) |
	       (uint32_t)assay_bf16_of_f32(in->scale * assay_normal_f32(second)) << 16;
}

/* The 16 bytes of a unit, little-endian; of the last one as many count as there are. */
static inline ASSAY_HD void assay_input_words(const struct assay_input *in, uint64_t unit, uint32_t out[4])
{
	const int64_t at = (int64_t)(4 * unit);
	struct assay_philox r, next;
	uint32_t planted;

	if (in->filled == ASSAY_FILLED_NORMAL_BF16) {
		r = assay_random4(in->seed, in->stream, 2 * unit);
		next = assay_random4(in->seed, in->stream, 2 * unit + 1);
		out[0] = assay_input_two_bf16(in, r.v[0], r.v[1]);
		out[1] = assay_input_two_bf16(in, r.v[2], r.v[3]);
		out[2] = assay_input_two_bf16(in, next.v[0], next.v[1]);
		out[3] = assay_input_two_bf16(in, next.v[2], next.v[3]);
		return;
	}
	if (assay_input_is_planted(in, unit, &planted)) {
		out[0] = out[1] = out[2] = out[3] = planted;
		return;
	}
	r = assay_random4(in->seed, in->stream, unit);
	out[0] = assay_input_word(in, at, r.v[0]);
	out[1] = assay_input_word(in, at + 1, r.v[1]);
	out[2] = assay_input_word(in, at + 2, r.v[2]);
	out[3] = assay_input_word(in, at + 3, r.v[3]);
}

/* A page of floats is a progression whose two numbers come from one Philox block, so that gigabytes fill quickly. */
static inline ASSAY_HD void assay_input_page(const struct assay_input *in, uint64_t page, uint32_t *to)
{
	const struct assay_philox r = assay_random4(in->seed, in->stream, page);
	const uint64_t left = in->bytes / 4 - page * (ASSAY_STREAM_PAGE / 4);

	for (uint32_t i = 0; i < ASSAY_STREAM_PAGE / 4 && i < left; i++)
		to[i] = assay_f32_bits(assay_uniform_f32(r.v[1] + i * (r.v[3] | 1)));
}

/* A unit that is a block; @tensor begins the input, and is aligned to four bytes where its elements are floats. */
static inline ASSAY_HD void assay_input_block(const struct assay_input *in, uint64_t unit, void *tensor)
{
	uint8_t *to = (uint8_t *)tensor + unit * in->unit_bytes;

	switch (in->filled) {
	case ASSAY_FILLED_PAGES_F32:
		assay_input_page(in, unit, (uint32_t *)(void *)to);
		break;
	case ASSAY_FILLED_QUANTIZE_I2_S:
		assay_input_i2_s(in->seed, in->stream, (int64_t)unit, (int64_t)in->units, in->rows, (uint32_t *)tensor);
		break;
	case ASSAY_FILLED_Q8_0:
		assay_input_q8_0(in->seed, in->stream, unit, to);
		break;
	case ASSAY_FILLED_TQ2_0:
		assay_input_tq2_0(in->seed, in->stream, unit, to);
		break;
	default:
		break;
	}
}

/* Make a unit at its place in @tensor; for a host, or wherever bytes may be stored one by one. */
static inline ASSAY_HD void assay_input_make(const struct assay_input *in, uint64_t unit, void *tensor)
{
	const uint64_t at = unit * in->unit_bytes, left = in->bytes - at;
	uint32_t words[4];

	if (in->unit_bytes != ASSAY_INPUT_WORDS_BYTES) {
		assay_input_block(in, unit, tensor);
		return;
	}
	assay_input_words(in, unit, words);
	memcpy((uint8_t *)tensor + at, words, (size_t)(left < sizeof(words) ? left : sizeof(words)));
}

#endif
