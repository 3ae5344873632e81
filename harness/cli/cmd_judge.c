/* SPDX-License-Identifier: Apache-2.0 */
/* assay judge: the verdict of a stored comparison again, from its samples alone, on any machine. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/compare_output.h"
#include "judge/comparison_judge.h"
#include "store/store_comparison.h"

enum { OPT_COMPARISON = 0x200 };

struct judge_args {
	struct assay_settings s;
	struct assay_compare_output out;
	int64_t id; /* 0: the newest */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct judge_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		assay_cli_parse_children(state);
		state->child_inputs[1] = &a->out;
		return 0;
	case OPT_COMPARISON:
		return assay_cli_parse_id(arg, "--comparison", "comparison", &a->id, &a->s.err) ? EINVAL : 0;
	case ARGP_KEY_ARG:
		assay_err_set(&a->s.err, ASSAY_EUSAGE,
			      "unexpected argument '%s': a comparison is named with --comparison", arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "comparison", OPT_COMPARISON, "ID", 0, "Judge this comparison (default: last, the newest)", 0 },
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
	"Judge a stored comparison again, from its raw samples, its counts and the policy that is stored with it. "
	"Nothing is "
	"measured, so it gives "
	"the same answer on any machine.\v"
	"The exit status is that of 'assay compare'.\n\n"
	"example:\n  assay judge --comparison 3",
	children,
	NULL,
	NULL,
};

static int judge(const void *args, struct assay_store *store, struct assay_gate_report *report, struct assay_err *err)
{
	const struct judge_args *a = args;
	struct assay_comparison cmp = { 0 };
	struct assay_policy policy = assay_policy_default();
	char verdict[ASSAY_STORE_VERDICT_MAX] = "";
	int rc = assay_store_comparison_load(store, a->id, &cmp, verdict, NULL, err);

	if (!rc && cmp.policy)
		rc = assay_policy_parse(&policy, cmp.policy, "the stored policy", err);
	if (!rc)
		rc = assay_comparison_judge(&cmp, &policy,
					    &(struct assay_comparison_judging){ .strict = a->out.strict }, report, err);
	if (!rc)
		rc = assay_compare_output_put(report, &a->out, &a->s, err);
	if (!rc && !verdict[0])
		assay_cli_warn("comparison %" PRId64 " did not finish: judged as far as it came", cmp.id);
	else if (!rc && strcmp(verdict, assay_verdict_name(report->verdict)))
		assay_cli_warn("comparison %" PRId64
			       " was judged %s when it was measured: another version of assay did",
			       cmp.id, verdict);
	assay_policy_release(&policy);
	assay_comparison_release(&cmp);
	return rc;
}

int assay_cmd_judge(int argc, char **argv)
{
	struct judge_args a = { 0 };
	struct assay_err err = { 0 };
	int status, rc = assay_settings_init(&a.s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &a, &err);
	status = rc ? assay_cli_fail(&err) : assay_compare_output_judge(&a.s, &a.out, judge, &a);
	assay_settings_release(&a.s);
	return status;
}
