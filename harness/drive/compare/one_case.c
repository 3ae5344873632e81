/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/compare/one_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "drive/compare/compare.h"

static bool says_nothing_of_time(enum assay_verdict v)
{
	return v == ASSAY_WRONG_RESULT || v == ASSAY_NOT_MEASURED || v == ASSAY_INCOMPARABLE;
}

static void take(struct assay_case_answer *out, const struct assay_gate_case *c)
{
	memcpy(out->key, c->key, sizeof(out->key));
	memcpy(out->reason, c->reason, sizeof(out->reason));
	out->verdict = c->verdict;
	out->ratio = c->ratio;
	out->ci_lo = c->ci_lo;
	out->ci_hi = c->ci_hi;
	out->is_new = c->is_new;
}

/* Demands on other metrics are none of a time's change. */
static int choose(const struct assay_gate_report *r, const char *key, struct assay_case_answer *out,
		  struct assay_err *err)
{
	const struct assay_gate_case *first = NULL;
	bool exact = false;

	for (size_t i = 0; i < r->n_cases; i++)
		exact |= !strcmp(r->cases[i].key, key);
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct assay_gate_case *c = &r->cases[i];

		if (exact && strcmp(c->key, key))
			continue;
		if (first && strcmp(c->key, first->key))
			return assay_err_set(err, ASSAY_EUSAGE,
					     "'%s' selects '%s' and '%s', and perhaps more: name one case", key,
					     first->key, c->key);
		if (!first || says_nothing_of_time(c->verdict) ||
		    (!strcmp(c->metric, "time_s") && !says_nothing_of_time(out->verdict)))
			take(out, c);
		first = c;
	}
	return first ? 0 : assay_err_set(err, ASSAY_EUSAGE, "no case '%s' was compared", key);
}

int assay_compare_case(const struct assay_compare_request *q, const char *key, const struct assay_watch *w,
		       struct assay_case_answer *out, struct assay_err *err)
{
	struct assay_compare_request request = *q;
	struct assay_request what = *q->what;
	struct assay_compare_outcome o = { 0 };
	int rc;

	*out = (struct assay_case_answer){ .ratio = NAN, .ci_lo = NAN, .ci_hi = NAN };
	what.plan.only = (struct assay_strings){ 0 };
	what.take = ASSAY_TAKE_TIMES;
	request.what = &what;
	rc = assay_strings_add(&what.plan.only, key, err);
	if (!rc)
		rc = assay_compare_measure(&request, w, &o, err);
	if (!rc)
		rc = choose(&o.report, key, out, err);
	out->comparison_id = o.id;
	assay_compare_outcome_release(&o);
	assay_strings_release(&what.plan.only);
	return rc;
}

void assay_case_answer_text(const struct assay_case_answer *a, char *buf, size_t size)
{
	/* a ratio of which nobody knows how far it may be off says nothing */
	if (says_nothing_of_time(a->verdict) || !isfinite(a->ratio) || !isfinite(a->ci_lo) || !isfinite(a->ci_hi))
		snprintf(buf, size, "%s", a->reason);
	else
		snprintf(buf, size, "%+.2f %% (%+.2f to %+.2f %%)", 100 * (a->ratio - 1), 100 * (a->ci_lo - 1),
			 100 * (a->ci_hi - 1));
}
