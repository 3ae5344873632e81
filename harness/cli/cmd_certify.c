/* SPDX-License-Identifier: Apache-2.0 */
/* assay certify: how often is this host's judge wrong? Comparisons of known outcome, by the hundred. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "drive/certifying.h"
#include "cli/cli.h"
#include "cli/compare_options.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "reports/columns.h"
#include "stats/distributions.h"
#include "store/store_comparison.h"

enum { OPT_GATES = 0x200, OPT_TRIALS };

#define DEFAULT_GATES  100
#define DEFAULT_TRIALS 20
/*
 * So quick that half a percent is a whole number of calls of a sample too short to be disturbed often, so large that
 * its layout does not rule it.
 */
#define DEFAULT_SUITE "smoke"
#if defined(__x86_64__)
#define DEFAULT_ONLY "quantize.i2_s/avx2/n=16384/*"
#else
#define DEFAULT_ONLY "quantize.i2_s/ref/n=16384/*"
#endif

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
		return assay_compare_take_both(&a->c.o, arg, "certify", err) ? EINVAL : 0;
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

static json_t *interval(unsigned k, unsigned n)
{
	struct assay_interval ci = assay_stats_binomial_ci(k, n, 0.95);

	return json_pack("[f,f]", ci.lo, ci.hi);
}

static json_t *outcome_json(const struct certify_args *a, const struct assay_compare_plan *p,
			    const struct assay_certify_outcome *o)
{
	json_t *power = json_array(), *keys = json_array();

	for (size_t i = 0; i < p->cmp.n_cases; i++)
		json_array_append_new(keys, json_string(p->cmp.cases[i].c.key));
	for (unsigned k = 0; k < ASSAY_CERTIFY_SLOWDOWNS; k++)
		json_array_append_new(power, json_pack("{s:f,s:i,s:i,s:i,s:o}", "slowdown", o->power[k].slowdown_frac,
						       "detected", (int)o->power[k].detected, "of", (int)o->power[k].of,
						       "passed", (int)o->power[k].passed, "ci",
						       interval(o->power[k].detected, o->power[k].of)));
	return json_pack("{s:i,s:i,s:i,s:o,s:i,s:i,s:o,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:o,s:I}", "schema", 1, "gates",
			 (int)o->gates, "false_alarms", (int)o->false_alarms, "false_alarm_ci",
			 interval(o->false_alarms, o->gates), "passed", (int)o->passed, "inconclusive",
			 (int)o->inconclusive, "power", power, "smallest_detectable", o->smallest_detectable_frac,
			 "alpha", p->cmp.alpha, "margin", assay_policy_paired_margin(&p->policy, &p->cmp.cases[0].c),
			 "pair_sd", o->sd, "pairs_per_case", o->pairs_per_case, "seconds_per_case", o->seconds_per_case,
			 "seconds", o->seconds, "cases", keys, "seed", (json_int_t)(a->c.s.seed & INT64_MAX));
}

static void print_rate(const char *what, unsigned k, unsigned n)
{
	struct assay_interval ci = assay_stats_binomial_ci(k, n, 0.95);

	if (n)
		printf("  %-28s %4u of %-4u %6.2f %%  (95 %%: %.2f to %.2f %%)\n", what, k, n, 100.0 * k / n,
		       100 * ci.lo, 100 * ci.hi);
}

static void print_text(const struct assay_compare_plan *p, const struct assay_certify_outcome *o)
{
	struct assay_text line = { 0 };
	char promise[160];

	printf("machine  %s\n", p->cmp.machine.label);
	for (size_t i = 0; i < p->cmp.n_cases; i++)
		printf("case     %s\n", p->cmp.cases[i].c.key);
	snprintf(promise, sizeof(promise),
		 "at most %.3g %% of gates of unchanged code fail; margin %.3g %%, budget %.3g s a case",
		 100 * p->cmp.alpha, 100 * assay_policy_paired_margin(&p->policy, &p->cmp.cases[0].c),
		 (double)p->cmp.budget_ns * 1e-9);
	assay_text_add(&line, "promise  ");
	assay_columns_wrap(&line, promise, 9, 9, assay_cli_style().width);
	assay_text_add(&line, "\n\n");
	assay_cli_put(&line);
	print_rate("unchanged code: false alarms", o->false_alarms, o->gates);
	print_rate("unchanged code: passed", o->passed, o->gates);
	for (unsigned k = 0; k < ASSAY_CERTIFY_SLOWDOWNS; k++) {
		char what[64];

		snprintf(what, sizeof(what), "+%.1f %%: found", 100 * o->power[k].slowdown_frac);
		print_rate(what, o->power[k].detected, o->power[k].of);
		if (o->power[k].passed) {
			snprintf(what, sizeof(what), "+%.1f %%: passed", 100 * o->power[k].slowdown_frac);
			print_rate(what, o->power[k].passed, o->power[k].of);
		}
	}
	printf("\n  smallest slowdown found in 95 %% of cases  %.2f %%\n", 100 * o->smallest_detectable_frac);
	printf("  between process pairs                     %.3f %% standard deviation\n", 100 * o->sd);
	printf("  a case took                               %.2f s, %.1f pairs\n", o->seconds_per_case,
	       o->pairs_per_case);
}

static int store_outcome(struct assay_store *store, const struct assay_compare_plan *p,
			 const struct assay_certify_outcome *o, json_t *json, struct assay_err *err)
{
	struct assay_certify_record r = { .machine = p->cmp.machine,
					  .started_ns = p->cmp.started_ns,
					  .ended_ns = assay_clock_unix_ns(),
					  .gates = o->gates,
					  .false_alarms = o->false_alarms };
	json_t *settings = json_pack("{s:f,s:I,s:i}", "alpha", p->cmp.alpha, "budget_ns", (json_int_t)p->cmp.budget_ns,
				     "max_pairs", (int)p->cmp.max_pairs);
	int rc;

	r.settings = settings ? json_dumps(settings, JSON_COMPACT) : NULL;
	r.result = json_dumps(json, JSON_COMPACT);
	rc = r.settings && r.result ? assay_store_certify_add(store, &r, err)
				    : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	json_decref(settings);
	free(r.settings);
	free(r.result);
	return rc;
}

static void on_progress(void *arg, double done_frac, const char *what)
{
	assay_progress_show(arg, done_frac, what);
}

static int certify(const struct certify_args *a, struct assay_compare_plan *p, struct assay_store *store, int *status,
		   struct assay_err *err)
{
	struct assay_progress progress;
	struct assay_certify_outcome o;
	struct assay_clock clock;
	struct assay_certifying c = { .plan = p,
				      .clock = &clock,
				      .settings = &a->c.s,
				      .gates = (unsigned)a->gates,
				      .trials = (unsigned)a->trials,
				      .interrupted = assay_interrupt_catch(),
				      .progress = on_progress,
				      .arg = &progress };
	json_t *json;
	int rc = assay_clock_init(&clock, err), stored;

	if (rc)
		return rc;
	assay_progress_begin_for(&progress,
				 (double)p->cmp.budget_ns * (double)(a->gates * p->cmp.n_cases + a->trials * 4) / 4);
	rc = assay_certifying_run(&c, &o, err);
	assay_progress_hide(&progress);
	assay_interrupt_release();
	if (rc && rc != ASSAY_EINTERRUPTED)
		return rc;
	json = outcome_json(a, p, &o);
	if (!json)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	stored = store_outcome(store, p, &o, json, err);
	if (a->c.s.json) {
		json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
		putchar('\n');
	} else {
		print_text(p, &o);
	}
	json_decref(json);
	*status = assay_stats_binomial_ci(o.false_alarms, o.gates, 0.95).lo > p->cmp.alpha ? ASSAY_EXIT_REGRESSED
											   : ASSAY_EXIT_OK;
	if (stored)
		return stored;
	return rc ? assay_err_set(err, rc, "interrupted: %u gates were done and are kept", o.gates) : 0;
}

/* Whoever names nothing gets one small case on one thread. */
static int choose_case(struct assay_settings *s, struct assay_err *err)
{
	int rc;

	if (s->only.n || s->suite)
		return 0;
	s->suite = DEFAULT_SUITE;
	rc = assay_strings_add(&s->only, DEFAULT_ONLY, err);
	if (rc || s->threads)
		return rc;
	s->threads = malloc(sizeof(*s->threads));
	if (!s->threads)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	s->threads[0] = 1;
	s->n_threads = 1;
	return 0;
}

int assay_cmd_certify(int argc, char **argv)
{
	struct certify_args a = { .gates = DEFAULT_GATES, .trials = DEFAULT_TRIALS };
	struct assay_compare_plan plan = { 0 };
	struct assay_store *store = NULL;
	struct assay_err err = { 0 };
	char installed[ASSAY_INSTALLED_PATH_MAX];
	int status = 0, rc = assay_settings_init(&a.c.s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &a, &err);
	if (!rc && !a.c.o.base) {
		rc = assay_installed_plugin_dir(installed, sizeof(installed), &err);
		a.c.o.base = a.c.o.head = installed;
	}
	if (!rc)
		rc = choose_case(&a.c.s, &err);
	a.c.o.no_controls = true;
	if (!rc)
		rc = assay_compare_plan_make(&plan, &a.c.s, &a.c.o, &err);
	if (!rc)
		rc = assay_store_open(&store, a.c.s.db, ASSAY_STORE_WRITE, &err);
	if (rc) {
		status = assay_cli_fail(&err);
	} else {
		rc = certify(&a, &plan, store, &status, &err);
		status = rc ? assay_cli_fail(&err) : status;
	}
	assay_store_close(store);
	assay_compare_plan_release(&plan);
	assay_settings_release(&a.c.s);
	return status;
}
