/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts of the cases of a session. */
#include "drive/exact/exact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/installed.h"
#include "drive/project.h"
#include "drive/run/build_identity.h"
#include "model/exact.h"
#include "model/quantity.h"
#include "model/verdict.h"

/* ---- size ---- */

/* The total cost of stepping is reported above this. */
#define WORTH_NS 2e9

void assay_exact_size_tell(void *watch, const struct assay_exact_steps *s)
{
	const double all_ns = s->expected * s->step_ns;
	char text[ASSAY_KEY_MAX + 160], steps[32], takes[32], one[32];

	if (s->done <= 0 && all_ns > WORTH_NS) {
		assay_quantity_text(all_ns * 1e-9, "s", true, takes, sizeof(takes));
		assay_quantity_text(s->step_ns * 1e-9, "s", true, one, sizeof(one));
		assay_exact_about_text(s->expected, steps, sizeof(steps));
		snprintf(text, sizeof(text), "%s: about %s steps of %s, together %s", s->key, steps, one, takes);
		assay_watch_tell(watch, &(struct assay_event){ .kind = ASSAY_EVENT_NOTE, .text = text });
	}
	assay_watch_tell(watch, &(struct assay_event){ .kind = ASSAY_EVENT_PART,
						       .done_frac = s->expected > 0 ? s->done / s->expected : 0 });
}

bool assay_exact_size_small(const struct assay_plan *plan, const struct assay_request *q, const char *key)
{
	bool small = false, any = false;

	for (size_t i = 0; i < plan->n_cases && !q->max_steps; i++)
		small |= plan->exact_small[i] && !strcmp(plan->cases[i].key, key);
	for (size_t i = 0; i < plan->n_smaller && small; i++)
		any |= !strcmp(plan->cases[plan->smaller[i].of].key, key) && strcmp(plan->smaller[i].c.key, key);
	return any;
}

void assay_exact_size_name_smaller(const struct assay_plan *plan, const char *key, struct assay_exact_case *c)
{
	size_t n = strlen(c->reason);
	bool any = false;

	for (size_t i = 0; i < plan->n_smaller; i++) {
		if (strcmp(plan->cases[plan->smaller[i].of].key, key))
			continue;
		if (n < sizeof(c->reason))
			n += (size_t)snprintf(c->reason + n, sizeof(c->reason) - n, "%s '%.200s'", any ? "," : ": see",
					      plan->smaller[i].c.key);
		any = true;
	}
	if (any)
		c->skip = ASSAY_EXACT_SKIP_SMALLER;
	else if (n < sizeof(c->reason))
		snprintf(c->reason + n, sizeof(c->reason) - n,
			 "; its bench names no exact_shapes, and --steps allows more");
}

/* No core retires more: eight a cycle at 6 GHz. */
#define MOST_INSTRUCTIONS_PER_NS 48.0

const char *assay_exact_counting_model(const struct assay_session *session, const struct assay_request *q)
{
	const char *of_suite = session->plan.exact_model;

	return q->cache_model ? q->cache_model : of_suite[0] ? of_suite : "canon";
}

bool assay_exact_counting_all(const struct assay_session *session, const struct assay_request *q)
{
	return q->plan.only.n || !session->plan.exact_model[0];
}

uint64_t assay_exact_counting_steps(const struct assay_session *session, const struct assay_request *q)
{
	return q->max_steps ? q->max_steps : session->plan.exact_steps;
}

/*
 * Wall time for all counts: as the request says, or the suite, unless cases were chosen with `only`; 0: as long as it
 * takes.
 */
static uint64_t exact_counting_budget(const struct assay_session *session, const struct assay_request *q)
{
	return q->exact_budget_ns ? q->exact_budget_ns : q->plan.only.n ? 0 : session->plan.exact_budget_ns;
}

/* Cases of the plan. */
struct chosen {
	size_t *v;
	size_t n;
};

static int choose(const struct assay_session *session, const struct assay_request *q, struct chosen *out,
		  struct assay_err *err)
{
	const struct assay_plan *plan = &session->plan;
	bool all = q->take == ASSAY_TAKE_COUNTS && assay_exact_counting_all(session, q);

	out->v = calloc(plan->n_cases + 1, sizeof(*out->v));
	if (!out->v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < plan->n_cases; i++)
		if (all || plan->exact[i])
			out->v[out->n++] = i;
	return 0;
}

/* The counts that are recorded for the suite; without any, @out stays all-zero. The gate reports errors in the file. */
static void find_recorded(const char *suite, struct assay_exact_baseline *out)
{
	char dir[ASSAY_INSTALLED_PATH_MAX], path[ASSAY_INSTALLED_PATH_MAX + ASSAY_NAME_MAX + 16];

	if (assay_project_baseline_dir(dir, sizeof(dir), NULL))
		return;
	snprintf(path, sizeof(path), "%s/exact/%s.json", dir, suite);
	(void)assay_exact_baseline_load(out, path, NULL);
}

/* Add the cases that the suite does not name for counts: a user who asks for counts alone is told about all of them. */
static int add_unnamed(const struct assay_plan *plan, struct assay_exact_run *out, struct assay_err *err)
{
	struct assay_exact_case *v = realloc(out->cases, (out->n_cases + plan->n_cases + 1) * sizeof(*v));

	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	out->cases = v;
	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct assay_case *c = &plan->cases[i];
		struct assay_exact_case *to = &v[out->n_cases];

		if (plan->exact[i] || assay_exact_case_find(out, c->key))
			continue;
		*to = (struct assay_exact_case){ .status = ASSAY_STATUS_SKIPPED, .all_threads = c->all_threads };
		memcpy(to->key, c->key, sizeof(to->key));
		snprintf(to->reason, sizeof(to->reason), "%s", ASSAY_EXACT_UNNAMED);
		out->n_cases++;
	}
	return 0;
}

/* Was any case counted, or did any fail? */
static bool has_counted(const struct assay_exact_run *run)
{
	for (size_t i = 0; i < run->n_cases; i++)
		if (run->cases[i].status != ASSAY_STATUS_SKIPPED)
			return true;
	return false;
}

int assay_exact_counting(const struct assay_session *session, const struct assay_request *q,
			 const struct assay_clock *clock, const struct assay_watch *w, char why[ASSAY_EXACT_REASON_MAX],
			 struct assay_exact_run *out, struct assay_err *err)
{
	const char *model = assay_exact_counting_model(session, q);
	struct assay_cache_model cache;
	struct chosen k = { 0 };
	struct assay_exact_baseline recorded = { 0 };
	struct assay_exact_means means;
	const char *unavailable = NULL;
	struct assay_exact_options o = {
		.measure = assay_session_measure(session, q, clock, w),
		.model = &cache,
		.means = &means,
		.max_steps = assay_exact_counting_steps(session, q),
	};
	struct assay_exact_schedule schedule = { .session = session,
						 .request = q,
						 .options = &o,
						 .budget_ns = exact_counting_budget(session, q),
						 .recorded = &recorded,
						 .watch = w };
	int rc;

	*out = (struct assay_exact_run){ .seed = q->settings.seed, .started_ns = assay_clock_unix_ns() };
	snprintf(out->suite, sizeof(out->suite), "%s", session->plan.suite);
	rc = assay_build_identity(session, q, w, &out->build, err);
	if (!rc)
		rc = assay_exact_setting_take(session->topology, model, q->counter_source, &cache, &out->setting,
					      &means, err);
	if (!rc)
		unavailable = assay_exact_unavailable(&means);
	if (!rc)
		rc = choose(session, q, &k, err);
	if (why)
		why[0] = '\0';
	if (!rc)
		find_recorded(session->plan.suite, &recorded);
	if (!rc && k.n) {
		o.tool = out->setting.tool;
		schedule.cases = k.v;
		schedule.n_cases = k.n;
		rc = assay_exact_schedule_run(&schedule, out, err);
	}
	if (!rc && why && k.n && unavailable && !has_counted(out)) {
		snprintf(why, ASSAY_EXACT_REASON_MAX, "%s", unavailable);
		assay_watch_warn(w, "no exact counts of %zu cases: %s", k.n, unavailable);
		assay_exact_run_release(out);
	}
	if (!rc && q->take == ASSAY_TAKE_COUNTS && !assay_exact_counting_all(session, q))
		rc = add_unnamed(&session->plan, out, err);
	assay_exact_baseline_release(&recorded);
	free(k.v);
	return rc;
}

static bool is_named(const struct assay_plan *plan, const char *key)
{
	for (size_t i = 0; i < plan->n_cases; i++)
		if (plan->exact[i] && !strcmp(plan->cases[i].key, key))
			return true;
	return false;
}

/* A call that is counted does its work; one that takes less time than that can take does not. */
static void judge_speed(struct assay_result *r, const struct assay_exact_case *c)
{
	const double instructions = (double)c->total.v[ASSAY_EXACT_INSTRUCTIONS];
	char took[32];

	if (instructions <= MOST_INSTRUCTIONS_PER_NS * r->median_ns)
		return;
	assay_quantity_text(r->median_ns * 1e-9, "s", true, took, sizeof(took));
	r->status = ASSAY_STATUS_WRONG;
	r->correct = false;
	snprintf(r->reason, sizeof(r->reason), "faster than any machine allows: %.0f instructions a call, in %s",
		 instructions, took);
}

int assay_exact_counting_join(struct assay_result *r, const struct assay_exact_run *counts,
			      const struct assay_plan *plan, const char *why, bool *changed, struct assay_err *err)
{
	const struct assay_exact_case *c = counts ? assay_exact_case_find(counts, r->c.key) : NULL;

	if (r->status != ASSAY_STATUS_OK || (!c && !(why[0] && is_named(plan, r->c.key))))
		return 0;
	*changed = true;
	if (c && c->status == ASSAY_STATUS_OK) {
		judge_speed(r, c);
		return r->status == ASSAY_STATUS_OK ? assay_exact_add_metrics(r, c, err) : 0;
	}
	return assay_counters_add_missing(&r->counters, ASSAY_EXACT_MISSING, ASSAY_SOURCE_EXACT, c ? c->reason : why)
		       ? assay_err_set(err, ASSAY_ENOMEM, "out of memory")
		       : 0;
}

enum assay_exit assay_exact_counting_exit(const struct assay_exact_run *run, bool all, const struct assay_watch *w)
{
	enum assay_exit worst = ASSAY_EXIT_OK;
	size_t skipped = 0;

	for (size_t i = 0; i < run->n_cases; i++) {
		skipped += run->cases[i].status == ASSAY_STATUS_SKIPPED;
		worst = assay_exit_worse(worst, assay_exit_of_status(run->cases[i].status));
	}
	if (run->n_cases && skipped == run->n_cases) {
		assay_watch_warn(w, "nothing was counted: see the reasons of the cases");
		worst = all ? ASSAY_EXIT_NOT_MEASURED : worst;
	}
	return worst;
}
