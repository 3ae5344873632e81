/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twelve independent chains of a multiplication and an addition each: as many as four units with a latency of three
 * take at once.
 */
#include "machine/core_pace.h"

#include <math.h>
#include <pthread.h>
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

/* ---- core survey ---- */

/*
 * The loops run on a thread of their own, so that the caller's binding stays as it is. The shortest loop of a CPU is
 * what its core can do.
 */

#define LOOPS_MAX 65536
/* For each core: a dozen blocks of long turns. */
#define SHARE_NS 100000000u
/* A slow loop now and then is an interrupt. */
#define SLOW_NOTICE_FRAC 0.05
/* Fewer blocks have no spread to speak of. */
#define LEAST_BLOCKS 3
#define BLOCKS_MAX   1024

struct survey {
	const struct assay_topology *t;
	const struct assay_clock *clock;
	struct assay_core_share share[ASSAY_SURVEY_CPUS];
	size_t n;
	uint64_t ticks[LOOPS_MAX];
	struct assay_err err;
};

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void assay_core_share_count(struct assay_core_share *s, uint64_t *ticks, size_t n)
{
	double sum = 0;

	qsort(ticks, n, sizeof(*ticks), ascending);
	s->loops = n;
	s->slow = 0;
	while (s->slow < n && assay_core_pace_slow(ticks[n - 1 - s->slow], ticks[0]))
		s->slow++;
	for (size_t i = 0; i < n; i++)
		sum += (double)ticks[i];
	s->lost_frac = n ? 1 - (double)n * (double)ticks[n / 2] / sum : 0;
	s->ratio = s->slow ? (double)ticks[n - 1 - s->slow / 2] / (double)ticks[0] : 1;
}

static int ascending_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Ticks of a loop in the turn that begins at loop *at, which moves behind it; 0: too few loops are left for one. */
static double take_turn(const uint64_t *ticks, size_t n, double turn_ticks, size_t *at)
{
	double sum = 0;
	size_t from = *at;

	while (*at < n && sum < turn_ticks)
		sum += (double)ticks[(*at)++];
	return sum < turn_ticks ? 0 : sum / (double)(*at - from);
}

double assay_core_share_noise(const uint64_t *ticks, size_t n, double turn_ticks)
{
	double ratio[BLOCKS_MAX], turn[4];
	size_t blocks = 0, at = 0;

	while (blocks < BLOCKS_MAX) {
		for (int i = 0; i < 4; i++)
			turn[i] = take_turn(ticks, n, turn_ticks, &at);
		if (!(turn[3] > 0))
			break;
		ratio[blocks++] = log((turn[1] + turn[2]) / (turn[0] + turn[3]));
	}
	if (blocks < LEAST_BLOCKS)
		return NAN;
	qsort(ratio, blocks, sizeof(*ratio), ascending_double);
	/* two standard deviations lie between these; a median over blocks does not mind what lies beyond */
	return (ratio[(size_t)(0.84 * (double)(blocks - 1) + 0.5)] -
		ratio[(size_t)(0.16 * (double)(blocks - 1) + 0.5)]) /
	       2;
}

static void *try_cores(void *arg)
{
	struct survey *s = arg;

	for (size_t i = 0; i < s->n && !assay_bind_thread(s->t, s->share[i].cpu, &s->err); i++) {
		uint64_t start = assay_clock_ticks(s->clock);
		size_t n = 0;

		do
			s->ticks[n++] = assay_core_pace_ticks(s->clock);
		while (n < LOOPS_MAX &&
		       assay_clock_ticks_to_ns(s->clock, assay_clock_ticks(s->clock) - start) < SHARE_NS);
		s->share[i].short_noise =
			assay_core_share_noise(s->ticks, n, ASSAY_SURVEY_SHORT_NS / s->clock->ns_per_tick);
		s->share[i].long_noise =
			assay_core_share_noise(s->ticks, n, ASSAY_SURVEY_LONG_NS / s->clock->ns_per_tick);
		assay_core_share_count(&s->share[i], s->ticks, n);
	}
	return NULL;
}

static double slow_frac(const struct assay_core_share *c)
{
	return c->loops ? (double)c->slow / (double)c->loops : 0;
}

bool assay_core_share_taken(const struct assay_core_share *c)
{
	return slow_frac(c) > SLOW_NOTICE_FRAC || c->lost_frac > SLOW_NOTICE_FRAC;
}

void assay_core_share_add(struct assay_findings *l, const struct assay_core_share *v, size_t n, size_t n_cores)
{
	const struct assay_core_share *worst = &v[0];
	char value[256];
	size_t slow = 0;

	for (size_t i = 0; i < n; i++) {
		slow += slow_frac(&v[i]) > SLOW_NOTICE_FRAC;
		worst = slow_frac(&v[i]) > slow_frac(worst) ? &v[i] : worst;
	}
	if (!slow) {
		if (n < n_cores)
			snprintf(value, sizeof(value), "%zu of %zu cores tried, all at full speed", n, n_cores);
		else if (n > 2)
			snprintf(value, sizeof(value), "all %zu cores at full speed", n);
		else
			snprintf(value, sizeof(value), "%s at full speed", n == 2 ? "both cores" : "the core");
		assay_findings_add(l, "core_pace", ASSAY_HEALTH_GOOD, value, "");
		return;
	}
	snprintf(value, sizeof(value),
		 "%zu of %zu cores%s %s slow at times: CPU %d %sfor %.0f %% of the time, when a loop takes %.1f times "
		 "as long",
		 slow, n, n < n_cores ? " tried" : "", slow == 1 ? "is" : "are", worst->cpu, slow == 1 ? "" : "most, ",
		 100 * slow_frac(worst), worst->ratio);
	assay_findings_add(l, "core_pace", ASSAY_HEALTH_WARN, value,
			   "the other hardware thread of the core is busy (on a virtual machine perhaps with another "
			   "guest), or the "
			   "frequency changes: use a dedicated host, or compare builds with 'assay compare', which "
			   "interleaves them");
}

const char *assay_core_survey_take(const struct assay_topology *t, const struct assay_placement_options *where,
				   const struct assay_clock *clock, struct assay_core_share *v, size_t *n,
				   size_t *n_cores, struct assay_err *err)
{
	struct survey *s = calloc(1, sizeof(*s));
	const char *untold = NULL;
	int cpus[ASSAY_SURVEY_CPUS];
	pthread_t thread;

	*n = 0;
	*n_cores = assay_placement_max(t, where);
	if (!s) {
		assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		return "out of memory";
	}
	s->t = t;
	s->clock = clock;
	s->n = *n_cores < ASSAY_SURVEY_CPUS ? *n_cores : ASSAY_SURVEY_CPUS;
	if (!s->n)
		untold = "no core to try";
	else if (!assay_placement_pick(t, where, s->n, cpus, &s->err))
		untold = assay_core_pace_untold(t, clock, cpus, s->n);
	if (!untold && !s->err.code) {
		for (size_t i = 0; i < s->n; i++)
			s->share[i].cpu = cpus[i];
		if (pthread_create(&thread, NULL, try_cores, s))
			untold = "no thread to try the cores with";
		else
			pthread_join(thread, NULL);
	}
	if (s->err.code) {
		*err = s->err;
		untold = err->text;
	}
	if (!untold) {
		memcpy(v, s->share, s->n * sizeof(*v));
		*n = s->n;
	}
	free(s);
	return untold;
}
