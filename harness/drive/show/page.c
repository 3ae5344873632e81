/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/show/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "drive/compare/compare.h"
#include "drive/gate/gate.h"
#include "drive/installed.h"
#include "drive/next_step.h"
#include "drive/user_text.h"
#include "store/comparison.h"
#include "store/profile.h"
#include "store/store.h"

/* Earlier runs whose times stand beside a case. */
#define PAST_RUNS 32

static void keep_warning(void *arg, const struct assay_event *e)
{
	if (e->kind == ASSAY_EVENT_WARNING)
		assay_strings_add(arg, e->text, NULL);
}

/* A run that cannot be judged still has a page. */
static int judge_run(const char *db, struct assay_result_page *p, struct assay_err *err)
{
	const struct assay_gate_request q = { .db = db, .suite = p->run.suite, .run_id = p->run.id };
	const struct assay_watch w = { .event = keep_warning, .arg = &p->notes };
	struct assay_err why = { 0 };
	struct assay_text note = { 0 };
	int rc = assay_gate(&q, &w, &p->gate, &why);

	p->judged = !rc;
	if (!rc) {
		const enum assay_verdict v = p->gate.verdict;

		/* a baseline is of no use before all is measured and right */
		if (p->gate.advice && v != ASSAY_WRONG_RESULT && v != ASSAY_NOT_MEASURED && v != ASSAY_REGRESSED)
			assay_text_add(&p->next, p->gate.advice);
		else
			assay_next_of_gate(&p->next, &p->gate, p->run.suite, db);
		return 0;
	}
	if (rc != ASSAY_EUSAGE && rc != ASSAY_ENOTFOUND)
		return assay_err_set(err, rc, "%s", why.text);
	assay_text_addf(&note, "The run was not judged: %s", why.text);
	rc = note.failed ? ASSAY_ENOMEM : assay_strings_add(&p->notes, note.s, err);
	assay_text_release(&note);
	return rc;
}

/* Was a time kept of a wrong kernel, as only --even-if-wrong does? */
static bool has_wrong_times(const struct assay_run *run)
{
	for (size_t i = 0; i < run->n_results; i++)
		if (run->results[i].status == ASSAY_STATUS_WRONG && run->results[i].n_samples)
			return true;
	return false;
}

static int add_run(struct assay_store *store, const char *db, int64_t id, struct assay_result_page *p,
		   struct assay_err *err)
{
	char command[1024], note[96];
	int rc = assay_store_run_load(store, id, &p->run, err);

	if (!rc)
		assay_run_notes(&p->run);
	if (!rc && !p->run.ended_ns) {
		snprintf(note, sizeof(note), "Run %" PRId64 " did not finish, or is under way.", id);
		rc = assay_strings_add(&p->notes, note, err);
	}
	if (!rc)
		rc = judge_run(db, p, err);
	if (rc)
		return rc;
	rc = assay_bottlenecks_find(db, &id, NULL, &p->bottlenecks, &p->n_bottlenecks, err);
	if (rc)
		return rc;
	assay_command_text(command, sizeof(command), "run", p->run.suite, db);
	assay_text_addf(&p->repeat, "%s%s --seed %" PRIu64 "%s", command, p->run.places, p->run.seed,
			has_wrong_times(&p->run) ? " --even-if-wrong" : "");
	return assay_store_recent(store, p->run.suite, p->run.machine.id, p->run.started_ns, PAST_RUNS, &p->past,
				  &p->n_past, err);
}

static bool has_case(const struct assay_result_page *p, const char *key)
{
	const struct assay_comparison *cmp = &p->comparison.cmp;

	for (size_t i = 0; p->of_run && i < p->run.n_results; i++)
		if (!strcmp(p->run.results[i].c.key, key))
			return true;
	for (size_t i = 0; !p->of_run && i < cmp->n_cases; i++)
		if (!strcmp(cmp->cases[i].c.key, key))
			return true;
	return false;
}

/* Profiles of the same build as what is shown, and of a case of it. */
static int add_profiles(struct assay_store *store, const char *build, struct assay_result_page *p,
			struct assay_err *err)
{
	struct assay_profile_info *v = NULL;
	size_t n = 0;
	int rc = build[0] ? assay_store_profiles_of_build(store, build, &v, &n, err) : 0;

	for (size_t i = 0; i < n && !rc; i++) {
		if (!has_case(p, v[i].what))
			continue;
		if (assay_grow(&p->profiles, p->n_profiles, sizeof(*p->profiles)))
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		else
			rc = assay_store_profile_load(store, v[i].id, &p->profiles[p->n_profiles], err);
		p->n_profiles += !rc;
	}
	free(v);
	return rc;
}

/* The name of a side today: its commit, where it was built from one; "" where it was the working tree. */
static void side_word(const struct assay_comparison *cmp, enum assay_side side, char *buf, size_t size)
{
	static const char tree[] = "working tree";
	const char *label = side == ASSAY_BASE ? cmp->base : cmp->head;
	const struct assay_build *build = &cmp->build[side];
	char built[16];

	snprintf(built, sizeof(built), "(%.7s)", build->commit);
	if (!strncmp(label, tree, strlen(tree)) && build->dirty)
		buf[0] = '\0';
	else if (build->commit[0] && strstr(label, built))
		snprintf(buf, size, "%.12s", build->commit);
	else
		snprintf(buf, size, "%s", label);
}

static int add_comparison(struct assay_store *store, const char *db, int64_t id, struct assay_result_page *p,
			  struct assay_err *err)
{
	const struct assay_watch w = { .event = keep_warning, .arg = &p->notes };
	const struct assay_replay_request q = { .db = db, .id = id };
	struct assay_compare_outcome outcome = { 0 };
	const struct assay_comparison *cmp = &p->comparison.cmp;
	struct assay_request what = { .db = db, .plan.suite = cmp->suite };
	char base[256], head[256];
	struct assay_compare_request again = { .what = &what, .base = base, .places = cmp->places };
	int rc = assay_stored_comparison(db, id, NULL, &p->comparison, err);

	if (!rc)
		rc = assay_compare_replay(&q, &w, &outcome, err);
	if (rc) {
		assay_compare_outcome_release(&outcome);
		return rc;
	}
	p->gate = outcome.report;
	p->judged = true;
	side_word(cmp, ASSAY_BASE, base, sizeof(base));
	side_word(cmp, ASSAY_HEAD, head, sizeof(head));
	again.head = head[0] ? head : NULL;
	for (size_t i = 0; i < cmp->n_cases; i++)
		again.variants |= cmp->cases[i].base_variant[0] != '\0';
	assay_next_of_comparison(&p->next, &again, &p->gate, id);
	assay_next_add_compare(&p->repeat, &again, NULL);
	assay_text_addf(&p->repeat, " --seed %" PRIu64, cmp->seed);
	return assay_store_recent(store, cmp->suite, cmp->machine.id, cmp->started_ns, PAST_RUNS, &p->past, &p->n_past,
				  err);
}

int assay_result_page(const struct assay_page_request *q, struct assay_result_page *out, struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = assay_store_open(&store, q->db, ASSAY_STORE_READ, err);

	*out = (struct assay_result_page){ .of_run = q->of_run };
	if (!rc)
		rc = q->of_run ? add_run(store, q->db, q->id, out, err) : add_comparison(store, q->db, q->id, out, err);
	if (!rc && out->of_run)
		rc = add_profiles(store, out->run.build.id, out, err);
	for (unsigned i = 0; i < 2 && !rc && !out->of_run; i++)
		if (!i || strcmp(out->comparison.cmp.build[0].id, out->comparison.cmp.build[1].id))
			rc = add_profiles(store, out->comparison.cmp.build[i].id, out, err);
	if (!rc && (out->next.failed || out->repeat.failed))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	assay_store_close(store);
	return rc;
}

void assay_result_page_release(struct assay_result_page *p)
{
	assay_run_release(&p->run);
	assay_stored_comparison_release(&p->comparison);
	assay_gate_report_release(&p->gate);
	assay_strings_release(&p->notes);
	assay_text_release(&p->next);
	assay_text_release(&p->repeat);
	free(p->past);
	free(p->bottlenecks);
	for (size_t i = 0; i < p->n_profiles; i++)
		assay_profile_release(&p->profiles[i]);
	free(p->profiles);
	*p = (struct assay_result_page){ 0 };
}

/* ---- verdicts ---- */

static int no_case(const struct assay_compare_outcome *out, const char *only, const char *db, struct assay_err *err)
{
	char what[64], show[ASSAY_INSTALLED_PATH_MAX], hint[ASSAY_INSTALLED_PATH_MAX + 32];
	struct assay_strings names = { 0 };
	int rc = 0;

	snprintf(what, sizeof(what), "show c%" PRId64, out->id);
	assay_command_text(show, sizeof(show), what, NULL, db);
	snprintf(hint, sizeof(hint), "'%s' lists them", show);
	snprintf(what, sizeof(what), "case of comparison %" PRId64, out->id);
	for (size_t i = 0; i < out->report.n_cases && !rc; i++)
		rc = assay_strings_add(&names, out->report.cases[i].key, err);
	if (!rc)
		rc = assay_no_such_case(&names, what, only, hint, err);
	assay_strings_release(&names);
	return rc;
}

int assay_stored_verdicts(const char *db, int64_t id, const char *only, const struct assay_watch *w,
			  struct assay_compare_outcome *out, struct assay_err *err)
{
	const struct assay_replay_request q = { .db = db, .id = id };
	struct assay_gate_report *r = &out->report;
	int rc = assay_compare_replay(&q, w, out, err);
	size_t kept = 0;

	for (size_t i = 0; i < r->n_cases && !rc && only; i++)
		kept += assay_glob_match(only, r->cases[i].key);
	if (rc || !only)
		return rc;
	if (!kept)
		return no_case(out, only, db, err);
	kept = 0;
	for (size_t i = 0; i < r->n_cases; i++)
		if (assay_glob_match(only, r->cases[i].key))
			r->cases[kept++] = r->cases[i];
	r->n_cases = kept;
	return 0;
}
