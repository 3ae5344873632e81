/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judged samples are never profiled: this takes process pairs of its own, after the verdict. Several short ones, since
 * processes differ by layout.
 */
#include "drive/profile_because.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/function_blame.h"
#include "measure/measure_profile.h"

#define MOST_CASES 5
#define PAIRS      10
#define RATE_HZ    9973 /* prime: in step with no timer */

struct blaming {
	struct assay_compare_plan *plan;
	const struct assay_compare_request *q;
	const struct assay_watch *watch;
	struct assay_clock clock;
	size_t done, n; /* process pairs, of all cases */
};

static bool is_wanted(const struct assay_compare_request *q, const struct assay_gate_case *c)
{
	const bool timed = !strcmp(c->metric, "time_s") && c->evidence == ASSAY_EVIDENCE_PAIRED && isfinite(c->ratio) &&
			   isfinite(c->ci_lo) && c->ratio != 1;

	if (!timed || c->same_code)
		return false;
	return q->profile == ASSAY_PROFILE_ALL || c->verdict == ASSAY_REGRESSED || c->verdict == ASSAY_IMPROVED;
}

static int by_change(const void *a, const void *b)
{
	const struct assay_gate_case *const *x = a, *const *y = b;
	const double p = fabs(log((*x)->ratio)), q = fabs(log((*y)->ratio));

	return p < q ? 1 : p > q ? -1 : 0;
}

/* Those that changed most; all that there are where the user wants all. */
static struct assay_gate_case **choose(const struct assay_compare_request *q, struct assay_gate_report *r, size_t *n)
{
	struct assay_gate_case **v = calloc(r->n_cases + 1, sizeof(struct assay_gate_case *));

	*n = 0;
	for (size_t i = 0; v && i < r->n_cases; i++)
		if (is_wanted(q, &r->cases[i]))
			v[(*n)++] = &r->cases[i];
	if (v)
		qsort(v, *n, sizeof(struct assay_gate_case *), by_change);
	if (q->profile != ASSAY_PROFILE_ALL && *n > MOST_CASES)
		*n = MOST_CASES;
	return v;
}

static size_t find(const struct assay_comparison *cmp, const char *key)
{
	for (size_t i = 0; i < cmp->n_cases; i++)
		if (cmp->cases[i].control == ASSAY_CONTROL_NONE && !strcmp(cmp->cases[i].c.key, key))
			return i;
	return cmp->n_cases;
}

/* One pair more into @in; a case that fails here, after it was measured, ends it with the reason in @end. */
static int add_pair(struct blaming *k, size_t at, struct assay_blame_input *in, struct assay_profile_end *end,
		    struct assay_err *err)
{
	struct assay_compare_plan *p = k->plan;
	const struct assay_comparison_case *c = &p->cmp.cases[at];
	const struct assay_measure_options o = assay_compare_plan_comparing(p, k->q->what, &k->clock, k->watch).measure;
	struct assay_profile_pair pair;
	struct assay_case base_case;
	struct assay_profile_pair_options po = {
		.plugins = { &p->side[ASSAY_BASE].plugins, &p->side[ASSAY_HEAD].plugins },
		.parts = { p->side[ASSAY_BASE].parts.s, p->side[ASSAY_HEAD].parts.s },
		.base_case = c->base_variant[0] ? &base_case : NULL,
		.rate_hz = RATE_HZ,
		.for_ns = (k->q->profile_for_ns ? k->q->profile_for_ns : ASSAY_BECAUSE_FOR_NS) / PAIRS,
		.layout_seed = p->cmp.seed + in->n + 1,
	};
	int rc = assay_comparison_base_case(c, &base_case, err);

	if (rc)
		return rc;
	rc = assay_measure_profile_pair(&c->c, &p->facts[at], &o, &po, &pair, end, err);
	for (unsigned i = 0; i < 2; i++) {
		pair.side[i].iteration_ns = pair.iteration_ns[i];
		in->pairs[in->n].side[i] = pair.side[i];
	}
	in->n++;
	in->seconds += (double)po.for_ns * 1e-9;
	return rc;
}

static void tell(const struct blaming *k, const char *key)
{
	assay_watch_tell(k->watch, &(struct assay_event){ .kind = ASSAY_EVENT_SHARE,
							  .done_frac = (double)k->done / (double)k->n,
							  .text = key });
}

static int blame(struct blaming *k, struct assay_gate_case *c, struct assay_err *err)
{
	struct assay_blame_pair pairs[PAIRS];
	struct assay_blame_input in = { .pairs = pairs, .ratio = c->ratio, .ci = { c->ci_lo, c->ci_hi } };
	struct assay_profile_end end = { .status = ASSAY_STATUS_OK };
	const size_t at = find(&k->plan->cmp, c->key);
	int rc = at < k->plan->cmp.n_cases ? 0 : ASSAY_ENOTFOUND;

	if (rc)
		return assay_err_set(err, rc, "no case '%s' was compared", c->key);
	for (unsigned i = 0; i < PAIRS && !rc && end.status == ASSAY_STATUS_OK; i++) {
		rc = assay_watch_check(k->watch, err);
		if (!rc)
			rc = add_pair(k, at, &in, &end, err);
		k->done++;
		tell(k, c->key);
	}
	if (!rc && end.status != ASSAY_STATUS_OK)
		rc = assay_err_set(err, ASSAY_EWORKER, "%s: %.300s", assay_status_name(end.status), end.reason);
	if (!rc)
		rc = assay_function_blame(&in, &c->because, err);
	for (size_t i = 0; i < in.n; i++)
		for (unsigned side = 0; side < 2; side++)
			assay_profile_release(&pairs[i].side[side]);
	return rc;
}

int assay_profile_because(struct assay_compare_plan *plan, const struct assay_compare_request *q,
			  const struct assay_watch *w, struct assay_gate_report *r, struct assay_err *err)
{
	struct blaming k = { .plan = plan, .q = q, .watch = w };
	struct assay_err why = { 0 };
	struct assay_gate_case **v;
	size_t n = 0;
	int rc = 0;

	if (q->profile == ASSAY_PROFILE_NO)
		return 0;
	v = choose(q, r, &n);
	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	k.n = n * PAIRS;
	if (n)
		rc = assay_clock_init(&k.clock, &why);
	if (n)
		assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN,
							   .expected_ns = (double)n * (double)ASSAY_BECAUSE_FOR_NS });
	for (size_t i = 0; i < n && (!rc || rc == ASSAY_EWORKER); i++) {
		rc = blame(&k, v[i], &why);
		if (rc && rc != ASSAY_EINTERRUPTED) {
			v[i]->because = (struct assay_gate_because){
				.asked = true, .change_ns = NAN, .ci_lo_ns = NAN, .ci_hi_ns = NAN, .whole_ns = NAN
			};
			snprintf(v[i]->because.text, sizeof(v[i]->because.text), "because of what is not known: %.400s",
				 why.text);
		}
	}
	if (n)
		assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	free(v);
	if (rc == ASSAY_ENOMEM || rc == ASSAY_EINTERRUPTED)
		return assay_err_set(err, rc, "%s", why.text);
	return 0;
}
