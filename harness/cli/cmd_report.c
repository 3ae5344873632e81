/* SPDX-License-Identifier: Apache-2.0 */
/* assay report: a stored run, comparison or profile as one HTML file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/profile/profile.h"
#include "drive/show/name.h"
#include "drive/show/show.h"

struct report_args {
	struct assay_settings s;
	const char *name, *out; /* name NULL: last */
};

static int set_argument(void *args, const char *arg, struct assay_err *err)
{
	struct report_args *a = args;

	if (a->name)
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"unexpected argument '%s': report takes one run, comparison or profile, and -o FILE.html", arg);
	a->name = arg;
	return 0;
}

static int check(void *args, struct assay_err *err)
{
	const struct report_args *a = args;

	if (!a->out || !a->out[0])
		return assay_err_set(err, ASSAY_EUSAGE, "no output given: name one with -o FILE.html");
	return 0;
}

static const struct assay_option options[] = {
	{ "output", 'o', "FILE.html", assay_option_text, offsetof(struct report_args, out),
	  "The page; an existing one is replaced when the new one is complete" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "[RUN|COMPARISON|PROFILE] -o FILE.html",
	.doc = "Write one HTML file that shows a stored run or comparison: the verdict, what to do next, a table "
	       "of its cases to filter and sort, and for each case its samples, counters, earlier runs and the "
	       "command that repeats it; of a profile its flame graph and tables. The file needs no network and "
	       "no other file. A run is named r3, a comparison c3, a profile p3; 'last' (the default) is the newer "
	       "of runs and comparisons.\v"
	       "examples:\n"
	       "  assay report -o report.html\n"
	       "  assay report c3 -o comparison.html",
	.tables = { { assay_options_store, 0 }, { options, 0 } },
	.argument = set_argument,
	.check = check,
};

static int report_profile(const struct report_args *a, struct assay_err *err)
{
	struct assay_profile p = { 0 };
	int rc = assay_profile_find(a->s.r.db, a->name, NULL, &p, err);

	if (!rc)
		rc = assay_user_path_error(
			assay_emit_file(&(struct assay_report){ .kind = ASSAY_REPORT_PROFILE, .profile = { .p = &p } },
					"html", a->out, err),
			err);
	if (!rc)
		assay_cli_say("profile %s is in %s\n", a->name, a->out);
	assay_profile_release(&p);
	return rc;
}

static int report(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct report_args *a = args;
	const struct assay_name_wanted wanted = { .db = a->s.r.db,
						  .kinds = ASSAY_STORED_RUN | ASSAY_STORED_COMPARISON |
							   (a->name && strcmp(a->name, "last") ? ASSAY_STORED_PROFILE
											       : 0),
						  .what = "what to report" };
	struct assay_result_page p = { 0 };
	struct assay_stored_name n;
	int rc = assay_stored_name_read(a->name ? a->name : "last", &wanted, &n, err);

	(void)w;
	(void)status;
	if (!rc && n.kind == ASSAY_STORED_PROFILE)
		return report_profile(a, err);
	if (!rc)
		rc = assay_result_page(&(struct assay_page_request){ .db = a->s.r.db,
								     .of_run = n.kind == ASSAY_STORED_RUN,
								     .id = n.id },
				       &p, err);
	if (!rc)
		rc = assay_user_path_error(
			assay_emit_file(&(struct assay_report){ .kind = ASSAY_REPORT_PAGE, .page = &p }, NULL, a->out,
					err),
			err);
	if (!rc && p.of_run)
		assay_cli_say("run %" PRId64 " (%zu case%s) is in %s\n", p.run.id, p.run.n_results,
			      p.run.n_results == 1 ? "" : "s", a->out);
	else if (!rc)
		assay_cli_say("comparison %" PRId64 " (%s against %s) is in %s\n", p.comparison.cmp.id,
			      p.comparison.cmp.head, p.comparison.cmp.base, a->out);
	assay_result_page_release(&p);
	return rc;
}

int assay_cmd_report(int argc, char **argv)
{
	struct report_args a = { 0 };

	return assay_command(&line, argc, argv, &a, report);
}
