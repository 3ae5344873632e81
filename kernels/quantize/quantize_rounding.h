/* SPDX-License-Identifier: Apache-2.0 */
/* How the files of the instruction sets round products to codes. */
#ifndef QUANTIZE_ROUNDING_H
#define QUANTIZE_ROUNDING_H

/* How a product, smaller than 2^31, becomes the integer that a ternary code is made of. */
enum rounding { CUT_OFF, TO_EVEN };

/*
 * PMULHRSW by this is t / 2 of 16-bit integers t, to nearest, ties away from zero, for |t| < 2^14. The instruction
 * calculates floor((t·(2^14 + 1) + 2^14) / 2^15): the additional t, small against 2^14, takes the ties of negative t
 * down.
 */
#define HALF_AWAY_FACTOR 0x4001

#endif
