/* SPDX-License-Identifier: Apache-2.0 */
/* assay db: merge and prune databases. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/exchange/exchange.h"

#define MOST_DAYS 18000 /* what a clock that begins in 1970 has behind it */

enum verb { VERB_NONE, VERB_MERGE, VERB_PRUNE };

struct db_args {
	struct assay_settings s;
	enum verb verb;
	struct assay_strings files;
	struct assay_prune_request prune;
};

static int set_argument(void *args, const char *arg, struct assay_err *err)
{
	struct db_args *a = args;

	if (a->verb == VERB_NONE) {
		a->verb = !strcmp(arg, "merge") ? VERB_MERGE : !strcmp(arg, "prune") ? VERB_PRUNE : VERB_NONE;
		return a->verb ? 0
			       : assay_err_set(err, ASSAY_EUSAGE,
					       "unknown action '%s': expected merge or prune; sqlite3 does the rest",
					       arg);
	}
	if (a->verb != VERB_MERGE)
		return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': the database is named with --db",
				     arg);
	if (!arg[0])
		return assay_err_set(err, ASSAY_EUSAGE, "a file has an empty name");
	return assay_strings_add(&a->files, arg, err);
}

static int check(void *args, struct assay_err *err)
{
	const struct db_args *a = args;
	const char *of_prune = a->prune.keep_runs                   ? "--keep-runs"
			       : a->prune.older_ns || a->prune.days ? "--older-than"
			       : a->prune.dry                       ? "--dry-run"
								    : NULL;

	if (a->verb == VERB_NONE)
		return assay_err_set(err, ASSAY_EUSAGE, "no action given: expected merge or prune");
	if (a->verb == VERB_MERGE && !a->files.n)
		return assay_err_set(err, ASSAY_EUSAGE, "no file given: assay db merge OTHER.db...");
	if (of_prune && a->verb != VERB_PRUNE)
		return assay_err_set(err, ASSAY_EUSAGE, "%s is for 'assay db prune'", of_prune);
	if (a->verb == VERB_PRUNE && !a->prune.keep_runs && !a->prune.older_ns && !a->prune.days)
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"nothing says what may be removed: give --keep-runs N or --older-than TIME, and --dry-run to "
			"see first");
	return 0;
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

#define AT(member) offsetof(struct db_args, member)

static const struct assay_option options[] = {
	{ "keep-runs", 0, "N", set_keep, AT(prune.keep_runs),
	  "With prune: keep the newest N runs of each suite on each machine" },
	{ "older-than", 0, "TIME", set_older, AT(prune),
	  "With prune: remove only what began before (90d, 2026-01-31)" },
	{ "dry-run", 'n', NULL, assay_option_flag, AT(prune.dry), "With prune: list what would go, change nothing" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "merge OTHER.db...\nprune",
	.doc = "Maintain the database. 'merge' adds the results of other databases, which stay unchanged; results "
	       "that are already there are not added twice. 'prune' removes old runs, except those that a baseline "
	       "holds, those next to a change point, and the newest of each suite and machine. To copy a database, to "
	       "check it or to write "
	       "it as text, use sqlite3: '.backup', 'PRAGMA integrity_check', '.dump'.\v"
	       "example:\n"
	       "  assay db merge ci-1.db ci-2.db\n"
	       "  assay db prune --older-than 365d --dry-run",
	.tables = { ASSAY_OPTIONS_READING, { options, 0 } },
	.argument = set_argument,
	.check = check,
};

static int run(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct db_args *a = args;
	struct assay_database_report r = { .action = "" };
	int rc;

	(void)status;
	a->prune.db = a->s.r.db;
	rc = a->verb == VERB_MERGE ? assay_database_merge(a->s.r.db, &a->files, &w->watch, &r, err)
				   : assay_database_prune(&a->prune, &w->watch, &r, err);
	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_DATABASE, .database = &r }, a->s.json,
				    a->s.verbose, err);
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
