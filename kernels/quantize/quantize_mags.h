/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The largest magnitude of values, and requests for values ahead, from the vectors of an instruction set
 * (quantize_isa.h).
 */
#ifndef QUANTIZE_MAGS_H
#define QUANTIZE_MAGS_H

#include "quantize_isa.h"

/*
 * Where values are asked into. A request into the first level holds one of its few fill buffers until the line is
 * there: what comes from memory is asked into the second.
 */
enum into { INTO_L1, INTO_L2 };

/*
 * Starts the reading of the n values that lie @ahead values on; beyond the input it asks for lines that nobody needs.
 */
INLINE void read_ahead(const float *x, int64_t ahead, int64_t n, enum into into)
{
	uintptr_t at = (uintptr_t)x + (uintptr_t)(ahead * (int64_t)sizeof(*x));

	for (int64_t i = 0; i < n; i += 16) {
		const void *line = (const void *)(at + (uintptr_t)i * sizeof(*x));

		if (into == INTO_L1)
			__builtin_prefetch(line, 0, 3);
		else
			__builtin_prefetch(line, 0, 2);
	}
}

/*
 * Magnitudes of which the largest is that of n values, n a multiple of FLOATS. Values @ahead of them, unless that is 0,
 * are asked into the second level in turn with them: many requests at once keep the values themselves waiting.
 */
INLINE mags mags_of(const float *x, int64_t n, int64_t ahead)
{
	const int64_t turn = n < 4 * FLOATS ? FLOATS : 4 * FLOATS;
	mags m0, m1, m2, m3;
	int64_t i = FLOATS;

	if (!n)
		return zero_mags();
	if (ahead)
		read_ahead(x, ahead, turn, INTO_L2);
	m0 = load_mags(x);
	if (n >= 4 * FLOATS) {
		m1 = load_mags(x + FLOATS);
		m2 = load_mags(x + 2 * FLOATS);
		m3 = load_mags(x + 3 * FLOATS);
		for (i = 4 * FLOATS; i + 4 * FLOATS <= n; i += 4 * FLOATS) {
			if (ahead)
				read_ahead(x + i, ahead, turn, INTO_L2);
			m0 = larger(m0, load_mags(x + i));
			m1 = larger(m1, load_mags(x + i + FLOATS));
			m2 = larger(m2, load_mags(x + i + 2 * FLOATS));
			m3 = larger(m3, load_mags(x + i + 3 * FLOATS));
		}
		m0 = larger(larger(m0, m1), larger(m2, m3));
	}
	for (; i < n; i += FLOATS) {
		if (ahead)
			read_ahead(x + i, ahead, FLOATS, INTO_L2);
		m0 = larger(m0, load_mags(x + i));
	}
	return m0;
}

static inline uint32_t amax_of(const float *x, int64_t n)
{
	int64_t whole = n - n % FLOATS;
	uint32_t amax = largest(mags_of(x, whole, 0));

	for (int64_t i = whole; i < n; i++) {
		uint32_t mag = assay_f32_bits(x[i]) & MAG_MASK;

		amax = mag > amax ? mag : amax;
	}
	return amax;
}

#endif
