/* SPDX-License-Identifier: Apache-2.0 */
/* Stored counts against the committed file. */
#include "drive/exact/exact.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "drive/gate/gate.h"
#include "drive/installed.h"
#include "drive/project.h"
#include "drive/user_text.h"
#include "judge/exact_baseline.h"
#include "judge/exact_judge.h"
#include "judge/limits.h"
#include "judge/static_costs.h"
#include "store/exact.h"
#include "store/store.h"

static int load_counts(struct assay_store *store, const struct assay_gate_request *q, struct assay_exact_run *out,
		       struct assay_err *err)
{
	const char *suite = q->suite ? q->suite : ASSAY_DEFAULT_SUITE;
	char take[ASSAY_INSTALLED_PATH_MAX];
	int rc = q->run_id ? assay_store_exact_of_run(store, q->run_id, out, err)
			   : assay_store_exact_newest(store, suite, out, err);

	if (!rc && q->suite && strcmp(q->suite, out->suite))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "run %" PRId64 " is of suite '%s', not '%s': leave out --suite or --run",
				     q->run_id, out->suite, q->suite);
	if (rc == ASSAY_ENOTFOUND && q->run_id)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "no exact counts of run %" PRId64
				     " in '%s': there is no such run, its suite names no case for them, or neither "
				     "valgrind nor stepping could count there",
				     q->run_id, q->db);
	if (rc == ASSAY_ENOTFOUND) {
		assay_command_text(take, sizeof(take), "run --evidence exact", suite, q->db);
		return assay_err_set(err, ASSAY_EUSAGE,
				     "no exact counts of suite '%s' are stored in '%s': take them with '%s'", suite,
				     q->db, take);
	}
	return rc;
}

/* A file of recorded counts. */
struct record {
	char path[ASSAY_INSTALLED_PATH_MAX + ASSAY_NAME_MAX + 16];
	char name[ASSAY_INSTALLED_PATH_MAX]; /* in sentences */
};

static int find_record(const struct assay_gate_request *q, const char *suite, struct record *out, struct assay_err *err)
{
	char dir[ASSAY_INSTALLED_PATH_MAX];
	int rc;

	if (q->exact_file) {
		snprintf(out->path, sizeof(out->path), "%s", q->exact_file);
		snprintf(out->name, sizeof(out->name), "%s", q->exact_file);
		return 0;
	}
	rc = assay_project_baseline_dir(dir, sizeof(dir), err);
	snprintf(out->path, sizeof(out->path), "%s/exact/%s.json", dir, suite);
	snprintf(out->name, sizeof(out->name), "baselines/exact/%s.json", suite);
	return rc;
}

/* The source for the cases of the suite other than those that were counted: its manifest, else a run. */
struct suite {
	const struct assay_manifest *manifest; /* NULL: there is none */
	struct assay_run run;
};

struct judging {
	const struct assay_gate_request *q;
	const struct assay_policy *policy;
	const struct suite *suite; /* NULL: rows are added only if the file has counts of this build */
	struct assay_gate_report *report;
	char why[640]; /* then: why none were added; "": they were */
};

/* The record of kernels beside that of counts: @path without .json, and .kernels.json. */
static void kernels_path(const char *path, char *out, size_t size)
{
	const char *json = strrchr(path, '.');

	snprintf(out, size, "%.*s.kernels.json", json ? (int)(json - path) : (int)strlen(path), path);
}

/* The costs that the build wrote beside its plugin. */
static int built_kernels(char *path, size_t size, struct assay_err *err)
{
	int rc = assay_installed_plugin_dir(path, size, err);
	size_t at = strlen(path);

	if (!rc)
		snprintf(path + at, size - at, "/assay_cuda.kernels.json");
	return rc;
}

/*
 * Add the rows of the kernels for GPUs, where the suite has a record of them. A build without nvcc has none to show.
 * Next to times, kernels that another compiler made are left out.
 */
static int judge_kernels(struct judging *k, const struct record *exact, struct assay_err *err)
{
	char path[ASSAY_INSTALLED_PATH_MAX + ASSAY_NAME_MAX + 32], name[ASSAY_INSTALLED_PATH_MAX + 32];
	char built[ASSAY_INSTALLED_PATH_MAX + 32];
	struct assay_static_costs base = { .n = 0 }, head = { .n = 0 };
	int rc;

	kernels_path(exact->path, path, sizeof(path));
	kernels_path(exact->name, name, sizeof(name));
	rc = assay_static_costs_load(&base, path, err);
	if (!rc)
		rc = built_kernels(built, sizeof(built), err);
	if (!rc)
		rc = assay_static_costs_load(&head, built, err);
	if (!rc && !k->suite && strcmp(base.compiler, head.compiler)) {
		if (!k->why[0])
			snprintf(k->why, sizeof(k->why), "kernels were compiled by %s, those of %.200s by %s",
				 head.compiler, name, base.compiler);
	} else if (!rc) {
		rc = assay_static_costs_judge(&base, &head, name, k->report, k->q->strict, err);
	}
	assay_static_costs_release(&base);
	assay_static_costs_release(&head);
	return rc == ASSAY_ENOTFOUND ? 0 : rc;
}

/* A record that is there becomes what was built. */
static int update_kernels(const char *exact_path, struct assay_err *err)
{
	char path[ASSAY_INSTALLED_PATH_MAX + ASSAY_NAME_MAX + 32], built[ASSAY_INSTALLED_PATH_MAX + 32];
	struct assay_static_costs costs = { .n = 0 };
	char *text = NULL;
	size_t len;
	int rc;

	kernels_path(exact_path, path, sizeof(path));
	rc = assay_static_costs_load(&costs, path, err);
	assay_static_costs_release(&costs);
	if (!rc)
		rc = built_kernels(built, sizeof(built), err);
	if (!rc)
		rc = assay_file_read(built, &text, &len, err);
	if (!rc)
		rc = assay_user_path_error(assay_file_write(path, text, len, err), err);
	free(text);
	return rc == ASSAY_ENOTFOUND ? 0 : rc;
}

/* Add the rows of @run. */
static int judge(struct judging *k, const struct assay_exact_run *run, struct assay_err *err)
{
	const bool demand = k->suite != NULL;
	struct record file;
	struct assay_exact_baseline b = { 0 };
	struct assay_exact_judge_input in = { .head = run,
					      .policy = k->policy,
					      .base_name = file.name,
					      .no_base_reason = k->why,
					      .limits = demand,
					      .suite = demand ? k->suite->manifest : NULL,
					      .run = demand ? &k->suite->run : NULL,
					      .strict = k->q->strict,
					      .nothing_counted = demand };
	char lacking[512], record[160];
	int rc = find_record(k->q, run->suite, &file, err);

	for (size_t i = 0; i < run->n_cases; i++)
		in.nothing_counted &= run->cases[i].status != ASSAY_STATUS_OK;
	if (!rc)
		rc = assay_exact_baseline_load(&b, file.path, err);
	if (rc && rc != ASSAY_ENOTFOUND)
		return rc;
	in.base = assay_exact_baseline_match(&b, run, lacking, sizeof(lacking));
	assay_command_text(record, sizeof(record), "baseline update --exact", run->suite, k->q->db);
	in.record = record;
	if (!in.base)
		snprintf(k->why, sizeof(k->why), "%.300s; record them with '%s'", lacking, record);
	/* where there are no times to compare with, the file is what rows are held against, or should be */
	if (in.base ? !k->report->base[0] || k->report->no_baseline : demand)
		snprintf(k->report->base, sizeof(k->report->base), "%.255s", file.name);
	rc = in.base || demand ? assay_exact_judge(&in, k->report, err) : 0;
	if (!rc)
		rc = judge_kernels(k, &file, err);
	assay_exact_baseline_release(&b);
	return rc;
}

/* Counts tell keys and no more of their cases, and a policy may name the cases of other suites, too. */
static int check_policy(const struct assay_policy *policy, const struct assay_exact_run *run,
			const struct assay_manifest_list *manifests, struct assay_err *err)
{
	struct assay_case *cases = calloc(run->n_cases + 1, sizeof(*cases));
	const struct assay_policy_known known = { .cases = cases,
						  .n_cases = run->n_cases,
						  .manifests = (const struct assay_manifest *const *)manifests->v,
						  .n_manifests = manifests->n };
	int rc = cases ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");

	for (size_t i = 0; i < run->n_cases && !rc; i++) {
		const char *key = run->cases[i].key;

		cases[i] = assay_exact_case_named(&run->cases[i]);
		snprintf(cases[i].op, sizeof(cases[i].op), "%.*s", (int)strcspn(key, "/"), key);
	}
	if (!rc)
		rc = assay_policy_check_known(policy, &known, err);
	free(cases);
	return rc;
}

/* NULL: it has none. */
static const struct assay_manifest *manifest_of(const struct assay_manifest_list *l, const char *suite)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *slash = strrchr(l->v[i]->path, '/'), *name = slash ? slash + 1 : l->v[i]->path;
		size_t n = strlen(suite);

		if (!strncmp(name, suite, n) && !strcmp(name + n, ".manifest"))
			return l->v[i];
	}
	return NULL;
}

/* Without a manifest the newest run of the suite remembers which cases it has. */
static int find_suite(struct suite *s, struct assay_store *store, const struct assay_manifest_list *manifests,
		      const char *name, struct assay_err *err)
{
	struct assay_run_info *runs = NULL;
	size_t n = 0;
	int rc;

	*s = (struct suite){ .manifest = manifest_of(manifests, name) };
	if (s->manifest)
		return 0;
	rc = assay_store_runs(store, name, 1, &runs, &n, err);
	if (!rc && n)
		rc = assay_store_run_load(store, runs[0].id, &s->run, err);
	free(runs);
	return rc;
}

int assay_exact_gate_alone(struct assay_store *store, const struct assay_gate_request *q,
			   struct assay_gate_report *report, struct assay_err *err)
{
	struct assay_exact_run run = { 0 };
	struct assay_policy policy = { 0 };
	struct assay_manifest_list manifests = { 0 };
	struct suite suite = { 0 };
	char path[ASSAY_POLICY_PATH_MAX], dir[ASSAY_INSTALLED_PATH_MAX], build[96];
	struct judging k = { .q = q, .policy = &policy, .suite = &suite, .report = report };
	int rc = load_counts(store, q, &run, err);

	if (!rc)
		rc = assay_policy_file_load(&policy, q->policy, path, err);
	if (!rc && !assay_project_baseline_dir(dir, sizeof(dir), NULL))
		rc = assay_manifest_list_load(&manifests, dir, err);
	if (!rc)
		rc = check_policy(&policy, &run, &manifests, err);
	if (!rc)
		rc = find_suite(&suite, store, &manifests, run.suite, err);
	if (!rc) {
		report->alpha = policy.alpha;
		assay_build_text(&run.build, build, sizeof(build));
		snprintf(report->head, sizeof(report->head), "counts %" PRId64 " (%s)", run.id, build);
		rc = judge(&k, &run, err);
	}
	assay_run_release(&suite.run);
	assay_manifest_list_release(&manifests);
	assay_policy_release(&policy);
	assay_exact_run_release(&run);
	return rc;
}

int assay_exact_gate_beside(const struct assay_exact_run *run, const struct assay_policy *policy,
			    const struct assay_gate_request *q, const struct assay_watch *w,
			    struct assay_gate_report *report, struct assay_err *err)
{
	struct judging k = { .q = q, .policy = policy, .report = report };
	int rc = judge(&k, run, err);

	if (!rc && k.why[0])
		assay_watch_warn(w, "exact counts were not judged: %s", k.why);
	return rc;
}

int assay_exact_gate_none(const struct assay_run *run, const struct assay_gate_request *q, const struct assay_watch *w,
			  struct assay_err *err)
{
	struct assay_exact_baseline b = { 0 };
	struct record file;
	size_t n = 0;
	int rc = find_record(q, run->suite, &file, err);

	if (!rc)
		rc = assay_exact_baseline_load(&b, file.path, err);
	for (size_t i = 0; i < run->n_results && !rc; i++) {
		bool recorded = false;

		for (size_t k = 0; k < b.n_builds; k++)
			recorded |= assay_exact_case_find(&b.builds[k], run->results[i].c.key) != NULL;
		n += recorded;
	}
	assay_exact_baseline_release(&b);
	if (n)
		assay_watch_warn(w,
				 "exact counts were not judged: run %" PRId64
				 " has none, and %s has those of %zu of its cases; counting takes valgrind or steps, "
				 "see 'assay doctor', and a run without --evidence stored",
				 run->id, file.name, n);
	return rc == ASSAY_ENOTFOUND ? 0 : rc;
}

int assay_exact_baseline_update(struct assay_store *store, const struct assay_gate_request *q, bool prune,
				struct assay_baseline_update *out, struct assay_err *err)
{
	struct assay_exact_baseline b = { 0 };
	struct assay_exact_run run = { 0 };
	struct assay_text text = { 0 };
	struct record file;
	char *slash;
	int rc = load_counts(store, q, &run, err);

	if (!rc)
		rc = find_record(q, run.suite, &file, err);
	if (!rc)
		rc = assay_exact_baseline_load(&b, file.path, err);
	if (!rc || rc == ASSAY_ENOTFOUND)
		rc = assay_exact_baseline_put(&b, &run, prune, &out->n_kept, err);
	for (size_t i = 0; i < run.n_cases; i++)
		out->n_cases += run.cases[i].status == ASSAY_STATUS_OK;
	if (!rc && !out->n_cases)
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "counts %" PRId64
				   " of suite '%s' hold no case that was counted: nothing is recorded",
				   run.id, run.suite);
	if (!rc)
		rc = assay_exact_baseline_format(&b, &text, err);
	slash = rc ? NULL : strrchr(file.path, '/');
	if (slash) {
		*slash = '\0';
		rc = assay_file_mkdirs(file.path, err);
		*slash = '/';
	}
	if (!rc)
		rc = assay_user_path_error(assay_file_write(file.path, text.s, text.len, err), err);
	if (!rc)
		rc = update_kernels(file.path, err);
	if (!rc)
		snprintf(out->path, sizeof(out->path), "%s", file.path);
	assay_text_release(&text);
	assay_exact_baseline_release(&b);
	assay_exact_run_release(&run);
	return rc;
}
