/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/promise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/compare/duration.h"
#include "judge/comparison_rule.h"
#include "judge/planning.h"
#include "store/comparison.h"

#define PILOT_PAIRS       5
#define PILOT_PAIR_NS     0.5e9 /* expected */
#define LEARN_COMPARISONS 20    /* the newest of this machine */

/* A few pairs of unchanged code for the cases nothing is known of. */
static int pilot(struct assay_compare_plan *p, const struct assay_request *r, const struct assay_watch *w,
		 struct assay_planned *cases, struct assay_err *err)
{
	struct assay_comparison *cmp = &p->cmp;
	struct assay_clock clock;
	struct assay_comparing k = assay_compare_plan_comparing(p, r, &clock, w);
	int rc = assay_clock_init(&clock, err);

	cmp->max_pairs = PILOT_PAIRS;
	cmp->same_code = true; /* which unchanged code is */
	for (size_t i = 0; i < cmp->n_cases; i++)
		if (cases[i].n_pairs >= PILOT_PAIRS)
			cmp->cases[i].in_head = false; /* known: not measured again */
	if (!rc) {
		assay_watch_tell(
			w, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN,
						  .expected_ns = PILOT_PAIR_NS * PILOT_PAIRS * (double)cmp->n_cases });
		rc = assay_comparing_run(&k, err);
		assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	}
	for (size_t i = 0; i < cmp->n_cases && !rc; i++)
		rc = assay_planned_learn(&cases[i], &cmp->cases[i], err);
	return rc;
}

/* Why nothing usable came of a case. */
static int explain(const struct assay_compare_plan *p, size_t i, char *buf, size_t size, struct assay_err *err)
{
	const struct assay_comparison_case *c = &p->cmp.cases[i];
	const struct assay_paired_rule rule = assay_comparison_rule(&p->cmp, c, &p->policy);
	struct assay_gate_case g;
	bool final;
	int rc = assay_paired_judge(c, &rule, &g, &final, err);

	if (!rc)
		snprintf(buf, size, "%s", g.reason);
	return rc;
}

static int report_cases(const struct assay_compare_plan *p, const struct assay_planned *cases,
			struct assay_promise_report *out, struct assay_err *err)
{
	int rc = 0;

	out->cases = calloc(p->cmp.n_cases + 1, sizeof(*out->cases));
	if (!out->cases)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < p->cmp.n_cases && !rc; i++) {
		const struct assay_planned *c = &cases[i];
		struct assay_promise_case *to = &out->cases[out->n_cases++];

		*to = (struct assay_promise_case){ .known = assay_planned_known(c),
						   .known_pairs = c->n_pairs,
						   .need_pairs = c->need_pairs,
						   .need_s = c->need_s };
		snprintf(to->key, sizeof(to->key), "%s", p->cmp.cases[i].c.key);
		to->sd = to->known ? assay_planned_sd(c) : NAN;
		to->pair_s = to->known ? assay_planned_pair_s(c) : NAN;
		if (!to->known)
			rc = explain(p, i, to->reason, sizeof(to->reason), err);
	}
	return rc;
}

static int promise(const struct assay_promise_request *q, struct assay_compare_plan *p, struct assay_store *store,
		   const struct assay_watch *w, struct assay_promise_report *out, struct assay_err *err)
{
	const struct assay_plan_goal goal = { .detect_frac = q->detect_frac,
					      .alpha = p->cmp.alpha,
					      .alpha_pass = p->policy.pass_alpha,
					      .max_pairs = p->cmp.max_pairs,
					      .within_s = (double)q->within_ns * 1e-9 };
	struct assay_planned *cases = calloc(p->cmp.n_cases + 1, sizeof(*cases));
	int rc = cases ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");

	if (!rc && store)
		rc = assay_compare_known_pairs(p, store, LEARN_COMPARISONS, cases, err);
	if (!rc)
		rc = pilot(p, q->compare.what, w, cases, err);
	if (!rc) {
		const struct assay_promise pr = assay_plan_promise(cases, p->cmp.n_cases, &goal);

		snprintf(out->suite, sizeof(out->suite), "%s", p->cmp.suite);
		snprintf(out->machine, sizeof(out->machine), "%s", p->cmp.machine.label);
		out->alpha = goal.alpha;
		out->detect_frac = goal.detect_frac;
		out->within_s = goal.within_s;
		out->needed_s = pr.needed_s;
		out->possible = pr.possible;
		out->detectable_frac = pr.detectable_frac;
		rc = report_cases(p, cases, out, err);
	}
	free(cases);
	return rc;
}

int assay_promise(const struct assay_promise_request *q, const struct assay_watch *w, struct assay_promise_report *out,
		  struct assay_err *err)
{
	struct assay_compare_plan plan = { 0 };
	struct assay_store *store = NULL;
	int rc = assay_compare_plan_make_same(&plan, &q->compare, w, err);

	*out = (struct assay_promise_report){ 0 };
	/* without a database there is no history, and that is fine */
	if (!rc) {
		rc = assay_store_open(&store, q->compare.what->db, ASSAY_STORE_READ, err);
		rc = rc == ASSAY_ENOTFOUND ? 0 : rc;
	}
	if (!rc)
		rc = promise(q, &plan, store, w, out, err);
	assay_store_close(store);
	assay_compare_plan_release(&plan);
	return rc;
}
