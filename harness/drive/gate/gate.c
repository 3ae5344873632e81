/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what a gate judges and what it judges it against: run, manifest, policy, baseline. Then judges it. */
#include "drive/gate/gate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "counters/groups.h"
#include "drive/exact/exact.h"
#include "drive/installed.h"
#include "drive/project.h"
#include "drive/session.h"
#include "drive/user_text.h"
#include "judge/gate.h"
#include "plan/plan.h"
#include "store/store.h"

/* The run that a gate judges and the runs that it is judged against; all-zero is empty. */
struct gate_files {
	struct assay_run run;
	struct assay_manifest manifest;
	struct assay_manifest_list other; /* of all suites, that of this run among them */
	struct assay_policy policy;
	struct assay_countable countable; /* what the groups of counters here may bring */
	struct assay_run *base;
	const struct assay_run **base_list; /* pointers into base, as the judge takes them */
	size_t n_base;
	struct assay_segments segments; /* without a named baseline */
	char base_name[160];
	char no_base_reason[512];
	bool base_is_itself; /* the baseline holds only the run that is to be judged */
};

/* A suite of which there is no run is perhaps none at all. */
static int no_run(const char *suite, const char *db, struct assay_err *err)
{
	char dir[ASSAY_INSTALLED_PATH_MAX], hint[256], measure[ASSAY_INSTALLED_PATH_MAX];
	struct assay_strings suites = { 0 };
	bool known = assay_project_bench_dir(dir, sizeof(dir), NULL) || assay_plan_suites(dir, &suites, NULL) ||
		     assay_strings_has(&suites, suite);

	assay_command_text(measure, sizeof(measure), "run", suite, db);
	if (known)
		assay_err_set(err, ASSAY_EUSAGE, "no run of suite '%s' is stored in '%s': measure one with '%s'", suite,
			      db, measure);
	else
		assay_err_set(err, ASSAY_EUSAGE,
			      "no run of suite '%s' is stored in '%s', nor is there such a suite here%s", suite, db,
			      assay_conf_hint(suite, (const char *const *)suites.v, suites.n, hint, sizeof(hint)));
	assay_strings_release(&suites);
	return ASSAY_EUSAGE;
}

static int load_run(struct gate_files *f, struct assay_store *store, const struct assay_gate_request *q,
		    struct assay_err *err)
{
	const char *suite = q->suite ? q->suite : ASSAY_DEFAULT_SUITE;
	struct assay_run_info *runs = NULL;
	int64_t id = q->run_id;
	size_t n = 0;
	int rc;

	if (!id) {
		rc = assay_store_runs(store, suite, 1, &runs, &n, err);
		if (rc)
			return rc;
		if (n)
			id = runs[0].id;
		free(runs);
		if (!n)
			return no_run(suite, q->db, err);
	}
	rc = assay_store_run_load(store, id, &f->run, err);
	if (!rc && q->begun_ns)
		f->run.started_ns = q->begun_ns;
	if (!rc && q->suite && strcmp(q->suite, f->run.suite))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "run %" PRId64 " is of suite '%s', not '%s': leave out --suite or --run", id,
				     f->run.suite, q->suite);
	return rc;
}

static int load_manifest(struct gate_files *f, const struct assay_gate_request *q, const char *dir,
			 struct assay_err *err)
{
	char path[ASSAY_INSTALLED_PATH_MAX + ASSAY_NAME_MAX + 16];
	int rc;

	if (q->manifest)
		return assay_user_path_error(assay_manifest_load(&f->manifest, q->manifest, err), err);
	snprintf(path, sizeof(path), "%s/%s.manifest", dir, f->run.suite);
	rc = assay_user_path_error(assay_manifest_load(&f->manifest, path, err), err);
	if (rc == ASSAY_ENOTFOUND)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "no manifest '%s': write it with 'assay list --manifest --suite %s', or name one "
				     "with --manifest",
				     path, f->run.suite);
	return rc;
}

/* Runs of other tools need neither manifest nor policy: without one there is nothing but the margin to keep. */
static int load_rules_of_import(struct gate_files *f, const struct assay_gate_request *q, struct assay_err *err)
{
	char dir[ASSAY_INSTALLED_PATH_MAX], policy[ASSAY_POLICY_PATH_MAX];
	const bool any = !assay_project_baseline_dir(dir, sizeof(dir), NULL);
	int rc = any ? assay_manifest_list_load(&f->other, dir, err) : 0;

	if (!rc && q->manifest)
		rc = load_manifest(f, q, dir, err);
	return rc ? rc : assay_policy_file_load(&f->policy, any || q->policy ? q->policy : "/dev/null", policy, err);
}

/* Whoever names both manifest and policy needs no folder of baselines. */
static int load_rules(struct gate_files *f, const struct assay_gate_request *q, struct assay_err *err)
{
	char dir[ASSAY_INSTALLED_PATH_MAX], policy[ASSAY_POLICY_PATH_MAX];
	int rc = assay_project_baseline_dir(dir, sizeof(dir), err);

	if (!rc)
		rc = assay_manifest_list_load(&f->other, dir, err);
	else if (rc == ASSAY_ENOTFOUND && q->manifest && q->policy)
		rc = 0;
	if (!rc)
		rc = load_manifest(f, q, dir, err);
	return rc ? rc : assay_policy_file_load(&f->policy, q->policy, policy, err);
}

static int load_base_runs(struct gate_files *f, struct assay_store *store, const int64_t *ids, size_t n,
			  struct assay_err *err)
{
	f->base = calloc(n ? n : 1, sizeof(*f->base));
	f->base_list = calloc(n ? n : 1, sizeof(*f->base_list));
	if (!f->base || !f->base_list)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		int rc;

		/* a run is no witness in its own case */
		if (ids[i] == f->run.id)
			continue;
		rc = assay_store_run_load(store, ids[i], &f->base[f->n_base], err);
		if (rc) {
			assay_run_release(&f->base[f->n_base]);
			return rc;
		}
		f->base_list[f->n_base] = &f->base[f->n_base];
		f->n_base++;
	}
	return 0;
}

/* The named baseline, or the newest that fits this machine and suite. */
static const struct assay_baseline_info *choose(const struct assay_baseline_info *v, size_t n, const char *name)
{
	const struct assay_baseline_info *best = NULL;

	for (size_t i = 0; i < n; i++) {
		if (name && strcmp(v[i].name, name))
			continue;
		if (!best || v[i].saved_ns > best->saved_ns)
			best = &v[i];
	}
	return best;
}

static int load_named(struct gate_files *f, struct assay_store *store, const struct assay_gate_request *q,
		      struct assay_err *err)
{
	const struct assay_baseline_info *b;
	struct assay_baseline_info *all = NULL;
	char list[ASSAY_INSTALLED_PATH_MAX];
	size_t n = 0;
	int rc = assay_store_baselines(store, f->run.suite, f->run.machine.id, &all, &n, err);

	if (rc)
		return rc;
	b = choose(all, n, q->baseline);
	if (b) {
		rc = load_base_runs(f, store, b->runs, b->n_runs, err);
		if (rc)
			assay_err_prefix(err, "baseline '%s'", b->name);
		snprintf(f->base_name, sizeof(f->base_name), "baseline '%s' (%zu run%s)", b->name, f->n_base,
			 f->n_base == 1 ? "" : "s");
		if (!rc && !f->n_base) {
			f->base_is_itself = true;
			snprintf(f->no_base_reason, sizeof(f->no_base_reason),
				 "baseline '%s' holds only run %" PRId64
				 " itself: measure another run to compare it with",
				 b->name, f->run.id);
		}
	} else if (q->baseline) {
		assay_command_text(list, sizeof(list), "baseline list", NULL, q->db);
		rc = assay_err_set(err, ASSAY_EUSAGE, "no baseline '%s' of suite '%s' on this machine: '%s' shows all",
				   q->baseline, f->run.suite, list);
	}
	assay_baseline_infos_release(all, n);
	return rc;
}

/* Outputs and metrics are held against the last run alone, times against the segment that it ends. */
static int load_last(struct gate_files *f, struct assay_store *store, struct assay_err *err)
{
	struct assay_err why = { 0 };
	char build[96];
	int64_t id;
	int rc = assay_store_comparable(store, &f->run, &id, &why);

	if (rc == ASSAY_ENOTFOUND) {
		snprintf(f->no_base_reason, sizeof(f->no_base_reason), "%s", why.text);
		return 0;
	}
	if (rc) {
		*err = why;
		return rc;
	}
	free(f->base);
	free(f->base_list);
	f->base = NULL;
	f->base_list = NULL;
	rc = load_base_runs(f, store, &id, 1, err);
	if (rc)
		return rc;
	assay_build_text(&f->base[0].build, build, sizeof(build));
	snprintf(f->base_name, sizeof(f->base_name), "run %" PRId64 " (%s)", id, build);
	rc = assay_segments_load(store, &f->run, &f->policy, &f->segments, err);
	if (!rc && f->segments.v)
		memcpy(f->base_name, f->segments.name, sizeof(f->base_name));
	return rc;
}

/* Tells a typing error from what this run did not count. */
static int load_countable(struct gate_files *f, struct assay_err *err)
{
	struct assay_counter_groups groups = { 0 };
	int rc = assay_session_groups(&groups, NULL, err);

	if (!rc)
		rc = assay_counter_names(&f->countable.names, &f->countable.units, &f->countable.groups, &groups, err);
	assay_counter_groups_release(&groups);
	return rc;
}

/* Release in either case. */
static int files_load(struct gate_files *f, struct assay_store *store, const struct assay_gate_request *q,
		      struct assay_err *err)
{
	int rc = load_run(f, store, q, err);

	if (!rc)
		rc = assay_run_is_imported(&f->run) ? load_rules_of_import(f, q, err) : load_rules(f, q, err);
	if (!rc)
		rc = load_countable(f, err);
	if (!rc)
		rc = load_named(f, store, q, err);
	if (!rc && !f->n_base && !q->baseline && !f->no_base_reason[0])
		rc = load_last(f, store, err);
	return rc;
}

static void files_release(struct gate_files *f)
{
	for (size_t i = 0; i < f->n_base; i++)
		assay_run_release(&f->base[i]);
	free(f->base);
	free(f->base_list);
	assay_segments_release(&f->segments);
	assay_run_release(&f->run);
	assay_manifest_release(&f->manifest);
	assay_manifest_list_release(&f->other);
	assay_policy_release(&f->policy);
	assay_countable_release(&f->countable);
	*f = (struct gate_files){ 0 };
}

/* Suggest a step so that the next gate can judge speed. */
static int advise(const struct gate_files *f, const char *db, char **out, struct assay_err *err)
{
	char measure[ASSAY_INSTALLED_PATH_MAX], save[ASSAY_INSTALLED_PATH_MAX], number[64];
	struct assay_text text = { 0 };

	assay_command_text(measure, sizeof(measure), "run", f->run.suite, db);
	snprintf(number, sizeof(number), "baseline save main --run r%" PRId64, f->run.id);
	assay_command_text(save, sizeof(save), number, NULL, db);
	if (assay_run_is_imported(&f->run) && !f->base_is_itself)
		assay_text_addf(&text,
				"speed was not judged: no other run of suite '%s' on this machine is stored; import "
				"one, with the same --machine and --suite",
				f->run.suite);
	else if (!f->run.ended_ns)
		assay_text_addf(&text,
				"speed was not judged: no baseline on this machine yet, and run %" PRId64
				" cannot become one, since it did not finish; measure a whole one with '%s'",
				f->run.id, measure);
	else if (f->base_is_itself)
		assay_text_addf(&text,
				"speed was not judged: the baseline holds only run %" PRId64
				" itself; %s another run%s%s%s and judge that",
				f->run.id, assay_run_is_imported(&f->run) ? "import" : "measure",
				assay_run_is_imported(&f->run) ? "" : " with '",
				assay_run_is_imported(&f->run) ? "" : measure,
				assay_run_is_imported(&f->run) ? "" : "'");
	else
		assay_text_addf(&text, "speed was not judged: no baseline on this machine yet; save one with '%s'",
				save);
	*out = assay_text_take(&text);
	return *out ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
}

static int judge_files(const struct gate_files *f, const struct assay_gate_request *q, struct assay_gate_report *report,
		       struct assay_err *err)
{
	const struct assay_gate_input in = {
		.run = &f->run,
		.manifest = &f->manifest,
		.policy = &f->policy,
		.base = f->base_list,
		.n_base = f->n_base,
		.segments = f->segments.v,
		.gone = f->segments.gone,
		.n_gone = f->segments.n_gone,
		.base_name = f->base_name[0] ? f->base_name : NULL,
		.no_base_reason = f->no_base_reason[0] ? f->no_base_reason : NULL,
		.allow_no_baseline = q->allow_no_baseline,
		.strict = q->strict,
		.suspects_fail = q->suspects_fail,
		.other_manifests = (const struct assay_manifest *const *)f->other.v,
		.n_other_manifests = f->other.n,
		.countable = &f->countable,
		.all_threads = f->run.all_threads,
	};

	return assay_gate_judge(&in, report, err);
}

static int judge_run(const struct assay_gate_request *q, const struct assay_watch *w, struct assay_store *store,
		     struct assay_gate_report *report, struct assay_err *err)
{
	struct gate_files f = { 0 };
	int rc = files_load(&f, store, q, err);

	if (!rc)
		rc = judge_files(&f, q, report, err);
	if (!rc && q->take == ASSAY_TAKE_ALL && !assay_run_is_imported(&f.run))
		rc = f.run.exact ? assay_exact_gate_beside(f.run.exact, &f.policy, q, w, report, err)
				 : assay_exact_gate_none(&f.run, q, w, err);
	if (!rc && !f.n_base)
		rc = advise(&f, q->db, &report->advice, err);
	files_release(&f);
	return rc;
}

/* An option that the evidence has no use for would be believed to bind. */
static int check_options(const struct assay_gate_request *q, struct assay_err *err)
{
	const char *of_times = q->manifest            ? "--manifest"
			       : q->baseline          ? "--baseline"
			       : q->allow_no_baseline ? "--allow-no-baseline"
						      : NULL;

	if (q->take == ASSAY_TAKE_COUNTS && of_times)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "%s is for times, and --evidence exact judges counts alone: drop one", of_times);
	if (q->take == ASSAY_TAKE_TIMES && q->exact_file)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "--exact-file is for counts, and --evidence stored judges none: drop one");
	return 0;
}

int assay_gate(const struct assay_gate_request *q, const struct assay_watch *w, struct assay_gate_report *report,
	       struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = check_options(q, err);

	if (!rc)
		rc = assay_store_open(&store, q->db, ASSAY_STORE_READ, err);
	if (!rc)
		rc = q->take == ASSAY_TAKE_COUNTS ? assay_exact_gate_alone(store, q, report, err)
						  : judge_run(q, w, store, report, err);
	assay_store_close(store);
	return rc;
}
