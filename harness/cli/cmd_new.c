/* SPDX-License-Identifier: Apache-2.0 */
/* assay new: the source of a variant or an op outside of this tree, and the commands that come after it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/new_source.h"

struct new_args {
	struct assay_settings s;
	const char *kind, *names[2];
	size_t n_names;
	const char *file;
};

static error_t bad(struct new_args *a, const char *fmt, const char *arg)
{
	assay_err_set(&a->s.err, ASSAY_EUSAGE, "%s'%s': expected 'variant OP NAME' or 'op NAME'", fmt, arg);
	return EINVAL;
}

static error_t take_arg(struct new_args *a, const char *arg)
{
	if (!a->kind) {
		if (strcmp(arg, "variant") != 0 && strcmp(arg, "op") != 0)
			return bad(a, "cannot write a new ", arg);
		a->kind = arg;
		return 0;
	}
	if (a->n_names == (strcmp(a->kind, "op") != 0 ? 2 : 1))
		return bad(a, "unexpected argument ", arg);
	a->names[a->n_names++] = arg;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct new_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		assay_cli_parse_children(state);
		return 0;
	case 'o':
		a->file = arg;
		return 0;
	case ARGP_KEY_ARG:
		return take_arg(a, arg);
	case ARGP_KEY_END:
		if (a->s.help || a->s.version)
			return 0;
		if (!a->kind || a->n_names < (strcmp(a->kind, "op") != 0 ? 2 : 1))
			return bad(a, "something is missing after ", a->kind ? a->kind : "new");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Write the source here (default: NAME.c in the current folder)", 0 },
	{ 0 },
};
static const struct argp_child children[] = {
	{ &assay_argp_load, 0, NULL, 0 },
	{ &assay_argp_output, 0, NULL, 0 },
	{ &assay_argp_help, 0, NULL, 0 },
	{ 0 },
};
static const struct argp argp = {
	options,
	parse,
	"variant OP NAME\nop NAME",
	"Write the source of a plugin of your own, which one call of the compiler makes ready for --plugin.\n\n"
	"'variant' writes a solution of an op that there is, of any loaded plugin: the tensors of the op stand in it "
	"with their shapes and types, the body is left to you. Until it is written, 'assay verify' calls it wrong.\n\n"
	"'op' writes a problem of its own with a reference variant, complete and small, to be changed into yours, and "
	"beside it a folder with the bench file and the suite that measure it.\n\n"
	"The commands to go on with are printed. Files that are there already are left alone.\v"
	"The exit status is 0, 2 for bad usage.\n\n"
	"examples:\n"
	"  assay new variant matmul.ternary mine\n"
	"  assay new op norm.rms -o kernels/rms.c\n"
	"  assay new variant norm.rms fast --plugin ./norm_rms.so",
	children,
	NULL,
	NULL,
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
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_SOURCE,
							    .source = { .op = a->names[0],
									.variant = a->names[1],
									.files = &r.files,
									.compile = r.compile,
									.compile_installed = r.compile_installed,
									.verify = r.verify,
									.run = r.run,
									.keep = r.keep,
									.compare = r.compare } },
				    a->s.json, a->s.verbose, err);
	assay_new_release(&r);
	return rc;
}

int assay_cmd_new(int argc, char **argv)
{
	struct new_args a = { 0 };

	return assay_command(&argp, argc, argv, &a, write_new);
}
