/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of run and verify: one case after the other, in rounds, with progress, until the last or an interrupt.
 */
#include "drive/run/case_loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/random.h"
#include "base/monotonic.h"
#include "drive/user_text.h"
#include "drive/machine/doctor.h"
#include "drive/machine/limits.h"
#include "drive/run/build_identity.h"
#include "machine/environment.h"
#include "measure/measure.h"
#include "model/catalog.h"
#include "model/summary.h"
#include "model/verdict.h"

#define STREAM_LAYOUT 12u /* of the seed of a run */

static int add_fact(struct assay_run *run, const char *name, const char *value, struct assay_err *err)
{
	struct assay_fact *f = realloc(run->environment, (run->n_environment + 1) * sizeof(*f));

	if (!f)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	run->environment = f;
	f += run->n_environment++;
	snprintf(f->name, sizeof(f->name), "%s", name);
	snprintf(f->value, sizeof(f->value), "%s", value);
	return 0;
}

/* The meaning of `all`, and for people "compact, one thread a core, all = 2 threads on CPUs 0,1". */
static int add_placement(const struct assay_measuring *m, struct assay_run *run, struct assay_err *err)
{
	const struct assay_placement_options *o = &m->request->placement;
	size_t n = m->session->all_threads, at;
	char text[256];
	int rc;

	run->all_cpus = calloc(n ? n : 1, sizeof(*run->all_cpus));
	if (!run->all_cpus)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	rc = assay_placement_pick(m->session->topology, o, n, run->all_cpus, err);
	if (rc)
		return rc;
	run->all_threads = (unsigned)n;
	run->n_all_cpus = n;
	at = (size_t)snprintf(text, sizeof(text), "%s, %s, all = %zu thread%s on CPU%s ",
			      o->n_cpus                          ? "as listed"
			      : o->policy == ASSAY_PLACE_SCATTER ? "scatter"
								 : "compact",
			      o->smt ? "all hardware threads" : "one thread a core", n, n == 1 ? "" : "s",
			      n == 1 ? "" : "s");
	for (size_t i = 0; i < n && at < sizeof(text); i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%d", i ? "," : "", run->all_cpus[i]);
	return add_fact(run, "placement", text, err);
}

/* The descriptions that the devices of the cases give of themselves, each once. */
static int add_devices(const struct assay_measuring *m, struct assay_run *run, struct assay_err *err)
{
	const struct assay_plan *plan = &m->session->plan;
	int rc = 0;

	for (size_t i = 0; i < plan->n_cases && !rc; i++) {
		const struct assay_device_info *info =
			assay_catalog_device_info(m->session->catalog, plan->cases[i].device);
		char name[ASSAY_NAME_MAX], text[256];
		bool known = !info;

		snprintf(name, sizeof(name), "device %.55s", plan->cases[i].device);
		for (size_t k = 0; k < run->n_environment; k++)
			known |= !strcmp(run->environment[k].name, name);
		if (known)
			continue;
		assay_device_text(info, text, sizeof(text));
		rc = add_fact(run, name, text, err);
	}
	return rc;
}

static int add_fitness(const struct assay_measuring *m, struct assay_run *run, struct assay_err *err)
{
	char text[ASSAY_FITNESS_MAX];

	if (m->verify_only)
		return 0;
	assay_fitness_line(m->session->topology, m->clock, m->request, text, sizeof(text));
	return add_fact(run, "fitness", text, err);
}

int assay_measuring_describe(const struct assay_measuring *m, struct assay_run *run, struct assay_err *err)
{
	int rc;

	*run = (struct assay_run){ .seed = m->request->settings.seed, .started_ns = assay_clock_unix_ns() };
	snprintf(run->suite, sizeof(run->suite), "%s", m->session->plan.suite);
	assay_options_keep(run->places, m->request, "");
	rc = assay_build_identity(m->session, m->request, m->watch, &run->build, err);
	if (!rc)
		rc = assay_fingerprint_take(m->session->topology, &run->machine, err);
	if (!rc)
		rc = assay_environment_take(m->clock, &run->environment, &run->n_environment, err);
	if (!rc)
		rc = add_placement(m, run, err);
	if (!rc)
		rc = add_devices(m, run, err);
	if (!rc)
		rc = add_fitness(m, run, err);
	if (!rc && m->request->deterministic)
		rc = add_fact(run, "deterministic", "1", err);
	return rc;
}

static void on_progress(void *arg, enum assay_stage stage, double done_frac, const struct assay_result *so_far)
{
	/* share of a case that each stage is expected to begin with, and how much it takes */
	static const double from[] = { 0.0, 0.1, 0.25, 0.95, 1.0 }, span[] = { 0.1, 0.15, 0.7, 0.05, 0.0 };

	if ((unsigned)stage < sizeof(from) / sizeof(from[0]))
		assay_watch_tell(arg, &(struct assay_event){ .kind = ASSAY_EVENT_PART,
							     .done_frac = from[stage] + span[stage] * done_frac,
							     .so_far = so_far });
}

/* Whether a further round is worth it depends on time, and deterministic runs must not. */
static unsigned rounds_of(const struct assay_measuring *m)
{
	return m->verify_only || m->request->deterministic ? 1 : m->session->plan.rounds;
}

/*
 * Where buffers, code and stacks lie is chance, which would otherwise be the same in every process of a case, or be
 * drawn by the kernel. The seed repeats it. Never 0, which would switch it off.
 */
static uint64_t layout_of_round(uint64_t seed, unsigned round)
{
	const struct assay_philox draw = assay_random4(seed, STREAM_LAYOUT, round);

	return ((uint64_t)draw.v[0] << 32 | draw.v[1]) | 1;
}

/* All rounds of a run. */
struct rounds {
	const struct assay_measuring *m;
	const struct assay_measure_options *o; /* of all cases */
	struct assay_run *run;
	struct assay_machine_limits limits;
	unsigned round; /* from 1 */
	bool *wanted,
		*again; /* one a case: what this round measures, unless it is the first, and what the next one does */
};

/* Case @i in this round, with the time it took without its turns. */
static int measure_timed(const struct rounds *k, size_t i, struct assay_result *r, uint64_t *took_ns,
			 struct assay_err *err)
{
	const struct assay_measuring *m = k->m;
	struct assay_measure_options own = *k->o, *o = &own;
	struct assay_case c = m->session->plan.cases[i];
	uint64_t began = assay_monotonic_ns();
	int rc = assay_watch_check(m->watch, err);

	if (rc)
		return rc;
	own.timeouts = &k->o->timeouts[i];
	if (!m->verify_only && !m->request->deterministic)
		own.worker.settings.layout_seed = layout_of_round(own.worker.settings.seed, k->round);
	own.accepted = m->verify_only ? NULL : &k->o->accepted[i];
	c.budget_ns = assay_round_budget_ns(c.budget_ns, rounds_of(m));
	rc = assay_measure_case(&c, m->session->catalog, &m->session->facts[i], o, r, err);
	*took_ns = assay_monotonic_ns() - began;
	if (!rc && m->request->roof_in_turn && r->status == ASSAY_STATUS_OK) {
		rc = assay_measure_roof(k->run, m->session->facts, &m->session->facts[i], o, r, err);
		if (rc == ASSAY_EINTERRUPTED)
			rc = 0; /* the case itself is finished; the next one is not begun */
	}
	r->c.budget_ns = m->session->plan.cases[i].budget_ns;
	return rc;
}

/* Reject times below what this machine's bandwidth or arithmetic allows. Deterministic runs say nothing about time. */
static int judge_speed(struct rounds *k, size_t i, struct assay_err *err)
{
	const struct assay_measuring *m = k->m;
	const struct assay_limits_source from = { .catalog = m->session->catalog,
						  .inventory = m->session->inventory,
						  .measure = k->o,
						  .store = m->store,
						  .machine_id = k->run->machine.id };
	const struct assay_case_facts *f = &m->session->facts[i];
	struct assay_result *r = &k->run->results[i];
	char reason[256];
	int rc;

	if (r->status != ASSAY_STATUS_OK || k->o->verify_only || k->o->deterministic)
		return 0;
	assay_machine_limits_learn(&k->limits, &r->c, f, r->median_ns * 1e-9);
	rc = assay_machine_limits_judge(&k->limits, &from, &r->c, f, r->median_ns * 1e-9, reason, err);
	if (rc || !reason[0])
		return rc;
	r->status = ASSAY_STATUS_WRONG;
	r->correct = false;
	snprintf(r->reason, sizeof(r->reason), "%s", reason);
	assay_result_drop_numbers(r);
	return 0;
}

/* Measure case @i once more and add that to its result. */
static int add_round(const struct rounds *k, size_t i, struct assay_err *err)
{
	struct assay_result *r = &k->run->results[i], more = { 0 };
	uint64_t took_ns;
	int rc = measure_timed(k, i, &more, &took_ns, err);

	if (!rc && k->m->reload)
		rc = k->m->reload(k->m->arg, r, err);
	if (!rc)
		rc = assay_result_add_round(r, &more, &k->m->session->facts[i].cost, err);
	assay_result_release(&more);
	return rc;
}

static int take_case(struct rounds *k, size_t i, struct assay_err *err)
{
	struct assay_result *r = &k->run->results[i];
	uint64_t took_ns;
	int rc;

	assay_watch_tell(k->m->watch, &(struct assay_event){ .kind = ASSAY_EVENT_CASE, .at = i });
	rc = k->round == 1 ? measure_timed(k, i, r, &took_ns, err) : add_round(k, i, err);
	if (!rc)
		rc = judge_speed(k, i, err);
	k->again[i] = !rc && (k->round == 1 ? assay_round_wanted(r, took_ns) : r->status == ASSAY_STATUS_OK);
	if (!rc && k->m->finished)
		rc = k->m->finished(k->m->arg, r, k->round, err);
	if (k->round > 1)
		return rc;
	if (rc)
		assay_result_release(r);
	else
		k->run->n_results++;
	return rc;
}

static int take_round(struct rounds *k, struct assay_err *err)
{
	const size_t n = k->round == 1 ? k->m->session->plan.n_cases : k->run->n_results;
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		if (k->round == 1 || k->wanted[i])
			rc = take_case(k, i, err);
	return rc;
}

int assay_measuring_all(const struct assay_measuring *m, struct assay_run *run, struct assay_err *err)
{
	const struct assay_plan *plan = &m->session->plan;
	unsigned rounds = rounds_of(m);
	struct assay_core_paces paces = { 0 };
	struct assay_measure_options o = assay_session_measure(m->session, m->request, m->clock, m->watch);
	bool *wanted = calloc(2 * plan->n_cases + 1, sizeof(*wanted));
	struct rounds k = {
		.m = m, .o = &o, .run = run, .round = 1, .wanted = wanted, .again = wanted + plan->n_cases
	};
	bool *in_turn = calloc(plan->n_cases + 1, sizeof(*in_turn));
	int rc = 0;

	o.paces = &paces;
	o.verify_only = m->verify_only;
	o.deterministic = m->request->deterministic;
	o.progress = on_progress;
	o.progress_arg = (void *)m->watch;
	/* one a case; measure_timed() takes its own */
	o.timeouts = calloc(plan->n_cases + 1, sizeof(*o.timeouts));
	o.accepted = calloc(plan->n_cases + 1, sizeof(*o.accepted));

	run->results = calloc(plan->n_cases, sizeof(*run->results));
	if (!run->results || !wanted || !in_turn || !o.timeouts || !o.accepted) {
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	} else {
		for (size_t i = 0; i < plan->n_cases; i++)
			in_turn[i] = m->request->roof_in_turn && assay_measure_roof_wanted(&m->session->facts[i]);
		assay_watch_tell(m->watch, &(struct assay_event){ .kind = ASSAY_EVENT_CASES,
								  .cases = plan->cases,
								  .n_cases = plan->n_cases,
								  .rounds = m->verify_only ? 0 : rounds,
								  .in_turn = in_turn });
		rc = take_round(&k, err);
		for (k.round = 2; k.round <= rounds && !rc; k.round++) {
			memcpy(wanted, k.again, plan->n_cases * sizeof(*wanted));
			assay_watch_tell(
				m->watch,
				&(struct assay_event){ .kind = ASSAY_EVENT_ROUND, .round = k.round, .wanted = wanted });
			rc = take_round(&k, err);
		}
		if (!rc) /* in the turns of the last case */
			rc = assay_watch_check(m->watch, err);
		assay_watch_tell(m->watch, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	}
	assay_core_paces_release(&paces);
	free(o.accepted);
	free(o.timeouts);
	free(in_turn);
	free(wanted);
	return rc;
}

enum assay_exit assay_measuring_exit(const struct assay_run *run, const struct assay_watch *w)
{
	enum assay_exit worst = ASSAY_EXIT_OK;
	size_t skipped = 0;

	for (size_t i = 0; i < run->n_results; i++) {
		skipped += run->results[i].status == ASSAY_STATUS_SKIPPED;
		worst = assay_exit_worse(worst, assay_exit_of_status(run->results[i].status));
	}
	if (skipped == run->n_results) {
		assay_watch_warn(w, "nothing was measured: no case can run here, see their reasons");
		worst = ASSAY_EXIT_NOT_MEASURED;
	}
	return worst;
}
