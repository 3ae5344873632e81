/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assay list: plugins, ops with their variants, suites, groups of counters, and the cases or the manifest of a suite.
 * Measures nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/session.h"

struct list_args {
	struct assay_settings s;
	const char *what;
	bool manifest;
};

static const char *const kinds[] = { "plugins", "ops", "variants", "suites", "groups", "cases" };
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int set_what(void *args, const char *arg, struct assay_err *err)
{
	struct list_args *a = args;
	const char *near;

	if (a->what)
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"unexpected argument '%s': list takes one of plugins, ops, variants, suites, groups, cases",
			arg);
	for (size_t i = 0; i < N_KINDS; i++)
		if (!strcmp(arg, kinds[i])) {
			a->what = kinds[i];
			return 0;
		}
	near = assay_nearest(arg, kinds, N_KINDS);
	if (near)
		return assay_err_set(err, ASSAY_EUSAGE, "cannot list '%s': did you mean '%s'?", arg, near);
	return assay_err_set(err, ASSAY_EUSAGE,
			     "cannot list '%s': expected plugins, ops, variants, suites, groups or cases", arg);
}

static int check(void *args, struct assay_err *err)
{
	const struct list_args *a = args;

	if (a->manifest && a->s.json)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "--manifest prints a file as kept under baselines/, --json an object: drop one");
	return 0;
}

static const struct assay_option options[] = {
	{ "manifest", 'm', NULL, assay_option_flag, offsetof(struct list_args, manifest),
	  "Print the manifest of the suite, as kept under baselines/" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "[plugins|ops|variants|suites|groups|cases]",
	.doc = "List what can be measured: ops with their variants and suites, or with --suite the cases of a "
	       "suite; groups are those that --counters takes, with the metrics that a policy may then name.\v"
	       "example:\n"
	       "  assay list cases --suite quick --only 'matmul.*'",
	.tables = { { assay_options_load, 0 },
		    { assay_options_models, 0 },
		    { assay_options_select, 0 },
		    { assay_options_place, 0 },
		    { assay_options_output, 0 },
		    { options, 0 } },
	.argument = set_what,
	.check = check,
};

static int print(const struct list_args *a, const struct assay_session *session, const struct assay_strings *suites,
		 bool cases, struct assay_err *err)
{
	const struct assay_report r = { .kind = ASSAY_REPORT_CATALOG,
					.catalog = { .catalog = session->catalog,
						     .groups = session->groups.v,
						     .n_groups = session->groups.n,
						     .suites = suites,
						     .suite = cases ? session->plan.suite : NULL,
						     .cases = session->plan.cases,
						     .n_cases = session->plan.n_cases,
						     .what = !a->what && cases ? "cases" : a->what } };

	return assay_cli_emit(&r, a->s.json, a->s.verbose, err);
}

static int print_manifest(const struct assay_session *session, struct assay_err *err)
{
	struct assay_text out = { 0 };
	int rc = assay_session_manifest(session, &out, err);

	if (!rc)
		assay_cli_put(&out);
	assay_text_release(&out);
	return rc;
}

static int list(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct list_args *a = args;
	struct assay_session session = { 0 };
	struct assay_strings suites = { 0 };
	bool cases = a->manifest || a->s.r.plan.suite || a->s.r.plan.only.n || (a->what && !strcmp(a->what, "cases"));
	int rc = assay_session_open(&session, &a->s.r, err);

	(void)w;
	(void)status;
	if (!rc)
		rc = assay_plan_suites(session.bench_dir, &suites, err);
	if (!rc && cases)
		rc = assay_session_plan(&session, &a->s.r, err);
	if (!rc)
		rc = a->manifest ? print_manifest(&session, err) : print(a, &session, &suites, cases, err);
	assay_strings_release(&suites);
	assay_session_close(&session);
	return rc;
}

int assay_cmd_list(int argc, char **argv)
{
	struct list_args a = { 0 };

	return assay_command(&line, argc, argv, &a, list);
}
