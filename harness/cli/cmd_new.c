/* SPDX-License-Identifier: Apache-2.0 */
/* assay new: the source of a variant or an op outside of this tree, and the commands that come after it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cli_options.h"
#include "drive/new_source.h"
#include "model/verdict.h"
#include "reports/json_parts.h"

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

static void print_text(const struct new_args *a, const struct assay_new_result *r, struct assay_text *out)
{
	bool variant = !strcmp(a->kind, "variant");

	for (size_t i = 0; i < r->files.n; i++)
		assay_text_addf(out, "wrote %s\n", r->files.v[i]);
	assay_text_addf(out,
			"\nCompile it with the headers of this program, or with those of an installed one:\n\n"
			"  %s\n  %s\n\n",
			r->compile, r->compile_installed);
	if (variant)
		assay_text_addf(out,
				"Is it right? Write the body of work() first: as it is, this says wrong.\n\n  %s\n\n"
				"How fast is it, beside the other variants?\n\n  %s\n\n",
				r->verify, r->run);
	else
		assay_text_addf(out, "Is it right? As it is, this says ok.\n\n  %s\n\nHow fast is it?\n\n  %s\n\n",
				r->verify, r->run);
	assay_text_addf(
		out,
		"Did a change make it faster? Keep a build, change the source, compile, and let both take turns:\n\n"
		"  %s\n  %s\n",
		r->keep, r->compare);
}

static int print_json(const struct new_args *a, const struct assay_new_result *r, struct assay_text *out,
		      struct assay_err *err)
{
	bool variant = !strcmp(a->kind, "variant");
	json_t *files = json_array();

	for (size_t i = 0; i < r->files.n; i++)
		json_array_append_new(files, assay_json_text(r->files.v[i]));
	return assay_json_print(
		json_pack("{s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema", 1, "op", assay_json_text(a->names[0]),
			  "variant", variant ? assay_json_text(a->names[1]) : json_null(), "files", files, "compile",
			  assay_json_text(r->compile), "compile_installed", assay_json_text(r->compile_installed),
			  "verify", assay_json_text(r->verify), "run", assay_json_text(r->run), "keep",
			  assay_json_text(r->keep), "compare", assay_json_text(r->compare)),
		out, err);
}

static int write_new(const struct new_args *a, struct assay_text *out, struct assay_err *err)
{
	struct assay_new_request q = { .r = &a->s.r, .op = a->names[0], .variant = a->names[1], .file = a->file };
	struct assay_new_result r;
	int rc = assay_new_write(&q, &r, err);

	if (!rc && a->s.json)
		rc = print_json(a, &r, out, err);
	else if (!rc)
		print_text(a, &r, out);
	assay_new_release(&r);
	return rc;
}

int assay_cmd_new(int argc, char **argv)
{
	struct new_args a = { 0 };
	struct assay_text out = { 0 };
	struct assay_err err = { 0 };
	int rc = assay_settings_init(&a.s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &a, &err);
	if (!rc)
		rc = write_new(&a, &out, &err);
	if (!rc)
		assay_cli_put(&out);
	assay_text_release(&out);
	assay_settings_release(&a.s);
	return rc ? assay_cli_fail(&err) : ASSAY_EXIT_OK;
}
