/* SPDX-License-Identifier: Apache-2.0 */
/* assay show: stored runs and comparisons, one of them, or one case of it down to its raw samples. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cli_options.h"
#include "cli/show_comparison.h"
#include "judge/policy.h"
#include "model/verdict.h"
#include "reports/columns.h"
#include "reports/json_parts.h"
#include "store/store.h"

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

static int runs_text(const struct assay_run_info *runs, size_t n, struct assay_text *out)
{
	struct assay_columns t = { .align = "rllrlrl", .width = assay_cli_style().width };

	if (!n)
		assay_text_add(out, "no runs are stored yet: 'assay run' makes one\n");
	else
		assay_columns_row(
			&t, (const char *const[]){ "run", "started", "suite", "seed", "commit", "ok", "machine" });
	for (size_t i = 0; i < n; i++) {
		const struct assay_run_info *r = &runs[i];
		char id[24], when[32], seed[24], commit[24], ok[48];

		snprintf(id, sizeof(id), "%" PRId64, r->id);
		assay_cli_when(r->started_ns, when, sizeof(when));
		snprintf(seed, sizeof(seed), "%" PRIu64, r->seed);
		snprintf(commit, sizeof(commit), "%.12s%s", r->commit[0] ? r->commit : "-", r->dirty ? "+" : "");
		snprintf(ok, sizeof(ok), "%zu/%zu%s", r->n_ok, r->n_cases,
			 r->ended_ns ? "" : " unfinished (or under way)");
		assay_columns_row(&t, (const char *const[]){ id, when, r->suite, seed, commit, ok, r->machine_label });
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	return 0;
}

static int runs_json(const struct assay_run_info *runs, size_t n, struct assay_text *out, struct assay_err *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct assay_run_info *r = &runs[i];

		json_array_append_new(
			a, json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:I,s:I}", "id", (json_int_t)r->id, "suite",
				     assay_json_text(r->suite), "seed", assay_json_u64(r->seed), "started",
				     assay_json_time(r->started_ns), "ended", assay_json_time(r->ended_ns), "commit",
				     assay_json_text(r->commit), "dirty", r->dirty, "machine_id",
				     assay_json_text(r->machine_id), "machine", assay_json_text(r->machine_label),
				     "cases", (json_int_t)r->n_cases, "ok", (json_int_t)r->n_ok));
	}
	return assay_json_print(json_pack("{s:i,s:o}", "schema", 1, "runs", a), out, err);
}

static int show_runs(const struct show_args *a, struct assay_store *store, struct assay_text *out,
		     struct assay_err *err)
{
	struct assay_run_info *runs = NULL;
	size_t n = 0;
	int rc = assay_store_runs(store, NULL, 0, &runs, &n, err);

	if (!rc)
		rc = a->s.json ? runs_json(runs, n, out, err) : runs_text(runs, n, out);
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

/* By function when single cases were asked for. */
static int add_exact(const struct assay_run *run, bool by_function, struct assay_emit_style style,
		     struct assay_text *out, struct assay_err *err)
{
	if (!run->exact || !run->exact->n_cases)
		return 0;
	style.verbose |= by_function;
	assay_text_add(out, "\n");
	return assay_emit_exact_table(run->exact, &style, out, err);
}

static int show_run(const struct show_args *a, struct assay_store *store, struct assay_text *out, struct assay_err *err)
{
	struct assay_emit_style style = assay_cli_style();
	struct assay_run run = { 0 };
	int rc = assay_store_run_load(store, a->run_id, &run, err);

	style.verbose = a->s.verbose;
	if (!rc && a->only)
		rc = narrow(&run, a->only, err);
	if (!rc && a->only && run.exact)
		assay_exact_run_keep(run.exact, a->only);
	if (!rc && a->s.json) {
		rc = assay_emit_run_json(&run, a->samples, out, err);
	} else if (!rc && a->only) {
		for (size_t i = 0; i < run.n_results && !rc; i++) {
			if (i)
				assay_text_add(out, "\n");
			rc = assay_emit_result(&run.results[i], a->samples, &style, out, err);
		}
		if (!rc)
			rc = add_exact(&run, true, style, out, err);
	} else if (!rc) {
		rc = assay_emit_run_header(&run, &style, out, err);
		if (!rc)
			rc = assay_emit_run_table(&run, &style, out, err);
		if (!rc)
			rc = add_exact(&run, false, style, out, err);
		if (!rc && !run.ended_ns)
			assay_text_addf(out,
					"run %" PRId64
					" did not finish, or is under way: only the cases above were measured\n",
					run.id);
	}
	assay_run_release(&run);
	return rc;
}

int assay_cmd_show(int argc, char **argv)
{
	struct show_args a = { 0 };
	struct assay_store *store = NULL;
	struct assay_text out = { 0 };
	struct assay_err err = { 0 };
	int status, rc = assay_settings_init(&a.s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &a, &err);
	if (!rc)
		rc = assay_store_open(&store, a.s.r.db, ASSAY_STORE_READ, &err);
	if (rc) {
		status = assay_cli_fail(&err);
		goto out;
	}
	if (a.comparisons)
		rc = a.run ? assay_show_comparison(store, a.run_id, a.only, a.samples, a.s.json, &out, &err)
			   : assay_show_comparisons(store, a.s.json, &out, &err);
	else
		rc = a.run ? show_run(&a, store, &out, &err) : show_runs(&a, store, &out, &err);
	status = rc ? assay_cli_fail(&err) : ASSAY_EXIT_OK;
	if (!rc)
		assay_cli_put(&out);
out:
	assay_text_release(&out);
	assay_store_close(store);
	assay_settings_release(&a.s);
	return status;
}
