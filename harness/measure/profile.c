/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "measure/case_needs.h"
#include "measure/samples.h"

#define MOST_COMMAND_NS 100e6 /* between two looks at the samples, where calls are shorter */
/* Turns that are not sampled tell what a call takes without the interruptions of samples. */
#define UNSAMPLED_NS   25e6
#define UNSAMPLED_FRAC 0.2 /* of the timed iterations */

struct profiling {
	const struct assay_measure_options *o;
	const struct assay_profile_options *p;
	struct assay_profiled_worker w;
};

/* Samples until the time is over, in commands that are short enough for the rings. */
static int sample(struct profiling *k)
{
	const struct assay_profiled_turns *turns = k->w.turns;
	const uint64_t start = assay_monotonic_ns();
	int rc;

	do {
		const bool pause =
			turns[false].wall_ns <= UNSAMPLED_FRAC * (turns[false].wall_ns + turns[true].wall_ns);

		assay_profiled_worker_pause(&k->w, pause);
		rc = assay_profiled_worker_sample(&k->w, pause ? UNSAMPLED_NS : MOST_COMMAND_NS);
		if (!rc && k->o->progress)
			k->o->progress(k->o->progress_arg, ASSAY_STAGE_SAMPLE,
				       fmin(1, (double)(assay_monotonic_ns() - start) / (double)k->p->for_ns), NULL);
	} while (!rc && (assay_monotonic_ns() - start < k->p->for_ns || !turns[true].n_samples));
	assay_profiled_worker_pause(&k->w, false);
	if (!rc)
		k->w.out->iteration_ns = assay_profiled_worker_call_ns(&k->w, false, 1);
	return rc;
}

static void tell_phase(const struct profiling *k, const char *name, uint64_t begin_ns)
{
	if (k->p->phase)
		k->p->phase(k->p->look_arg, name, assay_worker_pid(k->w.worker), begin_ns, assay_monotonic_ns());
}

/* One command; 1 when the case is over and k->w.end says how. */
static int command(struct profiling *k, enum assay_command cmd, const struct assay_worker_args *args)
{
	static const char *const names[ASSAY_N_COMMANDS] = {
		[ASSAY_CMD_PREPARE] = "prepare", [ASSAY_CMD_VERIFY] = "verify", [ASSAY_CMD_SAMPLE] = "samples",
		[ASSAY_CMD_RECHECK] = "recheck", [ASSAY_CMD_REPORT] = "report", [ASSAY_CMD_FINISH] = "finish",
	};
	const uint64_t begin_ns = assay_monotonic_ns();
	const int rc = assay_worker_call(k->w.worker, cmd, args, ASSAY_ENDING_OF(k->w.end), k->w.err);

	tell_phase(k, names[cmd], begin_ns);
	if (k->p->look)
		k->p->look(k->p->look_arg);
	return rc ? rc : k->w.end->status == ASSAY_STATUS_OK ? 0 : 1;
}

/* All that the variant is called for but samples, which are never watched. */
static int drive_heap(struct profiling *k)
{
	static const enum assay_command commands[] = { ASSAY_CMD_PREPARE, ASSAY_CMD_VERIFY, ASSAY_CMD_REPORT,
						       ASSAY_CMD_FINISH };
	const struct assay_worker_args args = { .iterations = 1 };
	int rc = 0;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]) && !rc; i++)
		rc = command(k, commands[i], &args);
	return rc;
}

/* Samples, each a command, until the time is over; long ones where that is asked for. */
static int sample_watched(struct profiling *k)
{
	struct assay_worker_args args = { .count = 1, .counting = true };
	const struct assay_worker_reply *reply = assay_worker_reply(k->w.worker);
	const uint64_t warm_ns = assay_monotonic_ns();
	double ns = 0, iterated = 0, sample_ns = 0;
	uint64_t start;
	int rc = assay_iterations_find(k->w.worker, assay_iterations_target_ns(k->o->worker.clock), &args.iterations,
				       &sample_ns, ASSAY_ENDING_OF(k->w.end), k->w.err);

	if (!rc)
		args.iterations *= (uint64_t)fmax(1, ceil((double)k->p->least_sample_ns / fmax(1, sample_ns)));
	start = assay_monotonic_ns();
	tell_phase(k, "warm-up", warm_ns);
	do {
		rc = rc ? rc : command(k, ASSAY_CMD_SAMPLE, &args);
		for (uint32_t i = 0; !rc && i < reply->n_samples; i++) {
			ns += (double)reply->samples[i].ns;
			iterated += (double)reply->samples[i].iterations;
		}
		if (!rc && k->o->progress)
			k->o->progress(k->o->progress_arg, ASSAY_STAGE_SAMPLE,
				       fmin(1, (double)(assay_monotonic_ns() - start) / (double)k->p->for_ns), NULL);
	} while (!rc && assay_monotonic_ns() - start < k->p->for_ns);
	if (iterated > 0)
		k->w.out->iteration_ns = ns / iterated;
	return rc;
}

static int drive_watched(struct profiling *k)
{
	const struct assay_worker_args none = { .iterations = 0 };
	int rc;

	assay_worker_while_waiting(k->w.worker, k->p->look, k->p->look_arg);
	rc = command(k, ASSAY_CMD_PREPARE, &none);
	if (!rc)
		rc = command(k, ASSAY_CMD_VERIFY, &none);
	if (!rc)
		rc = sample_watched(k);
	if (!rc)
		rc = command(k, ASSAY_CMD_RECHECK, &none);
	if (!rc)
		rc = command(k, ASSAY_CMD_REPORT, &none);
	if (!rc)
		rc = command(k, ASSAY_CMD_FINISH, &none);
	assay_worker_while_waiting(k->w.worker, NULL, NULL);
	return rc;
}

/* Keep what the worker found wrong (even_if_wrong), if there still is a worker. */
static int end(struct profiling *k, int rc)
{
	if (k->w.worker)
		snprintf(k->w.end->wrong, sizeof(k->w.end->wrong), "%s", assay_worker_reply(k->w.worker)->wrong);
	assay_profiled_worker_free(&k->w);
	return rc < 0 ? rc : 0;
}

static int run(struct profiling *k, const struct assay_worker_options *wo)
{
	int rc;

	if (k->p->env || k->p->heap_sites) {
		rc = assay_worker_start(&k->w.worker, wo, k->w.err);
		if (!rc)
			rc = k->p->env ? drive_watched(k) : drive_heap(k);
		return end(k, rc);
	}
	rc = assay_profiled_worker_start(&k->w, wo,
					 &(struct assay_cpu_sampling){ .rate_hz = k->p->rate_hz, .own_case = true });
	if (!rc) {
		rc = assay_profiled_worker_ready(&k->w, k->o->worker.clock);
		if (!rc)
			rc = sample(k);
		rc = assay_profiled_worker_end(&k->w, rc);
	}
	return end(k, rc);
}

bool assay_measure_profile_begin(const struct assay_case *c, const struct assay_case_facts *facts,
				 struct assay_profile *out, struct assay_profile_end *end)
{
	*out = (struct assay_profile){ .is_case = true, .iteration_ns = NAN, .started_ns = assay_clock_unix_ns() };
	*end = (struct assay_profile_end){ .status = ASSAY_STATUS_OK };
	snprintf(out->what, sizeof(out->what), "%.511s", c->key);
	if (!facts->failed && !c->skip_reason[0] && facts->timed)
		return false;
	end->status = facts->failed ? ASSAY_STATUS_FAILED : ASSAY_STATUS_SKIPPED;
	snprintf(end->reason, sizeof(end->reason), "%s",
		 !facts->failed && c->skip_reason[0] ? c->skip_reason : facts->reason);
	return true;
}

int assay_measure_profile(const struct assay_case *c, const struct assay_case_facts *facts,
			  const struct assay_measure_options *o, const struct assay_profile_options *p,
			  struct assay_profile *out, struct assay_profile_end *end, struct assay_err *err)
{
	struct profiling k = { .o = o, .p = p, .w = { .out = out, .end = end, .err = err } };
	struct assay_worker_options wo = assay_measure_worker(o, c, facts, ASSAY_WORKER_PROFILED);
	struct assay_err why = { 0 };
	int rc;

	if (assay_measure_profile_begin(c, facts, out, end))
		return 0;
	wo.deadline_ns += p->for_ns;
	wo.heap_sites = p->heap_sites;
	wo.heap_sample_bytes = p->heap_sample_bytes;
	wo.env = p->env;
	rc = assay_measure_place(o, &wo, &why);
	if (rc) {
		end->status = ASSAY_STATUS_FAILED;
		snprintf(end->reason, sizeof(end->reason), "%s", why.text);
		rc = 0;
	} else {
		rc = run(&k, &wo);
	}
	free(wo.cpus);
	return rc;
}
