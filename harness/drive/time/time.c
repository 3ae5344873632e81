/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/time/time.h"

#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/random.h"
#include "base/grow.h"
#include "base/monotonic.h"
#include "drive/read_back.h"
#include "drive/run/build_identity.h"
#include "formats/formats.h"
#include "judge/comparison_judge.h"
#include "judge/stopping.h"
#include "machine/environment.h"
#include "measure/case_needs.h"
#include "measure/program.h"
#include "model/quantity.h"
#include "model/summary.h"
#include "stats/stats.h"
#include "store/comparison.h"

#define COMMANDS_MAX 256
#define SHELL_STARTS 20

struct timing {
	const struct assay_time_request *q;
	const struct assay_watch *watch;
	struct assay_time_report *out;
	struct assay_gate_report *gate;
	struct assay_program_runner runner, silent; /* of the commands, and of those around them */
	struct assay_strings *words;                /* one a command */
	size_t *combination;                        /* of its parameters, likewise */
	uint64_t *cost_ns;                          /* of its last process with all around it, likewise */
	struct assay_program_counts *counts;        /* likewise */
	struct assay_session session;               /* its groups of counters, and nothing else */
	struct assay_counter_choice choice;
	struct assay_run run; /* of all commands; its results are those of the report */
	struct assay_comparison cmp;
	struct assay_policy policy;
	struct assay_store *store;
	int64_t *case_ids;
	int unstored; /* the first error of the database, after which nothing more is stored; 0: none */
	struct assay_err why;
};

static int no_memory(struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
}

/*
 * May @rc of the database be passed over? What was measured is worth more than that it is kept, so a disk that fills
 * meanwhile is told behind the table.
 */
static int put_off(struct timing *k, int rc, struct assay_err *err)
{
	if (rc != ASSAY_ESTORE && rc != ASSAY_ENOSPACE && rc != ASSAY_EIO)
		return rc;
	k->unstored = rc;
	k->why = *err;
	*err = (struct assay_err){ 0 };
	return 0;
}

/* ---- commands ---- */

static int shell_words(const char *shell, const char *command, struct assay_strings *out, struct assay_err *err)
{
	int rc = assay_strings_add(out, shell, err);

	if (!rc)
		rc = assay_strings_add(out, "-c", err);
	return rc ? rc : assay_strings_add(out, command, err);
}

static const char *filled(const struct timing *k, const char *text, size_t i, char **to, struct assay_err *err)
{
	*to = assay_parameters_fill(text, k->q->parameters, k->q->n_parameters, k->combination[i]);
	if (!*to)
		no_memory(err);
	return *to;
}

static int add_command(struct timing *k, const char *command, const char *name, size_t combination,
		       struct assay_err *err)
{
	const size_t i = k->out->n_commands;
	struct assay_time_command *c = &k->out->commands[i];
	char *text = NULL;
	unsigned same = 1;
	int rc;

	k->combination[i] = combination;
	if (!filled(k, command, i, &c->command, err) || !filled(k, name ? name : command, i, &text, err))
		return ASSAY_ENOMEM;
	k->out->n_commands++;
	assay_format_op(text, c->name);
	free(text);
	c->result.c = (struct assay_case){ .variant = "program", .cache = ASSAY_CACHE_UNKNOWN };
	c->result.max_rel_err = -1;
	c->result.numa_node = -1;
	memcpy(c->result.c.op, c->name, sizeof(c->name));
	for (size_t p = 0; p < k->q->n_parameters; p++)
		assay_format_axis(&c->result.c, k->q->parameters[p].name,
				  assay_parameters_value(k->q->parameters, p, combination));
	/* commands may be the same, but not cases */
	for (size_t before = 0; before < i; before++)
		same += k->combination[before] == combination && !strcmp(k->out->commands[before].name, c->name);
	if (same > 1)
		snprintf(c->result.c.op + strnlen(c->name, sizeof(c->name) - 16), 16, " (%u)", same);
	rc = assay_case_make_key(&c->result.c, err);
	if (!rc)
		rc = k->q->shell ? shell_words(k->out->shell, c->command, &k->words[i], err)
				 : assay_words_split(c->command, &k->words[i], err);
	return rc;
}

static int add_commands(struct timing *k, struct assay_err *err)
{
	const struct assay_time_request *q = k->q;
	const size_t combinations = assay_parameters_count(q->parameters, q->n_parameters);
	const bool further = q->reference && !assay_strings_has(&q->commands, q->reference) &&
			     !assay_strings_has(&q->names, q->reference);
	const size_t expanded = q->commands.n * combinations, n = expanded + further;
	/* a name is that of one command, or of all that parameters make of it */
	const size_t commands_a_name = q->names.n == expanded ? 1 : combinations;
	bool found = further;
	int rc = 0;

	if (!q->commands.n)
		return assay_err_set(err, ASSAY_EUSAGE, "no command given, such as 'sort words.txt'");
	if (q->names.n && q->names.n != q->commands.n && q->names.n != expanded)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "%zu command%s%s and %zu name%s: give --name once for each command", expanded,
				     expanded == 1 ? "" : "s", combinations > 1 ? " with all their parameters" : "",
				     q->names.n, q->names.n == 1 ? "" : "s");
	for (size_t i = 1; i < q->names.n; i++)
		for (size_t before = 0; before < i; before++)
			if (!strcmp(q->names.v[before], q->names.v[i]))
				return assay_err_set(err, ASSAY_EUSAGE,
						     "two commands have the --name '%.200s': give each its own",
						     q->names.v[i]);
	if (n > COMMANDS_MAX)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "%zu commands with all their parameters; at most %d can be timed", n,
				     COMMANDS_MAX);
	k->out->commands = calloc(n, sizeof(*k->out->commands));
	k->words = calloc(n, sizeof(*k->words));
	k->combination = calloc(n, sizeof(*k->combination));
	k->cost_ns = calloc(n, sizeof(*k->cost_ns));
	k->counts = calloc(n, sizeof(*k->counts));
	if (!k->out->commands || !k->words || !k->combination || !k->cost_ns || !k->counts)
		return no_memory(err);
	if (further)
		rc = add_command(k, q->reference, NULL, 0, err);
	for (size_t i = 0; i < expanded && !rc; i++) {
		const char *command = q->commands.v[i / combinations];
		const char *name = q->names.n ? q->names.v[i / commands_a_name] : NULL;

		if (q->reference && !found &&
		    (!strcmp(q->reference, command) || (name && !strcmp(q->reference, name)))) {
			k->out->reference = k->out->n_commands;
			found = true;
		}
		rc = add_command(k, command, name, i % combinations, err);
	}
	return rc;
}

/* ---- processes ---- */

/* Run what is to happen around command @i, in a shell, since it is not timed. @text NULL: nothing is. */
static int run_around(struct timing *k, const char *text, const char *option, size_t i, struct assay_err *err)
{
	struct assay_time_process p;
	struct assay_strings words = { 0 };
	char *command;
	int rc;

	if (!text)
		return 0;
	if (!filled(k, text, i, &command, err))
		return ASSAY_ENOMEM;
	rc = shell_words(k->q->shell ? k->out->shell : "sh", command, &words, err);
	if (!rc)
		rc = assay_program_run(&k->silent, &words, &p, err);
	if (!rc && p.status != ASSAY_STATUS_OK)
		rc = assay_err_set(err, ASSAY_EUSAGE, "%s '%.250s' failed: %s", option, command, p.reason);
	assay_strings_release(&words);
	free(command);
	return rc;
}

/*
 * One process is one sample. Waiting for a CPU is no reason to leave it out: a program that sleeps, or that has several
 * processes, waits all the time, and what others take hits both sides of a pair alike, as their order is drawn.
 */
static int run_once(struct timing *k, size_t i, struct assay_time_process *p, struct assay_sample *s,
		    struct assay_err *err)
{
	const uint64_t began_ns = assay_monotonic_ns(), shell_ns = (uint64_t)(k->out->shell_s * 1e9);
	int rc = run_around(k, k->q->prepare, "--prepare", i, err);

	if (!rc)
		rc = assay_program_counts_run(&k->counts[i], &k->runner, &k->words[i], p, err);
	if (!rc)
		rc = run_around(k, k->q->conclude, "--conclude", i, err);
	if (rc)
		return rc;
	k->cost_ns[i] = assay_monotonic_ns() - began_ns;
	*s = (struct assay_sample){ .iterations = 1,
				    .ns = p->wall_ns > shell_ns ? p->wall_ns - shell_ns : 1,
				    .faults = (uint32_t)p->faults };
	if (k->q->ignore_failure && p->status != ASSAY_STATUS_TIMEOUT)
		p->status = ASSAY_STATUS_OK;
	return 0;
}

/* A process of command @i counts: the first that fails is what becomes of the command. */
static int keep_process(struct timing *k, size_t i, const struct assay_time_process *p, const struct assay_sample *s,
			struct assay_err *err)
{
	struct assay_time_command *c = &k->out->commands[i];
	struct assay_result *r = &c->result;

	if (assay_grow(&c->runs, c->n_runs, sizeof(*c->runs)) || assay_grow(&r->samples, r->n_samples, sizeof(*s)))
		return no_memory(err);
	c->runs[c->n_runs++] = *p;
	assay_program_counts_keep(&k->counts[i]);
	r->samples[r->n_samples] = *s;
	if (r->n_samples++)
		r->samples[r->n_samples - 1].flags |= ASSAY_SAMPLE_NEW_ROUND;
	if (p->status != ASSAY_STATUS_OK && r->status == ASSAY_STATUS_OK) {
		r->status = p->status;
		snprintf(r->reason, sizeof(r->reason), "%s", p->reason);
	}
	return 0;
}

/* Time the shell alone with an empty command. The median is taken, because a start is seldom fast by chance. */
static int time_shell(struct timing *k, struct assay_err *err)
{
	struct assay_strings words = { 0 };
	struct assay_time_process p;
	double x[SHELL_STARTS];
	int rc = shell_words(k->out->shell, "", &words, err);

	for (size_t i = 0; i < SHELL_STARTS && !rc; i++) {
		rc = assay_program_run(&k->runner, &words, &p, err);
		if (!rc && p.status != ASSAY_STATUS_OK)
			rc = assay_err_set(err, ASSAY_EUSAGE, "the shell '%s' cannot run an empty command: %s",
					   k->out->shell, p.reason);
		x[i] = (double)p.wall_ns * 1e-9;
	}
	assay_strings_release(&words);
	if (rc)
		return rc;
	assay_stats_sort(x, SHELL_STARTS);
	k->out->shell_s = assay_stats_median(x, SHELL_STARTS);
	return 0;
}

static int warm_up(struct timing *k, size_t i, struct assay_err *err)
{
	struct assay_time_process p;
	struct assay_sample s;
	int rc = run_around(k, k->q->setup, "--setup", i, err);

	for (uint64_t n = 0; n < k->q->warmup && !rc; n++)
		rc = run_once(k, i, &p, &s, err);
	/* "assay time sleep 1" is two commands, of which the second is none */
	if (rc == ASSAY_EUSAGE && k->out->n_commands > 1 && !strncmp(err->text, "cannot start '", 14)) {
		const struct assay_err why = *err;

		assay_err_set(err, rc, "%.700s; %zu commands are given, and one that has arguments stands in quotes",
			      why.text, k->out->n_commands);
	}
	return rc;
}

/* Bind this process, and so what it starts, to the CPUs of the request. @before gets what it was bound to. */
static int bind_cpus(struct timing *k, const struct assay_topology *t, cpu_set_t *before, struct assay_err *err)
{
	const struct assay_placement_options *o = &k->q->what->placement;
	const size_t n = assay_placement_max(t, o);
	struct assay_text list = { 0 };
	int *cpus = calloc(n + 1, sizeof(*cpus)), rc;
	cpu_set_t set;

	if (!cpus)
		return no_memory(err);
	CPU_ZERO(&set);
	rc = assay_placement_pick(t, o, n, cpus, err);
	for (size_t i = 0; i < n && !rc; i++) {
		if (cpus[i] < CPU_SETSIZE)
			CPU_SET(cpus[i], &set);
		assay_text_addf(&list, "%s%d", i ? "," : "", cpus[i]);
	}
	snprintf(k->out->cpus, sizeof(k->out->cpus), "%s", list.s ? list.s : "");
	assay_text_release(&list);
	free(cpus);
	if (!rc && (sched_getaffinity(0, sizeof(*before), before) || sched_setaffinity(0, sizeof(set), &set)))
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot bind to the CPUs %s", k->out->cpus);
	return rc;
}

/* ---- one command ---- */

static void tell_share(const struct timing *k, double done_frac, const char *text)
{
	assay_watch_tell(k->watch,
			 &(struct assay_event){ .kind = ASSAY_EVENT_SHARE, .done_frac = done_frac, .text = text });
}

static uint64_t least_runs(const struct timing *k)
{
	return k->q->min_runs ? k->q->min_runs : ASSAY_TIME_MIN_RUNS;
}

static int measure_alone(struct timing *k, size_t i, struct assay_err *err)
{
	const struct assay_time_command *c = &k->out->commands[i];
	const uint64_t budget_ns = k->q->budget_ns ? k->q->budget_ns : ASSAY_TIME_BUDGET_NS;
	const uint64_t least = least_runs(k);
	const uint64_t began_ns = assay_monotonic_ns();
	uint64_t spent_ns = 0;
	double sum_s = 0;
	int rc = assay_watch_check(k->watch, err);

	while (!rc && c->result.status == ASSAY_STATUS_OK && (c->n_runs < least || spent_ns < budget_ns)) {
		struct assay_time_process p;
		struct assay_sample s;
		char so_far[64], text[32];

		rc = run_once(k, i, &p, &s, err);
		if (!rc)
			rc = keep_process(k, i, &p, &s, err);
		if (rc)
			break;
		sum_s += (double)s.ns * 1e-9;
		spent_ns = assay_monotonic_ns() - began_ns;
		assay_quantity_text(sum_s / (double)c->n_runs, "s", true, text, sizeof(text));
		snprintf(so_far, sizeof(so_far), "mean so far %s", text);
		tell_share(k, fmin(1, fmin((double)spent_ns / (double)budget_ns, (double)c->n_runs / (double)least)),
			   so_far);
	}
	return rc;
}

/* ---- pairs ---- */

static size_t other_of(const struct timing *k, size_t case_at)
{
	return case_at < k->out->reference ? case_at : case_at + 1;
}

/* Of the two commands that are compared. */
struct turns {
	struct timing *k;
	size_t commands[2];
};

static int take_turn(void *arg, enum assay_side side, struct assay_time_process *run, struct assay_sample *s,
		     struct assay_err *err)
{
	const struct turns *t = arg;
	int rc = run_once(t->k, t->commands[side], run, s, err);

	return rc ? rc : keep_process(t->k, t->commands[side], run, s, err);
}

/* In a report of several, a reason says whose it is. */
static void name_failed(const struct turns *t, struct assay_pair *p)
{
	for (int side = 0; side < 2; side++) {
		struct assay_result *r = &p->side[side];
		char reason[sizeof(r->reason)];

		if (r->status == ASSAY_STATUS_OK)
			continue;
		memcpy(reason, r->reason, sizeof(reason));
		snprintf(r->reason, sizeof(r->reason), "'%.150s': %.300s", t->k->out->commands[t->commands[side]].name,
			 reason);
	}
}

static int store_pair(struct timing *k, size_t at, struct assay_pair *p, struct assay_err *err)
{
	int rc = k->cmp.id ? 0 : assay_store_comparison_begin_with(k->store, &k->cmp, k->case_ids, err);

	return rc ? rc : assay_store_pair_add(k->store, k->case_ids[at], p, err);
}

static int take_pair(struct timing *k, size_t at, unsigned round, struct assay_err *err)
{
	struct assay_comparison_case *c = &k->cmp.cases[at];
	struct turns turns = { k, { k->out->reference, other_of(k, at) } };
	const struct assay_philox draw = assay_random4(k->cmp.seed ^ k->cmp.started_ns, (uint32_t)at, round);
	const double block_ns = 2 * (double)(k->cost_ns[turns.commands[0]] + k->cost_ns[turns.commands[1]]);
	const uint64_t began_ns = assay_monotonic_ns();
	struct assay_pair p = { .seed = ((uint64_t)draw.v[0] << 32 | draw.v[1]) >> 1,
				.iterations = 1,
				.n_blocks = assay_program_blocks_in((double)k->cmp.budget_ns, block_ns),
				.steady = true,
				.side = { { .max_rel_err = -1 }, { .max_rel_err = -1 } } };
	int rc = assay_program_blocks(&p, take_turn, &turns, err);

	name_failed(&turns, &p);
	p.wall_ns = assay_monotonic_ns() - began_ns;
	if (!rc && !k->unstored)
		rc = put_off(k, store_pair(k, at, &p, err), err);
	if (!rc && assay_grow(&c->pairs, c->n_pairs, sizeof(p)))
		rc = no_memory(err);
	if (!rc)
		c->pairs[c->n_pairs++] = p;
	else
		assay_pair_release(&p);
	return rc;
}

static void tell_pair(const struct timing *k, const uint64_t *spent_ns, const bool *stop, size_t at)
{
	const struct assay_comparison_case *c = &k->cmp.cases[at];
	struct assay_paired_readings r = { 0 };
	char text[96];
	double done = 0;

	for (size_t i = 0; i < k->cmp.n_cases; i++)
		done += stop[i] ? 1 : fmin(1, (double)spent_ns[i] / (double)k->cmp.budget_ns);
	snprintf(text, sizeof(text), "%.60s", c->c.op);
	if (c->n_pairs && !assay_paired_readings(c, NULL, &r, NULL) && r.n)
		snprintf(text, sizeof(text), "%+.2f %% so far: %.60s", 100 * expm1(r.mean), c->c.op);
	tell_share(k, done / (double)k->cmp.n_cases, text);
}

/* Round robin over the undecided, as pairs of kernels are taken (drive/compare/pair_loop.c). */
static int measure_pairs(struct timing *k, struct assay_err *err)
{
	uint64_t *spent_ns = calloc(k->cmp.n_cases, sizeof(*spent_ns));
	bool *stop = calloc(k->cmp.n_cases, sizeof(*stop)), more = true;
	int rc = spent_ns && stop ? 0 : no_memory(err);

	for (unsigned round = 0; more && !rc; round++) {
		more = false;
		for (size_t i = 0; i < k->cmp.n_cases && !rc; i++) {
			const struct assay_comparison_case *c = &k->cmp.cases[i];

			if (stop[i])
				continue;
			tell_pair(k, spent_ns, stop, i);
			rc = assay_watch_check(k->watch, err);
			if (!rc)
				rc = take_pair(k, i, round, err);
			if (rc)
				break;
			spent_ns[i] += c->pairs[c->n_pairs - 1].wall_ns;
			rc = assay_stopping_ask(&k->cmp, c, &k->policy, spent_ns[i], &stop[i], err);
			if (c->pairs[c->n_pairs - 1].n_blocks)
				stop[i] &= k->out->commands[other_of(k, i)].n_runs >= k->q->min_runs;
			more |= !stop[i];
		}
	}
	free(spent_ns);
	free(stop);
	return rc;
}

static bool has_partner(const struct timing *k, size_t i)
{
	const struct assay_time_command *c = k->out->commands;

	if (i != k->out->reference)
		return c[k->out->reference].result.status == ASSAY_STATUS_OK;
	for (size_t at = 0; at < k->cmp.n_cases; at++)
		if (c[other_of(k, at)].result.status == ASSAY_STATUS_OK)
			return true;
	return false;
}

/* A command that fails ends its pairs, and the command that it was paired with has its own numbers nevertheless. */
static int measure_left_over(struct timing *k, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < k->out->n_commands && !rc; i++)
		if (!has_partner(k, i) && k->out->commands[i].n_runs < least_runs(k))
			rc = measure_alone(k, i, err);
	return rc;
}

static int plan_comparison(struct timing *k, struct assay_err *err)
{
	const struct assay_time_request *q = k->q;
	struct assay_comparison *cmp = &k->cmp;
	struct assay_text text = { 0 };
	int rc;

	assay_text_addf(&text, "margin \"*\" { paired = \"%.15f\" }\n",
			q->margin_frac > 0 ? q->margin_frac : ASSAY_TIME_MARGIN);
	cmp->policy = assay_text_take(&text);
	cmp->n_cases = k->out->n_commands - 1;
	cmp->cases = calloc(cmp->n_cases, sizeof(*cmp->cases));
	k->case_ids = calloc(cmp->n_cases, sizeof(*k->case_ids));
	if (!cmp->policy || !cmp->cases || !k->case_ids)
		return no_memory(err);
	rc = assay_policy_parse(&k->policy, cmp->policy, "--margin", err);
	if (rc)
		return rc;
	for (size_t i = 0; i < cmp->n_cases; i++) {
		cmp->cases[i].c = k->out->commands[other_of(k, i)].result.c;
		cmp->cases[i].in_base = cmp->cases[i].in_head = true;
	}
	cmp->alpha = q->alpha > 0 ? q->alpha : k->policy.alpha;
	cmp->budget_ns = q->budget_ns ? q->budget_ns : k->policy.budget_ns;
	cmp->max_pairs = ASSAY_STOPPING_MAX_PAIRS;
	cmp->family = (unsigned)cmp->n_cases;
	cmp->rule = ASSAY_JUDGE_RULE;
	cmp->seed = q->what->settings.seed;
	cmp->started_ns = k->run.started_ns;
	cmp->machine = k->run.machine;
	cmp->program = assay_build_identity_program();
	cmp->build[0] = cmp->build[1] = k->run.build;
	snprintf(cmp->suite, sizeof(cmp->suite), "%s", k->run.suite);
	snprintf(cmp->base, sizeof(cmp->base), "%.255s", k->out->commands[k->out->reference].name);
	if (cmp->n_cases == 1)
		snprintf(cmp->head, sizeof(cmp->head), "%.255s", cmp->cases[0].c.op);
	else
		snprintf(cmp->head, sizeof(cmp->head), "%zu commands", cmp->n_cases);
	return 0;
}

/* ---- the whole ---- */

/* Open counters for what the user wants to be counted of each command. */
static int open_counts(struct timing *k, struct assay_err *err)
{
	static const struct assay_catalog no_ops;
	static const struct assay_case any;
	struct assay_request what = *k->q->what;
	struct assay_session *s = &k->session;
	struct assay_program program = { 0 };
	const struct assay_catalog_op op = { .program = &program };
	const struct assay_measure_options o = { .groups = &s->groups,
						 .counter_groups = what.counter_groups,
						 .events = &what.events,
						 .worker = { .settings = what.settings } };
	struct assay_text events = { 0 };
	int rc;

	if (!what.counter_groups && !what.events.n)
		return 0;
	s->catalog = &no_ops;
	what.no_default_plugins = true; /* groups of what ops publish exist, too: the reason is told with the event */
	rc = assay_session_groups(&s->groups, NULL, err);
	if (!rc)
		rc = assay_session_counters_check(s, &what, err);
	if (!rc)
		rc = assay_measure_choose(&o, &any, &op, &k->choice, &events, err);
	for (size_t i = 0; i < k->out->n_commands && !rc; i++)
		rc = assay_program_counts_open(&k->counts[i], events.s, k->choice.multiplex, err);
	assay_text_release(&events);
	return rc;
}

static int describe(struct timing *k, const struct assay_topology *t, struct assay_err *err)
{
	static const struct assay_catalog none;
	const struct assay_session session = { .catalog = &none };
	struct assay_run *run = &k->run;
	struct assay_clock clock;
	int rc = assay_clock_init(&clock, err);

	snprintf(run->suite, sizeof(run->suite), "time");
	run->seed = k->q->what->settings.seed;
	run->started_ns = assay_clock_unix_ns();
	if (!rc)
		rc = assay_build_identity(&session, &(struct assay_request){ 0 }, k->watch, &run->build, err);
	if (!rc)
		rc = assay_fingerprint_take(t, &run->machine, err);
	return rc ? rc : assay_environment_take(&clock, &run->environment, &run->n_environment, err);
}

static int store_run(struct timing *k, bool finished, struct assay_err *err)
{
	const size_t n = k->out->n_commands;
	struct assay_run *run = &k->run;
	int rc = 0;

	/* borrowed from the report, for reading back */
	run->results = calloc(n, sizeof(*run->results));
	if (!run->results)
		return no_memory(err);
	for (size_t i = 0; i < n && !rc; i++) {
		struct assay_time_command *c = &k->out->commands[i];

		if (!c->n_runs)
			continue;
		run->results[run->n_results++] = c->result;
		rc = run->id ? assay_store_result_add(k->store, run->id, &c->result, err)
			     : assay_store_run_begin_with(k->store, run, &c->result, err);
	}
	if (!rc && finished && run->id) {
		run->ended_ns = assay_clock_unix_ns();
		rc = assay_store_run_end(k->store, run->id, run->ended_ns, err);
	}
	k->out->run_id = run->id;
	return rc;
}

/* Numbers of each command, of those that have any. */
static int sum_up(struct timing *k, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < k->out->n_commands && !rc; i++) {
		struct assay_time_command *c = &k->out->commands[i];

		rc = assay_time_command_sum(c, err);
		if (rc || c->result.status != ASSAY_STATUS_OK || !c->n_runs)
			continue;
		c->result.steady = true;
		/* what a program says about its own result; the exit status of others was not looked at */
		c->result.checked = c->result.correct = !k->q->ignore_failure;
		if (assay_result_set_metric(&c->result, "time_s", "s", -1, c->result.median_ns * 1e-9))
			rc = no_memory(err);
		if (!rc)
			rc = assay_program_usage(c->runs, c->n_runs, &c->result, err);
		if (!rc)
			rc = assay_program_counts_take(&k->counts[i], &k->choice, &c->result, err);
	}
	return rc;
}

static int judge(struct timing *k, bool finished, enum assay_exit *exit, struct assay_err *err)
{
	const struct assay_comparison_judging how = { .strict = k->q->strict };
	int rc;

	if (k->out->n_commands == 1) {
		*exit = assay_exit_of_status(k->out->commands[0].result.status);
		return 0;
	}
	k->cmp.ended_ns = finished ? assay_clock_unix_ns() : 0;
	rc = assay_comparison_judge(&k->cmp, &k->policy, &how, k->gate, err);
	if (rc)
		return rc;
	k->out->gate = k->gate;
	k->out->comparison_id = k->cmp.id;
	*exit = k->gate->exit;
	if (!finished || !k->cmp.id || k->unstored)
		return 0;
	return put_off(k,
		       assay_store_comparison_end(k->store, k->cmp.id, k->cmp.ended_ns,
						  assay_verdict_name(k->gate->verdict), (int)k->gate->exit, err),
		       err);
}

static int measure(struct timing *k, struct assay_err *err)
{
	const bool alone = k->out->n_commands == 1;
	const double budget_ns = alone ? (double)(k->q->budget_ns ? k->q->budget_ns : ASSAY_TIME_BUDGET_NS)
				       : (double)k->cmp.budget_ns * (double)k->cmp.n_cases;
	size_t ready = 0;
	struct assay_err why = { 0 };
	int rc = 0, after = 0;

	/* from here on an interrupt ends what runs before it ends this program */
	assay_watch_tell(k->watch, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = budget_ns });
	if (k->out->shell[0])
		rc = time_shell(k, err);
	for (; ready < k->out->n_commands && !rc; ready++)
		rc = warm_up(k, ready, err);
	/* a command that cannot even be started leaves no database */
	if (!rc)
		rc = assay_store_open(&k->store, k->q->what->db, ASSAY_STORE_WRITE, err);
	if (!rc)
		rc = alone ? measure_alone(k, 0, err) : measure_pairs(k, err);
	if (!rc && !alone)
		rc = measure_left_over(k, err);
	/* what was set up is cleaned up, whatever happened in between, an interrupt included */
	k->silent.interrupted = NULL;
	for (size_t i = 0; i < ready && !after; i++)
		after = run_around(k, k->q->cleanup, "--cleanup", i, rc ? &why : err);
	assay_watch_tell(k->watch, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	return rc ? rc : after;
}

static int measure_and_judge(struct timing *k, enum assay_exit *exit, struct assay_err *err)
{
	struct assay_err why = { 0 };
	int rc = measure(k, &why), kept = 0;
	const bool stopped = rc == ASSAY_EINTERRUPTED;
	size_t n = 0;

	if (rc && !stopped) {
		*err = why;
		return rc;
	}
	for (size_t i = 0; i < k->out->n_commands; i++)
		n += k->out->commands[i].n_runs;
	if (!n)
		return assay_err_set(err, rc, "interrupted before anything was measured: nothing is kept");
	kept = sum_up(k, err);
	k->out->measured = !kept;
	if (!kept && !k->unstored)
		kept = put_off(k, store_run(k, !stopped, err), err);
	if (!kept)
		kept = judge(k, !stopped, exit, err);
	if (!kept && k->unstored) {
		*err = k->why;
		return k->unstored;
	}
	if (kept || !stopped)
		return kept;
	return assay_err_set(err, rc, "interrupted after %zu runs, which are kept as r%" PRId64 " of '%s'", n,
			     k->out->run_id, k->q->what->db);
}

static void release(struct timing *k)
{
	free(k->run.results);
	k->run.results = NULL;
	k->run.n_results = 0;
	assay_run_release(&k->run);
	for (size_t i = 0; i < k->out->n_commands && k->counts; i++) {
		assay_strings_release(&k->words[i]);
		assay_program_counts_close(&k->counts[i]);
	}
	free(k->words);
	free(k->counts);
	assay_counter_choice_release(&k->choice);
	assay_counter_groups_release(&k->session.groups);
	free(k->combination);
	free(k->cost_ns);
	free(k->case_ids);
	assay_policy_release(&k->policy);
	assay_comparison_release(&k->cmp);
}

int assay_time(const struct assay_time_request *q, const struct assay_watch *w, struct assay_time_outcome *out,
	       struct assay_err *err)
{
	struct timing k = { .q = q, .watch = w, .out = &out->report, .gate = &out->gate };
	struct assay_topology *topology = NULL;
	cpu_set_t before;
	bool bound = false;
	int rc;

	*out = (struct assay_time_outcome){ 0 };
	if (q->shell)
		snprintf(out->report.shell, sizeof(out->report.shell), "%s", q->shell);
	assay_program_runner_init(&k.silent);
	k.silent.interrupted = w->interrupted;
	k.runner = k.silent;
	k.runner.input = q->input;
	k.runner.output = q->output;
	k.runner.to_stderr = q->to_stderr;
	k.runner.timeout_ns = q->timeout_ns;
	k.runner.limit = "--timeout";
	rc = add_commands(&k, err);
	if (!rc)
		rc = open_counts(&k, err);
	if (!rc)
		rc = assay_topology_open(&topology, NULL, err);
	if (!rc)
		rc = describe(&k, topology, err);
	if (!rc && out->report.n_commands > 1)
		rc = plan_comparison(&k, err);
	if (!rc)
		rc = bind_cpus(&k, topology, &before, err);
	bound = !rc;
	if (!rc)
		rc = measure_and_judge(&k, &out->exit, err);
	assay_store_close(k.store);
	if (k.run.id && !k.unstored)
		rc = assay_read_back_run(rc, q->what->db, &k.run, out->report.commands[0].name, err);
	if (bound)
		sched_setaffinity(0, sizeof(before), &before);
	release(&k);
	assay_program_runner_release(&k.silent);
	assay_topology_close(topology);
	return rc;
}

void assay_time_outcome_release(struct assay_time_outcome *out)
{
	assay_time_report_release(&out->report);
	assay_gate_report_release(&out->gate);
}

void assay_time_request_release(struct assay_time_request *q)
{
	for (size_t i = 0; i < q->n_parameters; i++)
		assay_strings_release(&q->parameters[i].values);
	free(q->parameters);
	assay_strings_release(&q->commands);
	assay_strings_release(&q->names);
	*q = (struct assay_time_request){ 0 };
}

/* ---- parameters ---- */

int assay_parameter_read(const char *text, const char *what, struct assay_parameter *out, struct assay_err *err)
{
	const char *equals = strchr(text, '=');
	const size_t len = equals ? (size_t)(equals - text) : 0;
	int rc;

	*out = (struct assay_parameter){ 0 };
	if (!len || len >= sizeof(out->name))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "%s is '%.200s', expected a name and its values, such as n 1,2,4", what, text);
	memcpy(out->name, text, len);
	if (!equals[1])
		return assay_err_set(err, ASSAY_EUSAGE, "%s names '%s' and no values, expected some such as %s 1,2,4",
				     what, out->name, out->name);
	rc = assay_strings_split(&out->values, equals + 1, ',', err);
	for (size_t i = 1; i < out->values.n && !rc; i++)
		for (size_t k = 0; k < i && !rc; k++)
			if (!strcmp(out->values.v[i], out->values.v[k]))
				rc = assay_err_set(err, ASSAY_EUSAGE, "%s names the value '%.100s' of '%s' twice", what,
						   out->values.v[i], out->name);
	return rc;
}

size_t assay_parameters_count(const struct assay_parameter *p, size_t n)
{
	size_t all = 1;

	for (size_t i = 0; i < n; i++)
		all *= p[i].values.n;
	return all;
}

const char *assay_parameters_value(const struct assay_parameter *p, size_t i, size_t at)
{
	for (size_t k = 0; k < i; k++)
		at /= p[k].values.n;
	return p[i].values.v[at % p[i].values.n];
}

struct combination {
	const struct assay_parameter *p;
	size_t n, at;
};

static const char *value_of(const void *arg, const char *name)
{
	const struct combination *c = arg;

	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->p[i].name, name))
			return assay_parameters_value(c->p, i, c->at);
	return NULL;
}

char *assay_parameters_fill(const char *text, const struct assay_parameter *p, size_t n, size_t at)
{
	return assay_words_fill(text, value_of, &(struct combination){ p, n, at });
}
