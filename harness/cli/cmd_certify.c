/* SPDX-License-Identifier: Apache-2.0 */
/* assay certify: how often is this host's judge wrong? Comparisons of known outcome, by the hundred. */
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/compare_options.h"
#include "drive/compare/certify.h"
#include "model/verdict.h"

#define DEFAULT_GATES  100
#define DEFAULT_TRIALS 20

struct certify_args {
	struct assay_compare_args c;
	uint64_t gates, trials;
	struct assay_certify_slowdowns slowdowns;
};

static int take_arg(void *args, const char *arg, struct assay_err *err)
{
	struct certify_args *a = args;

	if (a->c.q.base)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "unexpected argument '%s': certify takes one plugin, folder or revision", arg);
	a->c.q.base = a->c.q.head = arg;
	return 0;
}

static int set_gates(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return assay_parse_u64(arg, name, 1, 1000000, to, err);
}

static int set_trials(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return assay_parse_u64(arg, name, 0, 1000000, to, err);
}

/* Shares, such as "1%,2%". */
static int set_slowdowns(void *to, const char *arg, const char *name, struct assay_err *err)
{
	struct assay_certify_slowdowns *s = to;
	char one[32];

	s->n = 0;
	for (const char *p = arg;; p++) {
		const size_t len = strcspn(p, ",");

		if (s->n == ASSAY_CERTIFY_SLOWDOWNS || len >= sizeof(one))
			return assay_err_set(err, ASSAY_EUSAGE, "bad %s '%s': expected up to %d shares such as 1%%,2%%",
					     name, arg, ASSAY_CERTIFY_SLOWDOWNS);
		memcpy(one, p, len);
		one[len] = '\0';
		if (assay_parse_frac(one, name, 1e-4, 1, &s->frac[s->n++], err))
			return ASSAY_EUSAGE;
		p += len;
		if (!*p)
			return 0;
	}
}

static const struct assay_option options[] = {
	{ "gates", 0, "N", set_gates, offsetof(struct certify_args, gates), "Gates of unchanged code (default 100)" },
	{ "trials", 0, "N", set_trials, offsetof(struct certify_args, trials),
	  "Trials of each known slowdown (default 20)" },
	{ "slowdown", 0, "LIST", set_slowdowns, offsetof(struct certify_args, slowdowns),
	  "Slowdowns to try, such as 1%,2% (default 0.5%,1%,2%,5%)" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "[PLUGIN|FOLDER|REVISION]",
	.doc = "Measure how often verdicts on this host are wrong: gates of unchanged code must pass, and "
	       "comparisons with a known slowdown must fail. Each is a whole comparison with fresh processes. "
	       "Unless --only names others, the case is a small quantization on one thread. The spread "
	       "of the process pairs gives the smallest slowdown that a comparison detects within --budget.\v"
	       "The exit status is 0 if the rate of false alarms agrees with the promised one, 1 if it is clearly "
	       "higher, 2 for bad usage.\n"
	       "\n"
	       "example:\n"
	       "  assay certify --gates 200 --trials 50\n"
	       "  assay certify --budget 10s --gates 5 --trials 0",
	.tables = { ASSAY_OPTIONS_PLANNING,
		    { assay_options_output, 0 },
		    { assay_options_rates, 0 },
		    { assay_options_budget, 0 },
		    { options, 0 } },
	.argument = take_arg,
};

static int certify(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct certify_args *a = args;
	const struct assay_certify_request q = {
		.compare = a->c.q, .gates = (unsigned)a->gates, .trials = (unsigned)a->trials, .slowdowns = a->slowdowns
	};
	struct assay_certify_report out;
	const struct assay_report report = { .kind = ASSAY_REPORT_CERTIFICATION, .certification = &out };
	struct assay_err why = { 0 };
	int rc = assay_certify_choose(&a->c.s.r, err), shown = 0;

	if (rc)
		return rc;
	rc = assay_certify(&q, &w->watch, &out, &why);
	if (out.n_judged > 0)
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

	return assay_command(&line, argc, argv, &a, certify);
}
