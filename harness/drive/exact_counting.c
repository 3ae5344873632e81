/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts of the cases of a session. */
#include "drive/exact_counting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/build_identity.h"
#include "model/quantity.h"
#include "model/verdict.h"

/* No core retires more: eight a cycle at 6 GHz. */
#define MOST_INSTRUCTIONS_PER_NS 48.0
/* What steps cost in all is said where it is more than this. */
#define WORTH_NS 2e9

const char *assay_exact_counting_model(const struct assay_session *session, const struct assay_request *q)
{
	const char *of_suite = session->plan.exact_model;

	return q->cache_model ? q->cache_model : of_suite[0] ? of_suite : "canon";
}

bool assay_exact_counting_all(const struct assay_session *session, const struct assay_request *q)
{
	return q->only.n || !session->plan.exact_model[0];
}

uint64_t assay_exact_counting_steps(const struct assay_session *session, const struct assay_request *q)
{
	return q->max_steps ? q->max_steps : session->plan.exact_steps;
}

void assay_exact_counting_tell(void *watch, const struct assay_exact_steps *s)
{
	const double all_ns = s->expected * s->step_ns;
	char text[ASSAY_KEY_MAX + 160], takes[32], one[32];

	if (s->done <= 0 && all_ns > WORTH_NS) {
		assay_quantity_text(all_ns * 1e-9, "s", false, takes, sizeof(takes));
		assay_quantity_text(s->step_ns * 1e-9, "s", false, one, sizeof(one));
		snprintf(text, sizeof(text), "%s: about %.3g steps of %s, together %s", s->key, s->expected, one,
			 takes);
		assay_watch_tell(watch, &(struct assay_event){ .kind = ASSAY_EVENT_STEPS, .text = text });
	}
	assay_watch_tell(watch, &(struct assay_event){ .kind = ASSAY_EVENT_PART,
						       .done_frac = s->expected > 0 ? s->done / s->expected : 0 });
}

/* Cases to count, with their facts. */
struct chosen {
	struct assay_case *cases;
	const struct assay_case_facts **facts;
	size_t *at; /* in the plan */
	size_t n;
};

static int choose(const struct assay_session *session, const struct assay_request *q, struct chosen *out,
		  struct assay_err *err)
{
	const struct assay_plan *plan = &session->plan;
	bool all = q->take == ASSAY_TAKE_COUNTS && assay_exact_counting_all(session, q);

	out->cases = calloc(plan->n_cases + 1, sizeof(*out->cases));
	out->facts = calloc(plan->n_cases + 1, sizeof(*out->facts));
	out->at = calloc(plan->n_cases + 1, sizeof(*out->at));
	if (!out->cases || !out->facts || !out->at)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < plan->n_cases; i++) {
		if (!all && !plan->exact[i])
			continue;
		out->facts[out->n] = &session->facts[i];
		out->at[out->n] = i;
		out->cases[out->n++] = plan->cases[i];
	}
	return 0;
}

struct counting {
	const struct assay_session *session;
	const struct assay_exact_options *o;
	struct assay_exact_run *out;
	struct assay_err *err;
};

static int count_one(struct counting *k, const struct assay_case *c, const struct assay_case_facts *facts,
		     bool *too_long)
{
	struct assay_exact_run *out = k->out;
	struct assay_exact_case *at = &out->cases[out->n_cases];
	int rc = assay_measure_exact(c, k->session->catalog, facts, k->o, at, too_long, k->err);

	if (rc)
		assay_exact_case_release(at);
	else
		out->n_cases++;
	return rc;
}

/*
 * In the place of case @of of the plan, which was the last. Those of a case that cannot run here are skipped like it,
 * which tells them from those that are missing.
 */
static int count_smaller(struct counting *k, size_t of)
{
	const struct assay_plan *plan = &k->session->plan;
	struct assay_exact_case *larger = &k->out->cases[k->out->n_cases - 1];
	const bool unable = larger->skip == ASSAY_EXACT_SKIP_UNABLE;
	size_t n = strlen(larger->reason);
	bool any = false, too_long;
	int rc = 0;

	for (size_t i = 0; i < plan->n_smaller && !rc; i++) {
		const struct assay_case *c = &plan->smaller[i].c;

		if (plan->smaller[i].of != of)
			continue;
		if (!unable && n < sizeof(larger->reason))
			n += (size_t)snprintf(larger->reason + n, sizeof(larger->reason) - n, "%s '%.200s'",
					      any ? "," : ": see", c->key);
		any = true;
		if (!assay_exact_case_find(k->out, c->key))
			rc = count_one(k, c, &k->session->smaller_facts[i], &too_long);
	}
	if (any && !unable)
		larger->skip = ASSAY_EXACT_SKIP_SMALLER;
	else if (!any && !unable && n < sizeof(larger->reason))
		snprintf(larger->reason + n, sizeof(larger->reason) - n,
			 "; its bench names no exact_shapes, and --steps allows more");
	return rc;
}

static int count_all(const struct assay_session *session, const struct chosen *k, const struct assay_exact_options *o,
		     const struct assay_watch *w, struct assay_exact_run *out, struct assay_err *err)
{
	struct counting counting = { session, o, out, err };
	bool too_long = false;
	int rc = 0;

	out->cases = calloc(k->n + session->plan.n_smaller + 1, sizeof(*out->cases));
	if (!out->cases)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_CASES, .cases = k->cases, .n_cases = k->n });
	for (size_t i = 0; i < k->n && !rc; i++) {
		assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_CASE, .at = i });
		rc = assay_watch_check(w, err);
		if (!rc && !assay_exact_case_find(out, k->cases[i].key))
			rc = count_one(&counting, &k->cases[i], k->facts[i], &too_long);
		if (!rc && (too_long || (out->n_cases && out->cases[out->n_cases - 1].skip == ASSAY_EXACT_SKIP_UNABLE)))
			rc = count_smaller(&counting, k->at[i]);
		too_long = false;
	}
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	return rc;
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
	struct assay_exact_means means;
	struct assay_watch watch = *w;
	const char *unavailable = NULL;
	struct assay_exact_options o = {
		.plugins = &session->plugins,
		.topology = session->topology,
		.clock = clock,
		.placement = q->placement,
		.seed = q->seed,
		.vector_bits = session->host.vector_bits,
		.model = &cache,
		.means = &means,
		.max_steps = assay_exact_counting_steps(session, q),
		.on_steps = assay_exact_counting_tell,
		.on_steps_arg = &watch,
	};
	int rc;

	*out = (struct assay_exact_run){ .seed = q->seed, .started_ns = assay_clock_unix_ns() };
	snprintf(out->suite, sizeof(out->suite), "%s", session->plan.suite);
	rc = assay_build_identity(session->catalog, q, w, &out->build, err);
	if (!rc)
		rc = assay_exact_setting_take(session->topology, model, q->counter_source, &cache, &out->setting,
					      &means, err);
	if (!rc)
		unavailable = assay_exact_unavailable(&means);
	if (!rc)
		rc = choose(session, q, &k, err);
	if (why)
		why[0] = '\0';
	if (!rc && k.n) {
		o.tool = out->setting.tool;
		o.interrupted = w->interrupted;
		rc = count_all(session, &k, &o, w, out, err);
	}
	if (!rc && why && k.n && unavailable && !has_counted(out)) {
		snprintf(why, ASSAY_EXACT_REASON_MAX, "%s", unavailable);
		assay_watch_warn(w, "no exact counts of %zu cases: %s", k.n, unavailable);
		assay_exact_run_release(out);
	}
	free(k.cases);
	free(k.facts);
	free(k.at);
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
	snprintf(r->reason, sizeof(r->reason), "faster than any machine can: %.0f instructions a call, in %s",
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
