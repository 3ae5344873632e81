/* SPDX-License-Identifier: Apache-2.0 */
/* assay db: merge, prune, check, export and import databases. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/database.h"

#define MOST_DAYS 18000 /* what a clock that begins in 1970 has behind it */

enum verb { VERB_NONE, VERB_MERGE, VERB_PRUNE, VERB_CHECK, VERB_EXPORT, VERB_IMPORT };

struct db_args {
	struct assay_settings s;
	enum verb verb;
	struct assay_strings files;
	struct assay_prune_request prune;
	struct assay_export_request export;
	bool run_given;
};

static const char *const verbs[] = { "merge", "prune", "check", "export", "import" };

static bool takes_files(enum verb v)
{
	return v == VERB_MERGE || v == VERB_EXPORT || v == VERB_IMPORT;
}

static int set_argument(void *args, const char *arg, struct assay_err *err)
{
	struct db_args *a = args;

	for (size_t i = 0; a->verb == VERB_NONE && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(arg, verbs[i])) {
			a->verb = (enum verb)(i + 1);
			return 0;
		}
	if (a->verb == VERB_NONE)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "unknown action '%s': expected merge, prune, check, export or import", arg);
	if (!takes_files(a->verb) || (a->files.n && a->verb != VERB_MERGE))
		return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': the database is named with --db",
				     arg);
	if (!arg[0])
		return assay_err_set(err, ASSAY_EUSAGE, "a file has an empty name");
	return assay_strings_add(&a->files, arg, err);
}

static int check_selection(const struct db_args *a, struct assay_err *err)
{
	const char *of_prune = a->prune.keep_runs                   ? "--keep-runs"
			       : a->prune.older_ns || a->prune.days ? "--older-than"
			       : a->prune.dry                       ? "--dry-run"
								    : NULL;
	const char *of_export = a->run_given                ? "--run"
				: a->export.select.cases    ? "--case"
				: a->export.select.since_ns ? "--since"
							    : NULL;

	if (of_prune && a->verb != VERB_PRUNE)
		return assay_err_set(err, ASSAY_EUSAGE, "%s is for 'assay db prune'", of_prune);
	if (of_export && a->verb != VERB_EXPORT)
		return assay_err_set(err, ASSAY_EUSAGE, "%s is for 'assay db export'", of_export);
	if (a->verb == VERB_PRUNE && !a->prune.keep_runs && !a->prune.older_ns && !a->prune.days)
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"nothing says what may go: give --keep-runs N or --older-than TIME, and --dry-run to "
			"see first");
	return 0;
}

static int check(void *args, struct assay_err *err)
{
	const struct db_args *a = args;

	if (a->verb == VERB_NONE)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "no action given: expected merge, prune, check, export or import");
	if (takes_files(a->verb) && !a->files.n)
		return assay_err_set(err, ASSAY_EUSAGE, "no file given: assay db %s %s", verbs[a->verb - 1],
				     a->verb == VERB_MERGE ? "OTHER.db..." : "FILE");
	return check_selection(a, err);
}

static int set_keep(void *to, const char *arg, const char *name, struct assay_err *err)
{
	uint64_t n;
	int rc = assay_parse_u64(arg, name, 1, 1000000000, &n, err);

	if (!rc)
		*(size_t *)to = (size_t)n;
	return rc;
}

/* A date, or so many days ago. */
static int set_older(void *to, const char *arg, const char *name, struct assay_err *err)
{
	struct assay_prune_request *q = to;
	const size_t n = strspn(arg, "0123456789");
	unsigned long days = n && n < 6 ? strtoul(arg, NULL, 10) : 0;

	if (days && !strcmp(arg + n, "d") && days <= MOST_DAYS)
		q->days = (unsigned)days;
	else if (assay_option_date(&q->older_ns, arg, name, NULL))
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"bad %s '%s': expected a date, such as 2026-01-31, or days, such as 90d (%d at most)", name,
			arg, MOST_DAYS);
	return 0;
}

static int set_run(void *to, const char *arg, const char *name, struct assay_err *err)
{
	struct db_args *a = to;

	int rc = assay_option_run(&a->export.select.run, arg, name, err);

	a->run_given = true;
	a->export.newest = !rc && !a->export.select.run;
	return rc;
}

#define AT(member) offsetof(struct db_args, member)

static const struct assay_option options[] = {
	{ "keep-runs", 0, "N", set_keep, AT(prune.keep_runs),
	  "With prune: the newest N runs of each suite on each machine stay" },
	{ "older-than", 0, "TIME", set_older, AT(prune), "With prune: only what began before goes (90d, 2026-01-31)" },
	{ "dry-run", 'n', NULL, assay_option_flag, AT(prune.dry), "With prune: say what would go, and change nothing" },
	{ "run", 0, "ID", set_run, 0, "With export: this run alone (last: the newest)" },
	{ "case", 0, "GLOB", assay_option_text, AT(export.select.cases), "With export: these cases of runs alone" },
	{ "since", 0, "DATE", assay_option_date, AT(export.select.since_ns),
	  "With export: what began on this day or later (2026-01-31, 2026-01-31T12:00; UTC)" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "merge OTHER.db...\nprune\ncheck\nexport FILE\nimport FILE",
	.doc = "Look after the database. 'merge' adds what others hold, and the others stay as they are; what is there "
	       "is "
	       "not added again. 'prune' removes old runs, but none of a baseline, beside a change of a case's level, "
	       "or "
	       "the newest of a suite and machine. 'check' says what was changed since it was stored. 'export' writes "
	       "a "
	       "text file, 'import' merges one.\v"
	       "The exit status of check is 2 when something is wrong.\n\n"
	       "example:\n"
	       "  assay db merge ci-1.db ci-2.db\n"
	       "  assay db prune --older-than 365d --dry-run\n"
	       "  assay db check --json\n"
	       "  assay db export last.jsonl --run last",
	.tables = { ASSAY_OPTIONS_READING, { options, 0 } },
	.argument = set_argument,
	.check = check,
};

static int act(struct db_args *a, const struct assay_watch *w, struct assay_database_report *r, struct assay_err *err)
{
	const char *db = a->s.r.db;

	switch (a->verb) {
	case VERB_MERGE:
		return assay_database_merge(db, &a->files, w, r, err);
	case VERB_PRUNE:
		a->prune.db = db;
		return assay_database_prune(&a->prune, w, r, err);
	case VERB_CHECK:
		return assay_database_check(db, w, r, err);
	case VERB_EXPORT:
		a->export.db = db;
		a->export.path = a->files.v[0];
		return assay_database_export(&a->export, w, r, err);
	default:
		return assay_database_import(db, a->files.v[0], w, r, err);
	}
}

static int run(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct db_args *a = args;
	struct assay_database_report r = { .action = "" };
	int rc = act(a, &w->watch, &r, err);

	(void)status;
	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_DATABASE, .database = &r }, a->s.json,
				    a->s.verbose, err);
	if (!rc && r.faults.n)
		rc = assay_err_set(
			err, ASSAY_ESTORE,
			"database '%.200s' has %zu fault%s: restore a copy, or measure again into another --db",
			a->s.r.db, r.faults.n, r.faults.n == 1 ? "" : "s");
	assay_database_report_release(&r);
	assay_strings_release(&a->files);
	return rc;
}

int assay_cmd_db(int argc, char **argv)
{
	struct db_args a = { .verb = VERB_NONE };
	int status = assay_command(&line, argc, argv, &a, run);

	assay_strings_release(&a.files);
	return status;
}
