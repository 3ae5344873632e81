/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/exact/exact.h"
#include "drive/project.h"
#include "drive/read_back.h"
#include "drive/run/case_loop.h"
#include "judge/limits.h"
#include "measure/measure.h"
#include "store/exact.h"
#include "store/store.h"

/* ---- stored as it comes ---- */

struct sink {
	struct assay_store *store;
	struct assay_run *run; /* stored with its first result, so that there is never one without any */
};

static int store_first_round(const struct sink *sink, const struct assay_result *r, struct assay_err *err)
{
	return sink->run->id ? assay_store_result_add(sink->store, sink->run->id, r, err)
			     : assay_store_run_begin_with(sink->store, sink->run, r, err);
}

/* Raw samples may be many; once they are stored nothing needs them here until the next round. */
static int store_result(void *arg, struct assay_result *r, unsigned round, struct assay_err *err)
{
	const struct sink *sink = arg;
	int rc = round > 1 ? assay_store_result_replace(sink->store, sink->run->id, r, err)
			   : store_first_round(sink, r, err);

	free(r->samples);
	r->samples = NULL;
	return rc;
}

static int reload_samples(void *arg, struct assay_result *r, struct assay_err *err)
{
	const struct sink *sink = arg;

	return assay_store_samples_load(sink->store, sink->run->id, r->c.key, &r->samples, &r->n_samples, err);
}

/* Counts of what the suite names for it, after the times; @why there are none of any, or "". */
static int count_beside(const struct assay_measuring *m, struct assay_run *run, char why[ASSAY_EXACT_REASON_MAX],
			struct assay_store *store, struct assay_err *err)
{
	int rc, stored;

	why[0] = '\0';
	if (m->request->take == ASSAY_TAKE_TIMES || !m->session->plan.exact_model[0])
		return 0;
	run->exact = calloc(1, sizeof(*run->exact));
	if (!run->exact)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	rc = assay_exact_counting(m->session, m->request, m->clock, m->watch, why, run->exact, err);
	run->exact->run_id = run->id;
	if (run->exact->n_cases) {
		stored = assay_store_exact_add(store, run->exact, rc ? NULL : err);
		return rc ? rc : stored;
	}
	assay_exact_run_release(run->exact);
	free(run->exact);
	run->exact = NULL;
	return rc;
}

/* Findings that need the whole run: digests that differ by variant, shares of the roof, exact counts or @why none. */
static int finish(const struct assay_measuring *m, struct assay_run *run, const char *why, struct assay_store *store,
		  struct assay_err *err)
{
	const struct assay_session *s = m->session;
	bool *changed = calloc(run->n_results + 1, sizeof(*changed));
	int rc;

	if (!changed)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	rc = assay_measure_finish(run, s->facts, &s->host, s->catalog, changed, err);
	for (size_t i = 0; i < run->n_results && !rc && store; i++)
		rc = assay_exact_counting_join(&run->results[i], run->exact, &s->plan, why, &changed[i], err);
	for (size_t i = 0; i < run->n_results && !rc && store; i++)
		if (changed[i])
			rc = assay_store_metrics_put(store, run->id, &run->results[i], err);
	free(changed);
	if (rc)
		return rc;
	run->ended_ns = assay_clock_unix_ns();
	return store ? assay_store_run_end(store, run->id, run->ended_ns, err) : 0;
}

/* Say how much is left of a run that failed or was interrupted while it was @doing something, as a sentence. */
static int say_kept(const struct assay_measuring *m, const struct assay_run *run, struct assay_store *store,
		    const char *doing, int rc, struct assay_err *err)
{
	const struct assay_err why = *err;
	size_t planned = m->session->plan.n_cases;

	if (rc != ASSAY_EINTERRUPTED && !run->n_results)
		return rc;
	if (!assay_store_in_place(store))
		return assay_err_set(
			err, rc, "%.400s%s", why.text,
			rc == ASSAY_EINTERRUPTED ? "; the database was removed or replaced: nothing is kept" : "");
	if (rc == ASSAY_EINTERRUPTED && !run->id)
		return assay_err_set(err, rc, "%.400s before the first of %zu cases was finished: nothing is kept",
				     why.text, planned);
	if (rc == ASSAY_EINTERRUPTED)
		return assay_err_set(err, rc, "%.400s%s: %zu of %zu cases kept in run %" PRId64 " of '%s'", why.text,
				     doing, run->n_results, planned, run->id, m->request->db);
	return assay_err_set(err, rc, "%.400s; %zu of %zu cases kept in run %" PRId64, why.text, run->n_results,
			     planned, run->id);
}

static int measure_into(const struct assay_measuring *m, struct assay_run *run, struct assay_store *store,
			struct assay_err *err)
{
	char why[ASSAY_EXACT_REASON_MAX] = "";
	int rc, finished;

	assay_watch_tell(m->watch, &(struct assay_event){ .kind = ASSAY_EVENT_RUN, .run = run });
	rc = assay_measuring_all(m, run, err);
	if (rc)
		return say_kept(m, run, store,
				run->n_results == m->session->plan.n_cases && m->session->plan.rounds > 1
					? " after the first round"
					: "",
				rc, err);
	rc = count_beside(m, run, why, store, err);
	if (rc == ASSAY_EINTERRUPTED) {
		/* all times are there: what a whole run tells is told of them */
		snprintf(why, sizeof(why), "counting was interrupted");
		finished = finish(m, run, why, store, NULL);
		return say_kept(m, run, store, finished ? "" : " while counting", rc, err);
	}
	if (!rc)
		rc = finish(m, run, why, store, err);
	return rc ? say_kept(m, run, store, "", rc, err) : 0;
}

/* One whose result could not be stored is none of the run's results. */
static const char *last_case(const struct assay_plan *plan, const struct assay_run *run, int rc)
{
	const size_t i = rc && run->n_results < plan->n_cases ? run->n_results : run->n_results - 1;

	return i < plan->n_cases ? plan->cases[i].key : "";
}

/* ---- requests ---- */

int assay_run_measure(const struct assay_request *q, const struct assay_watch *w, struct assay_run *run,
		      struct assay_err *err)
{
	struct assay_session session = { 0 };
	struct assay_store *store = NULL;
	struct assay_clock clock;
	struct sink sink;
	struct assay_measuring m = { .request = q,
				     .session = &session,
				     .clock = &clock,
				     .watch = w,
				     .finished = store_result,
				     .reload = reload_samples,
				     .arg = &sink };
	int rc = assay_session_ready(&session, q, w, err);

	*run = (struct assay_run){ 0 };
	if (!rc)
		rc = assay_clock_init(&clock, err);
	if (!rc)
		rc = assay_measuring_describe(&m, run, err);
	if (!rc)
		rc = assay_store_open(&store, q->db, ASSAY_STORE_WRITE, err);
	m.store = store;
	sink = (struct sink){ .store = store, .run = run };
	if (!rc)
		rc = measure_into(&m, run, store, err);
	assay_store_close(store);
	if (store)
		rc = assay_read_back_run(rc, q->db, run, last_case(&session.plan, run, rc), err);
	assay_session_close(&session);
	return rc;
}

/* Those that the policy of the project refuses are wrong; without one none is. */
static int refuse_deviations(struct assay_run *run, struct assay_err *err)
{
	char path[ASSAY_POLICY_PATH_MAX];
	struct assay_policy policy;
	int rc = assay_project_baseline_dir(path, ASSAY_INSTALLED_PATH_MAX, NULL);

	if (!rc) {
		strcat(path, "/policy.conf");
		rc = assay_policy_load(&policy, path, err);
	}
	if (rc)
		return rc == ASSAY_ENOTFOUND ? 0 : rc;
	for (size_t i = 0; i < run->n_results; i++) {
		struct assay_result *r = &run->results[i];

		if (r->status != ASSAY_STATUS_OK || !r->deviation.edges || !assay_policy_requires_edges(&policy, &r->c))
			continue;
		r->status = ASSAY_STATUS_WRONG;
		r->correct = false;
		assay_edges_refused(&r->deviation, r->reason, sizeof(r->reason));
	}
	assay_policy_release(&policy);
	return 0;
}

int assay_run_verify(const struct assay_request *q, const struct assay_watch *w, struct assay_run *run,
		     struct assay_err *err)
{
	struct assay_session session = { 0 };
	struct assay_clock clock;
	const struct assay_measuring m = {
		.request = q, .session = &session, .clock = &clock, .watch = w, .verify_only = true
	};
	int rc = assay_session_ready(&session, q, w, err);

	*run = (struct assay_run){ 0 };
	if (!rc)
		rc = assay_clock_init(&clock, err);
	if (!rc)
		rc = assay_measuring_describe(&m, run, err);
	if (!rc)
		rc = assay_measuring_all(&m, run, err);
	if (!rc)
		rc = finish(&m, run, "", NULL, err);
	if (!rc)
		rc = refuse_deviations(run, err);
	assay_session_close(&session);
	return rc;
}

int assay_run_count(const struct assay_request *q, const struct assay_watch *w, struct assay_exact_run *run,
		    struct assay_err *err)
{
	struct assay_session session = { 0 };
	struct assay_store *store = NULL;
	struct assay_clock clock;
	size_t counted = 0;
	int rc = assay_session_ready(&session, q, w, err), stored;

	*run = (struct assay_exact_run){ 0 };
	if (!rc)
		rc = assay_clock_init(&clock, err);
	if (!rc)
		rc = assay_store_open(&store, q->db, ASSAY_STORE_WRITE, err);
	if (!rc)
		rc = assay_exact_counting(&session, q, &clock, w, NULL, run, err);
	if (!rc || (rc == ASSAY_EINTERRUPTED && run->n_cases)) {
		stored = assay_store_exact_add(store, run, err);
		if (stored)
			rc = stored;
		for (size_t i = 0; i < run->n_cases; i++)
			counted += run->cases[i].status == ASSAY_STATUS_OK;
		if (rc == ASSAY_EINTERRUPTED && !stored)
			assay_err_set(err, rc, "interrupted: the counts of %zu case%s are kept in '%s'", counted,
				      counted == 1 ? "" : "s", q->db);
	}
	assay_store_close(store);
	assay_session_close(&session);
	return store ? assay_read_back_counts(rc, q->db, run, err) : rc;
}

enum assay_exit assay_run_exit(const struct assay_run *run, const struct assay_watch *w)
{
	enum assay_exit status = assay_measuring_exit(run, w);

	return run->exact ? assay_exit_worse(status, assay_exact_counting_exit(run->exact, false, w)) : status;
}

enum assay_exit assay_run_count_exit(const struct assay_exact_run *run, const struct assay_watch *w)
{
	return assay_exact_counting_exit(run, true, w);
}
