/* SPDX-License-Identifier: Apache-2.0 */
/* assay show: stored runs and comparisons, one of them, or one case of it down to its raw samples. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cli_options.h"
#include "drive/comparison_reading.h"
#include "judge/policy.h"
#include "model/verdict.h"
#include "store/store_comparison.h"

struct show_args {
	struct assay_settings s;
	const char *run, *only;
	int64_t run_id;   /* or that of a comparison; 0: the newest */
	bool comparisons; /* not runs */
	bool samples;
};

static int take_id(struct show_args *a, const char *arg)
{
	const char *kind = a->comparisons ? "comparison" : "run";

	a->run = arg;
	return assay_cli_parse_id(arg, kind, kind, &a->run_id, &a->s.err);
}

static int take_arg(struct show_args *a, const char *arg)
{
	if (!a->run && !a->comparisons && !strcmp(arg, "comparisons")) {
		a->comparisons = true;
		return 0;
	}
	if (!a->run)
		return take_id(a, arg);
	if (a->only)
		return assay_err_set(&a->s.err, ASSAY_EUSAGE, "unexpected argument '%s': show takes a %s and a case",
				     arg, a->comparisons ? "comparison" : "run");
	if (!arg[0])
		return assay_err_set(&a->s.err, ASSAY_EUSAGE,
				     "bad case '': expected a part of a key or a glob, such as 'matmul.*'");
	a->only = arg;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct show_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		assay_cli_parse_children(state);
		return 0;
	case 'r':
		a->samples = true;
		return 0;
	case ARGP_KEY_ARG:
		return take_arg(a, arg) ? EINVAL : 0;
	case ARGP_KEY_END:
		if (a->samples && !a->only)
			assay_err_set(&a->s.err, ASSAY_EUSAGE, "--samples needs a case: assay show RUN CASE --samples");
		return a->s.err.code ? EINVAL : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "samples", 'r', NULL, 0, "With a case, its raw samples as well", 0 },
	{ 0 },
};
static const struct argp_child children[] = {
	{ &assay_argp_reading, 0, NULL, 0 },
	{ 0 },
};
static const struct argp argp = {
	options,
	parse,
	"[RUN [CASE]]\ncomparisons [COMPARISON [CASE]]",
	"Without arguments list the stored runs; with the number of a run, or 'last', its table; with a case (a glob, "
	"or a part of "
	"its key) all that is known of it. After the word 'comparisons' the same of comparisons, down to their process "
	"pairs.\v"
	"examples:\n  assay show last 'matmul.ternary/avx2/*' --samples\n  assay show comparisons last",
	children,
	NULL,
	NULL,
};

static int show_runs(const struct show_args *a, struct assay_store *store, struct assay_err *err)
{
	struct assay_run_info *runs = NULL;
	size_t n = 0;
	int rc = assay_store_runs(store, NULL, 0, &runs, &n, err);

	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_RUNS, .runs = { runs, n } }, a->s.json,
				    a->s.verbose, err);
	free(runs);
	return rc;
}

static int no_case(const struct assay_run *run, const char *only, struct assay_err *err)
{
	struct assay_strings names = { 0 };
	char what[48], hint[64];
	int rc = 0;

	snprintf(what, sizeof(what), "case of run %" PRId64, run->id);
	snprintf(hint, sizeof(hint), "'assay show %" PRId64 "' lists them", run->id);
	for (size_t i = 0; i < run->n_results && !rc; i++)
		rc = assay_hint_case_names(&names, &run->results[i].c, err);
	if (!rc)
		rc = assay_hint_no_case(&names, what, only, hint, err);
	assay_strings_release(&names);
	return rc;
}

/* Keep only the cases that are asked for. */
static int narrow(struct assay_run *run, const char *only, struct assay_err *err)
{
	size_t kept = 0, all = run->n_results;

	for (size_t i = 0; i < all; i++) {
		if (assay_policy_selects(only, &run->results[i].c)) {
			struct assay_result r = run->results[kept];

			run->results[kept++] = run->results[i];
			run->results[i] = r;
		}
	}
	if (!kept)
		return no_case(run, only, err);
	for (size_t i = kept; i < all; i++)
		assay_result_release(&run->results[i]);
	run->n_results = kept;
	return 0;
}

/* The whole run as text, and whether there is more to come. */
static int show_table(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out,
		      struct assay_err *err)
{
	int rc = assay_emit(r, "header", style, out, err);

	if (!rc)
		rc = assay_emit(r, "text", style, out, err);
	if (!rc && !r->run.run->ended_ns)
		assay_text_addf(out,
				"run %" PRId64 " did not finish, or is under way: only the cases above were measured\n",
				r->run.run->id);
	return rc;
}

static int show_run(const struct show_args *a, struct assay_store *store, struct assay_err *err)
{
	struct assay_emit_style style = assay_cli_style();
	struct assay_run run = { 0 };
	const struct assay_report r = { .kind = ASSAY_REPORT_RUN, .run = { .run = &run, .samples = a->samples } };
	struct assay_text out = { 0 };
	int rc = assay_store_run_load(store, a->run_id, &run, err);

	style.verbose = a->s.verbose;
	if (!rc && a->only)
		rc = narrow(&run, a->only, err);
	if (!rc && a->only && run.exact)
		assay_exact_run_keep(run.exact, a->only);
	if (!rc && (a->s.json || a->only))
		rc = assay_emit(&r, a->s.json ? "json" : "cases", &style, &out, err);
	else if (!rc)
		rc = show_table(&r, &style, &out, err);
	if (!rc)
		assay_cli_put(&out);
	assay_text_release(&out);
	assay_run_release(&run);
	return rc;
}

static int show_comparisons(const struct show_args *a, struct assay_store *store, struct assay_err *err)
{
	struct assay_comparison_info *list = NULL;
	size_t n = 0;
	int rc = assay_store_comparisons(store, NULL, 0, &list, &n, err);

	if (!rc)
		rc = assay_cli_emit(
			&(struct assay_report){ .kind = ASSAY_REPORT_COMPARISONS, .comparisons = { list, n } },
			a->s.json, a->s.verbose, err);
	free(list);
	return rc;
}

/* Is there any case that was asked for? Of counts the others are dropped. */
static bool select_cases(struct assay_comparison *cmp, const char *only)
{
	bool any = !only;

	for (size_t i = 0; i < cmp->n_cases && !any; i++)
		any = assay_glob_match(only, cmp->cases[i].c.key);
	for (int side = 0; side < 2 && only; side++)
		any |= assay_exact_run_keep(&cmp->exact[side], only) > 0;
	return any;
}

static int show_comparison(const struct show_args *a, struct assay_store *store, struct assay_err *err)
{
	struct assay_comparison cmp = { 0 };
	struct assay_case_reading *readings = NULL;
	char verdict[ASSAY_VERDICT_MAX] = "";
	int rc = assay_store_comparison_load(store, a->run_id, &cmp, verdict, NULL, err);

	if (!rc && !select_cases(&cmp, a->only))
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "no case of comparison %" PRId64 " matches '%s': 'assay show comparisons %" PRId64
				   "' lists them",
				   cmp.id, a->only, cmp.id);
	if (!rc)
		rc = assay_comparison_read(&cmp, &readings, err);
	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_COMPARISON,
							    .comparison = { .cmp = &cmp,
									    .readings = readings,
									    .verdict = verdict,
									    .only = a->only,
									    .samples = a->samples } },
				    a->s.json, a->s.verbose, err);
	assay_case_readings_release(readings, cmp.n_cases);
	assay_comparison_release(&cmp);
	return rc;
}

static int show(const struct show_args *a, struct assay_store *store, struct assay_err *err)
{
	if (a->comparisons)
		return a->run ? show_comparison(a, store, err) : show_comparisons(a, store, err);
	return a->run ? show_run(a, store, err) : show_runs(a, store, err);
}

int assay_cmd_show(int argc, char **argv)
{
	struct show_args a = { 0 };
	struct assay_store *store = NULL;
	struct assay_err err = { 0 };
	int rc = assay_settings_init(&a.s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &a, &err);
	if (!rc)
		rc = assay_store_open(&store, a.s.r.db, ASSAY_STORE_READ, &err);
	if (!rc)
		rc = show(&a, store, &err);
	assay_store_close(store);
	assay_settings_release(&a.s);
	return rc ? assay_cli_fail(&err) : ASSAY_EXIT_OK;
}
