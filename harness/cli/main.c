/* SPDX-License-Identifier: Apache-2.0 */
/* The program: finds the command and lets it run. Started with a hidden command it is a worker instead. */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "drive/session.h"
#include "model/verdict.h"

static const struct command {
	const char *name, *help;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "time", "measure how long a program takes, or which of several is slower", assay_cmd_time },
	{ "list", "list plugins, ops, variants, suites, groups of counters, or cases", assay_cmd_list },
	{ "run", "measure a suite and store the results", assay_cmd_run },
	{ "verify", "check results without measuring", assay_cmd_verify },
	{ "init", "start a repository of your own kernels, gated from its first commit", assay_cmd_init },
	{ "new", "write the source of a variant or an op of your own, ready to compile", assay_cmd_new },
	{ "show", "show stored runs, a run, or a case", assay_cmd_show },
	{ "gate", "judge a run by manifest, limits and baseline; the exit status is the verdict", assay_cmd_gate },
	{ "baseline", "save, list, show and drop named baselines", assay_cmd_baseline },
	{ "compare", "compare two builds, interleaved; the exit status is the verdict", assay_cmd_compare },
	{ "bisect", "find the commit that changed the time of a case", assay_cmd_bisect },
	{ "certify", "measure how often verdicts on this host are wrong, and what they can detect", assay_cmd_certify },
	{ "history", "show the stored runs of a case and its change points", assay_cmd_history },
	{ "diff", "compare two stored runs or baselines, or the variants of a run", assay_cmd_diff },
	{ "import", "import results of other tools", assay_cmd_import },
	{ "export", "export a run or a comparison for other programs", assay_cmd_export },
	{ "plot", "draw stored runs with gnuplot", assay_cmd_plot },
	{ "db", "merge databases, or prune one", assay_cmd_db },
	{ "profile", "show where the time of a case or a program goes", assay_cmd_profile },
	{ "report", "write a run or a comparison as one HTML file", assay_cmd_report },
	{ "model", "look into a GGUF file of a model, or write one with seeded weights", assay_cmd_model },
	{ "generate", "let a model continue a prompt of token ids", assay_cmd_generate },
	{ "serve", "show results and jobs in a browser, and metrics to Prometheus", assay_cmd_serve },
	{ "fleet", "measure a suite on the nodes of a Slurm cluster, and judge them together", assay_cmd_fleet },
	{ "doctor", "say what this machine can measure, and how to improve that", assay_cmd_doctor },
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
	printf("Usage: assay COMMAND [OPTION...]\n"
	       "Measure inference kernels, and say when they got slower or wrong.\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("  %-9s %s\n", commands[i].name, commands[i].help);
	printf("\n'assay COMMAND --help' explains a command, and --help-all all of its options; 'assay --version'\n"
	       "names this build.\n"
	       "\n"
	       "The exit status is 0 when all is well, 1 REGRESSED, 2 bad usage or configuration, 3\n"
	       "WRONG_RESULT, 4 NOT_MEASURED, 5 INCOMPARABLE, 6 INCONCLUSIVE with --strict, or where a case that\n"
	       "is likely slower fails (--suspects; 'gate' does so by default), 70 internal error, 130\n"
	       "interrupted. The most severe wins, in the order 70, 2, 3, 4, 1, 5, 6.\n"
	       "\n"
	       "Environment: ASSAY_SEED, ASSAY_DETERMINISTIC, ASSAY_THREADS, ASSAY_DEVICE,\n"
	       "ASSAY_BATCH_SIZE, ASSAY_MEMORY_LIMIT, ASSAY_DB and ASSAY_PAPI, as 'assay run --help' says;\n"
	       "NO_COLOR; and XDG_CACHE_HOME, below which revisions are built (default ~/.cache).\n"
	       "\n"
	       "example:\n"
	       "  assay run --suite smoke && assay gate --suite smoke --allow-no-baseline\n");
}

static int unknown(const char *name)
{
	const char *names[N_COMMANDS], *near;

	if (assay_completing())
		return ASSAY_EXIT_USAGE;

	for (size_t i = 0; i < N_COMMANDS; i++)
		names[i] = commands[i].name;
	near = assay_nearest(name, names, N_COMMANDS);
	if (near)
		assay_cli_error("unknown %s '%s': did you mean '%s'?", name[0] == '-' ? "option" : "command", name,
				near);
	else
		assay_cli_error("unknown %s '%s': see 'assay --help'", name[0] == '-' ? "option" : "command", name);
	return ASSAY_EXIT_USAGE;
}

static int dispatch(int argc, char **argv);

/* assay __complete WORD...: those behind the name of the program, as far as the cursor. */
static int complete(int argc, char **argv)
{
	const char *typed = argc > 2 ? argv[2] : "";

	assay_complete_begin();
	if (argc > 3)
		return dispatch(argc - 1, argv + 1);
	for (size_t i = 0; i < N_COMMANDS; i++)
		assay_complete_say(typed, commands[i].name, commands[i].help);
	assay_complete_say(typed, "--help", "list the commands");
	assay_complete_say(typed, "--version", "name this build");
	return 0;
}

static int dispatch(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name) {
		assay_cli_error("no command given: see 'assay --help'");
		return ASSAY_EXIT_USAGE;
	}
	if (!strcmp(name, "__complete") && !assay_completing())
		return complete(argc, argv);
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "-?") || !strcmp(name, "help")) {
		print_help();
		return 0;
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		assay_cli_print_version();
		return 0;
	}
	for (size_t i = 0; i < N_COMMANDS; i++) {
		char title[32];

		if (strcmp(name, commands[i].name))
			continue;
		snprintf(title, sizeof(title), "assay %s", name);
		argv[1] = title;
		return commands[i].run(argc - 1, argv + 1);
	}
	return unknown(name);
}

/* A standard stream that the caller closed stays useless, so that no database or pipe gets its number. */
static void occupy_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return;
}

int main(int argc, char **argv)
{
	struct assay_err err = { 0 };
	int status;

	occupy_standard_streams();
	/* a file that may not grow is an error of the write, to be told */
	signal(SIGXFSZ, SIG_IGN);
	/* where /sys is missing hwloc writes to stderr what 'doctor' says in its own words */
	setenv("HWLOC_HIDE_ERRORS", "2", 0);
	if (assay_drive_entry(argc, argv, &status))
		return status;
	if (assay_process_limits_raise(&err))
		return assay_cli_fail(&err);
	assay_interrupt_catch();

	/* UTF-8 or not; numbers keep their point */
	setlocale(LC_CTYPE, "");

	return assay_cli_finish(dispatch(argc, argv));
}
