/* SPDX-License-Identifier: Apache-2.0 */
/* assay plan: what this host can promise within a time, from how far process pairs of each case lie apart. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "drive/compare_plan.h"
#include "cli/compare_options.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "judge/comparison_judge.h"
#include "judge/planning.h"
#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/json_parts.h"
#include "store/store_comparison.h"

enum { OPT_DETECT = 0x200, OPT_WITHIN };

#define DEFAULT_DETECT_FRAC 0.01
#define PILOT_PAIRS         5

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
		return assay_compare_take_both(&a->c.o, arg, "plan", err) ? EINVAL : 0;
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
	"be found in a given "
	"time. The spread of every case is taken from stored comparisons of this machine; for cases without any, a few "
	"process pairs of "
	"unchanged code are measured now.\v"
	"The exit status is 0 when it can be done (in the time, where one is given), 1 when it cannot, also because a "
	"case could "
	"not be measured, 2 for bad usage.\n\n"
	"example:\n  assay plan --detect 1% --alpha 1% --within 5min --suite quick",
	children,
	NULL,
	NULL,
};

static int find_case(const struct assay_compare_plan *p, const char *key)
{
	for (size_t i = 0; i < p->cmp.n_cases; i++)
		if (!strcmp(p->cmp.cases[i].c.key, key))
			return (int)i;
	return -1;
}

/* Spread and time of the cases that stored comparisons of this machine know. */
static int learn(const struct assay_compare_plan *p, struct assay_store *store, struct assay_planned *cases,
		 struct assay_err *err)
{
	struct assay_comparison_info *list = NULL;
	size_t n = 0;
	int rc = assay_store_comparisons(store, p->cmp.machine.id, 20, &list, &n, err);

	for (size_t i = 0; i < n && !rc; i++) {
		struct assay_comparison old;

		rc = assay_store_comparison_load(store, list[i].id, &old, NULL, NULL, err);
		for (size_t k = 0; !rc && k < old.n_cases; k++) {
			int at = find_case(p, old.cases[k].c.key);

			if (at >= 0 && old.cases[k].control != ASSAY_CONTROL_SLOWER)
				rc = assay_planned_learn(&cases[at], &old.cases[k], err);
		}
		if (!rc)
			assay_comparison_release(&old);
	}
	free(list);
	return rc;
}

static void on_progress(void *arg, double done_frac, const char *key)
{
	assay_progress_show(arg, done_frac, key);
}

/* A few pairs of unchanged code for the cases nothing is known of. */
static int pilot(struct assay_compare_plan *p, const struct assay_settings *s, struct assay_planned *cases,
		 struct assay_err *err)
{
	struct assay_comparison *cmp = &p->cmp;
	struct assay_progress progress;
	struct assay_clock clock;
	struct assay_comparing k = assay_compare_plan_comparing(p, s, &clock, assay_interrupt_catch());
	int rc = assay_clock_init(&clock, err);

	k.progress = on_progress;
	k.arg = &progress;
	cmp->max_pairs = PILOT_PAIRS;
	for (size_t i = 0; i < cmp->n_cases; i++)
		if (cases[i].n_pairs >= PILOT_PAIRS)
			cmp->cases[i].in_head = false; /* known: not measured again */
	if (!rc) {
		assay_progress_begin_for(&progress, 0.5e9 * PILOT_PAIRS * (double)cmp->n_cases);
		rc = assay_comparing_run(&k, err);
		assay_progress_hide(&progress);
	}
	assay_interrupt_release();
	for (size_t i = 0; i < cmp->n_cases && !rc; i++)
		rc = assay_planned_learn(&cases[i], &cmp->cases[i], err);
	return rc;
}

/* Why nothing usable came of a case. */
static int explain(const struct assay_compare_plan *p, size_t i, char *buf, size_t size, struct assay_err *err)
{
	const struct assay_comparison_case *c = &p->cmp.cases[i];
	const struct assay_paired_rule rule = assay_comparison_rule(&p->cmp, c, &p->policy);
	struct assay_gate_case g;
	bool final;
	int rc = assay_paired_judge(c, &rule, &g, &final, err);

	if (!rc)
		snprintf(buf, size, "%s", g.reason);
	return rc;
}

static json_t *number_json(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *case_json(const struct assay_compare_plan *p, const struct assay_planned *c, size_t i,
			 struct assay_err *err)
{
	bool known = assay_planned_known(c);
	char why[512] = "";

	if (!known && explain(p, i, why, sizeof(why), err))
		return NULL;
	return json_pack("{s:s,s:b,s:o,s:i,s:o,s:o,s:o,s:s}", "key", p->cmp.cases[i].c.key, "known", known, "pair_sd",
			 number_json(known ? assay_planned_sd(c) : NAN), "known_pairs", (int)c->n_pairs, "pair_s",
			 number_json(known ? assay_planned_pair_s(c) : NAN), "pairs",
			 c->need_pairs ? json_integer(c->need_pairs) : json_null(), "seconds", number_json(c->need_s),
			 "reason", why);
}

static int print_json(const struct plan_args *a, const struct assay_compare_plan *p, const struct assay_planned *cases,
		      const struct assay_promise *pr, struct assay_err *err)
{
	struct assay_text out = { 0 };
	json_t *list = json_array(), *root;
	int rc;

	for (size_t i = 0; i < p->cmp.n_cases; i++)
		if (json_array_append_new(list, case_json(p, &cases[i], i, err))) {
			json_decref(list);
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		}
	root = json_pack("{s:i,s:s,s:f,s:f,s:o,s:o,s:b,s:o,s:o}", "schema", 1, "suite", p->cmp.suite, "detect",
			 a->detect_frac, "alpha", p->cmp.alpha, "within_s",
			 a->within_ns ? json_real((double)a->within_ns * 1e-9) : json_null(), "needed_s",
			 number_json(pr->needed_s), "possible", pr->possible, "detectable_within",
			 number_json(pr->detectable_frac), "cases", list);
	rc = assay_json_print(root, &out, err);
	assay_cli_put(&out);
	return rc;
}

/* One row a case; returns in @unknown how many nothing is known of. */
static int print_cases(const struct assay_compare_plan *p, const struct assay_planned *cases, size_t *unknown,
		       struct assay_err *err)
{
	const struct assay_emit_style style = assay_cli_style();

	*unknown = 0;
	printf("  pair sd  pairs      time  case\n");
	for (size_t i = 0; i < p->cmp.n_cases; i++) {
		const struct assay_planned *c = &cases[i];
		char sd[16] = "unknown", pairs[16] = "-", took[32] = "-", why[512] = "";

		if (assay_planned_known(c))
			snprintf(sd, sizeof(sd), "%.3f %%", 100 * assay_planned_sd(c));
		else if (explain(p, i, why, sizeof(why), err))
			return err->code;
		if (c->need_pairs) {
			snprintf(pairs, sizeof(pairs), "%u", c->need_pairs);
			assay_quantity_text(c->need_s, "s", style.utf8, took, sizeof(took));
		} else if (assay_planned_known(c)) {
			snprintf(pairs, sizeof(pairs), "> 4096");
		}
		printf("  %7s %6s  %8s  %s\n", sd, pairs, took, p->cmp.cases[i].c.key);
		*unknown += !assay_planned_known(c);
		if (why[0])
			printf("      %s\n", why);
	}
	return 0;
}

/* One line, wrapped to the terminal. */
static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	struct assay_text line = { 0 };
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	assay_columns_wrap(&line, text, 0, 0, assay_cli_style().width);
	assay_text_add(&line, "\n");
	assay_cli_put(&line);
}

static int print_text(const struct plan_args *a, const struct assay_compare_plan *p, const struct assay_planned *cases,
		      const struct assay_promise *pr, struct assay_err *err)
{
	const struct assay_emit_style style = assay_cli_style();
	char needed[64], within[64];
	size_t unknown;
	int rc;

	printf("suite    %s, %zu case%s\n", p->cmp.suite, p->cmp.n_cases, p->cmp.n_cases == 1 ? "" : "s");
	printf("machine  %s\n\n", p->cmp.machine.label);
	rc = print_cases(p, cases, &unknown, err);
	if (rc)
		return rc;
	putchar('\n');
	if (unknown) {
		say("Nothing can be promised: of %zu case%s nothing usable could be measured, see above. Leave %s out "
		    "with --only or "
		    "try again when the host is quieter.",
		    unknown, unknown == 1 ? "" : "s", unknown == 1 ? "it" : "them");
		return 0;
	}
	assay_quantity_text(pr->needed_s, "s", style.utf8, needed, sizeof(needed));
	assay_quantity_text((double)a->within_ns * 1e-9, "s", style.utf8, within, sizeof(within));
	if (isfinite(pr->needed_s))
		say("+%.3g %% is found in 95 of 100 comparisons, with at most %.3g %% failing on unchanged code, in "
		    "%s.",
		    100 * a->detect_frac, 100 * p->cmp.alpha, needed);
	else
		say("+%.3g %% cannot be found here with 4096 pairs a case: the cases above that say so vary too much.",
		    100 * a->detect_frac);
	if (a->within_ns && pr->possible)
		say("That is within %s.", within);
	else if (a->within_ns && isfinite(pr->detectable_frac))
		say("Within %s the best promise is +%.3g %%: allow more time, fewer cases (--only), or a larger "
		    "slowdown.",
		    within, 100 * pr->detectable_frac);
	else if (a->within_ns)
		say("Within %s nothing can be promised: allow more time or fewer cases (--only).", within);
	return 0;
}

static int make_plan(struct plan_args *a, struct assay_compare_plan *p, struct assay_store *store, int *status,
		     struct assay_err *err)
{
	struct assay_planned *cases = calloc(p->cmp.n_cases, sizeof(*cases));
	struct assay_promise promise;
	unsigned max_pairs = p->cmp.max_pairs;
	int rc = cases ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");

	if (!rc && store)
		rc = learn(p, store, cases, err);
	if (!rc)
		rc = pilot(p, &a->c.s, cases, err);
	if (!rc) {
		const struct assay_plan_goal goal = { .detect_frac = a->detect_frac,
						      .alpha = p->cmp.alpha,
						      .alpha_pass = p->policy.pass_alpha,
						      .max_pairs = max_pairs,
						      .within_s = (double)a->within_ns * 1e-9 };

		promise = assay_plan_promise(cases, p->cmp.n_cases, &goal);
		*status = promise.possible ? ASSAY_EXIT_OK : ASSAY_EXIT_REGRESSED;
		rc = a->c.s.json ? print_json(a, p, cases, &promise, err) : print_text(a, p, cases, &promise, err);
	}
	free(cases);
	return rc;
}

int assay_cmd_plan(int argc, char **argv)
{
	struct plan_args a = { .detect_frac = DEFAULT_DETECT_FRAC };
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
	a.c.o.no_controls = true;
	if (!rc)
		rc = assay_compare_plan_make(&plan, &a.c.s, &a.c.o, &err);
	/* without a database there is no history, and that is fine */
	if (!rc && assay_store_open(&store, a.c.s.db, ASSAY_STORE_READ, &err) && err.code != ASSAY_ENOTFOUND)
		rc = err.code;
	if (rc) {
		status = assay_cli_fail(&err);
	} else {
		rc = make_plan(&a, &plan, store, &status, &err);
		status = rc ? assay_cli_fail(&err) : status;
	}
	assay_store_close(store);
	assay_compare_plan_release(&plan);
	assay_settings_release(&a.c.s);
	return status;
}
