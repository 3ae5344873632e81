/* SPDX-License-Identifier: Apache-2.0 */
/* assay plan: what this host can promise within a time, from how far process pairs of each case lie apart. */
#include <errno.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/compare_options.h"
#include "drive/promise.h"
#include "model/verdict.h"

enum { OPT_DETECT = 0x200, OPT_WITHIN };

#define DEFAULT_DETECT_FRAC 0.01

struct plan_args {
	struct assay_compare_args c;
	double detect_frac;
	uint64_t within_ns; /* 0: say what it takes */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct plan_args *a = state->input;
	struct assay_err *err = &a->c.s.err;

	switch (key) {
	case ARGP_KEY_INIT:
		assay_cli_parse_children(state);
		return 0;
	case OPT_DETECT:
		return assay_parse_frac(arg, "--detect", 1e-6, 1, &a->detect_frac, err) ? EINVAL : 0;
	case OPT_WITHIN:
		return assay_parse_duration_ns(arg, "--within", &a->within_ns, err) ? EINVAL : 0;
	case ARGP_KEY_ARG:
		return assay_compare_take_both(&a->c.q, arg, "plan", err) ? EINVAL : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "detect", OPT_DETECT, "SHARE", 0, "Slowdown to be found in 95 of 100 comparisons (default 1%)", 0 },
	{ "within", OPT_WITHIN, "TIME", 0, "Time for the whole suite, such as 5min", 0 },
	{ 0 },
};
static const struct argp_child children[] = {
	{ &assay_argp_measuring, 0, NULL, 0 },
	{ &assay_argp_rates, 0, NULL, 0 },
	{ 0 },
};
static const struct argp argp = {
	options,
	parse,
	"[PLUGIN|FOLDER|REVISION]",
	"Say how long a comparison of a suite takes on this machine to find a slowdown of a given size, and what can "
	"be found in a given time. The spread of every case is taken from stored comparisons of this machine; for "
	"cases without any, a few process pairs of unchanged code are measured now.\v"
	"The exit status is 0 when it can be done (in the time, where one is given), 1 when it cannot, also because a "
	"case could not be measured, 2 for bad usage.\n\n"
	"example:\n  assay plan --detect 1% --alpha 1% --within 5min --suite quick",
	children,
	NULL,
	NULL,
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

	return assay_command(&argp, argc, argv, &a, plan);
}
