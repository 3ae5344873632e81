/* SPDX-License-Identifier: Apache-2.0 */
/* assay init: a variant, what measures it and what gates it, in a repository of one's own. */
#include "cli/cli.h"
#include "cli/command.h"
#include "drive/author/author.h"

/* Of the op that comes with a body that is right. */
#define DEFAULT_OP "quantize.q8_0"
#define VARIANT    "mine"

struct init_args {
	struct assay_settings s;
	const char *op, *program, *reads, *build;
	bool here;
};

static int refuse(void *args, const char *arg, struct assay_err *err)
{
	(void)args;
	return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': an op is named with --op", arg);
}

static int check(void *args, struct assay_err *err)
{
	const struct init_args *a = args;

	if (a->program && (a->op || a->here))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "%s is about a kernel of your own, and --program about a program",
				     a->op ? "--op" : "--here");
	if (!a->program && (a->reads || a->build))
		return assay_err_set(err, ASSAY_EUSAGE, "%s is about a program: name it with --program",
				     a->reads ? "--reads" : "--build");
	return 0;
}

static const struct assay_option options[] = {
	{ "op", 0, "OP", assay_option_text, offsetof(struct init_args, op),
	  "Write a variant of this op; 'assay list ops' has them (default " DEFAULT_OP ")" },
	{ "here", 0, NULL, assay_option_flag, offsetof(struct init_args, here),
	  "In a project that has a Makefile and benches of its own: write the folder 'assay', assay.conf and the "
	  "workflows, and print the lines to add to its other files" },
	{ "program", 0, "COMMAND", assay_option_text, offsetof(struct init_args, program),
	  "Instead of a variant: gate this program of a project that is there. It is run once, and all but assay.conf "
	  "and the workflows goes into the folder 'assay'" },
	{ "reads", 0, "FORMAT", assay_option_text, offsetof(struct init_args, reads),
	  "The program measures itself, and each of its benchmarks becomes a case: google-benchmark, llama-bench, "
	  "hyperfine, pyperf, nvbench, criterion or csv" },
	{ "build", 0, "COMMAND", assay_option_text, offsetof(struct init_args, build),
	  "How a revision of the program is built (default: what a Makefile, CMakeLists.txt, meson.build, Cargo.toml "
	  "or go.mod suggests)" },
	{ 0 },
};
static const struct assay_command_line line = {
	.doc = "Begin a repository of your own kernels: at the top of a git repository, write the source of a variant "
	       "that compiles, a Makefile, the bench files, the policy and the manifest of its cases, assay.conf, "
	       "which names all of these, and workflows for GitHub and GitLab that gate every change with "
	       "'assay-gate'.\n\n"
	       "The variant of " DEFAULT_OP
	       " is simple and correct; for other ops, you write the body. Commands run below that folder then use "
	       "its benches, plugins and policy. The first three commands to run are printed.\n\nNothing is "
	       "overwritten: where a file of one of these names is there, nothing is written at all. A project that "
	       "has such files takes --here.\vThe exit status is 0, 2 for bad usage.\n\nexample:\n  git init && assay "
	       "init --op matmul.ternary\n  assay init --here --op quantize.q8_0\n  assay init --program './lz4 -b1 "
	       "-i1 "
	       "corpus.tar'",
	.tables = { { assay_options_output, 0 }, { options, 0 } },
	.argument = refuse,
	.check = check,
};

static int init(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct init_args *a = args;
	struct assay_new_request q = { .r = &a->s.r,
				       .program = a->program,
				       .reads = a->reads,
				       .build = a->build,
				       .interrupted = w->watch.interrupted,
				       .here = a->here,
				       .repository = true };
	struct assay_new_result r;
	int rc;

	(void)status;
	if (!a->program) {
		q.op = a->op ? a->op : DEFAULT_OP;
		q.variant = VARIANT;
	}
	rc = assay_new_write(&q, &r, err);
	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_REPOSITORY, .source = &r }, a->s.json,
				    a->s.verbose, err);
	assay_new_release(&r);
	return rc;
}

int assay_cmd_init(int argc, char **argv)
{
	struct init_args a = { 0 };

	return assay_command(&line, argc, argv, &a, init);
}
