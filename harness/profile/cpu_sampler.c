/* SPDX-License-Identifier: Apache-2.0 */
/* The first source that works here. */
#include "profile/cpu_sampler.h"

#include <stdlib.h>

#define REST_BYTES 512 /* of a record, beside the stack */
#define LEAF_BYTES 48
/* A sample copies no more of the stack than a ring has room for in so many. */
#define LEAST_SAMPLES 8
/* The frames of callers beyond the one that was asked for. */
#define OUTER_BYTES 4096

static void clear(struct assay_cpu_sampler *s)
{
	if (s->source)
		s->source->close(s);
	for (size_t i = 0; i < s->n_rings; i++)
		free(s->rings[i].copy);
	free(s->rings);
	free(s->state);
	*s = (struct assay_cpu_sampler){ .how = s->how, .stack_bytes = s->stack_bytes };
}

int assay_cpu_sampler_open(struct assay_cpu_sampler **out, const struct assay_cpu_sampling *how, struct assay_err *err)
{
	static const struct assay_cpu_source *const sources[] = { &assay_perf_source, &assay_timer_source };
	struct assay_err first = { 0 }, why = { 0 };
	struct assay_cpu_sampler *s;
	int rc = ASSAY_EUNAVAILABLE;

	*out = NULL;
	if (!ASSAY_RECORD_REGISTERS)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "programs of this architecture cannot be sampled");
	s = calloc(1, sizeof(*s));
	if (!s)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a profile");
	s->how = *how;
	s->stack_bytes = ASSAY_SAMPLE_STACK_BYTES;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]) && rc == ASSAY_EUNAVAILABLE; i++) {
		s->source = sources[i];
		rc = s->source->open(s, &why);
		if (rc)
			clear(s);
		if (rc && !i)
			first = why;
	}
	if (!rc) {
		*out = s;
		return 0;
	}
	free(s);
	if (rc != ASSAY_EUNAVAILABLE)
		return assay_err_set(err, rc, "%s", why.text);
	return assay_err_set(err, rc, "%.330s; nor do timers work: %.150s", first.text, why.text);
}

void assay_cpu_sampler_close(struct assay_cpu_sampler *s)
{
	if (!s)
		return;
	clear(s);
	free(s);
}

void assay_cpu_sampler_go(struct assay_cpu_sampler *s)
{
	s->on = true;
	s->source->enable(s, true);
}

void assay_cpu_sampler_pause(struct assay_cpu_sampler *s)
{
	s->on = false;
	s->source->enable(s, false);
}

/* The least step beyond @before that has room for @wanted; every ring holds some of its samples. Else @before. */
static uint32_t deeper(const struct assay_cpu_sampler *s, uint32_t before, uint64_t wanted)
{
	static const uint32_t steps[] = { ASSAY_SAMPLE_STACK_DEEP_BYTES, ASSAY_SAMPLE_STACK_MOST_BYTES };
	uint64_t most = ASSAY_SAMPLE_STACK_MOST_BYTES;
	uint32_t best = before;

	for (size_t i = 0; i < s->n_rings; i++)
		if (s->rings[i].head && s->rings[i].bytes / LEAST_SAMPLES < most)
			most = s->rings[i].bytes / LEAST_SAMPLES;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && steps[i] <= most; i++)
		if (best == before || best < wanted)
			best = steps[i] > before ? steps[i] : best;
	return best;
}

void assay_cpu_sampler_deepen(struct assay_cpu_sampler *s, const pid_t *pids, size_t n, uint64_t wanted)
{
	const uint32_t before = s->stack_bytes;

	if (!s->how.leaves)
		s->stack_bytes = deeper(s, before, wanted + OUTER_BYTES);
	if (s->stack_bytes > before && s->source->deepen(s, pids, n))
		s->stack_bytes = before;
}

void assay_cpu_sampler_drain(struct assay_cpu_sampler *s, const struct assay_cpu_listener *l)
{
	s->lost += assay_sample_rings_drain(s->rings, s->n_rings, l);
}

uint64_t assay_cpu_sampler_read_every_ns(const struct assay_cpu_sampler *s)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < s->n_rings; i++) {
		const struct assay_sample_ring *r = &s->rings[i];
		const uint64_t record = r->leaves ? LEAF_BYTES : s->stack_bytes + REST_BYTES;
		const uint64_t ns = r->bytes / record / 2 * 1000000000 / s->how.rate_hz;

		if (r->head && ns < least)
			least = ns;
	}
	return least;
}

uint64_t assay_cpu_sampler_lost(const struct assay_cpu_sampler *s)
{
	return s->lost + (s->source->lost ? s->source->lost(s) : 0);
}

double assay_cpu_sampler_rate_hz(const struct assay_cpu_sampler *s)
{
	return s->source->rate_hz ? s->source->rate_hz(s) : s->how.rate_hz;
}
