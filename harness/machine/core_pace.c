/* SPDX-License-Identifier: Apache-2.0 */
/* Twelve independent chains of a multiplication and an addition each: more than the units of any core take at once. */
#include "machine/core_pace.h"

#define CHAINS 12
#define STEPS 400
#define WARM_STEPS 8
/* Another busy hardware thread costs the loop 30 % at least, a step of the clock's frequency seldom so much. */
#define SLOW_RATIO 1.25

typedef float vec __attribute__((vector_size(16)));

/* The value passes through a register that the compiler knows nothing of. */
static inline vec opaque(vec v)
{
#if defined(__x86_64__)
	__asm__ volatile("" : "+x"(v));
#elif defined(__aarch64__)
	__asm__ volatile("" : "+w"(v));
#else
	__asm__ volatile("" : "+m"(v));
#endif
	return v;
}

uint64_t assay_core_pace_ticks(const struct assay_clock *c)
{
	const vec one = opaque((vec){ 1, 1, 1, 1 });
	uint64_t took = 0;
	vec chain[CHAINS];

	for (int i = 0; i < CHAINS; i++)
		chain[i] = opaque(one);
	/* first a few steps for the caches, from which the sample may have driven this code */
	for (int steps = WARM_STEPS; steps <= STEPS; steps += STEPS - WARM_STEPS) {
		uint64_t start = assay_clock_ticks(c);

		for (int k = 0; k < steps; k++)
#pragma GCC unroll 12
			for (int i = 0; i < CHAINS; i++)
				chain[i] = opaque(opaque(chain[i] * one) + one);
		for (int i = 0; i < CHAINS; i++)
			opaque(chain[i]);
		took = assay_clock_ticks(c) - start;
	}
	return took;
}

uint64_t assay_core_pace_least(const struct assay_clock *c, uint64_t ns)
{
	uint64_t start = assay_clock_ticks(c), least = UINT64_MAX, ticks;

	do {
		ticks = assay_core_pace_ticks(c);
		least = ticks < least ? ticks : least;
	} while (assay_clock_ticks_to_ns(c, assay_clock_ticks(c) - start) < ns);
	return least;
}

bool assay_core_pace_slow(uint64_t ticks, uint64_t least)
{
	return least && (double)ticks > SLOW_RATIO * (double)least;
}

uint64_t assay_core_pace_known(const struct assay_core_pace *p, int cpu)
{
	return p && cpu >= 0 && cpu < ASSAY_PACE_CPUS ? p->least[cpu] : 0;
}

void assay_core_pace_learn(struct assay_core_pace *p, int cpu, uint64_t least)
{
	if (p && least && cpu >= 0 && cpu < ASSAY_PACE_CPUS && (!p->least[cpu] || least < p->least[cpu]))
		p->least[cpu] = least;
}
