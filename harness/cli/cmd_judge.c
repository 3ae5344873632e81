/* SPDX-License-Identifier: Apache-2.0 */
/* assay judge: the verdict of a stored comparison again, from its samples alone, on any machine. */
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/compare_output.h"
#include "drive/compare/compare.h"

struct judge_args {
	struct assay_settings s;
	struct assay_compare_output out;
	int64_t id; /* 0: the newest */
};

static int refuse(void *args, const char *arg, struct assay_err *err)
{
	(void)args;
	return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': a comparison is named with --comparison",
			     arg);
}

static const struct assay_option options[] = {
	{ "comparison", 0, "ID", assay_option_comparison, offsetof(struct judge_args, id),
	  "Judge this comparison (default: last, the newest)" },
	{ 0 },
};
static const struct assay_command_line line = {
	.doc = "Judge a stored comparison again, from its raw samples, its counts and the policy that is stored "
	       "with it. Nothing is measured, so it gives the same answer on any machine.\v"
	       "The exit status is that of 'assay compare'.\n\n"
	       "example:\n"
	       "  assay judge --comparison 3",
	.tables = { ASSAY_OPTIONS_READING,
		    { assay_options_verdicts, offsetof(struct judge_args, out) },
		    { assay_options_suspects, offsetof(struct judge_args, out) },
		    { options, 0 } },
	.argument = refuse,
};

static int judge(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct judge_args *a = args;
	struct assay_compare_outcome out = { 0 };
	const struct assay_replay_request q = {
		.db = a->s.r.db, .id = a->id, .strict = a->out.strict, .suspects_fail = a->out.suspects_fail
	};
	int rc = assay_compare_output_check(&a->out, err);

	w->hold = true;
	if (!rc)
		rc = assay_compare_replay(&q, &w->watch, &out, err);
	if (!rc)
		rc = assay_compare_output_put(&out.report, &a->out, &a->s, err);
	*status = (int)out.report.exit;
	assay_compare_outcome_release(&out);
	return rc;
}

int assay_cmd_judge(int argc, char **argv)
{
	struct judge_args a = { 0 };

	return assay_command(&line, argc, argv, &a, judge);
}
