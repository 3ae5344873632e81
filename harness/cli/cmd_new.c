/* SPDX-License-Identifier: Apache-2.0 */
/* assay new: the source of a variant or an op outside of this tree, and the commands that come after it. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/author/author.h"

struct new_args {
	struct assay_settings s;
	const char *kind, *names[2];
	size_t n_names;
	const char *file;
};

static int bad(const char *what, const char *arg, struct assay_err *err)
{
	return assay_err_set(err, ASSAY_EUSAGE, "%s'%s': expected 'variant OP NAME' or 'op NAME'", what, arg);
}

static int take_arg(void *args, const char *arg, struct assay_err *err)
{
	struct new_args *a = args;

	if (!a->kind) {
		if (strcmp(arg, "variant") != 0 && strcmp(arg, "op") != 0)
			return bad("cannot write a new ", arg, err);
		a->kind = arg;
		return 0;
	}
	if (a->n_names == (strcmp(a->kind, "op") != 0 ? 2 : 1))
		return bad("unexpected argument ", arg, err);
	a->names[a->n_names++] = arg;
	return 0;
}

static int check(void *args, struct assay_err *err)
{
	const struct new_args *a = args;

	if (!a->kind || a->n_names < (strcmp(a->kind, "op") != 0 ? 2 : 1))
		return bad("something is missing after ", a->kind ? a->kind : "new", err);
	return 0;
}

static const struct assay_option options[] = {
	{ "output", 'o', "FILE", assay_option_text, offsetof(struct new_args, file),
	  "Write the source here (default: NAME.c in the current folder)" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "variant OP NAME\nop NAME",
	.doc = "Write the source of a plugin of your own, which one call of the compiler turns into a file for "
	       "--plugin.\n"
	       "\n"
	       "'variant' writes a variant of an existing op, of any loaded plugin: it names the tensors of the "
	       "op with their shapes and types, and leaves the body to you. Until you write it, 'assay verify' "
	       "reports it as wrong.\n"
	       "\n"
	       "'op' writes a new op with a reference variant, complete and small, for you to change, and a "
	       "folder with the bench file and the suite that measure it.\n"
	       "\n"
	       "The next commands to run are printed. Existing files are left alone.\v"
	       "The exit status is 0, 2 for bad usage.\n"
	       "\n"
	       "examples:\n"
	       "  assay new variant matmul.ternary mine\n"
	       "  assay new op norm.rms -o kernels/rms.c\n"
	       "  assay new variant norm.rms fast --plugin ./norm_rms.so",
	.tables = { { assay_options_load, 0 }, { assay_options_output, 0 }, { options, 0 } },
	.argument = take_arg,
	.check = check,
};

static int write_new(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct new_args *a = args;
	struct assay_new_request q = { .r = &a->s.r, .op = a->names[0], .variant = a->names[1], .file = a->file };
	struct assay_new_result r;
	int rc = assay_new_write(&q, &r, err);

	(void)w;
	(void)status;
	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_SOURCE, .source = &r }, a->s.json,
				    a->s.verbose, err);
	assay_new_release(&r);
	return rc;
}

int assay_cmd_new(int argc, char **argv)
{
	struct new_args a = { 0 };

	return assay_command(&line, argc, argv, &a, write_new);
}
