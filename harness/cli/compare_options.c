/* SPDX-License-Identifier: Apache-2.0 */
/* Margins, rates and budgets on the command line. */
#include "cli/compare_options.h"

#include <errno.h>

enum { OPT_POLICY = 0x300, OPT_MARGIN, OPT_ALPHA, OPT_BUDGET };

static int take_frac(const char *arg, const char *name, double most, double *out, struct assay_err *err)
{
	if (!assay_parse_frac(arg, name, 0, most, out, err) && *out > 0)
		return 0;
	return assay_err_set(err, ASSAY_EUSAGE, "bad %s '%s': expected a share above 0 and up to %g %% such as 0.5%%",
			     name, arg, 100 * most);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct assay_compare_args *a = state->input;
	struct assay_err *err = &a->s.err;

	switch (key) {
	case OPT_POLICY:
		a->q.policy = arg;
		return 0;
	case OPT_ALPHA:
		return take_frac(arg, "--alpha", 0.5, &a->q.alpha, err) ? EINVAL : 0;
	case OPT_MARGIN:
		return take_frac(arg, "--margin", 1, &a->q.margin_frac, err) ? EINVAL : 0;
	case OPT_BUDGET:
		return assay_parse_duration_ns(arg, "--budget", &a->q.budget_ns, err) ? EINVAL : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option rate_options[] = {
	{ "policy", OPT_POLICY, "FILE", 0, "Margins, rates and limits (default baselines/policy.conf)", 0 },
	{ "alpha", OPT_ALPHA, "SHARE", 0,
	  "Chance that a whole comparison fails on unchanged code; wins over the policy", 0 },
	{ 0 },
};
static const struct argp_option budget_options[] = {
	{ "margin", OPT_MARGIN, "SHARE", 0, "Allowed slowdown of every case, such as 1%; wins over the policy", 0 },
	{ "budget", OPT_BUDGET, "TIME", 0, "Time of a case, such as 10s; wins over the policy", 0 },
	{ 0 },
};

const struct argp assay_argp_rates = { .options = rate_options, .parser = parse };
const struct argp assay_argp_budget = { .options = budget_options, .parser = parse };

int assay_compare_take_both(struct assay_compare_request *q, const char *arg, const char *command,
			    struct assay_err *err)
{
	if (q->base)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "unexpected argument '%s': %s takes one plugin, folder or revision", arg, command);
	q->base = q->head = arg;
	return 0;
}
