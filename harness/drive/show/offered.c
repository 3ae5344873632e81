/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/show/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/comparison.h"
#include "store/profile.h"
#include "store/store.h"

#define NEWEST 20

int assay_offered_open(struct assay_store **store, const char *db, struct assay_err *err)
{
	return assay_store_open(store, db, ASSAY_STORE_NAMES, err);
}

void assay_offered_close(struct assay_store *store)
{
	assay_store_close(store);
}

static void offer_runs(struct assay_store *s, assay_offer_fn *say, const void *arg, struct assay_err *err)
{
	struct assay_run_info *v = NULL;
	char name[32], help[160];
	size_t n = 0;

	if (assay_store_runs(s, NULL, NEWEST, &v, &n, err))
		n = 0;
	if (n)
		say(arg, "last", "the newest");
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "r%lld", (long long)v[i].id);
		snprintf(help, sizeof(help), "%s, %zu cases", v[i].suite, v[i].n_cases);
		say(arg, name, help);
		if (v[i].label[0])
			say(arg, v[i].label, help);
	}
	free(v);
}

static void offer_comparisons(struct assay_store *s, assay_offer_fn *say, const void *arg, struct assay_err *err)
{
	struct assay_comparison_info *v = NULL;
	char name[32], help[600];
	size_t n = 0;

	if (assay_store_comparisons(s, NULL, NEWEST, &v, &n, err))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "c%lld", (long long)v[i].id);
		snprintf(help, sizeof(help), "%s against %s", v[i].head, v[i].base);
		say(arg, name, help);
	}
	free(v);
}

static void offer_profiles(struct assay_store *s, bool ids, assay_offer_fn *say, const void *arg, struct assay_err *err)
{
	struct assay_profile_info *v = NULL;
	char name[32];
	size_t n = 0;

	if (assay_store_profiles(s, &v, &n, err))
		n = 0;
	for (size_t i = 0; i < n && (!ids || i < NEWEST); i++) {
		snprintf(name, sizeof(name), "p%lld", (long long)v[i].id);
		if (ids)
			say(arg, name, v[i].what);
		say(arg, v[i].name, v[i].what);
	}
	free(v);
}

static void offer_baselines(struct assay_store *s, assay_offer_fn *say, const void *arg, struct assay_err *err)
{
	struct assay_baseline_info *v = NULL;
	size_t n = 0;

	if (!assay_store_baselines(s, NULL, NULL, &v, &n, err))
		for (size_t i = 0; i < n; i++)
			say(arg, v[i].name, v[i].suite);
	assay_baseline_infos_release(v, n);
}

static void offer_cases(struct assay_store *s, assay_offer_fn *say, const void *arg, struct assay_err *err)
{
	struct assay_newest_result *v = NULL;
	struct assay_run_info *runs = NULL;
	size_t n_runs = 0, n = 0;

	if (!assay_store_runs(s, NULL, 1, &runs, &n_runs, err) && n_runs &&
	    !assay_store_newest_results(s, runs[0].machine_id, &v, &n, err))
		for (size_t i = 0; i < n; i++)
			say(arg, v[i].key, NULL);
	free(v);
	free(runs);
}

static void offer_machines(struct assay_store *s, assay_offer_fn *say, const void *arg, struct assay_err *err)
{
	struct assay_run_info *v = NULL;
	size_t n = 0;

	if (!assay_store_newest_runs(s, &v, &n, err))
		for (size_t i = 0; i < n; i++)
			say(arg, v[i].machine_label, NULL);
	free(v);
}

static void offer_metrics(const struct assay_run *run, assay_offer_fn *say, const void *arg, struct assay_err *err)
{
	struct assay_strings names = { 0 };

	for (size_t i = 0; i < run->n_results; i++) {
		assay_result_names(&run->results[i], &names, err);
		for (size_t k = 0; k < run->results[i].n_histograms; k++)
			say(arg, run->results[i].histograms[k].tag, "a histogram");
	}
	for (size_t i = 0; i < names.n; i++) {
		const struct assay_metric_info *m = assay_metric_find(names.v[i]);

		say(arg, names.v[i], m ? m->help : NULL);
	}
	assay_strings_release(&names);
}

static void offer_axes(const struct assay_run *run, assay_offer_fn *say, const void *arg)
{
	for (size_t i = 0; i < run->n_results; i++)
		for (unsigned k = 0; k < run->results[i].c.n_axes; k++)
			say(arg, run->results[i].c.axes[k].name, NULL);
}

void assay_offered(struct assay_store *s, enum assay_offered what, assay_offer_fn *say, const void *arg)
{
	struct assay_run run = { 0 };
	struct assay_err err = { 0 };

	switch (what) {
	case ASSAY_OFFERED_RUNS:
		offer_runs(s, say, arg, &err);
		break;
	case ASSAY_OFFERED_COMPARISONS:
		offer_comparisons(s, say, arg, &err);
		break;
	case ASSAY_OFFERED_PROFILES:
	case ASSAY_OFFERED_PROFILE_NAMES:
		offer_profiles(s, what == ASSAY_OFFERED_PROFILES, say, arg, &err);
		break;
	case ASSAY_OFFERED_BASELINES:
		offer_baselines(s, say, arg, &err);
		break;
	case ASSAY_OFFERED_CASES:
		offer_cases(s, say, arg, &err);
		break;
	case ASSAY_OFFERED_MACHINES:
		offer_machines(s, say, arg, &err);
		break;
	case ASSAY_OFFERED_METRICS:
	case ASSAY_OFFERED_AXES:
		if (assay_store_run_load(s, 0, &run, &err))
			break;
		if (what == ASSAY_OFFERED_METRICS)
			offer_metrics(&run, say, arg, &err);
		else
			offer_axes(&run, say, arg);
		assay_run_release(&run);
		break;
	}
}
