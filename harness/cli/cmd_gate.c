/* SPDX-License-Identifier: Apache-2.0 */
/* assay gate: judge a stored run; the exit status is the verdict. */
#include <errno.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/compare_output.h"
#include "drive/gating.h"

enum { OPT_RUN = 0x200, OPT_POLICY, OPT_MANIFEST, OPT_BASELINE, OPT_ALLOW, OPT_EVIDENCE, OPT_EXACT_FILE };

struct gate_args {
	struct assay_settings s;
	struct assay_gate_request q;
	struct assay_compare_output out;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct gate_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		assay_cli_parse_children(state);
		state->child_inputs[1] = &a->out;
		return 0;
	case 's':
		a->q.suite = arg;
		return 0;
	case OPT_RUN:
		return assay_cli_parse_id(arg, "--run", "run", &a->q.run_id, &a->s.err) ? EINVAL : 0;
	case OPT_POLICY:
		a->q.policy = arg;
		return 0;
	case OPT_MANIFEST:
		a->q.manifest = arg;
		return 0;
	case OPT_BASELINE:
		a->q.baseline = arg;
		return 0;
	case OPT_EVIDENCE:
		return assay_cli_parse_evidence(arg, &a->q.take, &a->s.err) ? EINVAL : 0;
	case OPT_EXACT_FILE:
		a->q.exact_file = arg;
		return 0;
	case OPT_ALLOW:
		a->q.allow_no_baseline = true;
		return 0;
	case ARGP_KEY_ARG:
		assay_err_set(&a->s.err, ASSAY_EUSAGE,
			      "unexpected argument '%s': a suite is named with --suite, a run with --run", arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "suite", 's', "NAME", 0, "Judge the newest run of this suite (default " ASSAY_DEFAULT_SUITE ")", 0 },
	{ "run", OPT_RUN, "ID", 0, "Judge this run (default: last, the newest of the suite)", 0 },
	{ "policy", OPT_POLICY, "FILE", 0, "Margins and limits (default baselines/policy.conf)", 0 },
	{ "manifest", OPT_MANIFEST, "FILE", 0, "Cases that must have been measured (default baselines/SUITE.manifest)",
	  0 },
	{ "baseline", OPT_BASELINE, "NAME", 0,
	  "Compare with this baseline (default: the newest of this machine and suite, else the last comparable run)",
	  0 },
	{ "evidence", OPT_EVIDENCE, "KIND", 0,
	  "exact: judge the newest counts of the suite alone, against the recorded ones; stored: judge the run alone; "
	  "all: the run and the counts beside it (default)",
	  0 },
	{ "exact-file", OPT_EXACT_FILE, "FILE", 0, "Recorded counts (default baselines/exact/SUITE.json)", 0 },
	{ "allow-no-baseline", OPT_ALLOW, NULL, 0,
	  "Where nothing is there to compare times with, judge the rest and do not fail for it", 0 },
	{ 0 },
};
static const struct argp_child children[] = {
	{ &assay_argp_reading, 0, NULL, 0 },
	{ &assay_argp_compare_output, 0, NULL, 0 },
	{ 0 },
};
static const struct argp argp = {
	options,
	parse,
	NULL,
	"Judge a stored run: is every case of the manifest there and right, does it keep the limits of the policy, is "
	"it slower than the baseline?\v"
	"The exit status is 0 when all is well, 1 REGRESSED, 2 bad usage, 3 WRONG_RESULT, 4 NOT_MEASURED, 5 no "
	"baseline or INCOMPARABLE, 6 INCONCLUSIVE with --strict; the gravest wins in the order 2, 3, 4, 1, 5, 6.\n\n"
	"example:\n  assay gate --suite quick --allow-no-baseline",
	children,
	NULL,
	NULL,
};

static int judge(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct gate_args *a = args;
	struct assay_gate_report report = { 0 };
	int rc = assay_compare_output_check(&a->out, err);

	a->q.db = a->s.r.db;
	a->q.strict = a->out.strict;
	if (!rc)
		rc = assay_gate(&a->q, &w->watch, &report, err);
	if (!rc)
		rc = assay_compare_output_put(&report, &a->out, &a->s, err);
	if (!rc && report.advice && !a->s.json)
		assay_cli_warn("%s", report.advice);
	*status = (int)report.exit;
	assay_gate_report_release(&report);
	return rc;
}

int assay_cmd_gate(int argc, char **argv)
{
	struct gate_args a = { 0 };

	return assay_command(&argp, argc, argv, &a, judge);
}
