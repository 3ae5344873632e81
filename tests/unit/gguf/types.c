/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that blocks of each type stand for. */
#include "unit.h"

#include <math.h>

#include "assay/random.h"
#include "assay/op_blocks.h"
#include "gguf/types.h"

TEST(halves_are_exact_and_rounded_to_even)
{
	static const struct {
		float x;
		uint16_t h;
	} known[] = {
		{ 0, 0 },          { -0.0f, 0x8000 }, { 1, 0x3c00 },    { -2, 0xc000 },       { 65504, 0x7bff },
		{ 65520, 0x7c00 }, { 0x1p-24f, 1 },   { 0x1p-25f, 0 },  { 0x1.8p-24f, 2 },    { 0x1p-14f, 0x400 },
		{ 2049, 0x6800 },  { 2051, 0x6802 },  { 0.1f, 0x2e66 }, { INFINITY, 0x7c00 },
	};

	for (size_t i = 0; i < N_OF(known); i++)
		assert_int_equal(assay_half_of_f32(known[i].x), known[i].h);
	for (uint32_t h = 0; h < 0x10000; h++)
		if ((h & 0x7fff) <= 0x7c00)
			assert_int_equal(assay_half_of_f32(assay_f32_of_half((uint16_t)h)), h);
	assert_true(isnan(assay_f32_of_half(0x7e00)));
}

/* Blocks by hand, from ggml's definitions. */
TEST(blocks_are_read_as_defined)
{
	uint8_t block[256] = { 0 };
	float out[256];

	/* d = 0.5, codes 1, -3 and 127 */
	memcpy(block, (const uint8_t[]){ 0x00, 0x38, 1, 0xfd, 127 }, 5);
	assay_gguf_type_named("q8_0")->decode(block, 1, out);
	assert_true(out[0] == 0.5f && out[1] == -1.5f && out[2] == 63.5f && out[3] == 0);

	/* value 33: lower half 7 and upper quarter 2, scale 5 of the third sixteen, d = 0.5 */
	memset(block, 0, sizeof(block));
	block[33] = 0x07;
	block[128 + 1] = 2 << 2;
	block[192 + 2] = 5;
	memcpy(block + 208, (const uint8_t[]){ 0x00, 0x38 }, 2);
	assay_gguf_type_named("q6_k")->decode(block, 1, out);
	assert_true(out[33] == 0.5f * 5 * (7 + 32 - 32) && out[32] == 0.5f * 5 * -32);

	/* value 33 is bits 3:2 of byte 1 */
	memset(block, 0x55, 64);
	block[1] = 2 << 2;
	memcpy(block + 64, (const uint8_t[]){ 0x00, 0x3c }, 2);
	assay_gguf_type_named("tq2_0")->decode(block, 1, out);
	assert_true(out[33] == 1 && out[1] == -1 && out[0] == 0);

	/* the trits 2, 0, 1, 2, 0 are 2·81 + 1·9 + 2·3 = 177 of 243, in byte 3 of values 3, 35, 67, 99 and 131 */
	memset(block, 0, sizeof(block));
	block[3] = (177 * 256 + 242) / 243;
	memcpy(block + 52, (const uint8_t[]){ 0x00, 0x3c }, 2);
	assay_gguf_type_named("tq1_0")->decode(block, 1, out);
	assert_true(out[3] == 1 && out[35] == -1 && out[67] == 0 && out[99] == 1 && out[131] == -1);

	/* value 33 is bits 5:4 of byte 1 */
	memset(block, 0x55, 32);
	block[1] = 2 << 4;
	assay_gguf_type_named("i2_s")->decode(block, 1, out);
	assert_true(out[33] == 1 && out[1] == -1 && out[0] == 0);
}

TEST(what_is_written_is_read_back)
{
	static const struct {
		const char *name;
		float error; /* of the largest */
	} types[] = { { "f32", 0 },          { "f16", 0x1p-11f }, { "bf16", 0x1p-8f }, { "q8_0", 1 / 253.0f },
		      { "q6_k", 1 / 25.0f }, { "tq1_0", 0 },      { "tq2_0", 0 },      { "i2_s", 0 } };
	float in[256], out[256];
	uint8_t blocks[1024];

	for (size_t k = 0; k < N_OF(types); k++) {
		const struct assay_gguf_type *t = assay_gguf_type_named(types[k].name);
		float most = 0;

		for (uint32_t i = 0; i < 256; i++) {
			const uint32_t word = assay_random4(7, (uint32_t)k, i).v[0];

			in[i] = t->ternary ? (float)(word % 3) - 1 : assay_normal_f32(word);
			most = fmaxf(most, fabsf(in[i]));
		}
		t->encode(in, 256 / t->block, blocks);
		t->decode(blocks, 256 / t->block, out);
		for (int i = 0; i < 256; i++)
			assert_true(fabsf(in[i] - out[i]) <= types[k].error * most);
	}
}

UNIT_GROUP(NULL, NULL)
