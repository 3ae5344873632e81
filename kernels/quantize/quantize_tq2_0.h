/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tq2_0 from floats with the vectors of an instruction set (quantize_isa.h), after a file or quantize_body.h has
 * defined
 *
 *	TQ2_0_MULTIPLE             how many times the reciprocal of the scale @by holds: 2 or 4
 *	tq2_0_codes(x, by, q)      the 64 bytes of codes of the 256 values x, 32 for each half of them. In byte j of a
 *	                           half, the code of its value 32·i + j lies 2·i bits up: 1 + r, with r = x·by /
 *	                           TQ2_0_MULTIPLE to nearest, ties away from zero. Its magnitude is at most a rounding
 *	                           error above 1, but in blocks that are corrected afterwards
 */
#ifndef QUANTIZE_TQ2_0_H
#define QUANTIZE_TQ2_0_H

#include "quantize_groups.h"

#define TQ2_STEP (FLOATS < 16 ? 1 : 2)

INLINE void tq2_blocks(const float *x, const struct scales *s, int b, int n, uint8_t *q, bool stage)
{
	(void)stage;
	for (int k = 0; k < n; k++, x += ASSAY_TQ2_0_BLOCK, q += ASSAY_TQ2_0_BLOCK_BYTES) {
		tq2_0_codes(x, s->by[b + k], q);
		memcpy(q + 64, &s->half[b + k], 2);
	}
}

static const struct format tq2_0 = { .block = ASSAY_TQ2_0_BLOCK,
				     .block_bytes = ASSAY_TQ2_0_BLOCK_BYTES,
				     .levels = 1,
				     .multiple = TQ2_0_MULTIPLE,
				     .codes_at = 0,
				     .half_at = 64,
				     .zero = 0x55,
				     .codes_of = tq2_blocks,
				     .cached = { .blocks = 4, .step = TQ2_STEP, .lead = 1 },
				     .memory = { .blocks = 2, .step = 2, .lead = 1, .codes_first = true } };

FORMAT_KERNEL(tq2_0)

#endif
