/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twelve independent chains of a multiplication and an addition each: as many as four units with a latency of three
 * take at once.
 */
#include "machine/core_pace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHAINS     12
#define STEPS      400
#define WARM_STEPS 8
/* Another busy hardware thread costs the loop 30 % at least. */
#define SLOW_RATIO 1.25
/*
 * The loop takes some 1 µs, half of it on the fastest cores: with coarser steps of the clock one more or less is no
 * sign of anything.
 */
#define CLOCK_STEP_MOST_NS 60.0

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

bool assay_core_pace_slow(uint64_t ticks, uint64_t least)
{
	return least && (double)ticks > SLOW_RATIO * (double)least;
}

const char *assay_core_pace_untold(const struct assay_topology *t, const struct assay_clock *c, const int *cpus,
				   size_t n)
{
	if (c->resolution_ns > CLOCK_STEP_MOST_NS)
		return "the steps of the clock are too coarse";
	if (assay_topology_share_a_core(t, cpus, n))
		return "threads of the case share a core";
	return NULL;
}

struct assay_core_pace *assay_core_paces_of(struct assay_core_paces *all, const char *variant, unsigned threads)
{
	struct assay_core_pace **grown;

	for (size_t i = 0; all && i < all->n; i++)
		if (all->v[i]->threads == threads && !strcmp(all->v[i]->variant, variant))
			return all->v[i];
	grown = all ? realloc(all->v, (all->n + 1) * sizeof(*grown)) : NULL;
	if (!grown)
		return NULL;
	all->v = grown;
	grown[all->n] = calloc(1, sizeof(**grown));
	if (!grown[all->n])
		return NULL;
	grown[all->n]->threads = threads;
	snprintf(grown[all->n]->variant, sizeof(grown[all->n]->variant), "%s", variant);
	return grown[all->n++];
}

void assay_core_paces_release(struct assay_core_paces *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->v[i]);
	free(all->v);
	*all = (struct assay_core_paces){ 0 };
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
