/* SPDX-License-Identifier: Apache-2.0 */
/* assay diff: two stored runs or baselines side by side, or the variants within one run. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/profile/kinds.h"
#include "drive/profile/profile.h"
#include "drive/show/show.h"
#include "model/verdict.h"

struct diff_args {
	struct assay_settings s;
	struct assay_diff_request q;
	const char *first, *second;
	const char *by, *out, *kind;
	bool sanitize;
};

static int set_argument(void *args, const char *arg, struct assay_err *err)
{
	struct diff_args *a = args;

	if (!arg[0])
		return assay_err_set(err, ASSAY_EUSAGE, "bad side '': expected a run such as r3, 'last' or a label");
	if (a->second)
		return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': diff takes two sides", arg);
	*(a->first ? &a->second : &a->first) = arg;
	return 0;
}

static int check(void *args, struct assay_err *err)
{
	struct diff_args *a = args;

	if (a->by && strcmp(a->by, "variant"))
		return assay_err_set(err, ASSAY_EUSAGE, "--by is '%s', expected variant", a->by);
	if (a->kind && (a->by || !a->second))
		return assay_err_set(err, ASSAY_EUSAGE, "--kind takes two profiles: assay diff --kind %s BASE HEAD",
				     a->kind);
	if (a->by && a->second)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "unexpected argument '%s': variants are compared within one run", a->second);
	if (!a->by && !a->first)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "no sides given: assay diff BASE HEAD, or assay diff --by variant [RUN]");
	if (!a->by && !a->second)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "'%s' against what? Name a second run, such as r3, a label or 'last'", a->first);
	if (a->q.only && !a->q.only[0])
		return assay_err_set(err, ASSAY_EUSAGE,
				     "bad --only '': expected a part of a key or a glob, such as 'matmul.*'");
	a->q.by_variant = a->by;
	a->q.base = a->by ? NULL : a->first;
	a->q.head = a->by ? a->first : a->second;
	return 0;
}

#define AT(member) offsetof(struct diff_args, member)

static const struct assay_option options[] = {
	{ "by", 0, "variant", assay_option_text, AT(by),
	  "Compare the variants within one run (default: the newest) with 'ref', or with the slowest of the shape" },
	{ "only", 0, "GLOB", assay_option_text, AT(q.only), "Only these cases, by glob or part of the key" },
	{ "metric", 0, "NAME", assay_option_text, AT(q.metric),
	  "Compare this metric or count, such as roof_frac or exact_instructions (default: time)" },
	{ "output", 'o', "FILE", assay_option_text, AT(out),
	  "Write to this file, in the format that its extension names: .text or .json; of profiles .svg, beside the "
	  "table" },
	{ "kind", 0, "KIND", assay_option_profile_kind, AT(kind),
	  "Of profiles: cpu, heap and so on (default: the newest kind that both names have)" },
	{ "sanitize", ASSAY_RARELY, NULL, assay_option_flag, AT(sanitize),
	  "Of profiles: show and write them without paths, user and host names" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "BASE HEAD\nPROFILE PROFILE\n--by variant [RUN]",
	.doc = "Compare stored results: for each case the speed-up with its 95 % interval, metrics and counts, "
	       "and the number that explains the change, where one does. A side is a run (r3), 'last', or the "
	       "label of a baseline that 'assay baseline save' made. Nothing is measured. Stored times reflect "
	       "the machine as much as the code; 'assay compare' tells the two apart. Times of two machines are "
	       "INCOMPARABLE; where no case can be compared, the exit status is 5. Two profiles, by their labels "
	       "('assay profile --name') or as p3, are compared function by function.\v"
	       "examples:\n"
	       "  assay diff main last\n"
	       "  assay diff --by variant --only 'matmul.*'\n"
	       "  assay diff r3 r4 --metric exact_instructions\n"
	       "  assay diff before after -o diff.svg",
	.tables = { ASSAY_OPTIONS_READING, { options, 0 } },
	.argument = set_argument,
	.check = check,
};

static bool are_profiles(const struct diff_args *a)
{
	return a->kind ||
	       (!a->by && (assay_profile_is_name(a->s.r.db, a->first) || assay_profile_is_name(a->s.r.db, a->second)));
}

static int check_profiles(const struct diff_args *a, struct assay_err *err)
{
	const char *bad = a->by ? "--by" : a->q.only ? "--only" : a->q.metric ? "--metric" : NULL;

	if (bad)
		return assay_err_set(err, ASSAY_EUSAGE, "%s is of runs: '%s' and '%s' are profiles", bad, a->first,
				     a->second);
	return a->out ? assay_user_path_error(assay_emit_check(ASSAY_REPORT_PROFILE_DIFF, a->out, err), err) : 0;
}

/* A picture stands beside the table. */
static int diff_profiles(const struct diff_args *a, struct assay_err *err)
{
	const char *const names[2] = { a->first, a->second };
	struct assay_profile side[2] = { { .id = 0 } };
	struct assay_profile_diff d = { .n = 0 };
	const struct assay_report r = { .kind = ASSAY_REPORT_PROFILE_DIFF, .profile_diff = &d };
	int rc = check_profiles(a, err);

	if (!rc)
		rc = assay_profile_diff_find(a->s.r.db, names, a->kind, a->sanitize, side, &d, err);
	if (!rc && a->out)
		rc = assay_user_path_error(assay_emit_file(&r, NULL, a->out, err), err);
	if (!rc)
		rc = assay_cli_emit(&r, a->s.json, a->s.verbose, err);
	assay_profile_diff_release(&d);
	for (unsigned i = 0; i < 2; i++)
		assay_profile_release(&side[i]);
	return rc;
}

static int diff(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct diff_args *a = args;
	struct assay_diff d;
	const struct assay_report r = { .kind = ASSAY_REPORT_DIFF, .diff = { &d, a->q.metric } };
	bool any = false;
	int rc;

	(void)w;
	a->q.db = a->s.r.db;
	if (are_profiles(a))
		return diff_profiles(a, err);
	if (a->sanitize)
		return assay_err_set(err, ASSAY_EUSAGE, "--sanitize applies to profiles, and '%s' is not one",
				     a->first);
	rc = assay_diff_make(&a->q, &d, err);
	for (size_t i = 0; i < d.n_cases; i++)
		any |= assay_diff_compared(&d.cases[i]);
	if (!rc && a->out)
		rc = assay_user_path_error(assay_emit_file(&r, a->s.json ? "json" : NULL, a->out, err), err);
	else if (!rc)
		rc = assay_cli_emit(&r, a->s.json, a->s.verbose, err);
	if (!rc && !any)
		*status = ASSAY_EXIT_INCOMPARABLE;
	assay_diff_release(&d);
	return rc;
}

int assay_cmd_diff(int argc, char **argv)
{
	struct diff_args a = { 0 };

	return assay_command(&line, argc, argv, &a, diff);
}
