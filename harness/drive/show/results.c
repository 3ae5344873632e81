/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/show/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "drive/compare/compare.h"
#include "drive/installed.h"
#include "drive/project.h"
#include "drive/user_text.h"
#include "judge/limits.h"
#include "judge/policy.h"
#include "store/comparison.h"
#include "store/exact.h"
#include "store/store.h"

int assay_stored_runs(const char *db, size_t limit, struct assay_run_info **out, size_t *n, struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = assay_store_open(&store, db, ASSAY_STORE_READ, err);

	*out = NULL;
	*n = 0;
	if (!rc)
		rc = assay_store_runs(store, NULL, limit, out, n, err);
	assay_store_close(store);
	return rc;
}

/* Suggest a command if no case was selected. */
static void list_hint(char *buf, size_t size, char kind, int64_t id, const char *db)
{
	char number[64], show[ASSAY_INSTALLED_PATH_MAX];

	snprintf(number, sizeof(number), "show %c%" PRId64, kind, id);
	assay_command_text(show, sizeof(show), number, NULL, db);
	snprintf(buf, size, "'%s' lists them", show);
}

static int no_case(const struct assay_run *run, const char *only, const char *db, struct assay_err *err)
{
	struct assay_strings names = { 0 };
	char what[48], hint[ASSAY_INSTALLED_PATH_MAX + 16];
	int rc = 0;

	snprintf(what, sizeof(what), "case of run %" PRId64, run->id);
	list_hint(hint, sizeof(hint), 'r', run->id, db);
	for (size_t i = 0; i < run->n_results && !rc; i++)
		rc = assay_case_names_add(&names, &run->results[i].c, err);
	if (!rc)
		rc = assay_no_such_case(&names, what, only, hint, err);
	assay_strings_release(&names);
	return rc;
}

static int narrow(struct assay_run *run, const char *only, const char *db, struct assay_err *err)
{
	size_t kept = 0, all = run->n_results;

	for (size_t i = 0; i < all; i++) {
		if (assay_policy_selects(only, &run->results[i].c)) {
			struct assay_result r = run->results[kept];

			run->results[kept++] = run->results[i];
			run->results[i] = r;
		}
	}
	if (!kept)
		return no_case(run, only, db, err);
	for (size_t i = kept; i < all; i++)
		assay_result_release(&run->results[i]);
	run->n_results = kept;
	if (run->exact)
		assay_exact_run_keep(run->exact, only);
	return 0;
}

/* Counts that were taken alone are no run, though 'assay run' took them. Otherwise @err stays as it is. */
static int no_run(struct assay_store *store, const char *db, struct assay_err *err)
{
	char suite[ASSAY_NAME_MAX], judge[ASSAY_INSTALLED_PATH_MAX], both[ASSAY_INSTALLED_PATH_MAX];
	struct assay_err why = { 0 };

	if (assay_store_exact_suite_alone(store, suite, sizeof(suite), &why) || !suite[0])
		return ASSAY_ENOTFOUND;
	assay_command_text(judge, sizeof(judge), "gate --evidence exact", suite, db);
	assay_command_text(both, sizeof(both), "run --evidence all", suite, db);
	return assay_err_set(err, ASSAY_ENOTFOUND,
			     "no timed run in '%s', only exact counts: '%s' judges them, '%s' measures times as well",
			     db, judge, both);
}

void assay_run_notes(struct assay_run *run)
{
	char path[ASSAY_POLICY_PATH_MAX];
	struct assay_profiling_conf load;
	struct assay_policy p;

	assay_project_profiling(&load, NULL);
	/* a policy that cannot be read is told of by what judges; without one there are no floors */
	if (assay_policy_file_load(&p, NULL, path, NULL))
		p = assay_policy_default();
	for (size_t i = 0; i < run->n_results; i++)
		assay_result_note(&p, load.busy_frac, load.full_frac, &run->results[i]);
	assay_policy_release(&p);
}

int assay_stored_run(const char *db, int64_t id, const char *only, struct assay_run *out, struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = assay_store_open(&store, db, ASSAY_STORE_READ, err);

	*out = (struct assay_run){ 0 };
	if (!rc)
		rc = assay_store_run_load(store, id, out, err);
	if (rc == ASSAY_ENOTFOUND && store && !id)
		rc = no_run(store, db, err);
	if (!rc && only)
		rc = narrow(out, only, db, err);
	if (!rc)
		assay_run_notes(out);
	assay_store_close(store);
	return rc;
}

int assay_stored_totals(const char *db, const struct assay_run *run, struct assay_run_totals *out,
			struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = assay_store_open(&store, db, ASSAY_STORE_READ, err);

	if (!rc)
		rc = assay_store_totals(store, run, out, err);
	assay_store_close(store);
	return rc;
}

int assay_stored_newest_results(const char *db, const char *machine_id, struct assay_newest_result **out, size_t *n,
				struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = assay_store_open(&store, db, ASSAY_STORE_READ, err);

	*out = NULL;
	*n = 0;
	if (!rc)
		rc = assay_store_newest_results(store, machine_id, out, n, err);
	assay_store_close(store);
	return rc;
}

static const char *did_you_mean(const char *name, char *buf, size_t size)
{
	snprintf(buf, size, ", did you mean '%s'?", name);
	return buf;
}

int assay_stored_metric_known(const struct assay_run *run, const char *name, struct assay_err *err)
{
	struct assay_strings names = { 0 };
	char hint[512], exact[ASSAY_METRIC_TAG_MAX];
	int rc = 0;

	snprintf(exact, sizeof(exact), "exact_%.40s", name);
	for (size_t i = 0; i < run->n_results && !rc; i++)
		rc = assay_result_names(&run->results[i], &names, err);
	/* what the harness takes of any case may be missing, too */
	if (!rc && !assay_metric_find(name) && !assay_strings_has(&names, name))
		rc = assay_err_set(err, ASSAY_EUSAGE, "no case of run %" PRId64 " has '%s'%s", run->id, name,
				   assay_metric_find(exact) ? did_you_mean(exact, hint, sizeof(hint))
							    : assay_conf_hint(name, (const char *const *)names.v,
									      names.n, hint, sizeof(hint)));
	assay_strings_release(&names);
	return rc;
}

int assay_stored_comparisons(const char *db, struct assay_comparison_info **out, size_t *n, struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = assay_store_open(&store, db, ASSAY_STORE_READ, err);

	*out = NULL;
	*n = 0;
	if (!rc)
		rc = assay_store_comparisons(store, NULL, 0, out, n, err);
	assay_store_close(store);
	return rc;
}

/* Keep the selected cases, and counts of such. */
static int narrow_comparison(struct assay_comparison *cmp, const char *only, const char *db, struct assay_err *err)
{
	struct assay_strings names = { 0 };
	char what[48], hint[ASSAY_INSTALLED_PATH_MAX + 16];
	size_t kept = 0, counted = 0;
	int rc = 0;

	for (size_t i = 0; i < cmp->n_cases && !rc; i++)
		rc = assay_case_names_add(&names, &cmp->cases[i].c, err);
	for (size_t i = 0; i < cmp->n_cases && !rc; i++)
		if (assay_policy_selects(only, &cmp->cases[i].c))
			cmp->cases[kept++] = cmp->cases[i];
		else
			assay_comparison_case_release(&cmp->cases[i]);
	if (!rc)
		cmp->n_cases = kept;
	for (int side = 0; side < 2 && !rc; side++) {
		for (size_t i = 0; i < cmp->exact[side].n_cases && !rc; i++)
			rc = assay_strings_add(&names, cmp->exact[side].cases[i].key, err);
		if (!rc)
			counted += assay_exact_run_keep(&cmp->exact[side], only);
	}
	if (!rc && !kept && !counted) {
		snprintf(what, sizeof(what), "case of comparison %" PRId64, cmp->id);
		list_hint(hint, sizeof(hint), 'c', cmp->id, db);
		rc = assay_no_such_case(&names, what, only, hint, err);
	}
	assay_strings_release(&names);
	return rc;
}

int assay_stored_comparison(const char *db, int64_t id, const char *only, struct assay_stored_comparison *out,
			    struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = assay_store_open(&store, db, ASSAY_STORE_READ, err);

	*out = (struct assay_stored_comparison){ 0 };
	if (!rc)
		rc = assay_store_comparison_load(store, id, &out->cmp, out->verdict, NULL, err);
	if (!rc && only)
		rc = narrow_comparison(&out->cmp, only, db, err);
	if (!rc)
		rc = assay_comparison_read(&out->cmp, &out->readings, err);
	assay_store_close(store);
	return rc;
}

void assay_stored_comparison_release(struct assay_stored_comparison *c)
{
	assay_case_readings_release(c->readings, c->cmp.n_cases);
	assay_comparison_release(&c->cmp);
	*c = (struct assay_stored_comparison){ 0 };
}

/*
 * Choose among @runs, one a machine: the run of the machine whose label has @machine in it, or whose fingerprint begins
 * with it.
 */
static int newest_of(struct assay_run_info *out, const struct assay_run_info *runs, size_t n, const char *machine,
		     struct assay_err *err)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(runs[i].machine_label, machine) || !strncmp(runs[i].machine_id, machine, strlen(machine))) {
			*out = runs[i];
			return 0;
		}
	return assay_err_set(err, ASSAY_EUSAGE, "no machine '%s' has stored runs: the last is '%s' (%s)", machine,
			     runs[0].machine_label, runs[0].machine_id);
}

int assay_history_open(struct assay_history *h, const char *db, const char *machine, struct assay_err *err)
{
	struct assay_run_info *runs = NULL;
	char measure[ASSAY_INSTALLED_PATH_MAX];
	size_t n = 0;
	int rc = assay_store_open(&h->store, db, ASSAY_STORE_READ, err);

	if (!rc)
		rc = assay_store_newest_runs(h->store, &runs, &n, err);
	if (!rc && !n) {
		assay_command_text(measure, sizeof(measure), "run", NULL, db);
		rc = assay_err_set(err, ASSAY_EUSAGE, "no run is stored in '%s': '%s' makes one", db, measure);
	}
	h->db = db;
	h->chosen = machine != NULL;
	if (!rc)
		rc = newest_of(&h->newest, runs, n, machine ? machine : "", err);
	free(runs);
	return rc ? rc : assay_store_cases(h->store, h->newest.machine_id, &h->cases, &h->n, err);
}

void assay_history_close(struct assay_history *h)
{
	free(h->cases);
	assay_store_close(h->store);
	*h = (struct assay_history){ 0 };
}

/* Its key, or the key as manifests write it. */
static bool has_name(const struct assay_case *c, const char *name)
{
	char portable[ASSAY_KEY_MAX];

	assay_case_portable_key(c, portable);
	return !strcmp(c->key, name) || !strcmp(portable, name);
}

/* The case that @pattern names or selects alone, into *out; how many there are. */
static size_t find_in(const struct assay_history *h, const char *pattern, const struct assay_case **out)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++) {
		if (has_name(&h->cases[i], pattern)) {
			*out = &h->cases[i];
			return 1;
		}
		if (assay_policy_selects(pattern, &h->cases[i]) && !n++)
			*out = &h->cases[i];
	}
	return n;
}

/*
 * A case that was never measured here: say what became of it in its runs. ASSAY_ENOTFOUND: there is none. With @by_name
 * @pattern must be its whole name.
 */
static int only_failed(const struct assay_history *h, const char *pattern, bool by_name, struct assay_err *err)
{
	struct assay_history failed = *h;
	const struct assay_case *c = NULL;
	struct assay_failed_series f;
	char of[80] = "";
	int rc = assay_store_cases_failed(h->store, h->newest.machine_id, &failed.cases, &failed.n, err);
	size_t n = rc ? 0 : find_in(&failed, pattern, &c);

	if (!rc && (!n || (by_name && !has_name(c, pattern))))
		rc = ASSAY_ENOTFOUND;
	if (!rc)
		rc = assay_store_failed_series(h->store, c->key, h->newest.machine_id, &f, err);
	if (!rc) {
		if (n > 1)
			snprintf(of, sizeof(of), "%zu stored cases match and none has a time: the first, ", n);
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "%s'%s'%s has no time in %s%zu run%s on this machine; in the last it was %s%s%s", of,
				   c->key, of[0] ? "," : "", f.n_runs == 1 ? "its " : "any of its ", f.n_runs,
				   f.n_runs == 1 ? "" : "s", assay_status_name(f.status), f.reason[0] ? ": " : "",
				   f.reason);
	}
	free(failed.cases);
	return rc;
}

static int no_history_case(const struct assay_history *h, const char *pattern, struct assay_err *err)
{
	char show[ASSAY_INSTALLED_PATH_MAX], hint[ASSAY_INSTALLED_PATH_MAX + 48];
	struct assay_strings names = { 0 };
	int rc = 0;

	assay_command_text(show, sizeof(show), "show last", NULL, h->db);
	snprintf(hint, sizeof(hint), "'%s' lists those of the last run", show);
	rc = only_failed(h, pattern, false, err);
	if (rc != ASSAY_ENOTFOUND)
		return rc;
	rc = 0;
	for (size_t i = 0; i < h->n && !rc; i++)
		rc = assay_case_names_add(&names, &h->cases[i], err);
	if (!rc)
		rc = assay_no_such_case(&names, "stored case", pattern, hint, err);
	assay_strings_release(&names);
	return rc;
}

/* Let @h be that of the machine that measured such a case last: files of other tools bring machines of their own. */
static int look_elsewhere(struct assay_history *h, const char *pattern, const struct assay_case **out, size_t *n,
			  struct assay_err *err)
{
	struct assay_run_info *runs = NULL;
	size_t n_runs = 0;
	int rc = assay_store_newest_runs(h->store, &runs, &n_runs, err);

	for (size_t i = 0; i < n_runs && !*n && !rc; i++) {
		struct assay_history other = { .newest = runs[i] };

		if (!strcmp(runs[i].machine_id, h->newest.machine_id))
			continue;
		rc = assay_store_cases(h->store, runs[i].machine_id, &other.cases, &other.n, err);
		*n = rc ? 0 : find_in(&other, pattern, out);
		if (*n) {
			free(h->cases);
			h->newest = runs[i];
			h->cases = other.cases;
			h->n = other.n;
		} else {
			free(other.cases);
		}
	}
	free(runs);
	return rc;
}

int assay_history_find(struct assay_history *h, const char *pattern, const struct assay_case **out,
		       struct assay_err *err)
{
	size_t n = find_in(h, pattern, out);
	int rc = n || h->chosen ? 0 : look_elsewhere(h, pattern, out, &n, err);

	if (rc)
		return rc;
	if (!n)
		return no_history_case(h, pattern, err);
	/* the key of a case that only failed may be a part of another's key: quantize.q8_0 of dequantize.q8_0 */
	if (!has_name(*out, pattern)) {
		rc = only_failed(h, pattern, true, err);
		if (rc != ASSAY_ENOTFOUND)
			return rc;
	}
	if (n > 1)
		return assay_err_set(err, ASSAY_EUSAGE, "%zu stored cases match '%s', the first is '%s': name one", n,
				     pattern, (*out)->key);
	return 0;
}

int assay_history_open_case(struct assay_history *h, const char *db, const char *machine, const char *pattern,
			    const struct assay_case **c, struct assay_err *err)
{
	int rc = assay_history_open(h, db, machine, err);

	return rc ? rc : assay_history_find(h, pattern, c, err);
}

int assay_history_points(const struct assay_history *h, const struct assay_case *c, const char *metric,
			 struct assay_trend_point **out, size_t *n, char unit[ASSAY_METRIC_UNIT_MAX],
			 struct assay_err *err)
{
	struct assay_err why = { 0 };
	int rc;

	if (!metric) {
		snprintf(unit, ASSAY_METRIC_UNIT_MAX, "s");
		return assay_store_trend(h->store, c->key, h->newest.machine_id, out, n, err);
	}
	rc = assay_store_trend_of(h->store, c->key, h->newest.machine_id, metric, out, n, unit, &why);
	return rc ? assay_err_set(err, rc == ASSAY_ENOTFOUND ? ASSAY_EUSAGE : rc, "%s", why.text) : 0;
}
