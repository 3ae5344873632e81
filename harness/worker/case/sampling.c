/* SPDX-License-Identifier: Apache-2.0 */
/* Samples, and all that is read beside them: what the kernel and the host say of the time between. */
#include "worker/case/served.h"

#include "counters/provider.h"
#include "machine/core_pace.h"
#include "worker/audit/audit.h"
#include "worker/case/device.h"
#include "worker/case/job.h"
#include "worker/case/state.h"

/* The host's counters move in steps of 10 ms; reading them more often says nothing new. */
#define POLL_INTERVAL_NS 10000000u

static uint64_t now_ns(const struct assay_sampling *s)
{
	const struct assay_clock *c = &s->job->spec->clock;

	return assay_clock_ticks_to_ns(c, assay_clock_ticks(c));
}

/* Look at the device, and keep between which clocks it ran in this series. */
static void look_at_device(struct assay_sampling *s)
{
	struct assay_worker_reply *r = s->reply;
	double hz;

	s->device_flags = assay_device_state_look(s->job, s->args->counting, &hz);
	if (hz > r->device_most_hz)
		r->device_most_hz = hz;
	if (hz > 0 && (r->device_least_hz == 0 || hz < r->device_least_hz))
		r->device_least_hz = hz;
}

void assay_sampling_begin(struct assay_sampling *s, struct assay_case_job *job, const struct assay_worker_args *args,
			  struct assay_worker_reply *reply, struct assay_counting *counting)
{
	s->job = job;
	s->args = args;
	s->reply = reply;
	s->counting = args->counting ? counting : NULL;
	reply->n_samples = 0;
	assay_disturbance_begin(&s->host, "", job->cpus, job->spec->c.threads);
	reply->device_least_hz = reply->device_most_hz = 0;
	look_at_device(s);
	s->polled_ns = now_ns(s);
	s->poll_first = 0;
}

/* Spread what the host shows over the samples since it was last asked. */
static void watch(struct assay_sampling *s, uint32_t upto)
{
	struct assay_worker_reply *r = s->reply;
	uint64_t t = now_ns(s);
	uint32_t flags, ticks;

	if (t - s->polled_ns < POLL_INTERVAL_NS)
		return;
	look_at_device(s);
	flags = assay_disturbance_poll(&s->host, &ticks) | s->device_flags;
	s->steal_ticks += ticks;
	for (uint32_t i = s->poll_first; i < upto; i++) {
		s->stolen_ns += r->samples[i].stolen_ns;
		r->samples[i].flags |= flags;
		r->samples[i].steal_ticks = ticks;
	}
	for (uint32_t i = s->poll_first; i < upto && assay_steal_is_timed(s->stolen_ns, s->steal_ticks); i++)
		r->samples[i].steal_ticks = 0;
	r->samples[upto - 1].flags |= ASSAY_SAMPLE_POLLED;
	s->polled_ns = t;
	s->poll_first = upto;
}

/* Pace and counts of every thread of the pool, taken by the thread itself; the counts are nearer to the sample. */
static void read_before(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct assay_sampling *s = arg;

	(void)n_threads;
	if (s->job->spec->try_pace)
		s->pace_before[tid] = assay_core_pace_ticks(&s->job->spec->clock);
	if (s->counting)
		assay_counting_before(s->counting, tid, &s->before[tid]);
	else
		assay_os_counts_read(&s->before[tid]);
	assay_thread_time_read(&s->time_before[tid]);
	if (s->job->recorder && s->args->counting) {
		s->job->recorder->watch(true);
		s->job->recorder->span_begin("sample");
	}
}

static void read_after(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct assay_sampling *s = arg;

	(void)n_threads;
	if (s->job->recorder && s->args->counting) {
		s->job->recorder->span_end();
		s->job->recorder->watch(false);
	}
	assay_thread_time_read(&s->time_after[tid]);
	if (s->counting)
		assay_counting_after(s->counting, tid, &s->after[tid]);
	else
		assay_os_counts_read(&s->after[tid]);
	if (s->job->spec->try_pace)
		s->pace_after[tid] = assay_core_pace_ticks(&s->job->spec->clock);
}

/* Was the thread's core slow before or after the sample that was just taken? */
static bool was_slow(struct assay_sampling *s, uint32_t tid)
{
	uint64_t before = s->pace_before[tid], after = s->pace_after[tid], *least = &s->reply->core_least[tid];

	*least = *least && *least < before ? *least : before;
	*least = after < *least ? after : *least;
	return assay_core_pace_slow(before, *least) || assay_core_pace_slow(after, *least);
}

/* Keep the thread busy for a share of the sample that was just taken; the time of both together. */
static uint64_t stretch(const struct assay_sampling *s, uint64_t sample_ns)
{
	uint64_t start = now_ns(s), end = start + (uint64_t)((double)sample_ns * s->args->stretch_frac), t;

	while ((t = now_ns(s)) < end)
		;
	return sample_ns + (t - start);
}

static void open_sample(struct assay_sampling *s)
{
	assay_case_observed_count(s->job, s->args->counting);
	assay_pool_run(s->job->pool, read_before, s);
}

/* The next sample, whose calls took @ns. */
static void close_sample(struct assay_sampling *s, uint64_t ns, uint32_t flags)
{
	const uint64_t iterations = s->args->iterations;
	struct assay_worker_reply *r = s->reply;
	struct assay_sample *sample = &r->samples[r->n_samples];
	struct assay_lost_time lost = { .told = true };
	struct assay_os_counts sum = { 0 };

	*sample = (struct assay_sample){
		.iterations = iterations,
		.ns = s->args->stretch_frac > 0 ? stretch(s, ns) : ns,
		.flags = flags | s->device_flags | (s->args->slice_ns ? ASSAY_SAMPLE_BESIDE : 0),
	};
	assay_pool_run(s->job->pool, read_after, s);
	assay_case_observed_count(s->job, false);
	if (s->counting)
		assay_counting_add(s->counting, flags & ASSAY_SAMPLE_CONTINUES ? 0 : iterations);
	for (uint32_t i = 0; i < s->job->spec->c.threads; i++) {
		struct assay_os_counts d = assay_os_counts_between(&s->before[i], &s->after[i]);

		const struct assay_lost_time one = assay_lost_time_between(
			&s->time_before[i], &s->time_after[i], d.voluntary_switches, d.involuntary_switches);

		assay_os_counts_add(&sum, &d);
		assay_lost_time_most(&lost, &one);
		if (s->after[i].cpu >= 0 && s->after[i].cpu != s->job->cpus[i])
			sample->flags |= ASSAY_DISTURB_MIGRATION;
		if (s->job->spec->try_pace && was_slow(s, i))
			sample->flags |= ASSAY_DISTURB_SLOW;
	}
	sample->switches = (uint32_t)sum.involuntary_switches;
	sample->faults = (uint32_t)(sum.minor_faults + sum.major_faults);
	sample->waited_ns = lost.waited_ns;
	sample->stolen_ns = lost.stolen_ns;
	if (lost.told)
		sample->flags |= ASSAY_SAMPLE_WAIT_TOLD;
	if (sample->switches)
		sample->flags |= ASSAY_DISTURB_SWITCH;
	if (sample->faults)
		sample->flags |= ASSAY_DISTURB_FAULT;
	watch(s, ++r->n_samples);
}

struct assay_outcome assay_sampling_take(struct assay_sampling *s)
{
	const uint64_t first = s->job->next_copy, iterations = s->args->iterations;
	struct assay_outcome out;
	uint64_t ns;

	const bool one_call = s->job->spec->checks.audit && iterations == 1 && !s->job->device;

	if (one_call)
		assay_case_audit_scramble(s->job);
	open_sample(s);
	out = assay_case_job_time(s->job, iterations + s->args->extra_iterations, &ns);
	/* extra calls do not let the rotations of the two sides drift towards each other */
	s->job->next_copy = (first + iterations) % s->job->n_jobs;
	if (out.status == ASSAY_STATUS_OK)
		close_sample(s, ns, 0);
	return one_call && out.status == ASSAY_STATUS_OK ? assay_case_audit_look(s->job) : out;
}

void assay_sampling_pause(struct assay_sampling *s)
{
	const struct assay_clock *clock = &s->job->spec->clock;

	s->paused = assay_clock_ticks(clock);
	close_sample(s, assay_clock_ticks_to_ns(clock, s->paused - s->job->begun), ASSAY_SAMPLE_CONTINUES);
}

void assay_sampling_resume(struct assay_sampling *s)
{
	open_sample(s);
	s->job->begun = assay_clock_ticks(&s->job->spec->clock);
	assay_case_services_leave_out(s->job->begun - s->paused);
}

void assay_sampling_stand(void *sampling, uint32_t tid)
{
	struct assay_sampling *s = sampling;

	if (s->counting)
		assay_counting_stand(s->counting, tid, &s->stood[tid]);
	else
		assay_os_counts_read(&s->stood[tid]);
	assay_thread_time_read(&s->time_stood[tid]);
}

void assay_sampling_go_on(void *sampling, uint32_t tid)
{
	struct assay_sampling *s = sampling;
	struct assay_os_counts now, d;

	if (s->counting)
		assay_counting_go_on(s->counting, tid, &now);
	else
		assay_os_counts_read(&now);
	d = assay_os_counts_between(&s->stood[tid], &now);
	assay_os_counts_add(&s->before[tid], &d);
	assay_thread_time_leave_out(&s->time_before[tid], &s->time_stood[tid]);
}
