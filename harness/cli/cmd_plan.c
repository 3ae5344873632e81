/* SPDX-License-Identifier: Apache-2.0 */
/* assay plan: what this host can promise within a time, from how far process pairs of each case lie apart. */
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/compare_options.h"
#include "drive/promise.h"
#include "model/verdict.h"

#define DEFAULT_DETECT_FRAC 0.01

struct plan_args {
	struct assay_compare_args c;
	double detect_frac;
	uint64_t within_ns; /* 0: say what it takes */
};

static int take_arg(void *args, const char *arg, struct assay_err *err)
{
	struct plan_args *a = args;

	return assay_compare_take_both(&a->c.q, arg, "plan", err);
}

static int set_detect(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return assay_parse_frac(arg, name, 1e-6, 1, to, err);
}

static const struct assay_option options[] = {
	{ "detect", 0, "SHARE", set_detect, offsetof(struct plan_args, detect_frac),
	  "Slowdown to be found in 95 of 100 comparisons (default 1%)" },
	{ "within", 0, "TIME", assay_option_duration, offsetof(struct plan_args, within_ns),
	  "Time for the whole suite, such as 5min" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "[PLUGIN|FOLDER|REVISION]",
	.doc = "Say how long a comparison of a suite takes on this machine to find a slowdown of a given size, and "
	       "what can be found in a given time. The spread of every case is taken from stored comparisons of "
	       "this machine; for cases without any, a few process pairs of unchanged code are measured now.\v"
	       "The exit status is 0 when it can be done (in the time, where one is given), 1 when it cannot, also "
	       "because a case could not be measured, 2 for bad usage.\n\n"
	       "example:\n"
	       "  assay plan --detect 1% --alpha 1% --within 5min --suite quick",
	.tables = { ASSAY_OPTIONS_MEASURING, { assay_options_rates, 0 }, { options, 0 } },
	.argument = take_arg,
};

static int plan(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct plan_args *a = args;
	const struct assay_promise_request q = { .compare = a->c.q,
						 .detect_frac = a->detect_frac,
						 .within_ns = a->within_ns };
	struct assay_promise_report out;
	int rc = assay_promise(&q, &w->watch, &out, err);

	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_PROMISE, .promise = &out },
				    a->c.s.json, a->c.s.verbose, err);
	*status = out.possible ? ASSAY_EXIT_OK : ASSAY_EXIT_REGRESSED;
	assay_promise_report_release(&out);
	return rc;
}

int assay_cmd_plan(int argc, char **argv)
{
	struct plan_args a = { .c.q.what = &a.c.s.r, .detect_frac = DEFAULT_DETECT_FRAC };

	return assay_command(&line, argc, argv, &a, plan);
}
