/* SPDX-License-Identifier: Apache-2.0 */
/* assay judge: the verdict of a stored comparison again, from its samples alone, on any machine. */
#include <errno.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/compare_output.h"
#include "drive/compare.h"

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
	"Nothing is measured, so it gives the same answer on any machine.\v"
	"The exit status is that of 'assay compare'.\n\n"
	"example:\n  assay judge --comparison 3",
	children,
	NULL,
	NULL,
};

static int judge(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct judge_args *a = args;
	struct assay_compare_outcome out = { 0 };
	int rc = assay_compare_output_check(&a->out, err);

	w->hold = true;
	if (!rc)
		rc = assay_compare_replay(a->s.r.db, a->id, a->out.strict, &w->watch, &out, err);
	if (!rc)
		rc = assay_compare_output_put(&out.report, &a->out, &a->s, err);
	*status = (int)out.report.exit;
	assay_compare_outcome_release(&out);
	return rc;
}

int assay_cmd_judge(int argc, char **argv)
{
	struct judge_args a = { 0 };

	return assay_command(&argp, argc, argv, &a, judge);
}
