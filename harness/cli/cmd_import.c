/* SPDX-License-Identifier: Apache-2.0 */
/* assay import: results of other tools into the database. */
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/exchange/exchange.h"
#include "drive/show/name.h"

struct import_args {
	struct assay_settings s;
	struct assay_import_request q;
	const char *replace;
};

static int set_argument(void *args, const char *arg, struct assay_err *err)
{
	struct import_args *a = args;

	if (!a->q.format)
		a->q.format = arg;
	else if (!a->q.path)
		a->q.path = arg;
	else
		return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': import takes a format and a file",
				     arg);
	return 0;
}

static int check(void *args, struct assay_err *err)
{
	const struct import_args *a = args;

	if (!a->q.format)
		return assay_err_set(err, ASSAY_EUSAGE, "no format given: assay import auto FILE");
	if (!a->q.path || !a->q.path[0])
		return assay_err_set(err, ASSAY_EUSAGE, "no file given: assay import %s FILE, or - for standard input",
				     a->q.format);
	return 0;
}

/* For const char *: a name that is stored whole, of @most bytes. */
static int set_name(void *to, const char *arg, const char *name, size_t most, struct assay_err *err)
{
	if (!arg[0] || strlen(arg) > most)
		return assay_err_set(err, ASSAY_EUSAGE, "%s is '%.80s', expected 1 to %zu bytes", name, arg, most);
	*(const char **)to = arg;
	return 0;
}

static int set_short(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return set_name(to, arg, name, ASSAY_NAME_MAX - 1, err);
}

static int set_machine(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return set_name(to, arg, name, 127, err);
}

#define AT(member) offsetof(struct import_args, member)

static const struct assay_option options[] = {
	{ "machine", 0, "NAME", set_machine, AT(q.machine),
	  "Where it was measured (default: what the file says, else unknown)" },
	{ "commit", 0, "REV", set_short, AT(q.commit),
	  "Commit that was measured (default: what the file says, else unknown)" },
	{ "started", 0, "DATE", assay_option_date, AT(q.started_ns),
	  "When it was measured: 2026-01-31, 2026-01-31T12:00 (UTC; default: what the file says, else unknown)" },
	{ "label", 0, "NAME", set_short, AT(q.label), "Label of this run" },
	{ "suite", 's', "NAME", set_short, AT(q.suite),
	  "Runs of one suite and machine are compared with each other (default: named like the format)" },
	{ "replace", 0, "RUN", assay_option_text, AT(replace),
	  "Remove this run, such as r3, which was imported from the same file with wrong options" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "FORMAT FILE",
	.doc = "Take results of another tool into the database: each benchmark becomes a case, its repetitions "
	       "its samples, so that history, plots and gates work on them. FORMAT is google-benchmark, "
	       "llama-bench (JSON or JSON lines), hyperfine, pyperf, nvbench (--json), criterion (its folder), csv "
	       "(lines of name, value and unit), or auto, which recognises all of these but csv. FILE may be - for "
	       "standard input. What the file does "
	       "not say is unknown. A file is not imported twice with the same options; with others it is another "
	       "run, which may replace the one before.\v"
	       "examples:\n"
	       "  assay import hyperfine times.json --machine ci-1\n"
	       "  ./bench --benchmark_format=json | assay import auto - --label nightly",
	.tables = { ASSAY_OPTIONS_READING, { options, 0 } },
	.argument = set_argument,
	.check = check,
};

static int import(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct import_args *a = args;
	struct assay_import_report report = { 0 };
	int rc;

	(void)status;
	a->q.db = a->s.r.db;
	rc = a->replace ? assay_stored_run_read(a->q.db, a->replace, "--replace", &a->q.replace, err) : 0;
	if (!rc && a->replace && !a->q.replace)
		rc = assay_err_set(err, ASSAY_EUSAGE, "--replace is 'last': name the run, such as r3");
	if (!rc)
		rc = assay_import(&a->q, &w->watch, &report, err);
	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_IMPORT, .import = &report }, a->s.json,
				    a->s.verbose, err);
	assay_import_report_release(&report);
	return rc;
}

int assay_cmd_import(int argc, char **argv)
{
	struct import_args a = { 0 };

	return assay_command(&line, argc, argv, &a, import);
}
