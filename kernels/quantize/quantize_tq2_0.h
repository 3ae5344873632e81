/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tq2_0 from floats, for an instruction set whose file includes this after quantize_groups.h and after it has defined
 *
 *	TQ2_0_MULTIPLE             of the reciprocal of the scale, that @by is: 2 or 4
 *	tq2_0_codes(x, by, q)      the 64 bytes of codes of the 256 values x, 32 for each half of them. In byte j of a half,
 *	                           the code of its value 32·i + j lies 2·i bits up: 1 + x·by / TQ2_0_MULTIPLE, rounded, ties
 *	                           away from zero
 */
#ifndef QUANTIZE_TQ2_0_H
#define QUANTIZE_TQ2_0_H

#include "quantize_groups.h"

INLINE void tq2_block(const float *x, const struct scales *s, int b, uint8_t *q, bool stage)
{
	(void)stage;
	tq2_0_codes(x, s->by[b], q);
	memcpy(q + 64, &s->half[b], 2);
}

static const struct format tq2_0 = { .block = ASSAY_TQ2_0_BLOCK,
				     .block_bytes = ASSAY_TQ2_0_BLOCK_BYTES,
				     .levels = 1,
				     .multiple = TQ2_0_MULTIPLE,
				     .codes_at = 0,
				     .half_at = 64,
				     .zero = 0x55,
				     .step = 1,
				     .codes_of = tq2_block,
				     .cached = { 4, 1, 0 },
				     .memory = { 2, 1, 0 } };

ALONE void tq2_0_cached(const float *x, uint8_t *q, int64_t n_blocks)
{
	whole_groups(&tq2_0, x, q, n_blocks, false);
}

ALONE void tq2_0_memory(const float *x, uint8_t *q, int64_t n_blocks)
{
	whole_groups(&tq2_0, x, q, n_blocks, true);
}

static bool quantize_tq2_0(const float *x, uint8_t *q, int64_t n, bool around)
{
	all_blocks(&tq2_0, tq2_0_cached, tq2_0_memory, x, q, n, around);
	return quantize_stores_plainly(q, around);
}

#endif
