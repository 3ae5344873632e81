/* SPDX-License-Identifier: Apache-2.0 */
#include "gguf/types.h"

#include <stddef.h>
#include <string.h>

/* As in ggml.h and ggml-common.h; i2_s as in bitnet.cpp, where the tensor's scale and padding follow the codes. */
static const struct assay_gguf_type types[] = {
	{ "f32", 0, 1, 4, 0 },       { "f16", 1, 1, 2, 0 },       { "q4_0", 2, 32, 18, 0 },
	{ "q4_1", 3, 32, 20, 0 },    { "q5_0", 6, 32, 22, 0 },    { "q5_1", 7, 32, 24, 0 },
	{ "q8_0", 8, 32, 34, 0 },    { "q8_1", 9, 32, 36, 0 },    { "q2_k", 10, 256, 84, 0 },
	{ "q3_k", 11, 256, 110, 0 }, { "q4_k", 12, 256, 144, 0 }, { "q5_k", 13, 256, 176, 0 },
	{ "q6_k", 14, 256, 210, 0 }, { "q8_k", 15, 256, 292, 0 }, { "i8", 24, 1, 1, 0 },
	{ "i16", 25, 1, 2, 0 },      { "i32", 26, 1, 4, 0 },      { "i64", 27, 1, 8, 0 },
	{ "f64", 28, 1, 8, 0 },      { "bf16", 30, 1, 2, 0 },     { "tq1_0", 34, 256, 54, 0 },
	{ "tq2_0", 35, 256, 66, 0 }, { "i2_s", 36, 128, 32, 32 },
};

const struct assay_gguf_type *assay_gguf_type(uint32_t id)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].id == id)
			return &types[i];
	return NULL;
}

const struct assay_gguf_type *assay_gguf_type_named(const char *name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	return NULL;
}
