/* SPDX-License-Identifier: Apache-2.0 */
/* A policy serves all suites, so what it may name is gathered from all of them. */
#include "drive/compare/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "counters/groups.h"
#include "drive/installed.h"
#include "drive/project.h"
#include "judge/limits.h"
#include "judge/stopping.h"

/* The text that is judged by, with what the command line says at its end, where it wins. */
static int take_text(struct assay_comparison *cmp, const char *path, double margin_frac, struct assay_err *err)
{
	struct assay_text text = { 0 };
	char *data = NULL;
	size_t len;
	int rc = assay_file_read_as(path, ASSAY_FILE_CONF, &data, &len, err);

	if (rc)
		return rc;
	assay_text_add(&text, data);
	if (margin_frac > 0)
		assay_text_addf(&text, "\nmargin \"*\" { paired = \"%.15f\" }\n", margin_frac);
	free(data);
	cmp->policy = assay_text_take(&text);
	return cmp->policy ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", path);
}

int assay_compare_policy_load(struct assay_compare_plan *p, const struct assay_compare_request *q,
			      struct assay_err *err)
{
	struct assay_policy alone;
	char path[ASSAY_POLICY_PATH_MAX];
	/* first the file as it is, so that messages name it */
	int rc = assay_policy_file_load(&alone, q->policy, path, err);

	if (rc)
		return rc;
	assay_policy_release(&alone);
	rc = take_text(&p->cmp, path, q->margin_frac, err);
	if (!rc)
		rc = assay_policy_parse(&p->policy, p->cmp.policy, path, err);
	if (rc)
		return rc;
	p->cmp.alpha = q->alpha > 0 ? q->alpha : p->policy.alpha;
	p->cmp.budget_ns = q->budget_ns ? q->budget_ns : p->policy.budget_ns;
	p->cmp.max_pairs = ASSAY_STOPPING_MAX_PAIRS;
	p->cmp.same_code = q->same_code;
	return 0;
}

/* ---- what there is ---- */

struct known {
	struct assay_case *cases; /* malloc'ed */
	size_t n;
};

static int add_cases(struct known *k, const struct assay_case *cases, size_t n, struct assay_err *err)
{
	struct assay_case *grown = realloc(k->cases, (k->n + n + 1) * sizeof(*grown));

	if (!grown)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	k->cases = grown;
	if (n)
		memcpy(&grown[k->n], cases, n * sizeof(*cases));
	k->n += n;
	return 0;
}

/* All cases of all suites, also those that --only leaves out. */
static int add_suites(struct known *k, struct assay_session *s, struct assay_err *err)
{
	struct assay_strings suites = { 0 };
	int rc = assay_plan_suites(s->bench_dir, &suites, err);

	for (size_t i = 0; i < suites.n && !rc; i++) {
		const struct assay_plan_options o = { .bench_dir = s->bench_dir,
						      .suite = suites.v[i],
						      .benchmarks = assay_session_benchmarks,
						      .benchmarks_arg = s,
						      .all_threads = s->all_threads };
		struct assay_plan plan = { 0 };

		/* a suite that cannot be planned here has no cases to name */
		if (assay_plan_load(&plan, &o, s->catalog, NULL))
			continue;
		rc = add_cases(k, plan.cases, plan.n_cases, err);
		assay_plan_release(&plan);
	}
	assay_strings_release(&suites);
	return rc;
}

int assay_compare_policy_check(struct assay_compare_plan *p, const struct assay_strings *events, struct assay_err *err)
{
	struct assay_manifest_list manifests = { 0 };
	struct known k = { 0 };
	char dir[ASSAY_INSTALLED_PATH_MAX];
	int rc = assay_project_baseline_dir(dir, sizeof(dir), err);

	if (!rc)
		rc = assay_manifest_list_load(&manifests, dir, err);
	if (!rc)
		rc = add_suites(&k, &p->session, err);
	for (size_t i = 0; i < p->cmp.n_cases && !rc; i++)
		rc = add_cases(&k, &p->cmp.cases[i].c, 1, err);
	if (!rc)
		rc = assay_counter_names(&p->countable.names, &p->countable.units, &p->countable.groups,
					 &p->session.groups, err);
	for (size_t i = 0; i < events->n && !rc; i++) {
		rc = assay_strings_add(&p->countable.names, events->v[i], err);
		if (!rc)
			rc = assay_strings_add(&p->countable.units, "1", err);
		if (!rc)
			rc = assay_strings_add(&p->countable.groups, "", err);
	}
	if (!rc) {
		const struct assay_policy_known known = {
			.cases = k.cases,
			.n_cases = k.n,
			.manifests = (const struct assay_manifest *const *)manifests.v,
			.n_manifests = manifests.n,
			.catalog = p->session.catalog,
			.counted = &p->countable,
		};

		rc = assay_policy_check_known(&p->policy, &known, err);
	}
	assay_manifest_list_release(&manifests);
	free(k.cases);
	return rc;
}
