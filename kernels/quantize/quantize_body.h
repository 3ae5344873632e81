/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All formats of assay/op_quantize.h from floats, for the instruction set whose file includes this last.
 * quantize_isa.h lists what it defines before.
 */
#include "quantize_i2_s.h"
#include "quantize_i8_token.h"
#include "quantize_q8_0.h"

/* Cut off from 2·x·id: exact, and 0 where x·id rounds to 0. */
#define TQ2_0_MULTIPLE 2

INLINE void tq2_0_codes(const float *x, float by, uint8_t *q)
{
	ternary_256(x, by, CUT_OFF, 0, 2, q, false);
}

#include "quantize_tq2_0.h"

/* a level of its own, so that the name is replaced before it is joined */
#define RUNS(isa) QUANTIZE_RUNS(isa)
RUNS(QUANTIZE_ISA)
