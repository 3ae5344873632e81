/* SPDX-License-Identifier: Apache-2.0 */
/* assay plan: what this host can promise within a time, from how far process pairs of each case lie apart. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/compare_options.h"
#include "cli/watcher.h"
#include "drive/promise.h"
#include "model/quantity.h"
#include "model/verdict.h"
#include "reports/columns.h"
#include "reports/json_parts.h"

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

static json_t *number_json(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *case_json(const struct assay_promise_case *c)
{
	return json_pack("{s:s,s:b,s:o,s:i,s:o,s:o,s:o,s:s}", "key", c->key, "known", c->known, "pair_sd",
			 number_json(c->sd), "known_pairs", (int)c->known_pairs, "pair_s", number_json(c->pair_s),
			 "pairs", c->need_pairs ? json_integer(c->need_pairs) : json_null(), "seconds",
			 number_json(c->need_s), "reason", c->reason);
}

static int print_json(const struct assay_promise_report *r, struct assay_err *err)
{
	struct assay_text out = { 0 };
	json_t *list = json_array(), *root;
	int rc;

	for (size_t i = 0; i < r->n_cases; i++)
		if (json_array_append_new(list, case_json(&r->cases[i]))) {
			json_decref(list);
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		}
	root = json_pack("{s:i,s:s,s:f,s:f,s:o,s:o,s:b,s:o,s:o}", "schema", 1, "suite", r->suite, "detect",
			 r->detect_frac, "alpha", r->alpha, "within_s",
			 r->within_s > 0 ? json_real(r->within_s) : json_null(), "needed_s", number_json(r->needed_s),
			 "possible", r->possible, "detectable_within", number_json(r->detectable_frac), "cases", list);
	rc = assay_json_print(root, &out, err);
	assay_cli_put(&out);
	return rc;
}

/* One row a case; returns how many nothing is known of. */
static size_t print_cases(const struct assay_promise_report *r)
{
	const struct assay_emit_style style = assay_cli_style();
	size_t unknown = 0;

	printf("  pair sd  pairs      time  case\n");
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct assay_promise_case *c = &r->cases[i];
		char sd[16] = "unknown", pairs[16] = "-", took[32] = "-";

		if (c->known)
			snprintf(sd, sizeof(sd), "%.3f %%", 100 * c->sd);
		if (c->need_pairs) {
			snprintf(pairs, sizeof(pairs), "%u", c->need_pairs);
			assay_quantity_text(c->need_s, "s", style.utf8, took, sizeof(took));
		} else if (c->known) {
			snprintf(pairs, sizeof(pairs), "> 4096");
		}
		printf("  %7s %6s  %8s  %s\n", sd, pairs, took, c->key);
		if (!c->known) {
			unknown++;
			printf("      %s\n", c->reason);
		}
	}
	return unknown;
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

static void print_text(const struct assay_promise_report *r)
{
	const struct assay_emit_style style = assay_cli_style();
	char needed[64], within[64];
	size_t unknown;

	printf("suite    %s, %zu case%s\n", r->suite, r->n_cases, r->n_cases == 1 ? "" : "s");
	printf("machine  %s\n\n", r->machine);
	unknown = print_cases(r);
	putchar('\n');
	if (unknown) {
		say("Nothing can be promised: of %zu case%s nothing usable could be measured, see above. Leave %s out "
		    "with --only or try again when the host is quieter.",
		    unknown, unknown == 1 ? "" : "s", unknown == 1 ? "it" : "them");
		return;
	}
	assay_quantity_text(r->needed_s, "s", style.utf8, needed, sizeof(needed));
	assay_quantity_text(r->within_s, "s", style.utf8, within, sizeof(within));
	if (isfinite(r->needed_s))
		say("+%.3g %% is found in 95 of 100 comparisons, with at most %.3g %% failing on unchanged code, in "
		    "%s.",
		    100 * r->detect_frac, 100 * r->alpha, needed);
	else
		say("+%.3g %% cannot be found here with 4096 pairs a case: the cases above that say so vary too much.",
		    100 * r->detect_frac);
	if (r->within_s > 0 && r->possible)
		say("That is within %s.", within);
	else if (r->within_s > 0 && isfinite(r->detectable_frac))
		say("Within %s the best promise is +%.3g %%: allow more time, fewer cases (--only), or a larger "
		    "slowdown.",
		    within, 100 * r->detectable_frac);
	else if (r->within_s > 0)
		say("Within %s nothing can be promised: allow more time or fewer cases (--only).", within);
}

static int plan(const struct plan_args *a, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct assay_promise_request q = { .compare = a->c.q,
						 .detect_frac = a->detect_frac,
						 .within_ns = a->within_ns };
	struct assay_promise_report out;
	int rc = assay_promise(&q, &w->watch, &out, err);

	if (!rc && a->c.s.json)
		rc = print_json(&out, err);
	else if (!rc)
		print_text(&out);
	*status = out.possible ? ASSAY_EXIT_OK : ASSAY_EXIT_REGRESSED;
	assay_promise_report_release(&out);
	return rc;
}

int assay_cmd_plan(int argc, char **argv)
{
	struct plan_args a = { .c.q.what = &a.c.s.r, .detect_frac = DEFAULT_DETECT_FRAC };
	struct assay_err err = { 0 };
	struct assay_watcher w;
	int status = 0, rc = assay_settings_init(&a.c.s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &a, &err);
	if (!rc) {
		assay_watcher_begin(&w, false);
		rc = plan(&a, &w, &status, &err);
		assay_watcher_end(&w);
	}
	assay_settings_release(&a.c.s);
	return rc ? assay_cli_fail(&err) : status;
}
