/* SPDX-License-Identifier: Apache-2.0 */
/* Emits one report in every form that was asked for. */
#include "cli/compare_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"

enum { OPT_MARKDOWN = 0x240, OPT_JUNIT, OPT_JSON_FILE, OPT_STRICT };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct assay_compare_output *o = state->input;

	switch (key) {
	case OPT_MARKDOWN:
		o->markdown = arg;
		return 0;
	case OPT_JUNIT:
		o->junit = arg;
		return 0;
	case OPT_JSON_FILE:
		o->json_file = arg;
		return 0;
	case OPT_STRICT:
		o->strict = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "markdown", OPT_MARKDOWN, "FILE", 0, "Also write a summary for a pull request", 0 },
	{ "junit", OPT_JUNIT, "FILE", 0, "Also write JUnit XML, a test case for each case and metric", 0 },
	{ "json-file", OPT_JSON_FILE, "FILE", 0, "Also write what --json prints", 0 },
	{ "strict", OPT_STRICT, NULL, 0, "INCONCLUSIVE fails too, with status 6", 0 },
	{ 0 },
};
const struct argp assay_argp_compare_output = { options, parse, NULL, NULL, NULL, NULL, NULL };

static int check_path(const char *option, const char *path, struct assay_err *err)
{
	const char *slash = strrchr(path, '/');
	char folder[ASSAY_INSTALLED_PATH_MAX];
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot write %s '%s': it is a folder", option, path);
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	if (access(path, F_OK) ? access(folder, W_OK) : access(path, W_OK))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot write %s '%s': %s", option, path, strerror(errno));
	return 0;
}

int assay_compare_output_check(const struct assay_compare_output *o, struct assay_err *err)
{
	int rc = o->markdown ? check_path("--markdown", o->markdown, err) : 0;

	if (!rc && o->junit)
		rc = check_path("--junit", o->junit, err);
	if (!rc && o->json_file)
		rc = check_path("--json-file", o->json_file, err);
	return rc;
}

/* Write @text unless emitting it already failed with @rc, and release it. */
static int write_file(const char *path, struct assay_text *text, int rc, struct assay_err *err)
{
	if (!rc)
		rc = assay_hint_user_path(assay_file_write(path, text->s, text->len, err), err);
	assay_text_release(text);
	return rc;
}

static int write_files(const struct assay_gate_report *r, const struct assay_compare_output *o, struct assay_err *err)
{
	const struct assay_emit_junit junit = { .strict = o->strict, .unix_ns = (uint64_t)time(NULL) * 1000000000u };
	struct assay_text text = { 0 };
	int rc = 0;

	if (o->markdown)
		rc = write_file(o->markdown, &text, assay_emit_gate_markdown(r, &text, err), err);
	if (!rc && o->junit)
		rc = write_file(o->junit, &text, assay_emit_gate_junit(r, &junit, &text, err), err);
	if (!rc && o->json_file)
		rc = write_file(o->json_file, &text, assay_emit_gate_json(r, &text, err), err);
	return rc;
}

int assay_compare_output_put(const struct assay_gate_report *r, const struct assay_compare_output *o,
			     const struct assay_settings *s, struct assay_err *err)
{
	struct assay_emit_style style = assay_cli_style();
	struct assay_text out = { 0 };
	int rc;

	style.verbose = s->verbose;
	rc = s->json ? assay_emit_gate_json(r, &out, err) : assay_emit_gate_table(r, &style, &out, err);
	if (!rc)
		assay_cli_put(&out);
	assay_text_release(&out);
	return rc ? rc : write_files(r, o, err);
}
