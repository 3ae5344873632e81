/* SPDX-License-Identifier: Apache-2.0 */
/* assay run: measure the cases of a suite, one worker each, and store every case as soon as it is finished. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/revision.h"
#include "drive/run/run.h"
#include "drive/show/show.h"

static int refuse(void *args, const char *arg, struct assay_err *err)
{
	(void)args;
	return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': a suite is named with --suite %s", arg, arg);
}

static int set_rounds(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return assay_request_set_rounds(to, arg, name, err);
}

static int set_shard(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return assay_request_set_shard(to, arg, name, err);
}

/* So many cases are all shown where they were chosen with --only. */
#define FEW_CASES 8

static int set_revision(void *to, const char *arg, const char *name, struct assay_err *err)
{
	(void)name;
	return assay_revision_read(arg, to, err);
}

#define AT(member) offsetof(struct assay_settings, member)

static const struct assay_option options[] = {
	{ "build", 0, NULL, assay_option_flag, AT(r.build),
	  "Build the working tree first, as its assay.conf says, and load the resulting plugins as well" },
	{ "budget", 0, "TIME", assay_option_duration, AT(r.plan.budget_ns),
	  "Sampling time of a case, such as 300ms or 2s (default: as each bench says; with ASSAY_DETERMINISTIC=1 the "
	  "work is fixed)" },
	{ "exact-budget", ASSAY_RARELY, "TIME", assay_option_duration, AT(r.exact_budget_ns),
	  "Time for all exact counts together, such as 1min, on a machine that does nothing else; a busy one takes "
	  "longer. Cases that do not fit are named (default: as the suite says; with --only as long as it takes)" },
	{ "rounds", 0, "N", set_rounds, AT(r),
	  "Measure each case in N processes, interleaved with the other cases, and report the median of their medians; "
	  "a case whose process takes longer than four budgets gets one process (default: as the suite says, else 3; "
	  "with ASSAY_DETERMINISTIC=1 always 1)" },
	{ "shard", ASSAY_RARELY, "I/N", set_shard, AT(r),
	  "Measure only part I of N roughly equal parts of the cases, all variants of a problem in the same one" },
	{ "roof-in-turn", ASSAY_RARELY, NULL, assay_option_flag, AT(r.roof_in_turn),
	  "After each case, measure the limits of its roof again, interleaved with the case, so that a busy host slows "
	  "both alike. The run must have measured these limits before: stream.read or stream.copy, peak.*" },
	{ "revision", ASSAY_RARELY, "REV", set_revision, AT(r.revision),
	  "The commit or tag that the plugins were built from, with a + at the end if there were uncommitted changes; "
	  "it must exist in their repository (default: the commit and state of the repository that the first of them "
	  "lies in)" },
	{ "evidence", 0, "exact|stored|all", assay_option_evidence, AT(r.take),
	  "exact: only counts of a simulated processor, for the cases that the suite names for it or that --only "
	  "selects; stored: only times; all: both (default)" },
	{ 0 },
};
static const struct assay_command_line line = {
	.doc = "Measure a suite: each case in a process of its own, on pinned threads, from seeded inputs, "
	       "checked before and after. Results are stored as they come. The table shows the best variant of "
	       "each shape and what failed; -v shows every case.\v"
	       "The exit status is 0, 2 for bad usage, 3 when a result is wrong, 4 when a case crashed, timed out "
	       "or failed or every case was skipped, 130 when interrupted; what was finished by then is kept.\n"
	       "\n"
	       "Environment: ASSAY_SEED, ASSAY_THREADS, ASSAY_DEVICE, ASSAY_BATCH_SIZE, ASSAY_MEMORY_LIMIT, "
	       "ASSAY_DB, ASSAY_PAPI=0 to leave PAPI alone, and ASSAY_DETERMINISTIC=1 for work that does not "
	       "depend on time. An option beats the environment.\n"
	       "\n"
	       "example:\n"
	       "  assay run --suite quick --only 'matmul.*,n=1/*' --budget 1s",
	.tables = { ASSAY_OPTIONS_MEASURING,
		    { assay_options_models, 0 },
		    { assay_options_counters, 0 },
		    { assay_options_exact, 0 },
		    { assay_options_wrong, 0 },
		    { options, 0 } },
	.argument = refuse,
};

/* The manifests that are installed are of the installed benches; others get one of their own. */
static void say_gate(const struct assay_run *run, const struct assay_settings *s)
{
	char gate[ASSAY_INSTALLED_PATH_MAX];
	struct assay_text places = { 0 };

	assay_command_text(gate, sizeof(gate), "gate", run->suite, s->r.db);
	if (s->r.plan.bench_dir) {
		assay_places_text(&places, &s->r, s->r.plan.bench_dir, run->suite);
		assay_cli_say(", 'assay list --manifest%s >%s.manifest' writes what a gate demands, '%s --manifest "
			      "%s.manifest' judges it\n",
			      places.s ? places.s : "", run->suite, gate, run->suite);
	} else {
		assay_cli_say(", '%s' judges it\n", gate);
	}
	assay_text_release(&places);
}

static void say_stored(const struct assay_run *run, const struct assay_settings *s)
{
	char number[32], show[ASSAY_INSTALLED_PATH_MAX];

	if (s->json)
		return;
	snprintf(number, sizeof(number), "show r%" PRId64, run->id);
	assay_command_text(show, sizeof(show), number, NULL, s->r.db);
	assay_cli_say("stored as r%" PRId64 " in %s; '%s' shows every case", run->id, s->r.db, show);
	/* the manifest demands the whole suite */
	if (s->r.plan.only.n)
		assay_cli_say("\n");
	else
		say_gate(run, s);
}

/*
 * Was the counter asked for by name? Disturbances were not, nor was what the suite asks for or only a whole run tells.
 * Counters of GPUs that a case of the CPU lacks count as named only with @cpu_cases.
 */
static bool was_named(const struct assay_unavailable *u, bool cpu_cases)
{
	return !assay_disturb_is_count(u->name) && strcmp(u->name, ASSAY_EXACT_MISSING) &&
	       strcmp(u->source, ASSAY_SOURCE_ASSAY) && (cpu_cases || !strstr(u->reason, ASSAY_REASON_NO_GPU));
}

/* The case that lacks most of the counters that were named: *most of them, the first being *first. NULL: none does. */
static const struct assay_result *lacks_most(const struct assay_run *run, bool cpu_cases, size_t *most,
					     const struct assay_unavailable **first)
{
	const struct assay_result *of = NULL;

	*most = 0;
	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_counters *c = &run->results[i].counters;
		const struct assay_unavailable *one = NULL;
		size_t n = 0;

		for (size_t k = c->n_missing; k-- > 0;)
			if (was_named(&c->missing[k], cpu_cases)) {
				one = &c->missing[k];
				n++;
			}
		if (n > *most) {
			of = &run->results[i];
			*most = n;
			*first = one;
		}
	}
	return of;
}

/* Events that were asked for by name and cannot be counted here stand in the details of each case; say so once. */
static void warn_of_unavailable(const struct assay_run *run, const struct assay_settings *s)
{
	const struct assay_unavailable *first = NULL;
	const struct assay_result *of;
	char number[32], show[ASSAY_INSTALLED_PATH_MAX];
	size_t most;

	if (!s->r.counter_groups && !s->r.events.n)
		return;
	of = lacks_most(run, false, &most, &first);
	if (!of)
		of = lacks_most(run, true, &most, &first);
	if (!of)
		return;
	snprintf(number, sizeof(number), "show r%" PRId64, run->id);
	assay_command_text(show, sizeof(show), number, NULL, s->r.db);
	assay_cli_warn("%zu counter%s of '%s' unavailable here, such as %s: %s; '%s CASE' lists them", most,
		       most == 1 ? "" : "s", of->c.key, first->name, first->reason, show);
}

/* An option that would do nothing was meant otherwise. */
static int check_options(const struct assay_request *q, struct assay_err *err)
{
	const struct {
		const char *name;
		bool given;
	} of_times[] = {
		{ "--budget", q->plan.budget_ns != 0 },
		{ "--rounds", q->plan.rounds != 0 },
		{ "--roof-in-turn", q->roof_in_turn },
		{ "--counters", q->counter_groups != NULL },
		{ "--events", q->events.n != 0 },
		{ "--multiplex", q->settings.multiplex },
		{ "--even-if-wrong", q->settings.even_if_wrong },
	};

	const struct {
		const char *name;
		bool given;
	} of_counts[] = {
		{ "--cache-model", q->cache_model != NULL },
		{ "--counter-source", q->counter_source != ASSAY_EXACT_SOURCE_AUTO },
		{ "--steps", q->max_steps != 0 },
		{ "--exact-budget", q->exact_budget_ns != 0 },
	};

	for (size_t i = 0; i < sizeof(of_times) / sizeof(of_times[0]) && q->take == ASSAY_TAKE_COUNTS; i++)
		if (of_times[i].given)
			return assay_err_set(err, ASSAY_EUSAGE,
					     "%s applies to timing, which --evidence exact skips: drop one, or use "
					     "--evidence all",
					     of_times[i].name);
	if (q->roof_in_turn && q->deterministic)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "--roof-in-turn samples for as long as time allows, and ASSAY_DETERMINISTIC=1 "
				     "fixes the work: drop one");
	for (size_t i = 0; i < sizeof(of_counts) / sizeof(of_counts[0]) && q->take == ASSAY_TAKE_TIMES; i++)
		if (of_counts[i].given)
			return assay_err_set(err, ASSAY_EUSAGE,
					     "%s applies to exact counts, which --evidence stored skips: drop one",
					     of_counts[i].name);
	return 0;
}

/* --evidence exact: no times, and no timed run in the store. */
static int count(const struct assay_settings *s, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct assay_exact_run run;
	struct assay_err why = { 0 };
	int rc = assay_run_count(&s->r, &w->watch, &run, &why), shown = 0;

	if (!rc || rc == ASSAY_EINTERRUPTED)
		shown = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_COUNTS, .counts = &run }, s->json,
				       s->verbose, err);
	if (!shown)
		*err = why;
	if (!rc)
		*status = (int)assay_run_count_exit(&run, &w->watch);
	assay_exact_run_release(&run);
	return shown ? shown : rc;
}

static int measure(const struct assay_settings *s, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct assay_run run;
	struct assay_report report = {
		.kind = ASSAY_REPORT_RUN,
		.run = { .run = &run, .brief = !s->verbose },
	};
	struct assay_err why = { 0 };
	int rc, shown = 0;

	w->show_head = !s->json;
	rc = assay_run_measure(&s->r, &w->watch, &run, &why);
	assay_run_notes(&run);
	/* of few cases that were chosen each is wanted */
	report.run.brief &= !s->r.plan.only.n || run.n_results > FEW_CASES;
	if (run.id && (!rc || rc == ASSAY_EINTERRUPTED || run.n_results))
		shown = assay_cli_emit(&report, s->json, false, err);
	if (!shown)
		*err = why;
	if (!rc && !shown) {
		say_stored(&run, s);
		warn_of_unavailable(&run, s);
		*status = (int)assay_run_exit(&run, &w->watch);
	}
	assay_run_release(&run);
	return shown ? shown : rc;
}

static int run(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct assay_settings *s = args;
	int rc = check_options(&s->r, err);

	if (rc)
		return rc;
	return s->r.take == ASSAY_TAKE_COUNTS ? count(s, w, status, err) : measure(s, w, status, err);
}

int assay_cmd_run(int argc, char **argv)
{
	struct assay_settings s;

	return assay_command(&line, argc, argv, &s, run);
}

int assay_cmd_run_check(int argc, char **argv, struct assay_err *err)
{
	struct assay_settings s;

	return assay_command_check(&line, argc, argv, &s, check_options, err);
}
