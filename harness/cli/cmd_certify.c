/* SPDX-License-Identifier: Apache-2.0 */
/* assay certify: how often is this host's judge wrong? Comparisons of known outcome, by the hundred. */
#include <errno.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/compare_options.h"
#include "cli/watcher.h"
#include "drive/certify.h"
#include "model/verdict.h"
#include "reports/columns.h"

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

static void print_rate(const char *what, const struct assay_rate *r)
{
	if (r->of)
		printf("  %-28s %4u of %-4u %6.2f %%  (95 %%: %.2f to %.2f %%)\n", what, r->k, r->of,
		       100.0 * r->k / r->of, 100 * r->lo, 100 * r->hi);
}

static void print_text(const struct assay_certify_report *o)
{
	struct assay_text line = { 0 };
	char promise[160];

	printf("machine  %s\n", o->machine.label);
	for (size_t i = 0; i < o->keys.n; i++)
		printf("case     %s\n", o->keys.v[i]);
	snprintf(promise, sizeof(promise),
		 "at most %.3g %% of gates of unchanged code fail; margin %.3g %%, budget %.3g s a case",
		 100 * o->alpha, 100 * o->margin_frac, (double)o->budget_ns * 1e-9);
	assay_text_add(&line, "promise  ");
	assay_columns_wrap(&line, promise, 9, 9, assay_cli_style().width);
	assay_text_add(&line, "\n\n");
	assay_cli_put(&line);
	print_rate("unchanged code: false alarms", &o->false_alarms);
	print_rate("unchanged code: passed", &o->passed);
	for (unsigned k = 0; k < ASSAY_CERTIFY_SLOWDOWNS; k++) {
		char what[64];

		snprintf(what, sizeof(what), "+%.1f %%: found", 100 * o->power[k].slowdown_frac);
		print_rate(what, &o->power[k].detected);
		if (o->power[k].passed.k) {
			snprintf(what, sizeof(what), "+%.1f %%: passed", 100 * o->power[k].slowdown_frac);
			print_rate(what, &o->power[k].passed);
		}
	}
	printf("\n  smallest slowdown found in 95 %% of cases  %.2f %%\n", 100 * o->smallest_detectable_frac);
	printf("  between process pairs                     %.3f %% standard deviation\n", 100 * o->sd);
	printf("  a case took                               %.2f s, %.1f pairs\n", o->seconds_per_case,
	       o->pairs_per_case);
}

static int certify(const struct certify_args *a, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct assay_certify_request q = { .compare = a->c.q,
						 .gates = (unsigned)a->gates,
						 .trials = (unsigned)a->trials };
	struct assay_certify_report out;
	int rc = assay_certify(&q, &w->watch, &out, err);

	if (out.json && a->c.s.json)
		puts(out.json);
	else if (out.json)
		print_text(&out);
	*status = assay_certify_failed(&out) ? ASSAY_EXIT_REGRESSED : ASSAY_EXIT_OK;
	assay_certify_report_release(&out);
	return rc;
}

int assay_cmd_certify(int argc, char **argv)
{
	struct certify_args a = { .c.q.what = &a.c.s.r, .gates = DEFAULT_GATES, .trials = DEFAULT_TRIALS };
	struct assay_err err = { 0 };
	struct assay_watcher w;
	int status = 0, rc = assay_settings_init(&a.c.s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &a, &err);
	if (!rc)
		rc = assay_certify_choose(&a.c.s.r, &err);
	if (!rc) {
		assay_watcher_begin(&w, false);
		rc = certify(&a, &w, &status, &err);
		assay_watcher_end(&w);
	}
	assay_settings_release(&a.c.s);
	return rc ? assay_cli_fail(&err) : status;
}
