/* SPDX-License-Identifier: Apache-2.0 */
/* A policy serves all suites, so what it may name is gathered from all of them. */
#include "cli/compare_policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "counters/event_names.h"
#include "judge/policy_names.h"

enum { OPT_POLICY = 0x300, OPT_MARGIN, OPT_ALPHA, OPT_BUDGET };

static int take_frac(const char *arg, const char *name, double most, double *out, struct assay_err *err)
{
	if (!assay_parse_frac(arg, name, 0, most, out, err) && *out > 0)
		return 0;
	return assay_err_set(err, ASSAY_EUSAGE, "bad %s '%s': expected a share above 0 and up to %g %% such as 0.5%%",
			     name, arg, 100 * most);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct assay_compare_args *a = state->input;
	struct assay_err *err = &a->s.err;

	switch (key) {
	case OPT_POLICY:
		a->o.policy = arg;
		return 0;
	case OPT_ALPHA:
		return take_frac(arg, "--alpha", 0.5, &a->o.alpha, err) ? EINVAL : 0;
	case OPT_MARGIN:
		return take_frac(arg, "--margin", 1, &a->o.margin_frac, err) ? EINVAL : 0;
	case OPT_BUDGET:
		return assay_parse_duration_ns(arg, "--budget", &a->o.budget_ns, err) ? EINVAL : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option rate_options[] = {
	{ "policy", OPT_POLICY, "FILE", 0, "Margins, rates and limits (default baselines/policy.conf)", 0 },
	{ "alpha", OPT_ALPHA, "SHARE", 0,
	  "Chance that a whole comparison fails on unchanged code; wins over the policy", 0 },
	{ 0 },
};
static const struct argp_option budget_options[] = {
	{ "margin", OPT_MARGIN, "SHARE", 0, "Allowed slowdown of every case, such as 1%; wins over the policy", 0 },
	{ "budget", OPT_BUDGET, "TIME", 0, "Time of a case, such as 10s; wins over the policy", 0 },
	{ 0 },
};

const struct argp assay_argp_rates = { .options = rate_options, .parser = parse };
const struct argp assay_argp_budget = { .options = budget_options, .parser = parse };

/* The text that is judged by, with what the command line says at its end, where it wins. */
static int take_text(struct assay_comparison *cmp, const char *path, double margin_frac, struct assay_err *err)
{
	struct assay_text text = { 0 };
	char *data = NULL;
	size_t len;
	int rc = assay_file_read(path, &data, &len, err);

	if (rc)
		return rc;
	assay_text_add(&text, data);
	if (margin_frac > 0)
		assay_text_addf(&text, "\nmargin \"*\" { paired = \"%.15f\" }\n", margin_frac);
	free(data);
	cmp->policy = assay_text_take(&text);
	return cmp->policy ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", path);
}

int assay_compare_policy_load(struct assay_compare_plan *p, const struct assay_compare_options *o,
			      struct assay_err *err)
{
	struct assay_policy alone;
	char path[ASSAY_CLI_PATH_MAX + 16] = "";
	int rc;

	if (o->policy) {
		snprintf(path, sizeof(path), "%s", o->policy);
	} else {
		rc = assay_cli_baseline_dir(path, ASSAY_CLI_PATH_MAX, err);
		if (rc)
			return rc;
		strcat(path, "/policy.conf");
	}
	/* first the file as it is, so that messages name it */
	rc = assay_policy_load(&alone, path, err);
	if (rc == ASSAY_ENOTFOUND || rc == ASSAY_EIO)
		return assay_err_set(err, ASSAY_EUSAGE, "cannot read policy '%s': name one with --policy", path);
	if (rc)
		return rc;
	assay_policy_release(&alone);
	rc = take_text(&p->cmp, path, o->margin_frac, err);
	if (!rc)
		rc = assay_policy_parse(&p->policy, p->cmp.policy, path, err);
	if (rc)
		return rc;
	p->cmp.alpha = o->alpha > 0 ? o->alpha : p->policy.alpha;
	p->cmp.budget_ns = o->budget_ns ? o->budget_ns : p->policy.budget_ns;
	p->cmp.max_pairs = ASSAY_COMPARE_MAX_PAIRS;
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
static int add_suites(struct known *k, const struct assay_session *s, struct assay_err *err)
{
	struct assay_strings suites = { 0 };
	int rc = assay_plan_suites(s->bench_dir, &suites, err);

	for (size_t i = 0; i < suites.n && !rc; i++) {
		const struct assay_plan_options o = { .bench_dir = s->bench_dir,
						      .suite = suites.v[i],
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
	char dir[ASSAY_CLI_PATH_MAX];
	int rc = assay_cli_baseline_dir(dir, sizeof(dir), err);

	if (!rc)
		rc = assay_manifest_list_load(&manifests, dir, err);
	if (!rc)
		rc = add_suites(&k, &p->session, err);
	for (size_t i = 0; i < p->cmp.n_cases && !rc; i++)
		rc = add_cases(&k, &p->cmp.cases[i].c, 1, err);
	if (!rc)
		rc = assay_counter_names(&p->countable.names, &p->countable.groups, &p->session.groups, err);
	for (size_t i = 0; i < events->n && !rc; i++) {
		rc = assay_strings_add(&p->countable.names, events->v[i], err);
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
			.counted = &p->countable.names,
		};

		rc = assay_policy_check_known(&p->policy, &known, err);
	}
	assay_manifest_list_release(&manifests);
	free(k.cases);
	return rc;
}
