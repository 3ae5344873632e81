/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The share of the roof where limit and case take turns on the same cores, sample by sample: what a neighbour takes
 * away from the machine it takes from both.
 */
#include "measure/measure.h"

#include <math.h>
#include <stdio.h>

#include "measure/case_needs.h"
#include "measure/roof.h"
#include "measure/samples.h"
#include "measure/turns.h"
#include "model/summary.h"

/* A limit that takes less than this share of the roof is not worth the time of measuring it again. */
#define WORTH_FRAC 0.25

struct in_turn {
	const struct assay_run *run;
	const struct assay_case_facts *facts; /* of the cases of the run */
	const struct assay_case_facts *f;     /* of the case */
	const struct assay_measure_options *o;
	struct assay_result *r;
	struct assay_err *err;
};

/* As many of each side that their samples are about equally long, and long enough for the clock. */
static int find_iterations(struct assay_turns *t, const struct assay_clock *clock)
{
	uint64_t n[2];
	double ns[2], longest;

	for (int i = 0; i < 2; i++) {
		struct assay_result *side = &t->p->side[i];
		int rc = assay_iterations_find(t->w[i], assay_iterations_target_ns(clock), &n[i], &ns[i],
					       ASSAY_ENDING_OF(side), t->err);

		if (rc)
			return rc;
	}
	longest = fmax(ns[0], ns[1]);
	for (int i = 0; i < 2; i++)
		n[i] = (uint64_t)fmax(1, round((double)n[i] * longest / fmax(1, ns[i])));
	t->p->iterations = n[0] < n[1] ? n[0] : n[1];
	for (int i = 0; i < 2; i++)
		t->p->extra_iterations[i] = n[i] - t->p->iterations;
	t->sample_ns = longest;
	return 0;
}

/*
 * What became of turns that ended badly: without the limit there is no share, @why; a case that fails once does not
 * work. Where the limit takes too long, so does the case, which waits for it.
 */
static void tell_failure(const struct in_turn *k, const struct assay_turns *t, const char *limit, struct assay_err *why)
{
	const struct assay_result *base = &t->p->side[ASSAY_BASE], *head = &t->p->side[ASSAY_HEAD];
	struct assay_result *r = k->r;

	if (head->status == ASSAY_STATUS_OK || t->followed[ASSAY_HEAD] || base->status == ASSAY_STATUS_TIMEOUT) {
		assay_err_set(why, ASSAY_EUNAVAILABLE, "'%.200s', in turn: %.280s", limit, base->reason);
		return;
	}
	r->status = head->status;
	r->correct &= head->status != ASSAY_STATUS_WRONG;
	snprintf(r->reason, sizeof(r->reason), "in turn with '%.200s': %.280s", limit, head->reason);
	assay_result_drop_numbers(r);
}

/*
 * One process pair of limit and case. 0, 1 when one of them ended badly, see above; negative: see assay_measure_case.
 */
static int measure_against(const struct in_turn *k, size_t at, double *ratio, struct assay_interval *ci, bool *reached,
			   struct assay_err *why)
{
	struct assay_case limit = k->run->results[at].c, c = k->r->c;
	struct assay_pair p = { .seed = k->o->worker.settings.seed ^
					k->r->started_ns }; /* a layout of its own in every round */
	struct assay_turns t = { .p = &p, .err = k->err };
	struct assay_worker_options wo[2];
	int rc;

	limit.timeout_ns += c.timeout_ns; /* each waits while the other makes its inputs */
	c.timeout_ns = limit.timeout_ns;
	wo[ASSAY_BASE] = assay_measure_worker(k->o, &limit, &k->facts[at], ASSAY_WORKER_PAIRED);
	wo[ASSAY_HEAD] = assay_measure_worker(k->o, &c, k->f, ASSAY_WORKER_PAIRED);
	for (int i = 0; i < 2; i++)
		wo[i].checks.audit = false; /* both were audited when they were measured */
	rc = assay_turns_open(&t, wo, k->o);
	if (rc)
		return rc;
	rc = assay_turns_prepare(&t, ASSAY_BASE);
	if (!rc)
		rc = find_iterations(&t, k->o->worker.clock);
	if (!rc)
		rc = assay_turns_warm(&t, p.seed, k->r->c.budget_ns / 2, false);
	if (!rc)
		rc = assay_turns_sample(&t, p.seed, k->r->c.budget_ns);
	if (!rc)
		rc = assay_turns_both(&t, ASSAY_CMD_RECHECK, NULL);
	if (!rc)
		rc = assay_turns_finish(&t);
	assay_turns_close(&t);
	if (!rc)
		rc = assay_turns_ratio(&p, ratio, ci, reached, k->err);
	if (rc > 0)
		tell_failure(k, &t, limit.key, why);
	assay_pair_release(&p);
	return rc;
}

/* The work of a call of a limit, in the unit of its rate. */
static double work_of(enum assay_limit limit, const struct assay_cost *cost)
{
	return limit == ASSAY_LIMIT_PEAK ? cost->ops : cost->bytes_read + cost->bytes_written;
}

/* The rate of a limit, while the case took its median time, and the interval of that rate. As measure_against(). */
static int rate_in_turn(const struct in_turn *k, enum assay_limit i, const struct assay_limits *l, double *rate,
			struct assay_interval *ci, bool *reached, struct assay_err *why)
{
	double unit = work_of(i, &k->facts[l->at[i]].cost) / (k->r->median_ns * 1e-9), ratio = 0;
	int rc = measure_against(k, l->at[i], &ratio, ci, reached, why);

	*rate = ratio * unit;
	ci->lo *= unit;
	ci->hi *= unit;
	return rc;
}

bool assay_measure_roof_wanted(const struct assay_case_facts *f)
{
	return f->measures == ASSAY_MEASURES_NOTHING;
}

int assay_measure_roof(const struct assay_run *run, const struct assay_case_facts *facts,
		       const struct assay_case_facts *f, const struct assay_measure_options *o, struct assay_result *r,
		       struct assay_err *err)
{
	const struct in_turn k = { .run = run, .facts = facts, .f = f, .o = o, .r = r, .err = err };
	struct assay_limits of_run, limits, slow, fast;
	struct assay_roof roof, most, least;
	bool all_reached = true;
	int rc = 0;

	assay_limits_find(run, facts, &r->c, f, o->worker.host, &of_run);
	assay_roof_find(&of_run, &r->c, f, &roof);
	if (!(roof.seconds > 0))
		return 0;
	limits = slow = fast = of_run;
	for (int i = 0; i < ASSAY_N_LIMITS && !rc; i++) {
		struct assay_interval ci = { 0 };
		bool reached = true;

		if (roof.of[i] < WORTH_FRAC * roof.seconds)
			continue;
		rc = rate_in_turn(&k, (enum assay_limit)i, &of_run, &limits.rate[i], &ci, &reached, &roof.why);
		all_reached &= reached;
		slow.rate[i] = ci.lo;
		fast.rate[i] = ci.hi;
	}
	if (rc < 0 || r->status != ASSAY_STATUS_OK)
		return rc < 0 ? rc : 0;
	if (rc > 0) {
		roof.seconds = 0;
	} else {
		assay_roof_find(&limits, &r->c, f, &roof);
		assay_roof_find(&slow, &r->c, f, &most);
		assay_roof_find(&fast, &r->c, f, &least);
		roof.what.in_turn = (struct assay_roof_range){ least.seconds * 1e9 / r->median_ns,
							       most.seconds * 1e9 / r->median_ns, all_reached };
	}
	return assay_roof_add(r, &roof) ? assay_err_set(err, ASSAY_ENOMEM, "out of memory") : 0;
}
