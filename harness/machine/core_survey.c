/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops run on a thread of their own, so that the caller's binding stays as it is. The shortest loop of a CPU is
 * what its core can do.
 */
#include "machine/core_survey.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SURVEY_CPUS 8
#define SHARE_NS    100000000u
#define LOOPS_MAX   65536
/* A slow loop now and then is an interrupt. */
#define SLOW_NOTICE_FRAC 0.05

struct survey {
	const struct assay_topology *t;
	const struct assay_clock *clock;
	struct assay_core_share share[SURVEY_CPUS];
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
	qsort(ticks, n, sizeof(*ticks), ascending);
	s->loops = n;
	s->slow = 0;
	while (s->slow < n && assay_core_pace_slow(ticks[n - 1 - s->slow], ticks[0]))
		s->slow++;
	s->ratio = s->slow ? (double)ticks[n - 1 - s->slow / 2] / (double)ticks[0] : 1;
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
		assay_core_share_count(&s->share[i], s->ticks, n);
	}
	return NULL;
}

static double slow_frac(const struct assay_core_share *c)
{
	return c->loops ? (double)c->slow / (double)c->loops : 0;
}

void assay_core_share_add(struct assay_findings *l, const struct assay_core_share *v, size_t n, size_t n_cores)
{
	const struct assay_core_share *worst = &v[0];
	char value[256], of[32] = "";
	size_t slow = 0;

	for (size_t i = 0; i < n; i++) {
		slow += slow_frac(&v[i]) > SLOW_NOTICE_FRAC;
		worst = slow_frac(&v[i]) > slow_frac(worst) ? &v[i] : worst;
	}
	if (n < n_cores)
		snprintf(of, sizeof(of), " of %zu", n_cores);
	if (!slow) {
		snprintf(value, sizeof(value), "%zu%s core%s calculated at %s own pace", n, of, n == 1 ? "" : "s",
			 n == 1 ? "its" : "their");
		assay_findings_add(l, "core_pace", ASSAY_HEALTH_GOOD, value, "");
		return;
	}
	snprintf(value, sizeof(value),
		 "%zu of %zu cores%s %s slow at times: CPU %d %sfor %.0f %% of the time, when a loop takes %.1f times "
		 "as long",
		 slow, n, n < n_cores ? " tried" : "", slow == 1 ? "is" : "are", worst->cpu, slow == 1 ? "" : "most, ",
		 100 * slow_frac(worst), worst->ratio);
	assay_findings_add(
		l, "core_pace", ASSAY_HEALTH_WARN, value,
		"another hardware thread of the core is busy, on a virtual machine that of another guest, "
		"or its frequency changes; a host of one's own, or compare, which has two builds take turns");
}

void assay_core_survey(const struct assay_topology *t, const struct assay_clock *clock, struct assay_findings *l)
{
	const struct assay_placement_options one_a_core = { 0 };
	struct survey *s = calloc(1, sizeof(*s));
	size_t n_cores = assay_placement_max(t, &one_a_core);
	const char *untold = NULL;
	int cpus[SURVEY_CPUS];
	pthread_t thread;

	if (!s) {
		l->failed = true;
		return;
	}
	s->t = t;
	s->clock = clock;
	s->n = n_cores < SURVEY_CPUS ? n_cores : SURVEY_CPUS;
	if (!assay_placement_pick(t, &one_a_core, s->n, cpus, &s->err))
		untold = assay_core_pace_untold(t, clock, cpus, s->n);
	if (!untold && !s->err.code) {
		for (size_t i = 0; i < s->n; i++)
			s->share[i].cpu = cpus[i];
		if (pthread_create(&thread, NULL, try_cores, s))
			untold = "no thread to try the cores with";
		else
			pthread_join(thread, NULL);
	}
	if (untold || s->err.code || !s->n)
		assay_findings_add(l, "core_pace", ASSAY_HEALTH_MISSING,
				   untold        ? untold
				   : s->err.code ? s->err.text
						 : "no core to try",
				   "");
	else
		assay_core_share_add(l, s->share, s->n, n_cores);
	free(s);
}
