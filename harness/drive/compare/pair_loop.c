/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of process pairs. Going round instead of finishing case by case lets slow drift of the host fall on all alike.
 */
#include "drive/compare/pair_loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/random.h"
#include "drive/machine/limits.h"
#include "judge/paired.h"
#include "judge/stopping.h"

/* Cases that take more use the same memory pair after pair; smaller ones draw its pages anew for each. */
#define KEEP_BYTES (32u << 20)

struct case_state {
	uint64_t spent_ns;
	double sampling_ns;
	uint64_t iterations; /* of the first pair; the others take the same */
	struct assay_pair_calibration calibration;
	bool learnt; /* a pair with samples has found all of this out */
	bool decided;
};

/* Its processes are new anyway, so that its pairs need no length: their number is what the budget has room for. */
static bool is_program(const struct assay_comparison_case *c)
{
	return c->c.cache == ASSAY_CACHE_NONE;
}

static double margin_of(const struct assay_pair_loop *k, const struct assay_comparison_case *c)
{
	return log1p(assay_policy_paired_margin(k->policy, &c->c));
}

static bool went_well(const struct assay_comparison_case *c, const struct assay_pair *p)
{
	return c->in_base && !c->difference[0] && p->side[ASSAY_BASE].status == ASSAY_STATUS_OK &&
	       p->side[ASSAY_HEAD].status == ASSAY_STATUS_OK;
}

/* Has the first pair found no more than that calls are to be divided? Then how long the next one samples is set. */
static bool only_divides(const struct assay_pair_loop *k, struct case_state *st, const struct assay_comparison_case *c,
			 const struct assay_pair *p)
{
	const struct assay_pair_calibration *l = &st->calibration;

	if (p->n_blocks || !went_well(c, p) || !(l->slices || l->turn_parts))
		return false;
	st->sampling_ns = assay_pair_length_divided(l->sample_ns / (l->turn_parts ? l->call_turns : 1), l->slices,
						    (double)k->cmp->budget_ns);
	return true;
}

/*
 * The first pair with samples finds out how long to sample. *keep: it is as good as those that follow, which its own
 * noise tells; or it says something else than a time.
 */
static int learn(const struct assay_pair_loop *k, struct case_state *st, const struct assay_comparison_case *c,
		 const struct assay_pair *p, bool *keep, struct assay_err *err)
{
	const double margin = margin_of(k, c);
	double *tmp = malloc((ASSAY_PAIR_TMP * p->n_blocks + 1) * sizeof(*tmp));
	struct assay_pair_shown shown = { .rest_ns = assay_pair_length_rest_ns(p, st->sampling_ns),
					  .least_ns = assay_pair_length_least_ns(p, st->calibration.slices) };

	if (!tmp)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu blocks", p->n_blocks);
	shown.own = assay_pair_own_error(p, tmp);
	free(tmp);
	*keep = !p->n_blocks || !went_well(c, p) || assay_pair_length_first_counts(shown.own, margin);
	st->sampling_ns = assay_pair_length_learnt(st->sampling_ns, &shown, margin, (double)k->cmp->budget_ns);
	st->learnt = true;
	return 0;
}

/* After pair @p, which is the last of @c. */
static int adapt_sampling(const struct assay_pair_loop *k, struct case_state *st, const struct assay_comparison_case *c,
			  const struct assay_pair *p, struct assay_err *err)
{
	struct assay_paired_readings r;
	struct assay_pair_shown shown = { .rest_ns = assay_pair_length_rest_ns(p, st->sampling_ns),
					  .least_ns = assay_pair_length_least_ns(p, st->calibration.slices) };
	int rc = assay_paired_readings(c, NULL, &r, err);

	if (!rc)
		rc = assay_paired_own_noise(c, &shown.own, err);
	if (rc)
		return rc;
	shown.n = r.n;
	shown.sd = r.sd;
	st->sampling_ns = assay_pair_length_next(st->sampling_ns, &shown, margin_of(k, c), (double)k->cmp->budget_ns);
	return 0;
}

/* Where code is the same, nothing is counted and no demand is on a time, that is only taken if it is asked for. */
static bool changed_only(const struct assay_pair_loop *k, const struct assay_comparison_case *c)
{
	const struct assay_catalog_op *op = assay_catalog_op(k->catalog, c->c.op);
	const bool counts_own = c->c.counters[0] || (op && op->counters.n);

	return !k->cmp->same_code && k->uncounted && !counts_own && c->control == ASSAY_CONTROL_NONE && c->in_base &&
	       !assay_limits_need_samples(k->policy, &c->c, k->uncounted);
}

static uint64_t pair_seed(const struct assay_comparison *cmp, size_t i, unsigned round)
{
	struct assay_philox draw = assay_random4(cmp->seed ^ cmp->started_ns, (uint32_t)i, round);

	/* SQLite and JSON keep 63 bits */
	return ((uint64_t)draw.v[0] << 32 | draw.v[1]) >> 1;
}

static int add_pair(struct assay_comparison_case *c, const struct assay_pair *p, struct assay_err *err)
{
	struct assay_pair *grown = realloc(c->pairs, (c->n_pairs + 1) * sizeof(*grown));

	if (!grown)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the pairs of '%s'", c->c.key);
	c->pairs = grown;
	c->pairs[c->n_pairs++] = *p;
	return 0;
}

/* Reject times below what this machine's bandwidth or arithmetic allows. */
static int judge_speed(struct assay_pair_loop *k, struct assay_machine_limits *limits, size_t i, struct assay_pair *p,
		       struct assay_err *err)
{
	const struct assay_limits_source from = { .catalog = k->catalog,
						  .inventory = k->inventory,
						  .measure = &k->measure,
						  .store = k->store,
						  .machine_id = k->cmp->machine.id };
	const struct assay_case *c = &k->cmp->cases[i].c;
	int rc = 0;

	for (int side = 0; side < 2 && !rc; side++) {
		struct assay_result *ps = &p->side[side];
		const struct assay_metric *time = assay_result_metric(ps, "time_s");
		char reason[256];

		if (ps->status != ASSAY_STATUS_OK || !time)
			continue;
		assay_machine_limits_learn(limits, c, &k->facts[i], time->value);
		rc = assay_machine_limits_judge(limits, &from, c, &k->facts[i], time->value, reason, err);
		if (rc || !reason[0])
			continue;
		ps->status = ASSAY_STATUS_WRONG;
		snprintf(ps->reason, sizeof(ps->reason), "%s", reason);
	}
	if (p->side[ASSAY_BASE].status != ASSAY_STATUS_OK || p->side[ASSAY_HEAD].status != ASSAY_STATUS_OK)
		assay_pair_drop_samples(p);
	return rc;
}

static int one_pair(struct assay_pair_loop *k, struct case_state *st, size_t i, unsigned round,
		    struct assay_kept_memory *kept, struct assay_machine_limits *limits, struct assay_err *err)
{
	struct assay_comparison_case *c = &k->cmp->cases[i];
	const bool head_alone = c->control == ASSAY_CONTROL_SLOWER || !c->in_base;
	const struct assay_compare_side *base = k->side[head_alone ? ASSAY_HEAD : ASSAY_BASE];
	const struct assay_compare_side *head = k->side[c->control == ASSAY_CONTROL_AA ? ASSAY_BASE : ASSAY_HEAD];
	struct assay_case base_case;
	const struct assay_pair_options po = {
		.plugins = { &base->plugins, &head->plugins },
		.parts = { base->parts.s, head->parts.s },
		.folders = { base->folder, head->folder },
		.base_case = c->base_variant[0] ? &base_case : NULL,
		.injected_frac = c->injected_frac,
		.pair_seed = pair_seed(k->cmp, i, round),
		.iterations = st->iterations,
		.sampling_ns = (uint64_t)st->sampling_ns,
		.changed_only = changed_only(k, c),
		.alone = !c->in_base,
		.all_checks = !st->learnt,
		.kept = k->facts[i].bytes >= KEEP_BYTES ? kept : NULL,
	};
	struct assay_pair p;
	const bool first = !st->learnt;
	bool keep = true;
	int rc = assay_comparison_base_case(c, &base_case, err);

	if (rc)
		return rc;
	rc = assay_measure_pair(&c->c, k->catalog, &k->facts[i], &k->measure, &po, &st->calibration, &p, c->difference,
				err);
	st->spent_ns += p.wall_ns;
	st->iterations = p.iterations;
	if (!rc)
		rc = judge_speed(k, limits, i, &p, err);
	if (!rc && first && only_divides(k, st, c, &p))
		keep = false;
	else if (!rc && first && !is_program(c))
		rc = learn(k, st, c, &p, &keep, err);
	if (!rc && keep && k->pair_done)
		rc = k->pair_done(k->arg, i, &p, err);
	if (!rc && keep)
		rc = add_pair(c, &p, err);
	if (rc || !keep)
		assay_pair_release(&p);
	return rc || first || is_program(c) ? rc : adapt_sampling(k, st, c, &p, err);
}

static void tell(const struct assay_pair_loop *k, const struct case_state *st, const char *key)
{
	double done = 0;

	for (size_t i = 0; i < k->cmp->n_cases; i++)
		done += st[i].decided ? 1 : fmin(1, (double)st[i].spent_ns / (double)k->cmp->budget_ns);
	assay_watch_tell(k->watch, &(struct assay_event){ .kind = ASSAY_EVENT_SHARE,
							  .done_frac = done / fmax(1, (double)k->cmp->n_cases),
							  .text = key });
}

static void tell_spent(const struct assay_pair_loop *k, const struct case_state *st)
{
	uint64_t spent_ns = 0;
	size_t undecided = 0;

	for (size_t i = 0; i < k->cmp->n_cases; i++) {
		spent_ns += st[i].spent_ns;
		undecided += !st[i].decided;
	}
	if (k->spent)
		k->spent(k->arg, (double)spent_ns * 1e-9, undecided);
}

int assay_pair_loop_run(struct assay_pair_loop *k, struct assay_err *err)
{
	struct assay_comparison *cmp = k->cmp;
	struct case_state *st = calloc(cmp->n_cases + 1, sizeof(*st));
	struct assay_kept_memory kept = { 0 };
	struct assay_machine_limits limits = { 0 };
	bool more = true;
	int rc = 0;

	if (!st)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a comparison of %zu cases", cmp->n_cases);
	for (size_t i = 0; i < cmp->n_cases && !rc; i++) {
		st[i].sampling_ns = is_program(&cmp->cases[i]) ? (double)cmp->budget_ns : ASSAY_PAIR_LENGTH_FIRST_NS;
		rc = assay_stopping_ask(cmp, &cmp->cases[i], k->policy, 0, &st[i].decided, err);
	}
	for (unsigned round = 0; more && !rc; round++) {
		more = false;
		for (size_t i = 0; i < cmp->n_cases && !rc; i++) {
			if (st[i].decided)
				continue;
			tell(k, st, cmp->cases[i].c.key);
			rc = assay_watch_check(k->watch, err);
			if (!rc)
				rc = one_pair(k, &st[i], i, round, &kept, &limits, err);
			if (!rc)
				rc = assay_stopping_ask(cmp, &cmp->cases[i], k->policy, st[i].spent_ns, &st[i].decided,
							err);
			tell_spent(k, st);
			more |= !st[i].decided;
		}
	}
	if (!rc) /* in the last pair */
		rc = assay_watch_check(k->watch, err);
	assay_kept_memory_release(&kept);
	free(st);
	return rc;
}

void assay_side_label(const struct assay_side_source *side, char *buf, size_t size)
{
	const struct assay_build *build = &side->build;

	/* who names the commit itself needs no second name of it */
	if (side->from_git && build->commit[0] && !strncmp(side->name, build->commit, strlen(build->commit)))
		snprintf(buf, size, "%.12s%s", build->commit, build->dirty ? " with changes" : "");
	else if (side->from_git && build->commit[0])
		snprintf(buf, size, "%s (%.7s%s)", side->name, build->commit, build->dirty ? " with changes" : "");
	else
		snprintf(buf, size, "%s", side->name);
}
