/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assay compare: two builds measured against each other, now, in lock step, by their counts, or both; the exit status
 * is the verdict.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/compare_output.h"
#include "drive/compare_plan.h"
#include "cli/compare_options.h"
#include "drive/exact_compare.h"
#include "drive/exact_counting.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "judge/comparison_judge.h"
#include "store/store_comparison.h"
#include "store/store_exact.h"

enum { OPT_EVIDENCE = 0x200 };

struct compare_args {
	struct assay_compare_args c;
	struct assay_compare_output out;
	bool pairs, counts; /* which evidence is taken */
};

static int set_evidence(struct compare_args *a, const char *arg)
{
	bool all = !strcmp(arg, "all");

	a->pairs = all || !strcmp(arg, "paired");
	a->counts = all || !strcmp(arg, "exact");
	if (a->pairs || a->counts)
		return 0;
	return assay_err_set(&a->c.s.err, ASSAY_EUSAGE,
			     "--evidence is '%s', expected paired (times, in lock step), exact (counts) or all", arg);
}

static int take_side(struct compare_args *a, const char *arg)
{
	if (!a->c.o.base)
		a->c.o.base = arg;
	else if (!a->c.o.head)
		a->c.o.head = arg;
	else
		return assay_err_set(&a->c.s.err, ASSAY_EUSAGE, "unexpected argument '%s': compare takes BASE and HEAD",
				     arg);
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct compare_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		assay_cli_parse_children(state);
		state->child_inputs[3] = &a->out;
		return 0;
	case OPT_EVIDENCE:
		return set_evidence(a, arg) ? EINVAL : 0;
	case ARGP_KEY_ARG:
		return take_side(a, arg) ? EINVAL : 0;
	case ARGP_KEY_END:
		if (a->c.o.base)
			return 0;
		assay_err_set(&a->c.s.err, ASSAY_EUSAGE,
			      "nothing to compare with: name a BASE, such as 'assay compare main'");
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "evidence", OPT_EVIDENCE, "KIND", 0,
	  "paired: times in lock step (default); exact: counts of a simulated processor instead, of the cases that the "
	  "suite names for "
	  "it, or that --only selects; all: both",
	  0 },
	{ 0 },
};
static const struct argp_child children[] = {
	{ &assay_argp_measuring, 0, NULL, 0 },
	{ &assay_argp_rates, 0, NULL, 0 },
	{ &assay_argp_budget, 0, NULL, 0 },
	{ &assay_argp_compare_output, 0, NULL, 0 },
	{ &assay_argp_counters, 0, NULL, 0 },
	{ &assay_argp_cache_model, 0, NULL, 0 },
	{ 0 },
};
static const struct argp argp = {
	options,
	parse,
	"BASE [HEAD]",
	"Measure two builds against each other, in lock step on the same cores, and say which cases got slower, faster "
	"or wrong. "
	"BASE and HEAD are each a git revision, a plugin file or a folder of plugins; without HEAD it is what lies in "
	"the working "
	"tree. Ops, inputs and seed are the head's on both sides.\v"
	"The exit status is 0 when nothing regressed, 1 REGRESSED, 2 bad usage, 3 WRONG_RESULT, 4 NOT_MEASURED, 5 "
	"INCOMPARABLE, "
	"6 INCONCLUSIVE with --strict, 130 when interrupted.\n\n"
	"examples:\n  assay compare main\n  assay compare old.so new.so --suite smoke --margin 1%\n"
	"  assay compare main --evidence all",
	children,
	NULL,
	NULL,
};

struct sink {
	struct assay_store *store;
	int64_t *case_ids;
	struct assay_progress progress;
};

static int pair_done(void *arg, size_t i, const struct assay_pair *p, struct assay_err *err)
{
	struct sink *sink = arg;

	return assay_store_pair_add(sink->store, sink->case_ids[i], p, err);
}

static void on_progress(void *arg, double done_frac, const char *key)
{
	struct sink *sink = arg;

	assay_progress_show(&sink->progress, done_frac, key);
}

static int store_cases(const struct assay_comparison *cmp, struct sink *sink, struct assay_err *err)
{
	int rc = 0;

	sink->case_ids = calloc(cmp->n_cases, sizeof(*sink->case_ids));
	if (!sink->case_ids)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < cmp->n_cases && !rc; i++)
		rc = assay_store_comparison_case_add(sink->store, cmp->id, &cmp->cases[i], &sink->case_ids[i], err);
	return rc;
}

static int measure(struct assay_compare_plan *p, const struct assay_settings *s, struct sink *sink,
		   struct assay_err *err)
{
	struct assay_comparison *cmp = &p->cmp;
	struct assay_clock clock;
	struct assay_comparing k = assay_compare_plan_comparing(p, s, &clock, assay_interrupt_catch());
	int kept = 0, rc = assay_clock_init(&clock, err);

	k.pair_done = pair_done;
	k.progress = on_progress;
	k.arg = sink;
	if (!rc) {
		assay_progress_begin_for(&sink->progress, (double)cmp->budget_ns * (double)cmp->n_cases);
		rc = assay_comparing_run(&k, err);
		assay_progress_hide(&sink->progress);
	}
	assay_interrupt_release();
	for (size_t i = 0; i < cmp->n_cases && (!rc || rc == ASSAY_EINTERRUPTED) && !kept; i++)
		if (cmp->cases[i].difference[0])
			kept = assay_store_comparison_case_update(sink->store, sink->case_ids[i], &cmp->cases[i], err);
	return kept ? kept : rc;
}

/* Keep what was counted, also of a comparison that was interrupted meanwhile. */
static int count(struct assay_compare_plan *p, const struct assay_settings *s, struct sink *sink, struct assay_err *err)
{
	struct assay_comparison *cmp = &p->cmp;
	int kept = 0, rc = assay_exact_compare(p, s, err);

	if (rc && rc != ASSAY_EINTERRUPTED)
		return rc;
	if (!cmp->id)
		kept = assay_store_comparison_begin(sink->store, cmp, err);
	for (int side = 0; side < 2; side++)
		cmp->exact[side].comparison_id = cmp->id;
	if (!kept && cmp->exact[ASSAY_HEAD].n_cases)
		kept = assay_store_exact_add_sides(sink->store, cmp->exact, err);
	return kept ? kept : rc;
}

static int take_evidence(const struct compare_args *a, struct assay_compare_plan *p, struct sink *sink,
			 struct assay_err *err)
{
	struct assay_comparison *cmp = &p->cmp;
	int rc = 0;

	if (a->pairs)
		rc = assay_store_comparison_begin(sink->store, cmp, err);
	if (!rc && a->pairs)
		rc = store_cases(cmp, sink, err);
	if (!rc && a->pairs)
		rc = measure(p, &a->c.s, sink, err);
	if (!rc && a->counts)
		rc = count(p, &a->c.s, sink, err);
	/* who asks for counts alone does not miss times */
	if (!a->pairs)
		assay_comparison_drop_cases(cmp);
	return rc;
}

static int compare(struct compare_args *a, struct assay_compare_plan *p, struct sink *sink,
		   struct assay_gate_report *report, struct assay_err *err)
{
	struct assay_comparison *cmp = &p->cmp;
	int rc = take_evidence(a, p, sink, err), judged;

	if (rc && rc != ASSAY_EINTERRUPTED)
		return rc;
	if (!rc)
		cmp->ended_ns = assay_clock_unix_ns();
	judged = assay_comparison_judge(
		cmp, &p->policy,
		&(struct assay_comparison_judging){ .strict = a->out.strict, .countable = &p->countable }, report, err);
	if (judged)
		return judged;
	if (!rc)
		rc = assay_store_comparison_end(sink->store, cmp->id, cmp->ended_ns,
						assay_verdict_name(report->verdict), (int)report->exit, err);
	judged = assay_compare_output_put(report, &a->out, &a->c.s, err);
	if (judged)
		return judged;
	if (rc == ASSAY_EINTERRUPTED)
		return assay_err_set(
			err, rc, "interrupted: what was measured is kept as unfinished comparison %" PRId64 " of '%s'",
			cmp->id, a->c.s.db);
	if (!rc && !a->c.s.json)
		printf("stored as comparison %" PRId64 " in %s; 'assay judge --comparison %" PRId64
		       "' judges it again\n",
		       cmp->id, a->c.s.db, cmp->id);
	return rc;
}

int assay_cmd_compare(int argc, char **argv)
{
	struct compare_args a = { .pairs = true };
	struct assay_compare_plan plan = { 0 };
	struct assay_gate_report report = { 0 };
	struct sink sink = { 0 };
	struct assay_err err = { 0 };
	int status, rc = assay_settings_init(&a.c.s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &a, &err);
	if (!rc)
		rc = assay_compare_output_check(&a.out, &err);
	a.c.o.no_controls = !a.pairs;
	if (!rc)
		rc = assay_compare_plan_make(&plan, &a.c.s, &a.c.o, &err);
	if (!rc && a.counts)
		rc = assay_exact_compare_check(&plan, &a.c.s, &err);
	if (!rc)
		rc = assay_store_open(&sink.store, a.c.s.db, ASSAY_STORE_WRITE, &err);
	if (rc) {
		status = assay_cli_fail(&err);
	} else {
		rc = compare(&a, &plan, &sink, &report, &err);
		status = rc ? assay_cli_fail(&err) : (int)report.exit;
	}
	assay_gate_report_release(&report);
	assay_store_close(sink.store);
	free(sink.case_ids);
	assay_compare_plan_release(&plan);
	assay_settings_release(&a.c.s);
	return status;
}
