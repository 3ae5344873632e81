/* SPDX-License-Identifier: Apache-2.0 */
/* assay gate: judge a stored run; the exit status is the verdict. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/cli_options.h"
#include "cli/compare_output.h"
#include "drive/exact_gate.h"
#include "drive/gate_input.h"
#include "drive/measuring.h"
#include "model/verdict.h"

enum { OPT_RUN = 0x200, OPT_POLICY, OPT_MANIFEST, OPT_BASELINE, OPT_ALLOW, OPT_EVIDENCE, OPT_EXACT_FILE };

struct gate_args {
	struct assay_settings s;
	struct assay_gate_options o;
	const char *exact_file;
	struct assay_compare_output out;
	bool allow_no_baseline;
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
		a->o.suite = arg;
		return 0;
	case OPT_RUN:
		return assay_cli_parse_id(arg, "--run", "run", &a->o.run_id, &a->s.err) ? EINVAL : 0;
	case OPT_POLICY:
		a->o.policy = arg;
		return 0;
	case OPT_MANIFEST:
		a->o.manifest = arg;
		return 0;
	case OPT_BASELINE:
		a->o.baseline = arg;
		return 0;
	case OPT_EVIDENCE:
		return assay_cli_parse_evidence(arg, &a->s.evidence, &a->s.err) ? EINVAL : 0;
	case OPT_EXACT_FILE:
		a->exact_file = arg;
		return 0;
	case OPT_ALLOW:
		a->allow_no_baseline = true;
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
	{ "suite", 's', "NAME", 0, "Judge the newest run of this suite (default " ASSAY_CLI_DEFAULT_SUITE ")", 0 },
	{ "run", OPT_RUN, "ID", 0, "Judge this run (default: last, the newest of the suite)", 0 },
	{ "policy", OPT_POLICY, "FILE", 0, "Margins and limits (default baselines/policy.conf)", 0 },
	{ "manifest", OPT_MANIFEST, "FILE", 0, "Cases that must have been measured (default baselines/SUITE.manifest)",
	  0 },
	{ "baseline", OPT_BASELINE, "NAME", 0,
	  "Compare with this baseline (default: the newest of this machine and suite, else the last comparable run)",
	  0 },
	{ "evidence", OPT_EVIDENCE, "KIND", 0,
	  "exact: judge the newest counts of the suite alone, against the recorded ones; stored: judge the run alone; "
	  "all: the run and "
	  "the counts beside it (default)",
	  0 },
	{ "exact-file", OPT_EXACT_FILE, "FILE", 0, "Recorded counts (default baselines/exact/SUITE.json)", 0 },
	{ "allow-no-baseline", OPT_ALLOW, NULL, 0,
	  "Where nothing is there to compare with, judge the rest and do not fail for it", 0 },
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
	"it slower than "
	"the baseline?\v"
	"The exit status is 0 when all is well, 1 REGRESSED, 2 bad usage, 3 WRONG_RESULT, 4 NOT_MEASURED, 5 no "
	"baseline or "
	"INCOMPARABLE, 6 INCONCLUSIVE with --strict; the gravest wins in the order 2, 3, 4, 1, 5, 6.\n\n"
	"example:\n  assay gate --suite quick --allow-no-baseline",
	children,
	NULL,
	NULL,
};

/* What to do so that the next gate can judge speed. */
static void warn_of_no_baseline(const struct assay_gate_files *f, const char *db)
{
	char measure[ASSAY_INSTALLED_PATH_MAX], save[ASSAY_INSTALLED_PATH_MAX], number[64];

	assay_cli_command(measure, sizeof(measure), "run", f->run.suite, db);
	snprintf(number, sizeof(number), "baseline save main --run %" PRId64, f->run.id);
	assay_cli_command(save, sizeof(save), number, NULL, db);
	if (!f->run.ended_ns)
		assay_cli_warn("speed was not judged: no baseline on this machine yet, and run %" PRId64
			       " cannot become one, since it did not finish; measure a whole one with '%s'",
			       f->run.id, measure);
	else if (f->base_is_itself)
		assay_cli_warn("speed was not judged: the baseline holds only run %" PRId64
			       " itself; measure another run with '%s' and judge that",
			       f->run.id, measure);
	else
		assay_cli_warn("speed was not judged: no baseline on this machine yet; save one with '%s'", save);
}

static struct assay_exact_gate_options exact_options(const struct gate_args *a)
{
	return (struct assay_exact_gate_options){ .suite = a->o.suite,
						  .run_id = a->o.run_id,
						  .policy = a->o.policy,
						  .file = a->exact_file,
						  .db = a->s.db,
						  .strict = a->out.strict };
}

static int judge_exact(const void *args, struct assay_store *store, struct assay_gate_report *report,
		       struct assay_err *err)
{
	const struct gate_args *a = args;
	struct assay_exact_gate_options o = exact_options(a);
	int rc = assay_exact_gate_alone(store, &o, report, err);

	return rc ? rc : assay_compare_output_put(report, &a->out, &a->s, err);
}

static int judge(const void *args, struct assay_store *store, struct assay_gate_report *report, struct assay_err *err)
{
	const struct gate_args *a = args;
	struct assay_gate_files f = { 0 };
	int rc = assay_gate_files_load(&f, store, &a->o, err);

	if (!rc) {
		struct assay_gate_input in = {
			.run = &f.run,
			.manifest = &f.manifest,
			.policy = &f.policy,
			.base = f.base_list,
			.n_base = f.n_base,
			.base_name = f.base_name[0] ? f.base_name : NULL,
			.no_base_reason = f.no_base_reason[0] ? f.no_base_reason : NULL,
			.allow_no_baseline = a->allow_no_baseline,
			.strict = a->out.strict,
			.other_manifests = (const struct assay_manifest *const *)f.other.v,
			.n_other_manifests = f.other.n,
			.countable = &f.countable,
			.all_threads = assay_measuring_all_threads(&f.run),
		};

		rc = assay_gate_judge(&in, report, err);
	}
	if (!rc && a->s.evidence == ASSAY_CLI_EVIDENCE_ALL) {
		struct assay_exact_gate_options o = exact_options(a);

		rc = f.run.exact ? assay_exact_gate_beside(f.run.exact, &f.policy, &o, report, err)
				 : assay_exact_gate_none(&f.run, &o, err);
	}
	if (!rc)
		rc = assay_compare_output_put(report, &a->out, &a->s, err);
	if (!rc && !f.n_base && !a->s.json)
		warn_of_no_baseline(&f, a->s.db);
	assay_gate_files_release(&f);
	return rc;
}

int assay_cmd_gate(int argc, char **argv)
{
	struct gate_args a = { 0 };
	struct assay_err err = { 0 };
	int status, rc = assay_settings_init(&a.s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &a, &err);
	a.o.db = a.s.db;
	status = rc ? assay_cli_fail(&err)
		    : assay_compare_output_judge(&a.s, &a.out,
						 a.s.evidence == ASSAY_CLI_EVIDENCE_EXACT ? judge_exact : judge, &a);
	assay_settings_release(&a.s);
	return status;
}
