/* SPDX-License-Identifier: Apache-2.0 */
/* assay history: the stored runs of a case, and where its level changed. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/compare_options.h"
#include "drive/history/history.h"

struct history_args {
	struct assay_compare_args c; /* of --confirm */
	struct assay_history_request q;
	bool csv, confirm;
};

static int set_argument(void *args, const char *arg, struct assay_err *err)
{
	struct history_args *a = args;

	if (a->q.key)
		return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': history takes one case", arg);
	a->q.key = arg;
	return 0;
}

static int check(void *args, struct assay_err *err)
{
	const struct history_args *a = args;

	if (!a->q.key || !a->q.key[0])
		return assay_err_set(err, ASSAY_EUSAGE, "no case given: assay history CASE");
	if (a->csv && a->c.s.json)
		return assay_err_set(err, ASSAY_EUSAGE, "--csv and --json exclude each other");
	if (!a->confirm && (a->c.q.budget_ns || a->c.q.margin_frac > 0 || a->c.q.policy || a->c.s.r.plan.suite))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "--budget, --margin, --policy and --suite are for the comparisons of --confirm");
	return 0;
}

static int set_alpha(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return assay_parse_frac(arg, name, 1e-9, 0.5, to, err);
}

/* 0 means that every change counts; the request has a negative number for that. */
static int set_least(void *to, const char *arg, const char *name, struct assay_err *err)
{
	double *least = to;
	int rc = assay_parse_frac(arg, name, 0, 10, least, err);

	if (!rc && *least == 0)
		*least = -1;
	return rc;
}

#define AT(member) offsetof(struct history_args, member)

static const struct assay_option options[] = {
	{ "since", 0, "DATE", assay_option_date, AT(q.since_ns),
	  "Runs from this day on (2026-01-31, 2026-01-31T12:00; UTC)" },
	{ "machine", 0, "NAME", assay_option_text, AT(q.machine),
	  "A part of the machine's label, or the start of its fingerprint (default: that measured last)" },
	{ "csv", 0, NULL, assay_option_flag, AT(csv), "One row per run, for spreadsheets" },
	{ "confirm", 0, NULL, assay_option_flag, AT(confirm),
	  "Build both sides of each change and compare them, interleaved: was it the code? Answers are stored" },
	{ "suite", 0, "NAME", assay_option_text, AT(c.s.r.plan.suite),
	  "Suite that has the case (default: that of the run)" },
	{ "policy", 0, "FILE", assay_option_text, AT(c.q.policy),
	  "Policy of the comparisons (default baselines/policy.conf)" },
	{ "alpha", ASSAY_RARELY, "SHARE", set_alpha, AT(q.alpha),
	  "Chance that an unchanged series shows a change (default 1 %)" },
	{ "smallest", ASSAY_RARELY, "SHARE", set_least, AT(q.least_frac), "Leave out smaller changes (default 0.5 %)" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "CASE",
	.doc = "List the stored runs of a case on one machine, and its change points: between which commits the "
	       "level changed, by how much, and how certain that is. A change point is a candidate, because "
	       "stored times reflect the machine as much as the code: 'assay compare' of both commits confirms "
	       "it. A change that nearly all cases of the machine show together is marked as a change of the "
	       "machine. CASE is a key, or a glob or part of a key that matches only one.\v"
	       "example:\n"
	       "  assay history 'matmul.ternary/avx2/m=2560,k=2560,n=1/t=1/warm' --json",
	.tables = { ASSAY_OPTIONS_READING, { assay_options_load, 0 }, { assay_options_budget, 0 }, { options, 0 } },
	.argument = set_argument,
	.check = check,
};

static int history(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct history_args *a = args;
	struct assay_emit_style style = assay_cli_style();
	struct assay_text out = { 0 };
	struct assay_case_history h;
	int rc;

	(void)status;
	a->q.db = a->c.s.r.db;
	rc = assay_case_history(&a->q, &h, err);
	if (!rc && a->confirm)
		rc = assay_confirm_changes(&a->c.q, &w->watch, &h, err);
	if (!rc)
		rc = assay_emit(&(struct assay_report){ .kind = ASSAY_REPORT_CHANGES, .history = &h },
				a->csv        ? "csv"
				: a->c.s.json ? "json"
					      : "text",
				&style, &out, err);
	if (!rc)
		assay_cli_put(&out);
	assay_text_release(&out);
	assay_case_history_release(&h);
	return rc;
}

int assay_cmd_history(int argc, char **argv)
{
	struct history_args a = { .c.q.what = &a.c.s.r };

	return assay_command(&line, argc, argv, &a, history);
}
