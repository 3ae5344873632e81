/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/measure_profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "measure/iterations.h"
#include "profile/cpu_profile.h"
#include "worker/worker.h"

#define MOST_COMMAND_NS 100e6 /* between two looks at the samples, where calls are shorter */

struct profiling {
	const struct assay_measure_options *o;
	const struct assay_profile_options *p;
	struct assay_profile *out;
	struct assay_profile_end *end;
	struct assay_err *err;
	struct assay_worker *worker;
	struct assay_cpu_profile *cpu;
	double ns, iterations; /* of the timed samples */
	char op[2 * ASSAY_NAME_MAX + 1];
};

static void drain(void *arg)
{
	assay_cpu_profile_drain(arg);
}

/* 0: go on; 1: the case is over, its end is set; negative: the harness cannot go on. */
static int command(struct profiling *k, enum assay_command cmd, uint64_t iterations, uint32_t count)
{
	const struct assay_worker_args args = { .iterations = iterations, .count = count };
	int rc = assay_worker_call(k->worker, cmd, &args, &k->end->status, k->end->reason, sizeof(k->end->reason),
				   k->err);

	assay_cpu_profile_drain(k->cpu);
	return rc ? rc : k->end->status == ASSAY_STATUS_OK ? 0 : 1;
}

/* Samples until the time is over, in commands that are short enough for the rings. */
static int sample(struct profiling *k, uint64_t iterations, double sample_ns)
{
	const struct assay_worker_reply *reply = assay_worker_reply(k->worker);
	const double patience = (double)assay_cpu_profile_patience_ns(k->cpu);
	const double batch = fmin(MOST_COMMAND_NS, patience) / fmax(1, sample_ns);
	const uint32_t count = (uint32_t)fmin(ASSAY_PAGE_SAMPLES, fmax(1, batch));
	const uint64_t start = assay_monotonic_ns();
	int rc;

	do {
		rc = command(k, ASSAY_CMD_SAMPLE, iterations, count);
		for (uint32_t i = 0; !rc && i < reply->n_samples; i++) {
			k->ns += (double)reply->samples[i].ns;
			k->iterations += (double)reply->samples[i].iterations;
		}
		if (!rc && k->o->progress)
			k->o->progress(k->o->progress_arg, ASSAY_STAGE_SAMPLE,
				       fmin(1, (double)(assay_monotonic_ns() - start) / (double)k->p->for_ns));
	} while (!rc && assay_monotonic_ns() - start < k->p->for_ns);
	return rc;
}

static int drive(struct profiling *k)
{
	uint64_t iterations = 1;
	double sample_ns = 0;
	int rc;

	assay_worker_while_waiting(k->worker, drain, k->cpu);
	assay_cpu_profile_phase(k->cpu, k->op, "phase: prepare");
	rc = command(k, ASSAY_CMD_PREPARE, 0, 0);
	if (!rc)
		rc = command(k, ASSAY_CMD_VERIFY, 0, 0);
	assay_cpu_profile_phase(k->cpu, k->op, "phase: warm-up");
	if (!rc)
		rc = assay_iterations_find(k->worker, assay_iterations_target_ns(k->o->clock), &iterations, &sample_ns,
					   &k->end->status, k->end->reason, sizeof(k->end->reason), k->err);
	assay_cpu_profile_phase(k->cpu, k->op, ASSAY_PROFILE_TIMED);
	if (!rc)
		rc = sample(k, iterations, sample_ns);
	assay_cpu_profile_phase(k->cpu, k->op, "phase: end");
	if (!rc)
		rc = command(k, ASSAY_CMD_RECHECK, 0, 0);
	assay_worker_while_waiting(k->worker, NULL, NULL);
	return rc;
}

static int run(struct profiling *k, const struct assay_worker_options *wo)
{
	int rc = assay_worker_start(&k->worker, wo, k->err), ended;

	if (rc)
		return rc;
	rc = assay_cpu_profile_open(&k->cpu, assay_worker_pid(k->worker), k->p->rate_hz, k->out, k->err);
	if (!rc) {
		rc = drive(k);
		ended = assay_cpu_profile_end(k->cpu, rc < 0 ? NULL : k->err);
		rc = rc < 0 ? rc : ended;
		if (k->iterations > 0)
			k->out->iteration_ns = k->ns / k->iterations;
	}
	assay_cpu_profile_close(k->cpu);
	assay_worker_free(k->worker);
	return rc;
}

int assay_measure_profile(const struct assay_case *c, const struct assay_case_facts *facts,
			  const struct assay_measure_options *o, const struct assay_profile_options *p,
			  struct assay_profile *out, struct assay_profile_end *end, struct assay_err *err)
{
	struct profiling k = { .o = o, .p = p, .out = out, .end = end, .err = err };
	struct assay_err why = { 0 };
	int *cpus, rc;

	*out = (struct assay_profile){ .is_case = true, .iteration_ns = NAN, .started_ns = assay_clock_unix_ns() };
	*end = (struct assay_profile_end){ .status = ASSAY_STATUS_OK };
	snprintf(out->what, sizeof(out->what), "%s", c->key);
	snprintf(k.op, sizeof(k.op), "%s/%s", c->op, c->variant);
	if (facts->failed || c->skip_reason[0] || !facts->timed) {
		end->status = facts->failed ? ASSAY_STATUS_FAILED : ASSAY_STATUS_SKIPPED;
		snprintf(end->reason, sizeof(end->reason), "%s",
			 !facts->failed && c->skip_reason[0] ? c->skip_reason : facts->reason);
		return 0;
	}
	cpus = calloc(c->threads, sizeof(*cpus));
	if (!cpus)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	rc = assay_placement_pick(o->topology, &o->placement, c->threads, cpus, &why);
	if (rc) {
		end->status = ASSAY_STATUS_FAILED;
		snprintf(end->reason, sizeof(end->reason), "%s", why.text);
		rc = 0;
	} else {
		rc = run(&k, &(struct assay_worker_options){
				     .plugins = o->plugins,
				     .parts = o->parts,
				     .c = c,
				     .copies = facts->copies,
				     .cpus = cpus,
				     .topology = o->topology,
				     .seed = o->seed,
				     .clock = o->clock,
				     .host = o->host,
				     .deadline_ns = assay_monotonic_ns() + c->timeout_ns + p->for_ns,
				     .facts = facts,
				     .interrupted = o->interrupted,
			     });
	}
	free(cpus);
	return rc;
}
