/* SPDX-License-Identifier: Apache-2.0 */
/* assay bisect: the commit that changed the time of a case. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/compare_options.h"
#include "drive/history/history.h"

/* git bisect run stops at these; anything below would be an answer. */
#define GIT_STOPS 128

struct bisect_args {
	struct assay_compare_args c;
	const char *good, *bad, *key;
	bool step;
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
	if (a->step && a->bad)
		return assay_err_set(err, ASSAY_EUSAGE, "--step judges HEAD, which git bisect chose: drop --bad");
	if (a->step && a->c.s.json)
		return assay_err_set(err, ASSAY_EUSAGE, "--step answers by its exit status: drop --json");
	return 0;
}

#define AT(member) offsetof(struct bisect_args, member)

static const struct assay_option options[] = {
	{ "good", 0, "REV", assay_option_text, AT(good), "A revision before the change" },
	{ "bad", 0, "REV", assay_option_text, AT(bad), "A revision after the change (default HEAD)" },
	{ "case", 0, "KEY", assay_option_text, AT(key),
	  "Key of the case, or a glob or part of a key that matches only one" },
	{ "step", ASSAY_RARELY, NULL, assay_option_flag, AT(step),
	  "For 'git bisect run': compare HEAD with --good, once; --margin should be half of the change" },
	{ 0 },
};
static const struct assay_command_line line = {
	.doc = "Find the commit that changed the time of a case, by comparing commits with the good side in "
	       "interleaved measurements. Each commit is built in a temporary worktree; a commit that does not "
	       "build is skipped. Only the first parents of merges are followed. The time may have become longer "
	       "or shorter.\v"
	       "The exit status is 0 if one commit was found, 2 for bad usage, 3 or 4 if the bad side is wrong or "
	       "was not measured, 6 if no single commit can be named, and 130 if interrupted. With --step it is 0 "
	       "for not slower, 1 for slower, 125 for inconclusive, and 128 or more to make git stop.\n"
	       "\n"
	       "examples:\n"
	       "  assay bisect --good v1.2 --bad main --case 'quantize.q8_0/avx2/n=4096*'\n"
	       "  git bisect run assay bisect --step --good v1.2 --case 'quantize.q8_0/avx2/*'",
	.tables = { ASSAY_OPTIONS_MEASURING, { assay_options_rates, 0 }, { assay_options_budget, 0 }, { options, 0 } },
	.argument = refuse,
	.check = check,
};

static int step(const struct assay_bisect_request *q, struct assay_watcher *w, int *status, struct assay_err *err)
{
	static const char *const words[] = { "not slower", "slower" };
	enum assay_bisect_sign sign;
	char reason[640] = "";
	int rc = assay_bisect_step(q, &w->watch, &sign, reason, sizeof(reason), err);

	if (rc)
		return rc;
	assay_cli_say("%s: %s\n", sign == ASSAY_BISECT_SKIP ? "cannot tell" : words[sign], reason);
	*status = (int)sign;
	return 0;
}

static int bisect(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct bisect_args *a = args;
	const struct assay_bisect_request q = { .compare = &a->c.q, .good = a->good, .bad = a->bad, .key = a->key };
	struct assay_bisect_report report;
	int rc;

	if (a->step)
		return step(&q, w, status, err);
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
	bool stepping = false;
	int status;

	/* also where the options are wrong: git would take 2 for a bad commit */
	for (int i = 1; i < argc; i++)
		stepping |= !strcmp(argv[i], "--step");
	status = assay_command(&line, argc, argv, &a, bisect);
	if (!stepping || status == ASSAY_BISECT_GOOD || status == ASSAY_BISECT_BAD || status == ASSAY_BISECT_SKIP)
		return status;
	return status < GIT_STOPS ? GIT_STOPS + status : status;
}
