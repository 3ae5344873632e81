/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/compare/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/compare/cause_profiles.h"
#include "drive/compare/duration.h"
#include "drive/exact/exact.h"
#include "drive/machine/doctor.h"
#include "drive/read_back.h"
#include "drive/user_text.h"
#include "judge/comparison_judge.h"
#include "judge/function_blame.h"
#include "store/comparison.h"
#include "store/exact.h"

struct comparing {
	const struct assay_compare_request *q;
	const struct assay_watch *watch;
	struct assay_compare_plan plan;
	struct assay_store *store;
	int64_t *case_ids; /* one a case of the plan */
	struct assay_duration announced;
	bool exceeded;    /* which was told */
	const char *last; /* the case that was measured last */
};

static bool takes(const struct comparing *k, enum assay_take evidence)
{
	return k->q->what->take == evidence || k->q->what->take == ASSAY_TAKE_ALL;
}

static int begin(struct comparing *k, struct assay_err *err)
{
	return k->plan.cmp.id ? 0 : assay_store_comparison_begin_with(k->store, &k->plan.cmp, k->case_ids, err);
}

/* The comparison is stored with its first pair, so that an interrupt before it leaves none that is empty. */
static int store_pair(void *arg, size_t i, const struct assay_pair *p, struct assay_err *err)
{
	struct comparing *k = arg;
	int rc = begin(k, err);

	k->last = k->plan.cmp.cases[i].c.key;
	return rc ? rc : assay_store_pair_add(k->store, k->case_ids[i], p, err);
}

static void tell_head(const struct assay_watch *w, const char *name, const char *value)
{
	char line[ASSAY_FITNESS_MAX + 64];

	snprintf(line, sizeof(line), "%s%s", name, value);
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_HEAD, .text = line });
}

/* Beforehand: "1 case and 2 controls: about 6 s, at most 3 min 20 s". */
static int tell_duration(struct comparing *k, bool shared, struct assay_err *err)
{
	struct assay_duration *d = &k->announced;
	char text[192];
	int rc = assay_compare_duration(&k->plan, k->store, d, err);

	d->shared = shared;
	if (rc || !(d->most_s > 0))
		return rc;
	assay_compare_duration_text(d, text, sizeof(text));
	tell_head(k->watch, "time: ", text);
	return 0;
}

/* Once, where the comparison takes much longer than was announced. */
static void tell_exceeded(void *arg, double spent_s, size_t undecided)
{
	struct comparing *k = arg;
	char text[256];

	if (k->exceeded || !assay_compare_duration_exceeded(&k->announced, spent_s, undecided, text, sizeof(text)))
		return;
	k->exceeded = true;
	assay_watch_tell(k->watch, &(struct assay_event){ .kind = ASSAY_EVENT_NOTE, .text = text });
}

/* Keep the options that repeat the comparison, which its page shows. */
static void keep_options(const struct assay_compare_request *q, char options[ASSAY_PLACES_MAX])
{
	struct assay_text own = { 0 };

	if (q->what->take != ASSAY_TAKE_TIMES)
		assay_text_add(&own, q->what->take == ASSAY_TAKE_ALL ? " --evidence all" : " --evidence exact");
	if (q->same_code)
		assay_text_add(&own, " --same-code");
	if (q->policy) {
		assay_text_add(&own, " --policy ");
		assay_text_add_word(&own, q->policy);
	}
	if (q->margin_frac > 0)
		assay_text_addf(&own, " --margin %.6g%%", 100 * q->margin_frac);
	if (q->alpha > 0)
		assay_text_addf(&own, " --alpha %.6g%%", 100 * q->alpha);
	if (q->budget_ns)
		assay_text_addf(&own, " --budget %" PRIu64 "ms", q->budget_ns / 1000000);
	assay_options_keep(options, q->what, own.s && !own.failed ? own.s : "");
	assay_text_release(&own);
}

static int take_times(struct comparing *k, struct assay_err *err)
{
	struct assay_comparison *cmp = &k->plan.cmp;
	struct assay_pair_loop loop;
	struct assay_clock clock;
	bool shared;
	int kept = 0, rc = assay_clock_init(&clock, err);

	k->case_ids = calloc(cmp->n_cases + 1, sizeof(*k->case_ids));
	if (!rc && !k->case_ids)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (rc)
		return rc;
	shared = assay_fitness_line(k->plan.session.topology, &clock, k->q->what, cmp->fitness, sizeof(cmp->fitness));
	tell_head(k->watch, "machine: ", cmp->fitness);
	rc = tell_duration(k, shared, err);
	if (rc)
		return rc;
	loop = assay_compare_plan_loop(&k->plan, k->q->what, &clock, k->watch);
	loop.store = k->store;
	loop.spent = tell_exceeded;
	loop.pair_done = store_pair;
	loop.arg = k;
	assay_watch_tell(k->watch,
			 &(struct assay_event){ .kind = ASSAY_EVENT_SPAN,
						.expected_ns = (double)cmp->budget_ns * (double)cmp->n_cases });
	rc = assay_pair_loop_run(&loop, err);
	assay_watch_tell(k->watch, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	if (!rc)
		rc = begin(k, err); /* there was no pair to take */
	for (size_t i = 0; i < cmp->n_cases && cmp->id && (!rc || rc == ASSAY_EINTERRUPTED) && !kept; i++)
		if (cmp->cases[i].difference[0])
			kept = assay_store_comparison_case_update(k->store, k->case_ids[i], &cmp->cases[i], err);
	return kept ? kept : rc;
}

/* Keep what was counted, also of a comparison that was interrupted meanwhile. */
static int take_counts(struct comparing *k, struct assay_err *err)
{
	struct assay_comparison *cmp = &k->plan.cmp;
	int kept = 0, rc = assay_exact_compare(&k->plan, k->q->what, k->watch, err);

	if (rc && (rc != ASSAY_EINTERRUPTED || (!cmp->id && !cmp->exact[ASSAY_HEAD].n_cases)))
		return rc;
	if (!cmp->id)
		kept = assay_store_comparison_begin(k->store, cmp, err);
	for (int side = 0; side < 2; side++)
		cmp->exact[side].comparison_id = cmp->id;
	if (cmp->exact[ASSAY_HEAD].n_cases)
		k->last = cmp->exact[ASSAY_HEAD].cases[cmp->exact[ASSAY_HEAD].n_cases - 1].key;
	if (!kept && cmp->exact[ASSAY_HEAD].n_cases)
		kept = assay_store_exact_add_sides(k->store, cmp->exact, err);
	return kept ? kept : rc;
}

static int take_evidence(struct comparing *k, struct assay_err *err)
{
	int rc = 0;

	keep_options(k->q, k->plan.cmp.places);
	if (takes(k, ASSAY_TAKE_TIMES))
		rc = take_times(k, err);
	if (!rc && takes(k, ASSAY_TAKE_COUNTS))
		rc = take_counts(k, err);
	/* who asks for counts alone does not miss times */
	if (!takes(k, ASSAY_TAKE_TIMES))
		assay_comparison_drop_cases(&k->plan.cmp);
	return rc;
}

static int measure_and_judge(struct comparing *k, struct assay_compare_outcome *out, struct assay_err *err)
{
	const struct assay_comparison_judging how = { .strict = k->q->strict,
						      .suspects_fail = k->q->suspects_fail,
						      .countable = &k->plan.countable };
	struct assay_comparison *cmp = &k->plan.cmp;
	int rc = take_evidence(k, err), judged;
	struct assay_err why;

	for (int side = 0; side < 2 && !rc; side++)
		rc = assay_side_source_unchanged(&k->plan.source[side], true, err);
	out->id = cmp->id;
	if (rc == ASSAY_EINTERRUPTED && !cmp->id)
		return assay_err_set(err, rc, "interrupted before anything was measured: nothing is kept");
	why = rc ? *err : (struct assay_err){ 0 };
	if (rc && rc != ASSAY_EINTERRUPTED)
		return rc;
	if (!rc)
		cmp->ended_ns = assay_clock_unix_ns();
	judged = assay_comparison_judge(cmp, &k->plan.policy, &how, &out->report, err);
	if (judged)
		return judged;
	out->judged = true;
	if (rc)
		return assay_err_set(err, rc,
				     "%.400s: what was measured is kept as unfinished comparison %" PRId64 " of '%s'",
				     why.text, cmp->id, k->q->what->db);
	rc = assay_store_comparison_end(k->store, cmp->id, cmp->ended_ns, assay_verdict_name(out->report.verdict),
					(int)out->report.exit, err);
	if (rc || !k->case_ids)
		return rc;
	return assay_profile_because(&k->plan, k->q, k->watch,
				     &(struct assay_because_keeping){ k->store, k->case_ids, k->announced.shared },
				     &out->report, err);
}

int assay_compare_measure(const struct assay_compare_request *q, const struct assay_watch *w,
			  struct assay_compare_outcome *out, struct assay_err *err)
{
	struct assay_compare_request request = *q;
	struct comparing k = { .q = &request, .watch = w, .last = "" };
	int rc;

	*out = (struct assay_compare_outcome){ 0 };
	/* controls prove the clock, and counts have none */
	request.no_controls |= q->what->take == ASSAY_TAKE_COUNTS;
	rc = q->variants ? assay_compare_variants_make(&k.plan, &request, w, err)
			 : assay_compare_plan_make(&k.plan, &request, w, err);
	if (!rc && takes(&k, ASSAY_TAKE_COUNTS))
		rc = assay_exact_compare_check(&k.plan, q->what, err);
	if (!rc)
		rc = assay_store_open(&k.store, q->what->db, ASSAY_STORE_WRITE, err);
	if (!rc)
		rc = measure_and_judge(&k, out, err);
	assay_store_close(k.store);
	if (k.store)
		rc = assay_read_back_comparison(rc, q->what->db, &k.plan.cmp, k.last, err);
	if (rc == ASSAY_EINTERNAL)
		out->judged = false; /* a verdict that nobody can judge again is none */
	free(k.case_ids);
	assay_compare_plan_release(&k.plan);
	return rc;
}

int assay_compare_replay(const struct assay_replay_request *q, const struct assay_watch *w,
			 struct assay_compare_outcome *out, struct assay_err *err)
{
	const struct assay_comparison_judging how = { .strict = q->strict, .suspects_fail = q->suspects_fail };
	struct assay_policy policy = assay_policy_default();
	char verdict[ASSAY_VERDICT_MAX] = "", note[256];
	struct assay_comparison cmp = { 0 };
	struct assay_store *store = NULL;
	int rc = assay_store_open(&store, q->db, ASSAY_STORE_READ, err);

	*out = (struct assay_compare_outcome){ 0 };
	if (!rc)
		rc = assay_store_comparison_load(store, q->id, &cmp, verdict, NULL, err);
	if (!rc && cmp.policy)
		rc = assay_policy_parse(&policy, cmp.policy, "the stored policy", err);
	if (!rc)
		rc = assay_comparison_judge(&cmp, &policy, &how, &out->report, err);
	if (!rc)
		rc = assay_function_blame_cases(&cmp, &out->report, err);
	if (!rc) {
		out->id = cmp.id;
		out->judged = true;
		assay_comparison_rule_note(&cmp, verdict, note, sizeof(note));
		if (note[0])
			assay_watch_warn(w, "%s", note);
		else if (!verdict[0])
			assay_watch_warn(w, "comparison %" PRId64 " did not finish: judged as far as it came", cmp.id);
		else if (strcmp(verdict, assay_verdict_name(out->report.verdict)))
			assay_watch_warn(w,
					 "comparison %" PRId64
					 " was judged %s when it was measured, by another version of assay",
					 cmp.id, verdict);
	}
	assay_policy_release(&policy);
	assay_comparison_release(&cmp);
	assay_store_close(store);
	return rc;
}

void assay_compare_outcome_release(struct assay_compare_outcome *out)
{
	assay_gate_report_release(&out->report);
	*out = (struct assay_compare_outcome){ 0 };
}
