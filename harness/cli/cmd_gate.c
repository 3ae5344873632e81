/* SPDX-License-Identifier: Apache-2.0 */
/* assay gate: judge a stored run; the exit status is the verdict. */
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/compare_options.h"
#include "drive/gate/gate.h"
#include "drive/next_step.h"
#include "drive/show/name.h"

struct gate_args {
	struct assay_settings s;
	struct assay_gate_request q;
	struct assay_compare_output out;
	const char *run;
};

static int refuse(void *args, const char *arg, struct assay_err *err)
{
	(void)args;
	return assay_err_set(err, ASSAY_EUSAGE,
			     "unexpected argument '%s': a suite is named with --suite, a run with --run", arg);
}

#define AT(member) offsetof(struct gate_args, member)

static const struct assay_option options[] = {
	{ "suite", 's', "NAME", assay_option_text, AT(q.suite),
	  "Judge the newest run of this suite (default " ASSAY_DEFAULT_SUITE ")" },
	{ "run", 0, "RUN", assay_option_text, AT(run),
	  "Judge this run, such as r3 (default: last, the newest of the suite)" },
	{ "policy", 0, "FILE", assay_option_text, AT(q.policy), "Margins and limits (default baselines/policy.conf)" },
	{ "manifest", 0, "FILE", assay_option_text, AT(q.manifest),
	  "Cases that must have been measured (default baselines/SUITE.manifest)" },
	{ "baseline", 0, "NAME", assay_option_text, AT(q.baseline),
	  "Compare with this baseline (default: the newest of this machine and suite, else the runs since the last "
	  "change that "
	  "'assay history --confirm' confirmed)" },
	{ "evidence", 0, "exact|stored|all", assay_option_evidence, AT(q.take),
	  "exact: judge only the newest counts of the suite, against the recorded ones; stored: judge only the run; "
	  "all: both (default)" },
	{ "exact-file", ASSAY_RARELY, "FILE", assay_option_text, AT(q.exact_file),
	  "Recorded counts (default baselines/exact/SUITE.json)" },
	{ "allow-no-baseline", 0, NULL, assay_option_flag, AT(q.allow_no_baseline),
	  "If there is no baseline to compare times with, judge the rest and do not fail for that" },
	{ 0 },
};
static const struct assay_command_line line = {
	.doc = "Judge a stored run: is every case of the manifest present and correct, is it within the limits of "
	       "the policy, and is it slower than the baseline?\v"
	       "The exit status is 0 if all is well, 1 REGRESSED, 2 bad usage, 3 WRONG_RESULT, 4 NOT_MEASURED, 5 "
	       "no baseline or INCOMPARABLE, 6 a suspect unless --suspects pass, INCONCLUSIVE with --strict; the "
	       "most severe wins, in the order 2, 3, 4, 1, 5, 6.\n"
	       "\n"
	       "example:\n"
	       "  assay gate --suite quick --allow-no-baseline",
	.tables = { ASSAY_OPTIONS_READING,
		    { assay_options_verdicts, offsetof(struct gate_args, out) },
		    { assay_options_suspects, offsetof(struct gate_args, out) },
		    { options, 0 } },
	.argument = refuse,
};

static int judge(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct gate_args *a = args;
	struct assay_gate_report report = { 0 };
	struct assay_text next = { 0 };
	int rc = assay_compare_output_check(&a->out, err);

	a->q.db = a->s.r.db;
	a->q.strict = a->out.strict;
	a->q.suspects_fail = a->out.suspects_fail;
	if (!rc && a->run)
		rc = assay_stored_run_read(a->q.db, a->run, "--run", &a->q.run_id, err);
	if (!rc)
		rc = assay_gate(&a->q, &w->watch, &report, err);
	if (!rc)
		rc = assay_compare_output_put(&report, &a->out, &a->s, err);
	if (!rc && report.advice && !a->s.json) {
		assay_cli_warn("%s", report.advice);
	} else if (!rc && !a->s.json) {
		assay_next_of_gate(&next, &report, a->q.suite, a->s.r.db);
		assay_cli_say("%s\n", next.s ? next.s : "");
		assay_text_release(&next);
	}
	*status = (int)report.exit;
	assay_gate_report_release(&report);
	return rc;
}

int assay_cmd_gate(int argc, char **argv)
{
	struct gate_args a = { .out.suspects_fail = true };

	return assay_command(&line, argc, argv, &a, judge);
}
