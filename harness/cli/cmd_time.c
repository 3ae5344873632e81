/* SPDX-License-Identifier: Apache-2.0 */
/* assay time: how long programs take, and which of them is slower; the exit status is the verdict. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grow.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/compare_options.h"
#include "drive/time/time.h"

struct time_args {
	struct assay_settings s;
	struct assay_time_request q;
	const char *hyperfine, *markdown, *csv;
};

static int add_name(void *to, const char *arg, const char *name, struct assay_err *err)
{
	if (!arg[0])
		return assay_err_set(err, ASSAY_EUSAGE, "%s is empty", name);
	return assay_strings_add(to, arg, err);
}

static int add_parameter(void *to, const char *arg, const char *name, struct assay_err *err)
{
	struct assay_time_request *q = to;

	if (assay_grow(&q->parameters, q->n_parameters, sizeof(*q->parameters)))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	return assay_parameter_read(arg, name, &q->parameters[q->n_parameters++], err);
}

static int set_count(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return assay_parse_u64(arg, name, 0, 1000000, to, err);
}

static int set_cpus(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return assay_request_set_cpus(to, arg, name, err);
}

static int set_share(void *to, const char *arg, const char *name, struct assay_err *err)
{
	double *out = to;

	if (!assay_parse_frac(arg, name, 0, 1, out, err) && *out > 0)
		return 0;
	return assay_err_set(err, ASSAY_EUSAGE, "bad %s '%s': expected a share above 0 such as 1%%", name, arg);
}

static int set_seed(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return assay_parse_seed(arg, name, to, err);
}

#define AT(member) offsetof(struct time_args, member)

static const struct assay_option options[] = {
	{ "name", 'N', "NAME", add_name, AT(q.names),
	  "Name of a command, in order: once for each that is given, or for each that parameters make of these" },
	{ "parameter-list", 'L', "NAME VALUES", add_parameter, AT(q),
	  "Run each command once with each of these values, such as -L n 1,2,4, in place of {n}" },
	{ "reference", 0, "COMMAND", assay_option_text, AT(q.reference),
	  "Compare the other commands with this one (default: the first)" },
	{ "warmup", 'w', "N", set_count, AT(q.warmup), "Warm-up runs of each command (default 1)" },
	{ "min-runs", 'm', "N", set_count, AT(q.min_runs),
	  "Minimum number of runs of each command (alone, default 10)" },
	{ "budget", 0, "TIME", assay_option_duration, AT(q.budget_ns),
	  "Time to spend on each command (default 3s alone, 10s compared)" },
	{ "margin", 0, "SHARE", set_share, AT(q.margin_frac), "Slowdown that is allowed (default 1%)" },
	{ "shell", 0, "SHELL", assay_option_text, AT(q.shell),
	  "Have this shell run the commands, such as sh, and subtract what its own start takes (default: none)" },
	{ "prepare", 'p', "COMMAND", assay_option_text, AT(q.prepare), "Run this in a shell before each run, untimed" },
	{ "ignore-failure", 'i', NULL, assay_option_flag, AT(q.ignore_failure),
	  "Also measure commands whose exit status is not 0" },
	{ "export-json", 0, "FILE", assay_option_text, AT(hyperfine), "Also write the JSON of hyperfine" },
	{ "export-markdown", ASSAY_RARELY, "FILE", assay_option_text, AT(markdown), "Also write a table in Markdown" },
	{ "export-csv", ASSAY_RARELY, "FILE", assay_option_text, AT(csv), "Also write a table in CSV" },
	{ "conclude", ASSAY_RARELY, "COMMAND", assay_option_text, AT(q.conclude),
	  "Run this in a shell after each run, untimed" },
	{ "setup", ASSAY_RARELY, "COMMAND", assay_option_text, AT(q.setup),
	  "Run this in a shell once for each command, before the first run of any" },
	{ "cleanup", ASSAY_RARELY, "COMMAND", assay_option_text, AT(q.cleanup),
	  "Run this in a shell once for each command, after all runs" },
	{ "input", ASSAY_RARELY, "FILE", assay_option_text, AT(q.input),
	  "Standard input of commands (default: empty)" },
	{ "output", ASSAY_RARELY, "inherit|FILE", assay_option_text, AT(q.output),
	  "Where the output of commands goes: inherit shows it, anything else is the name of a file (default: "
	  "discarded)" },
	{ "timeout", ASSAY_RARELY, "TIME", assay_option_duration, AT(q.timeout_ns),
	  "End a command that runs longer (default: never)" },
	{ "alpha", ASSAY_RARELY, "SHARE", set_share, AT(q.alpha),
	  "Chance that any command is called slower or faster although all take equally long (default 1%)" },
	{ "strict", ASSAY_RARELY, NULL, assay_option_flag, AT(q.strict), "INCONCLUSIVE fails too, with status 6" },
	{ "cpus", ASSAY_RARELY, "LIST", set_cpus, AT(s.r),
	  "Bind commands to these CPUs (default: one CPU of each core)" },
	{ "seed", ASSAY_RARELY, "N", set_seed, AT(s.r.settings.seed), "Seed of the order of runs (default 42)" },
	{ 0 },
};

static int take_command(void *args, const char *arg, struct assay_err *err)
{
	return assay_strings_add(&((struct time_args *)args)->q.commands, arg, err);
}

static int check(void *args, struct assay_err *err)
{
	const struct time_args *a = args;
	const char *const files[] = { a->hyperfine, a->markdown, a->csv };
	int rc = 0;

	if (!a->q.commands.n)
		return assay_err_set(err, ASSAY_EUSAGE, "no command given: assay time 'sort words.txt'");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !rc; i++)
		if (files[i])
			rc = assay_file_write_check(files[i], err);
	return rc;
}

static const struct assay_command_line line = {
	.usage = "COMMAND...",
	.doc = "Measure how long a program takes. Of two or more, runs alternate in random order, and each is compared "
	       "with the first: slower, faster, or shown to be neither. A command is one argument, in quotes; its "
	       "words "
	       "are split as a shell does, but no shell runs it unless --shell is given.\v"
	       "The exit status is 0 if nothing is slower, 1 REGRESSED, 2 bad usage or no such program, 4 a command "
	       "failed, 5 the reference did, 6 INCONCLUSIVE with --strict, 130 when interrupted.\n"
	       "\n"
	       "examples:\n"
	       "  assay time 'sort -u words'\n"
	       "  assay time 'sort -u words' 'sort -u --parallel=2 words'\n"
	       "  assay time -L n 1,2,4 'xz -T{n} -kc words'",
	.tables = { { options, 0 }, { assay_options_counters, AT(s) }, ASSAY_OPTIONS_READING },
	.argument = take_command,
	.check = check,
};

static int write_files(const struct time_args *a, const struct assay_report *r, struct assay_err *err)
{
	const struct {
		const char *path, *format;
	} files[] = { { a->hyperfine, "hyperfine" }, { a->markdown, "markdown" }, { a->csv, "csv" } };
	int rc = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !rc; i++)
		if (files[i].path)
			rc = assay_user_path_error(assay_emit_file(r, files[i].format, files[i].path, err), err);
	return rc;
}

static int time_commands(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct time_args *a = args;
	struct assay_time_outcome out;
	struct assay_err why = { 0 };
	const struct assay_report report = { .kind = ASSAY_REPORT_TIME, .time = &out.report };
	int rc, put = 0;

	a->q.to_stderr = a->s.json;
	w->hold = true;
	rc = assay_time(&a->q, &w->watch, &out, &why);
	if (out.report.measured) {
		put = assay_cli_emit(&report, a->s.json, a->s.verbose, err);
		if (!put)
			put = write_files(a, &report, err);
	}
	if (!put && rc)
		*err = why;
	if (!put && !rc && !a->s.json) {
		if (out.report.comparison_id)
			assay_cli_say("stored as r%" PRId64 " and c%" PRId64 " in %s\n", out.report.run_id,
				      out.report.comparison_id, a->s.r.db);
		else
			assay_cli_say("stored as r%" PRId64 " in %s\n", out.report.run_id, a->s.r.db);
	}
	for (size_t i = 0; i < out.report.n_commands && !rc; i++) {
		const struct assay_time_command *c = &out.report.commands[i];

		if (c->result.status != ASSAY_STATUS_OK)
			assay_cli_error(
				"'%.200s': %s%s", c->command, c->result.reason,
				c->result.status == ASSAY_STATUS_FAILED
					? "; --ignore-failure measures it, and --output inherit shows what it prints"
					: "");
	}
	*status = (int)out.exit;
	assay_time_outcome_release(&out);
	return put ? put : rc;
}

/* An option of hyperfine in the words of this program. */
static char *translated(char *arg)
{
	static const struct {
		const char *theirs;
		const char *ours;
	} words[] = {
		{ "-n", "-N" },         { "--command-name", "--name" },
		{ "-S", "--shell" },    { "--show-output", "--output=inherit" },
		{ "-r", "--min-runs" }, { "--runs", "--min-runs" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(arg, words[i].theirs))
			return (char *)words[i].ours;
	return arg;
}

/*
 * hyperfine's -L takes two arguments, which getopt does not know: "-L n 1,2" becomes "-L n=1,2". Its -r asks for so
 * many runs and no more, which is the least number of runs with no time for others.
 */
static char **from_hyperfine(int *argc, char **argv)
{
	static char no_budget[] = "--budget=1ns";
	char **joined = calloc(2 * (size_t)*argc + 1, sizeof(*joined));
	int n = 0;

	for (int i = 0; joined && i < *argc; i++) {
		const bool list = !strcmp(argv[i], "-L") || !strcmp(argv[i], "--parameter-list");
		struct assay_text both = { 0 };

		if (!strcmp(argv[i], "-r") || !strcmp(argv[i], "--runs"))
			joined[n++] = no_budget;
		joined[n++] = translated(argv[i]);
		if (!list || i + 2 >= *argc || strchr(argv[i + 1], '='))
			continue;
		assay_text_addf(&both, "%s=%s", argv[i + 1], argv[i + 2]);
		joined[n++] = assay_text_take(&both); /* as long as the program lives, as arguments do */
		i += 2;
	}
	*argc = joined ? n : *argc;
	return joined ? joined : argv;
}

int assay_cmd_time(int argc, char **argv)
{
	struct time_args a = { .q.warmup = 1 };
	char **joined = from_hyperfine(&argc, argv);
	int status;

	a.q.what = &a.s.r;
	status = assay_command(&line, argc, joined, &a, time_commands);
	assay_time_request_release(&a.q);
	return status;
}
