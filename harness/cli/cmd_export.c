/* SPDX-License-Identifier: Apache-2.0 */
/* assay export: a stored run, or the verdicts of a comparison, as a file for other programs. */
#include <string.h>

#include "base/conf.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "drive/compare/compare.h"
#include "drive/show/name.h"
#include "drive/show/show.h"

struct export_args {
	struct assay_settings s;
	const char *format, *name, *only, *out; /* name NULL: the newest run */
	const char *policy;
	bool samples;
};

#define RULES "prometheus-rules"

static const char *const formats[] = { "csv", "json", "junit", "llama-bench", "markdown", "openmetrics", RULES };
#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

const char *assay_export_format(size_t i)
{
	return i < N_FORMATS ? formats[i] : NULL;
}

static int set_format(struct export_args *a, const char *arg, struct assay_err *err)
{
	char hint[256];

	for (size_t i = 0; i < N_FORMATS; i++)
		if (!strcmp(formats[i], arg))
			a->format = formats[i];
	return a->format ? 0
			 : assay_err_set(err, ASSAY_EUSAGE, "unknown format '%s'%s", arg,
					 assay_conf_hint(arg, formats, N_FORMATS, hint, sizeof(hint)));
}

static int set_argument(void *args, const char *arg, struct assay_err *err)
{
	struct export_args *a = args;

	if (!a->format)
		return set_format(a, arg, err);
	if (a->name)
		return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': export takes one run or comparison",
				     arg);
	a->name = arg;
	return 0;
}

static int check(void *args, struct assay_err *err)
{
	const struct export_args *a = args;

	if (!a->format)
		return assay_err_set(err, ASSAY_EUSAGE, "no format given: assay export csv -o FILE");
	if (a->out && !a->out[0])
		return assay_err_set(err, ASSAY_EUSAGE, "--output is '', expected the path of a file");
	if (a->only && !a->only[0])
		return assay_err_set(err, ASSAY_EUSAGE,
				     "bad --only '': expected a part of a key or a glob, such as 'matmul.*'");
	if (a->samples && strcmp(a->format, "json"))
		return assay_err_set(err, ASSAY_EUSAGE, "--samples is for runs as json alone: drop it");
	if (a->policy && strcmp(a->format, RULES))
		return assay_err_set(err, ASSAY_EUSAGE, "--policy has the alerts of " RULES ": drop it");
	if ((a->name || a->only) && !strcmp(a->format, RULES))
		return assay_err_set(err, ASSAY_EUSAGE, RULES " are of the policy, not of a run or a case");
	return 0;
}

#define AT(member) offsetof(struct export_args, member)

static const struct assay_option options[] = {
	{ "output", 'o', "FILE", assay_option_text, AT(out),
	  "Write this file, which is replaced when the new one is complete (default: standard output)" },
	{ "only", 0, "GLOB", assay_option_text, AT(only), "Only the cases of the run whose key matches" },
	{ "policy", 0, "FILE", assay_option_text, AT(policy),
	  "The policy with the alerts (" RULES "; default baselines/policy.conf)" },
	{ "samples", 0, NULL, assay_option_flag, AT(samples), "With the raw samples (json)" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "FORMAT [RUN|COMPARISON]",
	.doc = "Write a stored run, or the verdicts of a comparison, for other programs. A run is named r3, a "
	       "comparison c3 (default: the newest run). FORMAT is one of these:\n"
	       "\n"
	       "  csv          a row for each case or verdict; RFC 4180\n"
	       "  json         all that is known, as 'assay show --json'\n"
	       "  junit        a test case for each case or verdict\n"
	       "  llama-bench  llama-bench's table, of the cases of a run that are its tests\n"
	       "  markdown     a table, for a comment or a page\n"
	       "  openmetrics  for Prometheus' text-file collector\n"
	       "  prometheus-rules  alerts of the policy as rules over openmetrics\v"
	       "examples:\n"
	       "  assay export csv -o last.csv\n"
	       "  assay export openmetrics -o /var/lib/prometheus/node-exporter/assay.prom\n"
	       "  assay export markdown c3",
	.tables = { { assay_options_store, 0 }, { options, 0 } },
	.argument = set_argument,
	.check = check,
};

static int write_report(const struct export_args *a, const struct assay_report *r, struct assay_err *err)
{
	const struct assay_emit_style style = { .terminal = assay_cli_style().terminal };
	struct assay_text out = { 0 };
	int rc;

	if (a->out)
		return assay_user_path_error(assay_emit_file(r, a->format, a->out, err), err);
	rc = assay_emit(r, a->format, &style, &out, err);
	if (!rc)
		assay_cli_put(&out);
	assay_text_release(&out);
	return rc;
}

static int export_run(const struct export_args *a, int64_t id, struct assay_err *err)
{
	struct assay_run_totals totals;
	struct assay_run run;
	int rc = assay_stored_run(a->s.r.db, id, a->only, &run, err);

	if (!rc)
		rc = assay_stored_totals(a->s.r.db, &run, &totals, err);
	if (!rc)
		rc = write_report(
			a,
			&(struct assay_report){ .kind = ASSAY_REPORT_RUN,
						.run = { .run = &run, .samples = a->samples, .totals = &totals } },
			err);
	assay_run_release(&run);
	return rc;
}

static int export_rules(const struct export_args *a, struct assay_err *err)
{
	struct assay_alert_report r;
	int rc = assay_alerts(a->policy, NULL, &r, err);

	if (!rc)
		rc = write_report(a, &(struct assay_report){ .kind = ASSAY_REPORT_ALERTS, .alerts = &r }, err);
	assay_alerts_release(&r);
	return rc;
}

static int export_comparison(const struct export_args *a, int64_t id, struct assay_watcher *w, struct assay_err *err)
{
	const struct assay_replay_request q = { .db = a->s.r.db, .id = id };
	struct assay_compare_outcome out = { 0 };
	int rc = assay_compare_replay(&q, &w->watch, &out, err);

	if (!rc)
		rc = write_report(
			a, &(struct assay_report){ .kind = ASSAY_REPORT_GATE, .gate = { .gate = &out.report } }, err);
	assay_compare_outcome_release(&out);
	return rc;
}

static int export_one(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct export_args *a = args;
	const struct assay_name_wanted wanted = {
		.db = a->s.r.db,
		.kinds = a->name ? ASSAY_STORED_RUN | ASSAY_STORED_COMPARISON : ASSAY_STORED_RUN,
		.what = "what to export",
	};
	struct assay_stored_name n;
	int rc;

	(void)status;
	if (!strcmp(a->format, RULES))
		return export_rules(a, err);
	rc = assay_stored_name_read(a->name ? a->name : "last", &wanted, &n, err);
	if (rc || n.kind == ASSAY_STORED_RUN)
		return rc ? rc : export_run(a, n.id, err);
	if (a->only || a->samples)
		return assay_err_set(err, ASSAY_EUSAGE, "%s is for runs alone: drop it",
				     a->only ? "--only" : "--samples");
	return export_comparison(a, n.id, w, err);
}

int assay_cmd_export(int argc, char **argv)
{
	struct export_args a = { 0 };

	return assay_command(&line, argc, argv, &a, export_one);
}
