/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts and numbers as in ggml (ggml-common.h and the reference functions of ggml-quants.c); i2_s as in bitnet.cpp,
 * where a tensor's scale and padding follow its codes. Each operation rounds to float, so that all CPUs agree.
 */
#include "gguf/types.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "assay/op_blocks.h"

/* ---- half precision ---- */

static float read_half(const uint8_t *at)
{
	uint16_t h;

	memcpy(&h, at, sizeof(h));
	return assay_f32_of_half(h);
}

static void write_half(uint8_t *at, float x)
{
	const uint16_t h = assay_half_of_f32(x);

	memcpy(at, &h, sizeof(h));
}

/* ---- floats ---- */

static void decode_f32(const uint8_t *blocks, size_t n, float *out)
{
	memcpy(out, blocks, n * sizeof(*out));
}

static void encode_f32(const float *in, size_t n, uint8_t *blocks)
{
	memcpy(blocks, in, n * sizeof(*in));
}

static void decode_f16(const uint8_t *blocks, size_t n, float *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = read_half(blocks + 2 * i);
}

static void encode_f16(const float *in, size_t n, uint8_t *blocks)
{
	for (size_t i = 0; i < n; i++)
		write_half(blocks + 2 * i, in[i]);
}

static void decode_bf16(const uint8_t *blocks, size_t n, float *out)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t h;

		memcpy(&h, blocks + 2 * i, sizeof(h));
		out[i] = assay_f32_of_bf16(h);
	}
}

static void encode_bf16(const float *in, size_t n, uint8_t *blocks)
{
	for (size_t i = 0; i < n; i++) {
		const uint16_t h = assay_bf16_of_f32(in[i]);

		memcpy(blocks + 2 * i, &h, sizeof(h));
	}
}

static float largest(const float *x, size_t n)
{
	float most = 0;

	for (size_t i = 0; i < n; i++)
		most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
	return most;
}

/* ---- 8 and 6 bits ---- */

/* d, then 32 codes. */
static void decode_q8_0(const uint8_t *blocks, size_t n, float *out)
{
	for (size_t b = 0; b < n; b++, blocks += 34, out += 32) {
		const float d = read_half(blocks);

		for (int i = 0; i < 32; i++)
			out[i] = (float)(int8_t)blocks[2 + i] * d;
	}
}

static void encode_q8_0(const float *in, size_t n, uint8_t *blocks)
{
	for (size_t b = 0; b < n; b++, blocks += 34, in += 32) {
		const float d = largest(in, 32) / 127, by = d > 0 ? 1 / d : 0;

		write_half(blocks, d);
		for (int i = 0; i < 32; i++)
			blocks[2 + i] = (uint8_t)(int8_t)roundf(in[i] * by);
	}
}

/*
 * 128 bytes of lower halves, 64 of upper quarters, 16 scales, d. Halves of 128 values: of values l, l + 32, l + 64 and
 * l + 96, byte l of the quarters has two bits each, and bytes l and l + 32 of the others have the lower four.
 */
static void decode_q6_k(const uint8_t *blocks, size_t n, float *out)
{
	for (size_t b = 0; b < n; b++, blocks += 210, out += 256) {
		const float d = read_half(blocks + 208);

		for (int i = 0; i < 256; i++) {
			const int half = i / 128, part = i % 128 / 32, l = i % 32;
			const int low = blocks[64 * half + l + 32 * (part & 1)] >> 4 * (part / 2) & 15;
			const int high = blocks[128 + 32 * half + l] >> 2 * part & 3;

			out[i] = d * (float)(int8_t)blocks[192 + i / 16] * (float)((low | high << 4) - 32);
		}
	}
}

/* Scales by the largest value of each 16; ggml searches for better ones. */
static void encode_q6_k(const float *in, size_t n, uint8_t *blocks)
{
	for (size_t b = 0; b < n; b++, blocks += 210, in += 256) {
		const float d = largest(in, 256) / (31 * 127);

		memset(blocks, 0, 210);
		write_half(blocks + 208, d);
		for (int i = 0; i < 256; i++) {
			const int half = i / 128, part = i % 128 / 32, l = i % 32;
			const float scale = d > 0 ? ceilf(largest(in + i / 16 * 16, 16) / (31 * d)) : 0;
			const int s = scale > 127 ? 127 : (int)scale;
			const int q = (s ? (int)roundf(in[i] / (read_half(blocks + 208) * (float)s)) : 0) + 32;
			const int code = q < 0 ? 0 : q > 63 ? 63 : q;

			blocks[192 + i / 16] = (uint8_t)s;
			blocks[64 * half + l + 32 * (part & 1)] |= (uint8_t)((code & 15) << 4 * (part / 2));
			blocks[128 + 32 * half + l] |= (uint8_t)(code >> 4 << 2 * part);
		}
	}
}

/* ---- ternary ---- */

static int trit(float x, float by)
{
	return (int)roundf(x * by) + 1;
}

/* 64 bytes of codes, d. Byte 32 h + m has the values 128 h + m + 32 i in bits 2 i. */
static void decode_tq2_0(const uint8_t *blocks, size_t n, float *out)
{
	for (size_t b = 0; b < n; b++, blocks += 66, out += 256) {
		const float d = read_half(blocks + 64);

		for (int i = 0; i < 256; i++)
			out[i] = (float)((blocks[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3) - 1) * d;
	}
}

static void encode_tq2_0(const float *in, size_t n, uint8_t *blocks)
{
	for (size_t b = 0; b < n; b++, blocks += 66, in += 256) {
		const float d = largest(in, 256), by = d > 0 ? 1 / d : 0;

		memset(blocks, 0, 64);
		write_half(blocks + 64, d);
		for (int i = 0; i < 256; i++)
			blocks[i / 128 * 32 + i % 32] |= (uint8_t)(trit(in[i], by) << i % 128 / 32 * 2);
	}
}

/*
 * Five trits in a byte, the first in front: the byte is a fraction of 3^5 parts in 256, so that multiplying by 3^i and
 * dropping what overflows leaves trit i in front. 32 bytes hold values m + 32 i, 16 bytes the values 160 + m + 16 i,
 * and 4 bytes of four trits the values 240 + m + 4 i; then d.
 */
static const struct {
	int bytes, trits, at, first;
} tq1_parts[] = { { 32, 5, 0, 0 }, { 16, 5, 32, 160 }, { 4, 4, 48, 240 } };

static void decode_tq1_0(const uint8_t *blocks, size_t n, float *out)
{
	for (size_t b = 0; b < n; b++, blocks += 54, out += 256) {
		const float d = read_half(blocks + 52);

		for (size_t p = 0; p < sizeof(tq1_parts) / sizeof(tq1_parts[0]); p++)
			for (int m = 0; m < tq1_parts[p].bytes; m++) {
				uint8_t q = blocks[tq1_parts[p].at + m];

				for (int i = 0; i < tq1_parts[p].trits; i++, q = (uint8_t)(q * 3))
					out[tq1_parts[p].first + m + tq1_parts[p].bytes * i] =
						(float)((q * 3 >> 8) - 1) * d;
			}
	}
}

static void encode_tq1_0(const float *in, size_t n, uint8_t *blocks)
{
	for (size_t b = 0; b < n; b++, blocks += 54, in += 256) {
		const float d = largest(in, 256), by = d > 0 ? 1 / d : 0;

		write_half(blocks + 52, d);
		for (size_t p = 0; p < sizeof(tq1_parts) / sizeof(tq1_parts[0]); p++)
			for (int m = 0; m < tq1_parts[p].bytes; m++) {
				int q = 0;

				for (int i = 0; i < 5; i++)
					q = q * 3 +
					    (i < tq1_parts[p].trits
						     ? trit(in[tq1_parts[p].first + m + tq1_parts[p].bytes * i], by)
						     : 0);
				blocks[tq1_parts[p].at + m] = (uint8_t)((q * 256 + 242) / 243);
			}
	}
}

/* Blocks of 128: byte m has the values m + 32 i in bits 6 - 2 i. */
static void decode_i2_s(const uint8_t *blocks, size_t n, float *out)
{
	for (size_t b = 0; b < n; b++, blocks += 32, out += 128)
		for (int i = 0; i < 128; i++)
			out[i] = (float)((blocks[i % 32] >> (6 - i / 32 * 2) & 3) - 1);
}

static void encode_i2_s(const float *in, size_t n, uint8_t *blocks)
{
	memset(blocks, 0, n * 32);
	for (size_t b = 0; b < n; b++, blocks += 32, in += 128)
		for (int i = 0; i < 128; i++)
			blocks[i % 32] |= (uint8_t)((in[i] > 0 ? 2 : in[i] < 0 ? 0 : 1) << (6 - i / 32 * 2));
}

float assay_gguf_tensor_scale(const struct assay_gguf_type *t, const uint8_t *data, uint64_t bytes)
{
	float scale = 1;

	if (t->tail)
		memcpy(&scale, data + bytes - t->tail, sizeof(scale));
	return scale;
}

/* ---- the table ---- */

#define KERNELS(name) decode_##name, encode_##name

static const struct assay_gguf_type types[] = {
	{ "f32", 0, 1, 4, 0, false, KERNELS(f32) },
	{ "f16", 1, 1, 2, 0, false, KERNELS(f16) },
	{ "bf16", 30, 1, 2, 0, false, KERNELS(bf16) },
	{ "q8_0", 8, 32, 34, 0, false, KERNELS(q8_0) },
	{ "q6_k", 14, 256, 210, 0, false, KERNELS(q6_k) },
	{ "tq1_0", 34, 256, 54, 0, true, KERNELS(tq1_0) },
	{ "tq2_0", 35, 256, 66, 0, true, KERNELS(tq2_0) },
	{ "i2_s", 36, 128, 32, 32, true, KERNELS(i2_s) },
	{ .name = "q4_0", 2, 32, 18 },
	{ .name = "q4_1", 3, 32, 20 },
	{ .name = "q5_0", 6, 32, 22 },
	{ .name = "q5_1", 7, 32, 24 },
	{ .name = "q8_1", 9, 32, 36 },
	{ .name = "q2_k", 10, 256, 84 },
	{ .name = "q3_k", 11, 256, 110 },
	{ .name = "q4_k", 12, 256, 144 },
	{ .name = "q5_k", 13, 256, 176 },
	{ .name = "q8_k", 15, 256, 292 },
	{ .name = "i8", 24, 1, 1 },
	{ .name = "i16", 25, 1, 2 },
	{ .name = "i32", 26, 1, 4 },
	{ .name = "i64", 27, 1, 8 },
	{ .name = "f64", 28, 1, 8 },
};

#define N_TYPES (sizeof(types) / sizeof(types[0]))

const struct assay_gguf_type *assay_gguf_type(uint32_t id)
{
	for (size_t i = 0; i < N_TYPES; i++)
		if (types[i].id == id)
			return &types[i];
	return NULL;
}

const struct assay_gguf_type *assay_gguf_type_named(const char *name)
{
	for (size_t i = 0; i < N_TYPES; i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	return NULL;
}

void assay_gguf_types_with_kernels(char *out, size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < N_TYPES && len < size; i++)
		if (types[i].decode)
			len += (size_t)snprintf(out + len, size - len, "%s%s", len ? ", " : "", types[i].name);
}
