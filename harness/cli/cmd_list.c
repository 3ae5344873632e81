/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assay list: plugins, ops with their variants, suites, groups of counters, and the cases or the manifest of a suite.
 * Measures nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cli_options.h"
#include "cli/list_emit.h"
#include "drive/session.h"
#include "judge/manifest.h"
#include "model/verdict.h"

struct list_args {
	struct assay_settings s;
	const char *what;
	bool manifest;
};

static const char *const kinds[] = { "plugins", "ops", "variants", "suites", "groups", "cases" };
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int set_what(struct list_args *a, const char *arg)
{
	const char *near;

	if (a->what)
		return assay_err_set(
			&a->s.err, ASSAY_EUSAGE,
			"unexpected argument '%s': list takes one of plugins, ops, variants, suites, groups, cases",
			arg);
	for (size_t i = 0; i < N_KINDS; i++)
		if (!strcmp(arg, kinds[i])) {
			a->what = kinds[i];
			return 0;
		}
	near = assay_nearest(arg, kinds, N_KINDS);
	if (near)
		return assay_err_set(&a->s.err, ASSAY_EUSAGE, "cannot list '%s': did you mean '%s'?", arg, near);
	return assay_err_set(&a->s.err, ASSAY_EUSAGE,
			     "cannot list '%s': expected plugins, ops, variants, suites, groups or cases", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct list_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		assay_cli_parse_children(state);
		return 0;
	case 'm':
		a->manifest = true;
		return 0;
	case ARGP_KEY_ARG:
		return set_what(a, arg) ? EINVAL : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "manifest", 'm', NULL, 0, "Print the manifest of the suite, as kept under baselines/", 0 },
	{ 0 },
};
static const struct argp_child children[] = {
	{ &assay_argp_select, 0, NULL, 0 },
	{ &assay_argp_place, 0, NULL, 0 },
	{ &assay_argp_output, 0, NULL, 0 },
	{ &assay_argp_help, 0, NULL, 0 },
	{ 0 },
};
static const struct argp argp = {
	options,
	parse,
	"[plugins|ops|variants|suites|groups|cases]",
	"List what can be measured: ops with their variants and suites, or with --suite the cases of a suite; groups "
	"are those that "
	"--counters takes, with the metrics that a policy may then name.\v"
	"example:\n  assay list cases --suite quick --only 'matmul.*'",
	children,
	NULL,
	NULL,
};

static int list(const struct list_args *a, struct assay_text *out, struct assay_err *err)
{
	struct assay_list_view v = { .what = a->what, .style = assay_cli_style() };
	struct assay_session session = { 0 };
	bool cases = a->manifest || a->s.r.suite || a->s.r.only.n || (a->what && !strcmp(a->what, "cases"));
	int rc = assay_session_open(&session, &a->s.r, err);

	if (!rc)
		rc = assay_plan_suites(session.bench_dir, &v.suites, err);
	if (!rc && cases) {
		if (!a->what)
			v.what = "cases";
		rc = assay_session_plan(&session, &a->s.r, err);
	}
	v.catalog = session.catalog;
	v.groups = &session.groups;
	v.plan = cases ? &session.plan : NULL;
	v.style.verbose = a->s.verbose;
	if (!rc && a->manifest)
		rc = assay_manifest_format(session.plan.suite, session.plan.cases, session.plan.n_cases,
					   session.catalog, out, err);
	else if (!rc && a->s.json)
		rc = assay_list_json(&v, out, err);
	else if (!rc)
		rc = assay_list_text(&v, out, err);
	assay_strings_release(&v.suites);
	assay_session_close(&session);
	return rc;
}

int assay_cmd_list(int argc, char **argv)
{
	struct list_args a = { 0 };
	struct assay_text out = { 0 };
	struct assay_err err = { 0 };
	int rc = assay_settings_init(&a.s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &a, &err);
	if (!rc)
		rc = list(&a, &out, &err);
	if (!rc)
		assay_cli_put(&out);
	assay_text_release(&out);
	assay_settings_release(&a.s);
	return rc ? assay_cli_fail(&err) : ASSAY_EXIT_OK;
}
