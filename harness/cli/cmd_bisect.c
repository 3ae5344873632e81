/* SPDX-License-Identifier: Apache-2.0 */
/* assay bisect: the commit that changed the time of a case. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/compare_options.h"
#include "drive/history/history.h"

struct bisect_args {
	struct assay_compare_args c;
	const char *good, *bad, *key;
};

static int refuse(void *args, const char *arg, struct assay_err *err)
{
	(void)args;
	return assay_err_set(err, ASSAY_EUSAGE,
			     "unexpected argument '%s': revisions are named with --good and --bad, the case with "
			     "--case",
			     arg);
}

static int check(void *args, struct assay_err *err)
{
	const struct bisect_args *a = args;

	if (!a->good || !a->key)
		return assay_err_set(err, ASSAY_EUSAGE, "no %s given: assay bisect --good REV --bad REV --case KEY",
				     a->good ? "--case" : "--good");
	if (a->c.s.r.plan.only.n)
		return assay_err_set(err, ASSAY_EUSAGE, "--only chooses cases, and --case names the one: drop --only");
	return 0;
}

#define AT(member) offsetof(struct bisect_args, member)

static const struct assay_option options[] = {
	{ "good", 0, "REV", assay_option_text, AT(good), "A revision before the change" },
	{ "bad", 0, "REV", assay_option_text, AT(bad), "A revision after the change (default HEAD)" },
	{ "case", 0, "KEY", assay_option_text, AT(key),
	  "Key of the case, or a glob or part of a key that matches only one" },
	{ 0 },
};
static const struct assay_command_line line = {
	.doc = "Find the commit that changed the time of a case, by comparing commits with the good side in "
	       "interleaved measurements. Each commit is built in a temporary worktree; a commit that does not "
	       "build is skipped. Only the first parents of merges are followed. The time may have become longer "
	       "or shorter.\v"
	       "The exit status is 0 if one commit was found, 2 for bad usage, 3 or 4 if the bad side is wrong or "
	       "was not measured, 6 if no single commit can be named, and 130 if interrupted.\n"
	       "\n"
	       "example:\n"
	       "  assay bisect --good v1.2 --bad main --case 'quantize.q8_0/avx2/n=4096*'",
	.tables = { ASSAY_OPTIONS_MEASURING, { assay_options_rates, 0 }, { assay_options_budget, 0 }, { options, 0 } },
	.argument = refuse,
	.check = check,
};

static int bisect(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct bisect_args *a = args;
	const struct assay_bisect_request q = { .compare = &a->c.q, .good = a->good, .bad = a->bad, .key = a->key };
	struct assay_bisect_report report;
	int rc;

	w->show_head = !a->c.s.json;
	rc = assay_bisect(&q, &w->watch, &report, err);
	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_BISECTION, .bisection = &report },
				    a->c.s.json, a->c.s.verbose, err);
	*status = (int)report.exit;
	assay_bisect_report_release(&report);
	return rc;
}

int assay_cmd_bisect(int argc, char **argv)
{
	struct bisect_args a = { .c.q.what = &a.c.s.r };

	return assay_command(&line, argc, argv, &a, bisect);
}
