/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/grow.h"
#include "measure/samples.h"
#include "model/result.h"
#include "stats/stats.h"

#define MIN_GROUPS 8

/* Also while it works: a ring must not fill before it is emptied again. */
static void drain(void *arg)
{
	const struct assay_profiled_worker *k = arg;

	if (!k->cpu)
		return;
	assay_cpu_profile_drain(k->cpu);
	assay_worker_wait_less(k->worker, assay_cpu_profile_read_every_ns(k->cpu));
}

static void enter(struct assay_profiled_worker *k, const char *phase)
{
	if (k->cpu)
		assay_cpu_profile_phase(k->cpu, k->op, phase);
}

static int command(struct assay_profiled_worker *k, enum assay_command cmd, uint64_t iterations, uint32_t count)
{
	const struct assay_worker_args args = { .iterations = iterations, .count = count };
	int rc;

	assay_worker_while_waiting(k->worker, drain, k);
	rc = assay_worker_call(k->worker, cmd, &args, ASSAY_ENDING_OF(k->end), k->err);
	assay_worker_while_waiting(k->worker, NULL, NULL);
	drain(k);
	return rc ? rc : k->end->status == ASSAY_STATUS_OK ? 0 : 1;
}

int assay_profiled_worker_start(struct assay_profiled_worker *k, const struct assay_worker_options *wo,
				const struct assay_cpu_sampling *how)
{
	struct assay_worker_options own = *wo;
	int rc = how ? assay_cpu_profile_open(&k->cpu, how, k->out, k->err) : 0;

	snprintf(k->op, sizeof(k->op), "%.63s/%s", wo->c->op, wo->c->variant);
	if (rc)
		return rc;
	if (how)
		own.env = assay_cpu_profile_environment(k->cpu);
	rc = assay_worker_start(&k->worker, &own, k->err);
	return rc || !how ? rc : assay_cpu_profile_attach(k->cpu, assay_worker_pid(k->worker), k->err);
}

int assay_profiled_worker_ready(struct assay_profiled_worker *k, const struct assay_clock *clock)
{
	int rc;

	k->iterations = 1;
	enter(k, "phase: prepare");
	rc = command(k, ASSAY_CMD_PREPARE, 0, 0);
	if (!rc)
		rc = command(k, ASSAY_CMD_VERIFY, 0, 0);
	enter(k, "phase: warm-up");
	assay_worker_while_waiting(k->worker, drain, k);
	if (!rc)
		rc = assay_iterations_find(k->worker, assay_iterations_target_ns(clock), &k->iterations, &k->sample_ns,
					   ASSAY_ENDING_OF(k->end), k->err);
	assay_worker_while_waiting(k->worker, NULL, NULL);
	if (!rc) {
		/* Iterations that are not kept, so that the first that are have stacks as deep as all others. */
		const double ns = k->cpu ? (double)assay_cpu_profile_settling_ns(k->cpu) : 0;
		const double count = fmin(ASSAY_PAGE_SAMPLES, fmax(1, ns / fmax(1, k->sample_ns)));

		rc = ns > 0 ? command(k, ASSAY_CMD_SAMPLE, k->iterations, (uint32_t)count) : 0;
	}
	enter(k, ASSAY_PROFILE_TIMED);
	return rc;
}

/* The processor time of the worker's process, which a busy machine changes less than wall time; 0: it has ended. */
static double used_ns(const struct assay_profiled_worker *k)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(assay_worker_pid(k->worker), &clock) || clock_gettime(clock, &t))
		return 0;
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int assay_profiled_worker_sample(struct assay_profiled_worker *k, double ns)
{
	const struct assay_worker_reply *reply = assay_worker_reply(k->worker);
	const double timeouts = k->cpu ? (double)assay_cpu_profile_read_every_ns(k->cpu) : ns;
	const double batch = fmin(ns, timeouts) / fmax(1, k->sample_ns);
	struct assay_profiled_turns *turns = &k->turns[k->cpu && !k->paused];
	const double used_before = used_ns(k);
	double iterated = 0;
	int rc = command(k, ASSAY_CMD_SAMPLE, k->iterations, (uint32_t)fmin(ASSAY_PAGE_SAMPLES, fmax(1, batch)));

	for (uint32_t i = 0; !rc && i < reply->n_samples; i++) {
		if (assay_grow(&turns->samples, turns->n_samples, sizeof(*turns->samples)))
			return assay_err_set(k->err, ASSAY_ENOMEM, "out of memory for the samples of a profile");
		turns->samples[turns->n_samples++] = reply->samples[i];
		turns->wall_ns += (double)reply->samples[i].ns;
		iterated += (double)reply->samples[i].iterations;
	}
	if (!rc && assay_grow(&turns->ns, turns->n, sizeof(*turns->ns)))
		return assay_err_set(k->err, ASSAY_ENOMEM, "out of memory for the samples of a profile");
	if (!rc)
		turns->ns[turns->n++] = (used_ns(k) - used_before) / iterated;
	return rc;
}

double assay_profiled_worker_call_ns(const struct assay_profiled_worker *k, bool sampled, size_t group)
{
	const struct assay_profiled_turns *turns = &k->turns[sampled];
	double *ns = calloc(turns->n_samples + 1, sizeof(*ns)), typical = NAN;
	const size_t n = ns ? assay_call_times(turns->samples, turns->n_samples, ns) : 0;
	/* of few calls fewer make a group, so that there is a median of several */
	const size_t most = n / MIN_GROUPS < group ? n / MIN_GROUPS : group;

	if (n)
		typical = assay_stats_median_of_means(ns, n, most ? most : 1);
	free(ns);
	return typical;
}

void assay_profiled_worker_pause(struct assay_profiled_worker *k, bool paused)
{
	k->paused = paused;
	if (k->cpu)
		assay_cpu_profile_pause(k->cpu, paused);
}

int assay_profiled_worker_end(struct assay_profiled_worker *k, int rc)
{
	int ended;

	enter(k, "phase: end");
	if (!rc)
		rc = command(k, ASSAY_CMD_RECHECK, 0, 0);
	ended = k->cpu ? assay_cpu_profile_end(k->cpu, rc < 0 ? NULL : k->err) : 0;
	return rc < 0 ? rc : ended ? ended : rc;
}

void assay_profiled_worker_free(struct assay_profiled_worker *k)
{
	assay_cpu_profile_close(k->cpu);
	assay_worker_free(k->worker);
	for (unsigned i = 0; i < 2; i++) {
		free(k->turns[i].samples);
		free(k->turns[i].ns);
		k->turns[i] = (struct assay_profiled_turns){ 0 };
	}
	k->cpu = NULL;
	k->worker = NULL;
}
