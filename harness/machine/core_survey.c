/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All loops run on threads of their own, so that the caller's binding stays as it is. The
 * shortest loop of a CPU is what its core can do.
 */
#include "machine/core_survey.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine/health.h"

#define SHARE_NS       100000000u
#define LOOPS_MAX      65536
#define BATCHES        40
#define BATCH_PAUSE_NS 10000000
#define ROUND_TRIPS    200
#define GIVE_UP_NS     50000000u
/* A slow loop now and then is an interrupt. */
#define SLOW_NOTICE_FRAC 0.05
#define MOVED_RATIO      2.0

struct share_job {
	const struct assay_topology *t;
	const struct assay_clock *clock;
	struct assay_core_share *share;
	uint64_t *ticks; /* LOOPS_MAX */
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

static void *time_loops(void *arg)
{
	struct share_job *j = arg;
	uint64_t start;
	size_t n = 0;

	if (assay_bind_thread(j->t, j->share->cpu, &j->err))
		return NULL;
	start = assay_clock_ticks(j->clock);
	do
		j->ticks[n++] = assay_core_pace_ticks(j->clock);
	while (n < LOOPS_MAX && assay_clock_ticks_to_ns(j->clock, assay_clock_ticks(j->clock) - start) < SHARE_NS);
	assay_core_share_count(j->share, j->ticks, n);
	return NULL;
}

static int survey_share(const struct assay_topology *t, const struct assay_clock *clock, struct assay_core_share *share,
			struct assay_err *err)
{
	struct share_job j = { .t = t, .clock = clock, .share = share, .ticks = malloc(LOOPS_MAX * sizeof(*j.ticks)) };
	pthread_t thread;
	int rc = 0;

	if (!j.ticks || pthread_create(&thread, NULL, time_loops, &j))
		rc = assay_err_set(err, ASSAY_ENOMEM, "no memory or thread to try the cores with");
	else
		pthread_join(thread, NULL);
	free(j.ticks);
	if (!rc && j.err.code)
		rc = assay_err_set(err, j.err.code, "%s", j.err.text);
	return rc;
}

/* The ball is odd while the partner has it. */
struct rally {
	_Alignas(64) _Atomic uint32_t ball;
	_Alignas(64) _Atomic bool stop;
	const struct assay_topology *t;
	const struct assay_clock *clock;
	int cpu[2];
	double least_ns, most_ns;
	struct assay_err err[2];
};

static void *return_ball(void *arg)
{
	struct rally *r = arg;

	if (assay_bind_thread(r->t, r->cpu[1], &r->err[1]))
		atomic_store(&r->stop, true);
	while (!atomic_load_explicit(&r->stop, memory_order_relaxed)) {
		uint32_t ball = atomic_load_explicit(&r->ball, memory_order_acquire);

		if (ball & 1)
			atomic_store_explicit(&r->ball, ball + 1, memory_order_release);
	}
	return NULL;
}

/* Nanoseconds of a round trip; 0 when the partner did not come to run. */
static double batch_ns(struct rally *r)
{
	uint64_t start = assay_clock_ticks(r->clock);

	for (unsigned k = 0; k < ROUND_TRIPS; k++) {
		uint32_t ball = atomic_load_explicit(&r->ball, memory_order_relaxed) + 1;

		atomic_store_explicit(&r->ball, ball, memory_order_release);
		for (uint32_t spins = 1; atomic_load_explicit(&r->ball, memory_order_acquire) == ball; spins++)
			if (atomic_load_explicit(&r->stop, memory_order_relaxed) ||
			    (!(spins % 65536) &&
			     assay_clock_ticks_to_ns(r->clock, assay_clock_ticks(r->clock) - start) > GIVE_UP_NS))
				return 0;
	}
	return (double)assay_clock_ticks_to_ns(r->clock, assay_clock_ticks(r->clock) - start) / ROUND_TRIPS;
}

static void *play(void *arg)
{
	const struct timespec pause = { .tv_nsec = BATCH_PAUSE_NS };
	struct rally *r = arg;

	if (!assay_bind_thread(r->t, r->cpu[0], &r->err[0]))
		for (int i = 0; i < BATCHES; i++) {
			/* the shortest of three: an interrupt is no distance */
			double ns = 0;

			for (int k = 0; k < 3; k++) {
				double one = batch_ns(r);

				if (!one)
					goto out;
				ns = k && ns < one ? ns : one;
			}
			r->least_ns = i && r->least_ns < ns ? r->least_ns : ns;
			r->most_ns = r->most_ns > ns ? r->most_ns : ns;
			nanosleep(&pause, NULL);
		}
out:
	atomic_store(&r->stop, true);
	return NULL;
}

static int survey_distance(const struct assay_topology *t, const struct assay_clock *clock,
			   struct assay_core_distance *d, struct assay_err *err)
{
	struct rally r = { .t = t, .clock = clock, .cpu = { d->cpu[0], d->cpu[1] } };
	pthread_t partner, player;
	int rc;

	if (pthread_create(&partner, NULL, return_ball, &r))
		return assay_err_set(err, ASSAY_ENOMEM, "no thread to try the cores with");
	rc = pthread_create(&player, NULL, play, &r);
	if (rc)
		atomic_store(&r.stop, true);
	else
		pthread_join(player, NULL);
	pthread_join(partner, NULL);
	if (rc)
		return assay_err_set(err, ASSAY_ENOMEM, "no thread to try the cores with");
	for (int i = 0; i < 2; i++)
		if (r.err[i].code)
			return assay_err_set(err, r.err[i].code, "%s", r.err[i].text);
	if (!(r.least_ns > 0))
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "no answer from a thread on CPU %d within %u ms",
				     d->cpu[1], GIVE_UP_NS / 1000000);
	d->least_ns = r.least_ns;
	d->most_ns = r.most_ns;
	return 0;
}

void assay_core_survey(const struct assay_topology *t, const struct assay_clock *clock, struct assay_core_survey *out)
{
	const struct assay_placement_options one_a_core = { 0 };
	size_t n_cores = assay_placement_max(t, &one_a_core),
	       n = n_cores < ASSAY_SURVEY_CPUS ? n_cores : ASSAY_SURVEY_CPUS;
	int cpus[ASSAY_SURVEY_CPUS];
	struct assay_err why = { 0 };
	int rc = assay_placement_pick(t, &one_a_core, n, cpus, &why);
	const char *untold = rc ? why.text : assay_core_pace_untold(t, clock, cpus, n);

	*out = (struct assay_core_survey){ .n = n, .n_cores = n_cores };
	for (size_t i = 0; i < n && !untold; i++) {
		out->share[i].cpu = cpus[i];
		untold = survey_share(t, clock, &out->share[i], &why) ? why.text : NULL;
	}
	snprintf(out->share_untold, sizeof(out->share_untold), "%.159s", untold ? untold : "");
	if (rc || n < 2)
		return;
	out->distance = (struct assay_core_distance){ .cpu = { cpus[0], cpus[1] } };
	if (survey_distance(t, clock, &out->distance, &why))
		snprintf(out->distance_untold, sizeof(out->distance_untold), "%.159s", why.text);
}

static double slow_frac(const struct assay_core_share *c)
{
	return c->loops ? (double)c->slow / (double)c->loops : 0;
}

static void add_shares(struct assay_findings *l, const struct assay_core_survey *s)
{
	const struct assay_core_share *worst = &s->share[0];
	char value[256], of[32] = "";
	size_t slow = 0;

	if (s->share_untold[0] || !s->n) {
		assay_findings_add(l, "core_pace", ASSAY_HEALTH_MISSING, s->n ? s->share_untold : "no core to try", "");
		return;
	}
	for (size_t i = 0; i < s->n; i++) {
		slow += slow_frac(&s->share[i]) > SLOW_NOTICE_FRAC;
		worst = slow_frac(&s->share[i]) > slow_frac(worst) ? &s->share[i] : worst;
	}
	if (s->n < s->n_cores)
		snprintf(of, sizeof(of), " of %zu", s->n_cores);
	if (!slow) {
		snprintf(value, sizeof(value), "%zu%s core%s calculated at %s own pace", s->n, of, s->n == 1 ? "" : "s",
			 s->n == 1 ? "its" : "their");
		assay_findings_add(l, "core_pace", ASSAY_HEALTH_GOOD, value, "");
		return;
	}
	snprintf(value, sizeof(value),
		 "%zu of %zu cores%s %s slow at times: CPU %d %sfor %.0f %% of the time, when a loop takes %.1f times "
		 "as long",
		 slow, s->n, s->n < s->n_cores ? " tried" : "", slow == 1 ? "is" : "are", worst->cpu,
		 slow == 1 ? "" : "most, ", 100 * slow_frac(worst), worst->ratio);
	assay_findings_add(l, "core_pace", ASSAY_HEALTH_WARN, value,
			   "another hardware thread of the core is busy, on a virtual machine that of another guest, "
			   "or its frequency "
			   "changes; a host of one's own, or compare, which has two builds take turns");
}

static void add_distance(struct assay_findings *l, const struct assay_core_survey *s)
{
	const struct assay_core_distance *d = &s->distance;
	char value[256];

	if (s->distance_untold[0])
		assay_findings_add(l, "core_distance", ASSAY_HEALTH_MISSING, s->distance_untold, "");
	if (!(d->least_ns > 0))
		return;
	if (d->most_ns <= MOVED_RATIO * d->least_ns) {
		snprintf(value, sizeof(value), "a cache line goes from CPU %d to %d and back in %.0f to %.0f ns",
			 d->cpu[0], d->cpu[1], d->least_ns, d->most_ns);
		assay_findings_add(l, "core_distance", ASSAY_HEALTH_GOOD, value, "");
		return;
	}
	snprintf(value, sizeof(value), "a cache line goes from CPU %d to %d and back in %.0f, then in %.0f ns",
		 d->cpu[0], d->cpu[1], d->least_ns, d->most_ns);
	assay_findings_add(l, "core_distance", ASSAY_HEALTH_WARN, value,
			   "the hypervisor moves the CPUs between cores near and far: caches go cold, and two threads "
			   "get one share of "
			   "the memory's bandwidth or two; a host that pins its guests does not");
}

void assay_core_survey_add(struct assay_findings *l, const struct assay_core_survey *s)
{
	add_shares(l, s);
	add_distance(l, s);
}
