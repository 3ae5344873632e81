/* SPDX-License-Identifier: Apache-2.0 */
/* q8_0 from floats with the vectors of an instruction set (quantize_isa.h). */
#ifndef QUANTIZE_Q8_0_H
#define QUANTIZE_Q8_0_H

#include "quantize_groups.h"

/*
 * From the caches one request is enough; from memory a far one into L2, with the magnitudes, and a near one from there.
 */
#define Q8_AHEAD 3072
#define Q8_NEAR  1536
#define Q8_FAR   8192
#define Q8_STEP  (FLOATS < 8 ? FLOATS : 8)

INLINE void q8_blocks(const float *x, const struct scales *s, int b, int n, uint8_t *q, bool stage)
{
#pragma GCC unroll 1
	for (int k = 0; k < n; k += 2, x += 2 * ASSAY_Q8_0_BLOCK, q += 2 * ASSAY_Q8_0_BLOCK_BYTES) {
		read_ahead(x, stage ? Q8_NEAR : Q8_AHEAD, 2 * ASSAY_Q8_0_BLOCK, INTO_L1);
		memcpy(q, &s->half[b + k], 2);
		memcpy(q + ASSAY_Q8_0_BLOCK_BYTES, &s->half[b + k + 1], 2);
		q8_codes(x, s->by + b + k, q + 2, q + ASSAY_Q8_0_BLOCK_BYTES + 2);
	}
}

static const struct format q8_0 = { .block = ASSAY_Q8_0_BLOCK,
				    .block_bytes = ASSAY_Q8_0_BLOCK_BYTES,
				    .levels = 127,
				    .multiple = 2,
				    .codes_at = 2,
				    .half_at = 0,
				    .zero = 0,
				    .codes_of = q8_blocks,
				    .cached = { .blocks = FLOATS, .step = Q8_STEP, .lead = 2 },
				    .memory = { .blocks = FLOATS, .step = Q8_STEP, .lead = 1, .ahead = Q8_FAR } };

FORMAT_KERNEL(q8_0)

#endif
