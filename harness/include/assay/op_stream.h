/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What variants of the stream and peak ops may rely on: axes, tensors and the exact work of one run(). These ops
 * measure the machine; every other case is shown as a share of what they reach.
 *
 * stream.read    sum[t][l] = passes · Σ a[i] over the words i of slice t with i mod 8 = l, modulo 2^64
 * stream.copy    b[i] = a[i]
 * stream.triad   a[i] = b[i] + 3·c[i], the product rounded before the sum (no fused multiply-add)
 *
 * Thread t works on slice t of every array: equal parts, each a multiple of 4 KiB. All arrays of a level together take
 *
 *	l1, l2  half of that cache of each thread
 *	l3      half of the last-level cache, or eight times the level-2 cache of a core where that is less; but no less
 *	        than twice the level-2 caches of all threads, or one and a half where twice would exceed the last
 *	        level
 *	dram    eight times the last-level cache, or 512 MiB where that is less, but no less than twice the cache, and
 *	        no more than a quarter of the memory
 *	2xllc   twice the last-level cache: read again and again, a part of it stays there
 *
 * A run makes `passes` passes over them, so that the start of the threads does not count where a pass takes
 * nanoseconds; each pass really touches every byte.
 *
 * Bytes are counted as the arithmetic needs them: one read of every input, one write of every output. The read that a
 * cache makes before a plain store (write-allocate) is not counted, so where the arrays exceed the caches, variants
 * that store around them reach more.
 */
#ifndef ASSAY_OP_STREAM_H
#define ASSAY_OP_STREAM_H

#include "plugin.h"

/* Indices into assay_shape.axis, and values of the level. ASSAY_STREAM_PASSES is the axis of work. */
enum { ASSAY_STREAM_LEVEL = 0, ASSAY_STREAM_PASSES = 1 };
enum { ASSAY_LEVEL_L1 = 0, ASSAY_LEVEL_L2 = 1, ASSAY_LEVEL_L3 = 2, ASSAY_LEVEL_DRAM = 3, ASSAY_LEVEL_2XLLC = 4 };

/* Indices into assay_job.tensors. */
enum { ASSAY_STREAM_READ_A = 0, ASSAY_STREAM_READ_SUM = 1 }; /* I64 [words], I64 [threads][8] */
enum { ASSAY_STREAM_COPY_A = 0, ASSAY_STREAM_COPY_B = 1 };   /* F32 [n] each */
enum { ASSAY_STREAM_TRIAD_B = 0, ASSAY_STREAM_TRIAD_C = 1, ASSAY_STREAM_TRIAD_A = 2 }; /* F32 [n] each */

#define ASSAY_STREAM_PAGE      4096 /* slices are multiples of this many bytes */
#define ASSAY_STREAM_SUM_LANES 8    /* one cache line a thread */
#define ASSAY_STREAM_SCALE     3.0f

/*
 * Passes of one run over @n_arrays arrays of @slice_bytes a thread: where the shape names none, a thread touches as
 * much of 16 MiB as whole passes fill, or one pass that is more.
 */
static inline uint64_t assay_stream_passes(const struct assay_shape *shape, uint64_t slice_bytes, unsigned n_arrays)
{
	uint64_t passes = (UINT64_C(16) << 20) / (slice_bytes * n_arrays);

	if (shape->axis[ASSAY_STREAM_PASSES])
		return (uint64_t)shape->axis[ASSAY_STREAM_PASSES];
	return passes ? passes : 1;
}

/*
 * stream.p2p     b[i] = a[i], where a comes from the memory of another device
 *
 * The case's own device, number d of n, fetches a from device (d + hop) mod n, whose memory holds a copy of it before a
 * call is timed. Each byte counts once: it crosses the link once. So the devices 0 … n − 1 and the hops 1 … n − 1 are
 * all pairs, in both directions.
 */
enum { ASSAY_P2P_HOP = 0, ASSAY_P2P_BYTES = 1 }; /* axes; the tensors are those of stream.copy */
/* Counters: calls whose bytes went straight from device to device, or through memory of the host. */
enum { ASSAY_P2P_DIRECT, ASSAY_P2P_STAGED, ASSAY_P2P_N_COUNTERS };

/*
 * peak.f32_fma      y[t][l] = f applied `steps` times to x[t][l], f(v) = v · a[l mod 8] + b[l mod 8]
 * peak.i8_dot       y[t][l] = x[t][l] + `steps` times Σ_j a[l mod 8][j] · w[l mod 8][j], j = 0 … 3
 * peak.ternary_dot  the same with the codes 0, 1 and 2 in a
 *
 * Every thread t does the same. All values of peak.f32_fma are whole numbers below 2^24, so fused and separate rounding
 * agree; in peak.i8_dot a is at most 127, so that two neighbouring products fit 16 bits, and in peak.ternary_dot w is
 * no less than -127, so that 64 such pairs do. Every lane must really do every step: this is the arithmetic that is
 * measured, and neither repetition nor equal operands may be used to save any.
 *
 * x and y are [threads][ASSAY_PEAK_LANES], F32 or I32; a and b of peak.f32_fma F32 [8]; of the dot products a is U8
 * [8][4] and w I8 [8][4].
 */
enum { ASSAY_PEAK_FMA_X = 0, ASSAY_PEAK_FMA_A = 1, ASSAY_PEAK_FMA_B = 2, ASSAY_PEAK_FMA_Y = 3 };
enum { ASSAY_PEAK_DOT_X = 0, ASSAY_PEAK_DOT_A = 1, ASSAY_PEAK_DOT_W = 2, ASSAY_PEAK_DOT_Y = 3 };

#define ASSAY_PEAK_LANES   384   /* a thread: four groups of twelve 256-bit registers, or one of 24 512-bit ones */
#define ASSAY_PEAK_PATTERN 8     /* lanes after which the operands a, b and w repeat */
#define ASSAY_PEAK_STEPS   16384 /* at most; also where the shape names none */
#define ASSAY_PEAK_STRIDE  64    /* steps are a multiple of this */

enum { ASSAY_PEAK_WORK = 0 }; /* index into assay_shape.axis: the axis of work, steps */

static inline uint32_t assay_peak_steps(const struct assay_shape *shape)
{
	return shape->axis[ASSAY_PEAK_WORK] ? (uint32_t)shape->axis[ASSAY_PEAK_WORK] : ASSAY_PEAK_STEPS;
}

#endif
