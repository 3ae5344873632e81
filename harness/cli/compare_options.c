/* SPDX-License-Identifier: Apache-2.0 */
/* Margins, rates and budgets on the command line. */
#include "cli/compare_options.h"

/* A share above 0 and up to @most. */
static int take_frac(void *to, const char *arg, const char *name, double most, struct assay_err *err)
{
	double *out = to;

	if (!assay_parse_frac(arg, name, 0, most, out, err) && *out > 0)
		return 0;
	return assay_err_set(err, ASSAY_EUSAGE, "bad %s '%s': expected a share above 0 and up to %g %% such as 0.5%%",
			     name, arg, 100 * most);
}

static int set_alpha(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return take_frac(to, arg, name, 0.5, err);
}

static int set_margin(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return take_frac(to, arg, name, 1, err);
}

#define AT(member) offsetof(struct assay_compare_args, member)

const struct assay_option assay_options_rates[] = {
	{ "policy", 0, "FILE", assay_option_text, AT(q.policy),
	  "Margins, rates and limits (default baselines/policy.conf)" },
	{ "alpha", ASSAY_RARELY, "SHARE", set_alpha, AT(q.alpha),
	  "Chance that a whole comparison fails on unchanged code; overrides the policy" },
	{ 0 },
};
const struct assay_option assay_options_budget[] = {
	{ "margin", 0, "SHARE", set_margin, AT(q.margin_frac),
	  "Allowed slowdown of every case, such as 1%; overrides the policy" },
	{ "budget", 0, "TIME", assay_option_duration, AT(q.budget_ns),
	  "Time of a case, such as 10s; overrides the policy" },
	{ 0 },
};
