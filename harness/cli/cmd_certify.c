/* SPDX-License-Identifier: Apache-2.0 */
/* assay certify: how often is this host's judge wrong? Comparisons of known outcome, by the hundred. */
#include <errno.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/compare_options.h"
#include "drive/certify.h"
#include "model/verdict.h"

enum { OPT_GATES = 0x200, OPT_TRIALS };

#define DEFAULT_GATES  100
#define DEFAULT_TRIALS 20

struct certify_args {
	struct assay_compare_args c;
	uint64_t gates, trials;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct certify_args *a = state->input;
	struct assay_err *err = &a->c.s.err;

	switch (key) {
	case ARGP_KEY_INIT:
		assay_cli_parse_children(state);
		return 0;
	case OPT_GATES:
		return assay_parse_u64(arg, "--gates", 1, 1000000, &a->gates, err) ? EINVAL : 0;
	case OPT_TRIALS:
		return assay_parse_u64(arg, "--trials", 0, 1000000, &a->trials, err) ? EINVAL : 0;
	case ARGP_KEY_ARG:
		return assay_compare_take_both(&a->c.q, arg, "certify", err) ? EINVAL : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "gates", OPT_GATES, "N", 0, "Gates of unchanged code (default 100)", 0 },
	{ "trials", OPT_TRIALS, "N", 0, "Trials of each known slowdown (default 20)", 0 },
	{ 0 },
};
static const struct argp_child children[] = {
	{ &assay_argp_measuring, 0, NULL, 0 },
	{ &assay_argp_rates, 0, NULL, 0 },
	{ &assay_argp_budget, 0, NULL, 0 },
	{ 0 },
};
static const struct argp argp = {
	options,
	parse,
	"[PLUGIN|FOLDER|REVISION]",
	"Measure how often the judge of this host is wrong: gates of unchanged code, which must not fail, and "
	"comparisons with a known slowdown, which must. Each is a whole comparison with fresh processes. Unless --only "
	"names others, the case is a small quantization on one thread.\v"
	"The exit status is 0 when the promised rate is within what was seen, 1 when it is exceeded beyond doubt, 2 "
	"for bad usage.\n\n"
	"example:\n  assay certify --gates 200 --trials 50",
	children,
	NULL,
	NULL,
};

static int certify(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct certify_args *a = args;
	const struct assay_certify_request q = { .compare = a->c.q,
						 .gates = (unsigned)a->gates,
						 .trials = (unsigned)a->trials };
	struct assay_certify_report out;
	const struct assay_report report = { .kind = ASSAY_REPORT_CERTIFICATION, .certification = &out };
	struct assay_err why = { 0 };
	int rc = assay_certify_choose(&a->c.s.r, err), shown = 0;

	if (rc)
		return rc;
	rc = assay_certify(&q, &w->watch, &out, &why);
	if (out.json)
		shown = assay_cli_emit(&report, a->c.s.json, a->c.s.verbose, err);
	if (!shown)
		*err = why;
	*status = assay_certify_failed(&out) ? ASSAY_EXIT_REGRESSED : ASSAY_EXIT_OK;
	assay_certify_report_release(&out);
	return shown ? shown : rc;
}

int assay_cmd_certify(int argc, char **argv)
{
	struct certify_args a = { .c.q.what = &a.c.s.r, .gates = DEFAULT_GATES, .trials = DEFAULT_TRIALS };

	return assay_command(&argp, argc, argv, &a, certify);
}
