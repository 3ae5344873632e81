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
	bool csv, markdown, sorted, sanitize;
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

static const char *const orders[] = { "change", "case", "time" };

static int set_order(void *to, const char *arg, const char *name, struct assay_err *err)
{
	struct diff_args *a = to;

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (!strcmp(arg, orders[i])) {
			a->q.order = (enum assay_diff_order)i;
			a->sorted = true;
			return 0;
		}
	return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected change, case or time", name, arg);
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
	if (a->q.base_variant && !a->by)
		return assay_err_set(err, ASSAY_EUSAGE, "--base names a variant: it goes with --by variant");
	if (a->s.json + a->csv + a->markdown > 1)
		return assay_err_set(err, ASSAY_EUSAGE, "--json, --csv and --markdown exclude each other");
	if (a->q.only && !a->q.only[0])
		return assay_err_set(err, ASSAY_EUSAGE,
				     "bad --only '': expected a part of a key or a glob, such as 'matmul.*'");
	a->q.by_variant = a->by;
	a->q.base = a->by ? NULL : a->first;
	a->q.head = a->by ? a->first : a->second;
	if (!a->sorted && a->by)
		a->q.order = ASSAY_DIFF_BY_CASE;
	return 0;
}

#define AT(member) offsetof(struct diff_args, member)

static const struct assay_option options[] = {
	{ "by", 0, "variant", assay_option_text, AT(by), "Compare the variants within one run (default: the newest)" },
	{ "base", 0, "NAME", assay_option_text, AT(q.base_variant),
	  "With --by variant: the variant that the others are compared with (default: 'ref', else the slowest of the "
	  "shape)" },
	{ "only", 0, "GLOB", assay_option_text, AT(q.only), "Only these cases, by glob or part of the key" },
	{ "metric", 0, "NAME", assay_option_text, AT(q.metric),
	  "Compare this metric or count, such as roof_frac or exact_instructions (default: time)" },
	{ "sort", 0, "ORDER", set_order, 0,
	  "change (the slowest first; default), case (default with --by variant), or time (the longest first)" },
	{ "csv", 0, NULL, assay_option_flag, AT(csv), "One row per case, for spreadsheets" },
	{ "markdown", 0, NULL, assay_option_flag, AT(markdown), "A table for a pull request" },
	{ "output", 'o', "FILE", assay_option_text, AT(out),
	  "Write to this file, in the format that its extension names: .text, .json, .markdown, .csv; of profiles "
	  ".svg, beside the table" },
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
	       "  assay diff --by variant --base avx2 --only 'matmul.*'\n"
	       "  assay diff r3 r4 --metric exact_instructions -o diff.csv\n"
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
	const char *bad = a->by         ? "--by"
			  : a->q.only   ? "--only"
			  : a->q.metric ? "--metric"
			  : a->sorted   ? "--sort"
			  : a->csv      ? "--csv"
			  : a->markdown ? "--markdown"
					: NULL;

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

static int put(const struct diff_args *a, const struct assay_report *r, struct assay_err *err)
{
	const char *format = a->s.json ? "json" : a->csv ? "csv" : a->markdown ? "markdown" : NULL;
	struct assay_emit_style style = assay_cli_style();
	struct assay_text out = { 0 };
	int rc;

	style.verbose = a->s.verbose;
	if (a->out)
		return assay_user_path_error(assay_emit_file(r, format, a->out, err), err);
	rc = assay_emit(r, format ? format : "text", &style, &out, err);
	if (!rc)
		assay_cli_put(&out);
	assay_text_release(&out);
	return rc;
}

static int diff(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct diff_args *a = args;
	struct assay_diff d;
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
	if (!rc)
		rc = put(a, &(struct assay_report){ .kind = ASSAY_REPORT_DIFF, .diff = { &d, a->q.metric } }, err);
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
