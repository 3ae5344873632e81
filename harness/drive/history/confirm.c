/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/history/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/compare/one_case.h"
#include "drive/read_back.h"
#include "drive/repository.h"
#include "machine/clock.h"
#include "machine/environment.h"
#include "store/comparison.h"

#define LEAST_MARGIN 0.0005

/* Is this the machine of the history? */
static int check_machine(const struct assay_case_history *h, char *why, size_t size, struct assay_err *err)
{
	struct assay_fingerprint here = { 0 };
	struct assay_topology *t = NULL;
	int rc = assay_topology_open(&t, NULL, err);

	if (!rc)
		rc = assay_fingerprint_take(t, &here, err);
	assay_topology_close(t);
	if (!rc && strcmp(here.id, h->machine_id))
		snprintf(why, size, "the history is of another machine: %.8s (%.96s)", h->machine_id, h->machine_label);
	return rc;
}

static int suite_of(struct assay_store *store, int64_t run, char suite[ASSAY_NAME_MAX], struct assay_err *err)
{
	struct assay_run_info *runs = NULL;
	size_t n = 0;
	int rc = assay_store_runs(store, NULL, 0, &runs, &n, err);

	for (size_t i = 0; i < n; i++)
		if (runs[i].id == run)
			memcpy(suite, runs[i].suite, ASSAY_NAME_MAX);
	free(runs);
	return rc;
}

/* Compare both commits. @why gets why that says nothing. */
static int compare(const struct assay_compare_request *q, const struct assay_watch *w, struct assay_case_history *h,
		   const struct assay_trend_change *c, struct assay_change_answer *a, char *why, size_t size,
		   struct assay_err *err)
{
	struct assay_compare_request request = *q;
	struct assay_request what = *q->what;
	unsigned threads = h->c.threads;
	struct assay_case_answer said;
	char text[400];
	int rc;

	what.plan.threads = &threads;
	what.plan.n_threads = 1;
	request.what = &what;
	request.base = a->from_commit;
	request.head = a->to_commit;
	if (!(q->margin_frac > 0))
		request.margin_frac = fmin(1, fmax(LEAST_MARGIN, expm1(fabs(log(c->ratio)) / 2)));
	rc = assay_compare_case(&request, h->c.key, w, &said, err);
	if (rc)
		return rc;
	assay_case_answer_text(&said, text, sizeof(text));
	a->confirmed = said.verdict == (a->slower ? ASSAY_REGRESSED : ASSAY_IMPROVED);
	a->decided = said.verdict != ASSAY_INCONCLUSIVE;
	a->comparison_id = said.comparison_id;
	a->budget_ns = q->budget_ns;
	a->asked_ns = assay_clock_unix_ns();
	snprintf(a->reason, sizeof(a->reason), "compared, %s: %s", assay_verdict_name(said.verdict), text);
	if (said.verdict == ASSAY_NOT_MEASURED || said.verdict == ASSAY_INCOMPARABLE ||
	    said.verdict == ASSAY_WRONG_RESULT || said.is_new)
		snprintf(why, size, "%s", a->reason);
	return 0;
}

/* With the suite of the run behind the change, unless the user named one. */
static int ask(const struct assay_compare_request *q, const struct assay_watch *w, struct assay_store *store,
	       struct assay_case_history *h, struct assay_trend_change *c, struct assay_change_answer *a,
	       struct assay_err *err)
{
	struct assay_compare_request request = *q;
	struct assay_request what = *q->what;
	char suite[ASSAY_NAME_MAX] = ASSAY_DEFAULT_SUITE;
	struct assay_err said = { 0 };
	char why[sizeof(c->why)] = "";
	int rc = suite_of(store, h->points[c->at].run_id, suite, err);

	if (rc)
		return rc;
	if (!what.plan.suite)
		what.plan.suite = suite;
	request.what = &what;
	rc = compare(&request, w, h, c, a, why, sizeof(why), &said);
	if (rc == ASSAY_EUSAGE || rc == ASSAY_ENOTFOUND) {
		snprintf(c->why, sizeof(c->why), "%.500s", said.text);
		return 0;
	}
	if (rc) {
		*err = said;
		return rc;
	}
	if (why[0]) {
		memcpy(c->why, why, sizeof(c->why));
		return 0;
	}
	assay_change_tell(c, a);
	return assay_store_change_put(store, h->c.key, h->machine_id, a, err);
}

int assay_confirm_changes(const struct assay_compare_request *q, const struct assay_watch *w,
			  struct assay_case_history *h, struct assay_err *err)
{
	struct assay_store *store = NULL;
	struct assay_repository repo;
	struct assay_err lacks = { 0 };
	char elsewhere[256] = "";
	bool repository;
	int rc;

	if (!h->n_changes)
		return 0;
	rc = assay_repository_open(&repo, NULL, w->interrupted, &lacks);
	if (rc == ASSAY_EINTERRUPTED) {
		*err = lacks;
		return rc;
	}
	repository = !rc;
	rc = check_machine(h, elsewhere, sizeof(elsewhere), err);
	if (!rc)
		rc = assay_store_open(&store, q->what->db, ASSAY_STORE_WRITE, err);
	for (size_t i = 0; i < h->n_changes && !rc; i++) {
		struct assay_trend_change *c = &h->changes[i];
		struct assay_change_answer a;
		bool found;

		if (!assay_change_question(h->points, c, &a))
			continue;
		rc = assay_store_change_find(store, h->c.key, h->machine_id, &a, &found, err);
		if (!rc && found && (a.decided || a.budget_ns >= q->budget_ns))
			assay_change_tell(c, &a);
		else if (!rc && elsewhere[0])
			memcpy(c->why, elsewhere, sizeof(elsewhere));
		else if (!rc && !repository)
			snprintf(c->why, sizeof(c->why), "there is %.400s", lacks.text);
		else if (!rc)
			rc = ask(q, w, store, h, c, &a, err);
	}
	assay_store_close(store);
	return store ? assay_read_back(rc, q->what->db, h->c.key, err) : rc;
}
