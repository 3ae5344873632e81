/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One case, from a fresh worker to a result. The road: prepare, verify, find the iterations a sample needs, warm up
 * until steady, sample until the median is known, check again, let the op report, end.
 */
#include "measure/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "machine/environment.h"
#include "measure/case_metrics.h"
#include "measure/case_needs.h"
#include "measure/program.h"
#include "measure/samples.h"
#include "model/summary.h"
#include "stats/stats.h"
#include "worker/worker.h"

#define WARMUP_WINDOW         8
#define WARMUP_TOLERANCE_FRAC 0.01
#define MIN_SAMPLES           6 /* fewer have no 95 % interval of their median; taken even beyond the budget … */
#define LEAST_SAMPLES         3 /* … but only these beyond three budgets */
#define MIN_SAMPLES_BUDGETS   3
#define MIN_CONVERGED_SAMPLES 30
#define MAX_SAMPLES           200000
#define BATCHES               20 /* a budget is spent in about so many hand-overs */
#define FEW_COPIES            2  /* that are checked of a case that was checked before */
/* The machine's load is told of cases whose budget is so long, if they took so much time of all CPUs together. */
#define BUSY_BUDGET_NS UINT64_C(100000000)
#define BUSY_LEAST_S   0.1
/* Of deterministic runs. A unit is an operation or a byte: some tenths of a nanosecond to some nanoseconds. */
#define DETERMINISTIC_SAMPLES      20
#define DETERMINISTIC_SAMPLE_UNITS 1e6 /* that a sample covers, if a call has no more */
#define DETERMINISTIC_CALL_UNITS   1e3 /* a call costs as much by itself, to start threads */
#define DETERMINISTIC_CASE_UNITS   2e8 /* beyond these there are fewer samples */

struct session {
	const struct assay_measure_options *o;
	const struct assay_case_facts *facts;
	struct assay_result *r;
	struct assay_err *err;
	struct assay_worker *worker;
	struct assay_counter_choice choice;
	const char *pace_untold; /* why nothing can be said of the pace of the cores; NULL: it is tried */
	bool is_later;           /* another process of the case has taken samples before */
	bool counting;           /* from the first sample that is kept */
	uint64_t iterations;
	double sample_ns; /* expected time of one sample */
	double busy_frac; /* of the machine's CPUs while it was sampled; 0: unknown */
};

/* 0: go on; 1: the case is over, its status is set; negative: the harness cannot go on. */
static int command(struct session *s, enum assay_command cmd, uint64_t iterations, uint32_t count)
{
	const struct assay_worker_args args = { .iterations = iterations, .count = count, .counting = s->counting };
	struct assay_result *r = s->r;
	int rc = assay_worker_call(s->worker, cmd, &args, ASSAY_ENDING_OF(r), s->err);

	if (rc)
		return rc;
	r->correct &= r->status != ASSAY_STATUS_WRONG;
	return r->status == ASSAY_STATUS_OK ? 0 : 1;
}

static void progress(const struct session *s, enum assay_stage stage, double done_frac)
{
	if (s->o->progress)
		s->o->progress(s->o->progress_arg, stage, done_frac, s->r);
}

static int keep_samples(struct session *s)
{
	const struct assay_worker_reply *reply = assay_worker_reply(s->worker);
	struct assay_result *r = s->r;
	struct assay_sample *grown = realloc(r->samples, (r->n_samples + reply->n_samples) * sizeof(*grown));

	if (!grown)
		return assay_err_set(s->err, ASSAY_ENOMEM, "out of memory for the samples of '%s'", r->c.key);
	memcpy(grown + r->n_samples, reply->samples, reply->n_samples * sizeof(*grown));
	r->samples = grown;
	r->n_samples += reply->n_samples;
	return 0;
}

static int prepare(struct session *s)
{
	const struct assay_worker_reply *reply = assay_worker_reply(s->worker);
	struct assay_result *r = s->r;
	int rc;

	progress(s, ASSAY_STAGE_PREPARE, 0);
	if (s->o->accepted)
		assay_worker_accept(s->worker, s->o->accepted);
	rc = command(s, ASSAY_CMD_PREPARE, 0, 0);
	if (rc)
		return rc;
	rc = assay_case_cpus(reply, r, s->err);
	if (rc)
		return rc;
	r->numa_node = reply->numa_node;
	memcpy(r->code_hash, reply->code_hash, sizeof(r->code_hash));
	progress(s, ASSAY_STAGE_CHECK, 0);
	rc = command(s, ASSAY_CMD_VERIFY, 0, 0);
	r->checked = rc == 0 || r->status == ASSAY_STATUS_WRONG;
	r->correct = rc == 0 && !reply->wrong[0];
	if (r->correct) {
		r->max_rel_err = reply->max_rel_err;
		r->deviation = reply->deviation;
		memcpy(r->digest, reply->digest, sizeof(r->digest));
	}
	if (!rc && r->correct && s->o->accepted)
		*s->o->accepted = reply->accepted;
	return rc;
}

static double units_of(const struct assay_cost *c)
{
	return c->ops + c->bytes_read + c->bytes_written;
}

/* From the cost alone. An op that states none may take any time: one call a sample. */
static uint64_t deterministic_iterations(const struct assay_cost *c)
{
	const double units = units_of(c);

	return units > 0 ? (uint64_t)ceil(DETERMINISTIC_SAMPLE_UNITS / (units + DETERMINISTIC_CALL_UNITS)) : 1;
}

static int calibrate(struct session *s)
{
	struct assay_result *r = s->r;

	if (!s->o->deterministic)
		return assay_iterations_find(s->worker, assay_iterations_target_ns(s->o->worker.clock), &s->iterations,
					     &s->sample_ns, ASSAY_ENDING_OF(r), s->err);
	r->steady = true; /* nothing is warmed up, and nothing was found to speak against it */
	s->iterations = deterministic_iterations(&s->facts->cost);
	return 0;
}

/*
 * Whose work it was is not asked: beside a number, it says whether the machine had anything left. The kernel counts in
 * ticks, so that a share of a few of them would say nothing.
 */
static double busy_frac(const struct assay_system_state *from)
{
	struct assay_system_state now;
	double all;

	assay_system_state("", "/", &now);
	all = now.cpu_s - from->cpu_s;
	return all >= BUSY_LEAST_S ? fmin(1, (now.cpu_busy_s - from->cpu_busy_s) / all) : 0;
}

/* Until the last windows show neither trend nor step; at most half the budget, unless two windows take longer. */
static int warm_up(struct session *s)
{
	const struct assay_worker_reply *reply = assay_worker_reply(s->worker);
	uint64_t start = assay_monotonic_ns(), cap = s->r->c.budget_ns / 2;
	struct assay_steadiness x = { 0 };
	int rc = 0;

	/* so long that the budget holds a handful of samples: they are tested afterwards, see settle() */
	if (s->sample_ns * 2 * WARMUP_WINDOW > (double)cap)
		return 0;
	while (!s->r->steady && assay_monotonic_ns() - start < cap) {
		rc = command(s, ASSAY_CMD_SAMPLE, s->iterations, WARMUP_WINDOW);
		if (!rc)
			rc = assay_steadiness_add(&x, reply->samples, WARMUP_WINDOW, s->err);
		if (rc)
			break;
		assay_steadiness_clock(&x, reply->device_least_hz, reply->device_most_hz);
		s->r->steady = !x.clock_moves && assay_stats_steady(x.ns, x.n, WARMUP_WINDOW, WARMUP_TOLERANCE_FRAC);
		progress(s, ASSAY_STAGE_WARMUP, (double)(assay_monotonic_ns() - start) / (double)cap);
	}
	assay_steadiness_release(&x);
	s->r->warmup_ns = assay_monotonic_ns() - start;
	return rc;
}

/* Cases too long for a warm-up of their own: were the samples themselves steady? */
static int settle(struct session *s)
{
	struct assay_steadiness x = { 0 };
	struct assay_result *r = s->r;
	int rc;

	if (r->steady || s->o->deterministic)
		return 0;
	rc = assay_steadiness_add(&x, r->samples, r->n_samples, s->err);
	if (!rc)
		r->steady = assay_stats_steady(x.ns, x.n, x.n / 2, WARMUP_TOLERANCE_FRAC);
	assay_steadiness_release(&x);
	return rc;
}

/* The samples of a later process go with those of the others: one will do where a call takes longer than the budget. */
static bool wants_more(const struct session *s, size_t n, uint64_t spent_ns, uint64_t budget_ns)
{
	const size_t least = s->is_later ? 1 : LEAST_SAMPLES, min = s->is_later ? LEAST_SAMPLES : MIN_SAMPLES;

	return spent_ns < budget_ns || n < least || (n < min && spent_ns < MIN_SAMPLES_BUDGETS * budget_ns);
}

static int sample(struct session *s)
{
	struct assay_result *r = s->r;
	uint64_t start, spent = 0, budget = r->c.budget_ns;
	double batch = (double)budget / BATCHES / fmax(1, s->sample_ns);
	uint32_t count = (uint32_t)fmin(ASSAY_PAGE_SAMPLES, fmax(1, batch));
	struct assay_system_state before;
	int rc;

	assay_system_state("", "/", &before);
	start = assay_monotonic_ns();
	if (s->o->deterministic) {
		/* Calls too long for so many: as few as a run by time takes of them. */
		const double n = DETERMINISTIC_CASE_UNITS / (units_of(&s->facts->cost) + 1);

		count = (uint32_t)fmin(DETERMINISTIC_SAMPLES, fmax(LEAST_SAMPLES, n));
	}
	s->counting = true;
	do {
		rc = command(s, ASSAY_CMD_SAMPLE, s->iterations, count);
		if (!rc)
			rc = keep_samples(s);
		if (!rc)
			rc = assay_summary_fill(r, s->err);
		if (rc)
			return rc;
		spent = assay_monotonic_ns() - start;
		progress(s, ASSAY_STAGE_SAMPLE, (double)spent / (double)budget);
		r->converged = r->n_samples >= MIN_CONVERGED_SAMPLES && spent * 10 >= budget &&
			       assay_summary_half_width_frac(r) <= ASSAY_GOAL_HALF_WIDTH_FRAC;
		if (s->o->deterministic)
			break;
	} while ((!r->converged || r->slow_core) && r->n_samples < MAX_SAMPLES &&
		 wants_more(s, r->n_samples, spent, budget));
	if (!s->o->deterministic && budget >= BUSY_BUDGET_NS)
		s->busy_frac = busy_frac(&before);
	return settle(s);
}

static int report(struct session *s, const struct assay_catalog_op *op)
{
	const struct assay_case_report from = { .reply = assay_worker_reply(s->worker),
						.op = op,
						.cost = &s->facts->cost,
						.rotated_bytes = s->facts->rotated_bytes,
						.choice = &s->choice,
						.pace_untold = s->pace_untold,
						.busy_frac = s->busy_frac };
	int rc = command(s, ASSAY_CMD_REPORT, 0, 0);

	return rc ? rc : assay_case_metrics(&from, s->r, s->err);
}

static int drive(struct session *s, const struct assay_catalog_op *op)
{
	int rc = prepare(s);

	if (!rc && !s->o->verify_only) {
		rc = calibrate(s);
		if (!rc && !s->o->deterministic)
			rc = warm_up(s);
		if (!rc)
			rc = sample(s);
		if (!rc) {
			progress(s, ASSAY_STAGE_CHECK, 1);
			rc = command(s, ASSAY_CMD_RECHECK, 0, 0);
		}
		if (!rc && assay_worker_reply(s->worker)->max_rel_err > s->r->max_rel_err)
			s->r->max_rel_err = assay_worker_reply(s->worker)->max_rel_err;
		if (!rc)
			assay_deviation_add(&s->r->deviation, &assay_worker_reply(s->worker)->deviation);
	}
	if (!rc)
		rc = report(s, op);
	if (!rc)
		rc = command(s, ASSAY_CMD_FINISH, 0, 0);
	if (!rc && assay_worker_reply(s->worker)->wrong[0]) {
		s->r->status = ASSAY_STATUS_WRONG;
		s->r->correct = false;
		memcpy(s->r->reason, assay_worker_reply(s->worker)->wrong, sizeof(s->r->reason));
	}
	progress(s, ASSAY_STAGE_DONE, 1);
	return rc < 0 ? rc : 0;
}

int assay_measure_case(const struct assay_case *c, const struct assay_catalog *cat,
		       const struct assay_case_facts *facts, const struct assay_measure_options *o,
		       struct assay_result *out, struct assay_err *err)
{
	struct session s = {
		.o = o, .facts = facts, .r = out, .err = err, .is_later = o->accepted && o->accepted->digest[0][0]
	};
	const struct assay_catalog_op *op = assay_catalog_op(cat, c->op);
	struct assay_core_pace *pace;
	struct assay_worker_options wo = assay_measure_worker(o, c, facts, ASSAY_WORKER_MEASURED);
	struct assay_text events = { 0 };
	struct assay_err why = { 0 };
	int rc;

	*out = (struct assay_result){ .c = *c,
				      .max_rel_err = -1,
				      .numa_node = -1,
				      .copies = facts->copies,
				      .started_ns = assay_clock_unix_ns() };
	if (facts->failed) {
		out->status = ASSAY_STATUS_FAILED;
		memcpy(out->reason, facts->reason, sizeof(facts->reason));
		return 0;
	}
	if (c->skip_reason[0] || !facts->timed) {
		out->status = ASSAY_STATUS_SKIPPED;
		snprintf(out->reason, sizeof(out->reason), "%s", c->skip_reason[0] ? c->skip_reason : facts->reason);
		return 0;
	}
	if (!op)
		return assay_err_set(err, ASSAY_EINTERNAL, "op '%s' of case '%s' is not in the catalog", c->op, c->key);
	if (op->program)
		return assay_program_case(c, op, o, out, err);
	rc = assay_measure_place(o, &wo, &why);
	if (rc) {
		out->status = ASSAY_STATUS_FAILED;
		memcpy(out->reason, why.text, sizeof(out->reason));
		free(wo.cpus);
		return 0;
	}
	pace = assay_core_paces_of(o->paces, c->variant, c->threads);
	s.pace_untold = assay_core_pace_untold(o->worker.topology, o->worker.clock, wo.cpus, c->threads);
	wo.try_pace = !s.pace_untold;
	wo.pace = pace;
	wo.checks.all = !s.is_later;
	wo.checks.few_copies = s.is_later ? FEW_COPIES : 0;
	rc = o->verify_only ? 0 : assay_measure_choose(o, c, op, &s.choice, &events, err);
	wo.events = events.s;
	if (!rc)
		rc = assay_worker_start(&s.worker, &wo, err);
	if (!rc)
		rc = drive(&s, op);
	for (uint32_t i = 0; s.worker && i < c->threads; i++)
		assay_core_pace_learn(pace, wo.cpus[i], assay_worker_reply(s.worker)->core_least[i]);
	if (s.worker)
		out->log = assay_worker_words(s.worker);
	assay_worker_free(s.worker);
	assay_counter_choice_release(&s.choice);
	assay_text_release(&events);
	free(wo.cpus);
	if (!rc && out->status != ASSAY_STATUS_OK &&
	    !(wo.setup.settings.even_if_wrong && out->status == ASSAY_STATUS_WRONG))
		assay_result_drop_numbers(out);
	return rc;
}
