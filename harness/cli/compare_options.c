/* SPDX-License-Identifier: Apache-2.0 */
/* Margins, rates and budgets on the command line. */
#include "cli/compare_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

/* A share above 0 and up to @most. */
static int take_frac(void *to, const char *arg, const char *name, double most, struct assay_err *err)
{
	double *out = to;

	if (!assay_parse_frac(arg, name, 0, most, out, err) && *out > 0)
		return 0;
	return assay_err_set(err, ASSAY_EUSAGE, "bad %s '%s': expected a share above 0 and up to %g %% such as 0.5%%",
			     name, arg, 100 * most);
}

static int set_alpha(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return take_frac(to, arg, name, 0.5, err);
}

static int set_margin(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return take_frac(to, arg, name, 1, err);
}

#define AT(member) offsetof(struct assay_compare_args, member)

const struct assay_option assay_options_rates[] = {
	{ "policy", 0, "FILE", assay_option_text, AT(q.policy),
	  "Margins, rates and limits (default baselines/policy.conf)" },
	{ "alpha", ASSAY_RARELY, "SHARE", set_alpha, AT(q.alpha),
	  "Chance that a whole comparison fails on unchanged code; overrides the policy" },
	{ 0 },
};
const struct assay_option assay_options_budget[] = {
	{ "margin", 0, "SHARE", set_margin, AT(q.margin_frac),
	  "Allowed slowdown of every case, such as 1%; overrides the policy" },
	{ "budget", 0, "TIME", assay_option_duration, AT(q.budget_ns),
	  "Time of a case, such as 10s; overrides the policy" },
	{ 0 },
};

#undef AT

/* ---- output ---- */

/* Emits one report in every form that was asked for. */

#define AT(member) offsetof(struct assay_compare_output, member)

static int set_suspects(void *to, const char *arg, const char *name, struct assay_err *err)
{
	if (strcmp(arg, "fail") && strcmp(arg, "pass"))
		return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected fail or pass", name, arg);
	*(bool *)to = !strcmp(arg, "fail");
	return 0;
}

const struct assay_option assay_options_verdicts[] = {
	{ "markdown", 0, "FILE", assay_option_text, AT(markdown), "Also write a summary for a pull request" },
	{ "junit", ASSAY_RARELY, "FILE", assay_option_text, AT(junit),
	  "Also write JUnit XML, a test case for each case and metric" },
	{ "json-file", ASSAY_RARELY, "FILE", assay_option_text, AT(json_file), "Also write what --json prints" },
	{ "strict", 0, NULL, assay_option_flag, AT(strict), "INCONCLUSIVE fails too, with status 6" },
	{ 0 },
};
const struct assay_option assay_options_suspects[] = {
	{ "suspects", 0, "fail|pass", set_suspects, AT(suspects_fail),
	  "fail: of INCONCLUSIVE cases those that are likely slower than their margin fail, with status 6 (default: "
	  "gate and assay-gate fail, compare pass)" },
	{ 0 },
};

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

static int write_files(const struct assay_report *r, const struct assay_compare_output *o, struct assay_err *err)
{
	const struct {
		const char *path, *format;
	} files[] = { { o->markdown, "markdown" }, { o->junit, "junit" }, { o->json_file, "json" } };
	int rc = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !rc; i++)
		if (files[i].path)
			rc = assay_user_path_error(assay_emit_file(r, files[i].format, files[i].path, err), err);
	return rc;
}

int assay_compare_output_put(const struct assay_gate_report *r, const struct assay_compare_output *o,
			     const struct assay_settings *s, struct assay_err *err)
{
	const struct assay_report report = {
		.kind = ASSAY_REPORT_GATE,
		.gate = { .gate = r,
			  .strict = o->strict,
			  .suspects_fail = o->suspects_fail,
			  .unix_ns = (uint64_t)time(NULL) * 1000000000u },
	};
	int rc = assay_cli_emit(&report, s->json, s->verbose, err);

	return rc ? rc : write_files(&report, o, err);
}
