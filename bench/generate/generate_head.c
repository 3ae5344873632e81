/* SPDX-License-Identifier: Apache-2.0 */
/* All but i8_row are types of GGUF files. */
#include "generate_head.h"

#include <math.h>
#include <string.h>

#include "assay/op_blocks.h"
#include "gguf/types.h"

const char *const assay_generate_head_names[ASSAY_GENERATE_N_HEADS + 1] = {
	[ASSAY_GENERATE_HEAD_BF16] = "bf16",     [ASSAY_GENERATE_HEAD_F32] = "f32",
	[ASSAY_GENERATE_HEAD_Q8_0] = "q8_0",     [ASSAY_GENERATE_HEAD_Q6_K] = "q6_k",
	[ASSAY_GENERATE_HEAD_I8_ROW] = "i8_row",
};

/* NULL: i8_row. By number, since the instructions of strcmp() depend on where the linker puts the names. */
static const struct assay_gguf_type *type_of(enum assay_generate_head head)
{
	static const uint32_t ids[] = { [ASSAY_GENERATE_HEAD_BF16] = 30,
					[ASSAY_GENERATE_HEAD_F32] = 0,
					[ASSAY_GENERATE_HEAD_Q8_0] = ASSAY_BLOCK_Q8_0,
					[ASSAY_GENERATE_HEAD_Q6_K] = ASSAY_BLOCK_Q6_K };

	return head == ASSAY_GENERATE_HEAD_I8_ROW ? NULL : assay_gguf_type(ids[head]);
}

int64_t assay_generate_head_block(enum assay_generate_head head)
{
	const struct assay_gguf_type *t = type_of(head);

	return t ? t->block : 32;
}

int64_t assay_generate_head_row_bytes(enum assay_generate_head head, int64_t n)
{
	const struct assay_gguf_type *t = type_of(head);

	return t ? n / t->block * t->bytes : n + (int64_t)sizeof(float);
}

void assay_generate_head_encode(enum assay_generate_head head, const float *x, int64_t n, uint8_t *row)
{
	const struct assay_gguf_type *t = type_of(head);
	float most = 0, scale;

	if (t) {
		t->encode(x, (size_t)n / t->block, row);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		most = fmaxf(most, fabsf(x[i]));
	scale = most / 127;
	memcpy(row, &scale, sizeof(scale));
	for (int64_t i = 0; i < n; i++)
		row[sizeof(scale) + i] = (uint8_t)(int8_t)(most > 0 ? nearbyintf(x[i] * (127 / most)) : 0);
}

void assay_generate_head_decode(enum assay_generate_head head, const uint8_t *row, int64_t n, float *x)
{
	const struct assay_gguf_type *t = type_of(head);
	float scale;

	if (t) {
		t->decode(row, (size_t)n / t->block, x);
		return;
	}
	memcpy(&scale, row, sizeof(scale));
	for (int64_t i = 0; i < n; i++)
		x[i] = (float)(int8_t)row[sizeof(scale) + i] * scale;
}
