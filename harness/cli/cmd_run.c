/* SPDX-License-Identifier: Apache-2.0 */
/* assay run: measure the cases of a suite, one worker each, and store every case as soon as it is finished. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "drive/exact_counting.h"
#include "drive/measuring.h"
#include "measure/measure.h"
#include "measure/measure_exact.h"
#include "measure/summary.h"
#include "model/verdict.h"
#include "store/store_exact.h"

enum { OPT_BUDGET = 0x200, OPT_EVIDENCE, OPT_ROUNDS, OPT_ROOF_IN_TURN };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct assay_settings *s = state->input;
	uint64_t n;

	switch (key) {
	case ARGP_KEY_INIT:
		assay_cli_parse_children(state);
		return 0;
	case OPT_BUDGET:
		return assay_parse_duration_ns(arg, "--budget", &s->budget_ns, &s->err) ? EINVAL : 0;
	case OPT_ROUNDS:
		if (assay_parse_u64(arg, "--rounds", 1, ASSAY_MAX_ROUNDS, &n, &s->err))
			return EINVAL;
		s->rounds = (unsigned)n;
		return 0;
	case OPT_ROOF_IN_TURN:
		s->roof_in_turn = true;
		return 0;
	case OPT_EVIDENCE:
		return assay_cli_parse_evidence(arg, &s->evidence, &s->err) ? EINVAL : 0;
	case ARGP_KEY_ARG:
		assay_err_set(&s->err, ASSAY_EUSAGE, "unexpected argument '%s': a suite is named with --suite %s", arg,
			      arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "budget", OPT_BUDGET, "TIME", 0,
	  "Sampling time of a case, such as 300ms or 2s (default: as each bench says; with ASSAY_DETERMINISTIC=1 the "
	  "work is fixed)",
	  0 },
	{ "rounds", OPT_ROUNDS, "N", 0,
	  "Measure the suite N times over, each case in a new process with its share of the time, and take the median "
	  "of its medians "
	  "(default: as the suite says; with ASSAY_DETERMINISTIC=1 always once)",
	  0 },
	{ "roof-in-turn", OPT_ROOF_IN_TURN, NULL, 0,
	  "After each case, measure the limits of its roof once more in turn with it, so that a busy host slows both "
	  "alike. The run must "
	  "have measured these limits before: stream.read or stream.copy, peak.*",
	  0 },
	{ "evidence", OPT_EVIDENCE, "KIND", 0,
	  "exact: counts of a simulated processor alone, of the cases that the suite names for it, or that --only "
	  "selects; stored: "
	  "times alone; all: both (default)",
	  0 },
	{ 0 },
};
static const struct argp_child children[] = {
	{ &assay_argp_measuring, 0, NULL, 0 },
	{ &assay_argp_counters, 0, NULL, 0 },
	{ &assay_argp_cache_model, 0, NULL, 0 },
	{ 0 },
};
static const struct argp argp = {
	options,
	parse,
	NULL,
	"Measure a suite: each case in a process of its own, on pinned threads, from seeded inputs, checked before and "
	"after. "
	"Results are stored as they come.\v"
	"The exit status is 0, 2 for bad usage, 3 when a result is wrong, 4 when a case crashed, timed out or failed "
	"or every case was skipped, 130 when "
	"interrupted; what was finished by then is kept.\n\n"
	"Environment: ASSAY_SEED, ASSAY_THREADS, ASSAY_BATCH_SIZE, ASSAY_MEMORY_LIMIT, ASSAY_DB, ASSAY_PAPI=0 to leave "
	"PAPI alone, and "
	"ASSAY_DETERMINISTIC=1 for work "
	"that does not depend on time. An option beats the environment.\n\n"
	"example:\n  assay run --suite quick --only 'matmul.*/n=1/*' --budget 1s",
	children,
	NULL,
	NULL,
};

struct sink {
	struct assay_store *store;
	int64_t run_id;
};

/* Raw samples may be many; once they are stored nothing needs them here until the next round. */
static int store_result(void *arg, struct assay_result *r, unsigned round, struct assay_err *err)
{
	const struct sink *sink = arg;
	int rc = round > 1 ? assay_store_result_replace(sink->store, sink->run_id, r, err)
			   : assay_store_result_add(sink->store, sink->run_id, r, err);

	free(r->samples);
	r->samples = NULL;
	return rc;
}

static int reload_samples(void *arg, struct assay_result *r, struct assay_err *err)
{
	const struct sink *sink = arg;

	return assay_store_samples_load(sink->store, sink->run_id, r->c.key, &r->samples, &r->n_samples, err);
}

/*
 * What only a whole run tells: digests that differ between variants, share of the roof, exact counts or @why there are
 * none.
 */
static int finish(struct assay_run *run, const struct assay_session *session, const char *why,
		  struct assay_store *store, struct assay_err *err)
{
	bool *changed = calloc(run->n_results ? run->n_results : 1, sizeof(*changed));
	int rc;

	if (!changed)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	rc = assay_measure_finish(run, session->facts, &session->host, session->catalog, changed, err);
	for (size_t i = 0; i < run->n_results && !rc; i++)
		rc = assay_exact_counting_join(&run->results[i], run->exact, &session->plan, why, &changed[i], err);
	for (size_t i = 0; i < run->n_results && !rc; i++)
		if (changed[i])
			rc = assay_store_metrics_put(store, run->id, &run->results[i], err);
	free(changed);
	if (!rc) {
		run->ended_ns = assay_clock_unix_ns();
		rc = assay_store_run_end(store, run->id, run->ended_ns, err);
	}
	return rc;
}

static int print_results(const struct assay_run *run, const struct assay_settings *s,
			 const struct assay_emit_style *style, struct assay_err *err)
{
	struct assay_text out = { 0 };
	int rc = s->json ? assay_emit_run_json(run, false, &out, err) : assay_emit_run_table(run, style, &out, err);

	if (!rc && !s->json && run->exact) {
		assay_text_add(&out, "\n");
		rc = assay_emit_exact_table(run->exact, style, &out, err);
	}
	if (!rc)
		assay_cli_put(&out);
	assay_text_release(&out);
	return rc;
}

static void say_stored(const struct assay_run *run, const struct assay_settings *s)
{
	char number[32], show[ASSAY_INSTALLED_PATH_MAX], gate[ASSAY_INSTALLED_PATH_MAX];

	if (s->json)
		return;
	snprintf(number, sizeof(number), "show %" PRId64, run->id);
	assay_cli_command(show, sizeof(show), number, NULL, s->db);
	assay_cli_command(gate, sizeof(gate), "gate", run->suite, s->db);
	printf("stored as run %" PRId64 " in %s; '%s' shows it again, '%s' judges it\n", run->id, s->db, show, gate);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* With fixed work the interval is what it is. */
static void warn_of_noise(const struct assay_run *run, const struct assay_settings *s)
{
	double *width = s->deterministic ? NULL : malloc((run->n_results + 1) * sizeof(*width));
	size_t n = 0, wide = 0, unsteady = 0, slow = 0;

	for (size_t i = 0; i < run->n_results && width; i++) {
		const struct assay_result *r = &run->results[i];

		if (!r->n_samples)
			continue;
		width[n++] = assay_summary_half_width_frac(r);
		wide += !r->converged;
		unsteady += !r->steady;
		slow += r->slow_core;
	}
	if (wide) {
		qsort(width, n, sizeof(*width), ascending);
		assay_cli_warn("%zu of %zu cases are not known to within 0.5 %%, half of all to within %.2g %%: more "
			       "time, --budget, and "
			       "more rounds, --rounds, narrow that",
			       wide, run->n_results, 100 * width[n / 2]);
	}
	if (unsteady)
		assay_cli_warn("%zu of %zu cases did not settle: 'assay doctor' says what disturbs this machine",
			       unsteady, run->n_results);
	if (slow)
		assay_cli_warn("something slowed the cores of %zu of %zu cases most of the time, such as their other "
			       "hardware threads: 'assay doctor' says how much now",
			       slow, run->n_results);
	free(width);
}

/* What was asked for by name and cannot be counted here stands in the details of each case; say so once. */
static void warn_of_unavailable(const struct assay_run *run, const struct assay_settings *s)
{
	const struct assay_unavailable *first = NULL;
	const struct assay_result *of = NULL;
	char number[32], show[ASSAY_INSTALLED_PATH_MAX];
	size_t most = 0;

	if (!s->counter_groups && !s->events.n)
		return;
	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_counters *c = &run->results[i].counters;
		size_t n = 0;

		for (size_t k = 0; k < c->n_missing; k++) {
			const char *name = c->missing[k].name, *end = strstr(name, "_samples");
			/* disturbances, what the suite asks for, and what only a whole run tells: nobody named them */
			bool own = (end && !end[strlen("_samples")]) || !strcmp(name, ASSAY_EXACT_MISSING) ||
				   !strcmp(c->missing[k].source, ASSAY_SOURCE_ASSAY);

			n += !own;
			if (!own && !first)
				first = &c->missing[k];
		}
		if (n > most)
			of = &run->results[i];
		most = n > most ? n : most;
	}
	if (!first)
		return;
	snprintf(number, sizeof(number), "show %" PRId64, run->id);
	assay_cli_command(show, sizeof(show), number, NULL, s->db);
	assay_cli_warn("%zu counter%s of '%s' cannot be had here, such as %s: %s; '%s CASE' lists them", most,
		       most == 1 ? "" : "s", of->c.key, first->name, first->reason, show);
}

/* Counts of what the suite names for it, after the times; @why there are none of any, or "". */
static int count(const struct assay_measuring *m, struct assay_run *run, char why[ASSAY_EXACT_REASON_MAX],
		 struct assay_store *store, struct assay_err *err)
{
	int rc, stored;

	why[0] = '\0';
	if (m->settings->evidence == ASSAY_CLI_EVIDENCE_STORED || !m->session->plan.exact_model[0])
		return 0;
	run->exact = calloc(1, sizeof(*run->exact));
	if (!run->exact)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	rc = assay_exact_counting(m->session, m->settings, m->clock, why, run->exact, err);
	run->exact->run_id = run->id;
	if (run->exact->n_cases) {
		stored = assay_store_exact_add(store, run->exact, rc ? NULL : err);
		return rc ? rc : stored;
	}
	assay_exact_run_release(run->exact);
	free(run->exact);
	run->exact = NULL;
	return rc;
}

static int measure_and_print(const struct assay_measuring *m, struct assay_run *run, struct assay_store *store,
			     struct assay_err *err)
{
	const struct assay_settings *s = m->settings;
	struct assay_emit_style style = assay_cli_style();
	char why[ASSAY_EXACT_REASON_MAX];
	struct assay_text head = { 0 };
	struct assay_err why_not;
	int rc, shown;

	style.verbose = s->verbose;
	if (!s->json) {
		rc = assay_emit_run_header(run, &style, &head, err);
		if (rc)
			return rc;
		assay_cli_put(&head);
		fflush(stdout);
	}
	rc = assay_measuring_all(m, run, err);
	if (!rc)
		rc = count(m, run, why, store, err);
	if (!rc)
		rc = finish(run, m->session, why, store, err);
	if (rc && rc != ASSAY_EINTERRUPTED && !run->n_results)
		return rc;

	why_not = *err;
	shown = print_results(run, s, &style, err);
	if (shown)
		return shown;
	if (rc && !assay_store_in_place(store))
		return assay_err_set(
			err, rc, "%.400s%s", why_not.text,
			rc == ASSAY_EINTERRUPTED ? "; the database was removed or replaced: nothing is kept" : "");
	if (rc == ASSAY_EINTERRUPTED)
		return assay_err_set(err, rc, "interrupted%s: %zu of %zu cases kept in run %" PRId64 " of '%s'",
				     run->n_results == m->session->plan.n_cases && m->session->plan.rounds > 1
					     ? " after the first round"
					     : "",
				     run->n_results, m->session->plan.n_cases, run->id, s->db);
	if (rc)
		return assay_err_set(err, rc, "%.400s; %zu of %zu cases kept in run %" PRId64, why_not.text,
				     run->n_results, m->session->plan.n_cases, run->id);
	say_stored(run, s);
	warn_of_noise(run, s);
	warn_of_unavailable(run, s);
	return 0;
}

/* --evidence exact: no times, and no timed run in the store. Returns the exit status. */
static int count_alone(const struct assay_measuring *m, struct assay_store *store)
{
	const struct assay_settings *s = m->settings;
	struct assay_emit_style style = assay_cli_style();
	struct assay_exact_run run = { 0 };
	struct assay_text out = { 0 };
	struct assay_err err = { 0 };
	int status, rc = assay_exact_counting(m->session, s, m->clock, NULL, &run, &err);
	bool interrupted = rc == ASSAY_EINTERRUPTED && run.n_cases;

	style.verbose = s->verbose;
	if (!rc || interrupted)
		rc = assay_store_exact_add(store, &run, &err);
	if (!rc)
		rc = s->json ? assay_emit_exact_json(&run, &out, &err)
			     : assay_emit_exact_table(&run, &style, &out, &err);
	if (!rc)
		assay_cli_put(&out);
	if (!rc && interrupted)
		rc = assay_err_set(&err, ASSAY_EINTERRUPTED, "interrupted: the counts of %zu case%s are kept in '%s'",
				   run.n_cases, run.n_cases == 1 ? "" : "s", s->db);
	status = rc ? assay_cli_fail(&err) : (int)assay_exact_counting_exit(&run, true);
	assay_text_release(&out);
	assay_exact_run_release(&run);
	return status;
}

/* An option that would do nothing was meant otherwise. */
static int check_options(const struct assay_settings *s, struct assay_err *err)
{
	const struct {
		const char *name;
		bool given;
	} of_times[] = {
		{ "--budget", s->budget_ns != 0 },     { "--rounds", s->rounds != 0 },
		{ "--roof-in-turn", s->roof_in_turn }, { "--counters", s->counter_groups != NULL },
		{ "--events", s->events.n != 0 },      { "--multiplex", s->multiplex },
	};

	for (size_t i = 0; i < sizeof(of_times) / sizeof(of_times[0]) && s->evidence == ASSAY_CLI_EVIDENCE_EXACT; i++)
		if (of_times[i].given)
			return assay_err_set(err, ASSAY_EUSAGE,
					     "%s is of measuring times, and --evidence exact takes none: leave one of "
					     "them out, or take both with --evidence all",
					     of_times[i].name);
	if (s->roof_in_turn && s->deterministic)
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"--roof-in-turn samples for as long as time allows, and ASSAY_DETERMINISTIC=1 does "
			"not: leave one of them out");
	if (s->cache_model && s->evidence == ASSAY_CLI_EVIDENCE_STORED)
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"--cache-model is of exact counts, and --evidence stored takes none: leave one of them out");
	return 0;
}

static int run_suite(const struct assay_settings *s)
{
	struct assay_session session = { 0 };
	struct assay_store *store = NULL;
	struct assay_run run = { 0 };
	struct assay_clock clock;
	struct sink sink;
	struct assay_measuring m = { .settings = s,
				     .session = &session,
				     .clock = &clock,
				     .finished = store_result,
				     .reload = reload_samples,
				     .arg = &sink };
	struct assay_err err = { 0 };
	int status, rc = assay_session_ready(&session, s, &err);

	if (!rc)
		rc = assay_clock_init(&clock, &err);
	if (!rc)
		rc = assay_store_open(&store, s->db, ASSAY_STORE_WRITE, &err);
	if (rc) {
		status = assay_cli_fail(&err);
		goto out;
	}
	if (s->evidence == ASSAY_CLI_EVIDENCE_EXACT) {
		status = count_alone(&m, store);
		goto out;
	}
	rc = assay_measuring_describe(&m, &run, &err);
	if (!rc)
		rc = assay_store_run_begin(store, &run, &err);
	sink = (struct sink){ .store = store, .run_id = run.id };
	if (!rc)
		rc = measure_and_print(&m, &run, store, &err);
	status = rc ? assay_cli_fail(&err) : assay_measuring_exit(&run);
	if (!rc && run.exact)
		status = assay_exit_worse((enum assay_exit)status, assay_exact_counting_exit(run.exact, false));
out:
	assay_run_release(&run);
	assay_store_close(store);
	assay_session_close(&session);
	return status;
}

int assay_cmd_run(int argc, char **argv)
{
	struct assay_settings s;
	struct assay_err err = { 0 };
	int status, rc = assay_settings_init(&s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &s, &err);
	if (!rc)
		rc = check_options(&s, &err);
	if (rc)
		status = assay_cli_fail(&err);
	else
		status = run_suite(&s);
	assay_settings_release(&s);
	return status;
}
