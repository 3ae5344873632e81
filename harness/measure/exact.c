/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One case under callgrind, or stepped. For callgrind a worker is started with valgrind before its command line, a
 * worker that is stepped by itself. Everything that could make two runs count differently is fixed for both:
 * environment, addresses, stack, CPU features, what libraries choose their code by, cache sizes that ops see.
 */
#include "measure/exact.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "counters/callgrind/callgrind.h"
#include "measure/case_needs.h"
#include "model/exact.h"
#include "model/quantity.h"
#include "worker/worker.h"

/* A simulated processor is slower by 50 times or so, and most of a case is not simulated. */
#define TIMEOUT_FACTOR 10
/* Loading and filling come first, and may take the timeout divided by this. */
#define FIRST_SHARE 2
/* In valgrind's log when it fails to read how a program or plugin was compiled, and what to do then. */
#define DEBUG_READER "debuginfo reader"
#define DEBUG_HINT   "it cannot read the debug information: compile with -gdwarf-4, or install a newer valgrind"
/* Memory of valgrind itself, or of a stepper, on top of a case's limit; and of a step, at most. */
#define TOOL_BYTES ((uint64_t)1 << 30)
#define STEP_BYTES 64
/* The steps that tell how many a call takes; enough to get into the loops of a kernel. */
#define FIRST_STEPS 3000
/* So many steps tell what a step costs. */
#define PRICE_STEPS 300
/* A first stretch that must reach the outputs takes at most this part of the steps that a call may take. */
#define LONG_SHARE 8
/* It is tried where the call seems to take at most so many times the steps that it may. */
#define LONG_WORTH 4.0
/* The time of a step on a busy virtual machine, with a margin. */
#define MOST_STEP_NS 200000

struct counting {
	const struct assay_exact_options *o;
	const struct assay_case_facts *facts;
	struct assay_exact_case *out;
	struct assay_err *err;
	struct assay_worker *worker;
	struct assay_case_plugins plugins;
	char counts[PATH_MAX], log[PATH_MAX]; /* files */
	struct assay_exact_steps steps;
	enum assay_exact_end end;
	int signal; /* that ended the worker; 0: none did */
};

/* The last words of valgrind, behind the reason; where it ended in order, these are its totals, and tell nothing. */
static void add_log(struct counting *k)
{
	size_t len, n = strlen(k->out->reason), start;
	char *text = NULL;

	if (assay_file_read(k->log, &text, &len, NULL))
		return;
	while (len && strchr("\n= -0123456789", text[len - 1]))
		len--;
	for (start = len; start && text[start - 1] != '\n';)
		start--;
	if (strstr(text, "Collected :"))
		start = len;
	if (strstr(text, DEBUG_READER))
		snprintf(k->out->reason + n, sizeof(k->out->reason) - n, " (valgrind: " DEBUG_HINT ")");
	else if (len > start)
		snprintf(k->out->reason + n, sizeof(k->out->reason) - n, " (valgrind: %.*s)", (int)(len - start),
			 text + start);
	assay_printable_line(k->out->reason, sizeof(k->out->reason)); /* its log quotes names of plugins */
	free(text);
}

/* 0: go on; 1: the case is over, its status is set; negative: the harness cannot go on. */
static int command_with(struct counting *k, enum assay_command cmd, const struct assay_worker_args *args)
{
	int rc = assay_worker_call(k->worker, cmd, args, ASSAY_ENDING_OF(k->out), k->err);

	if (rc)
		return rc;
	if (k->out->status == ASSAY_STATUS_CRASHED && k->out->how == ASSAY_EXACT_CALLGRIND)
		add_log(k);
	return k->out->status == ASSAY_STATUS_OK ? 0 : 1;
}

static int command(struct counting *k, enum assay_command cmd, uint32_t count)
{
	return command_with(k, cmd, &(struct assay_worker_args){ .iterations = 1, .count = count });
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

/*
 * Steps of a call of which @r is the first stretch: as many as it takes at that rate to fill the outputs. Where the
 * outputs tell nothing, it is the lesser of two: the steps to calculate what the op says it calculates, and those to
 * reach as much memory as it says. A kernel that begins with packing calculates next to nothing in a first stretch; one
 * that is thought too short is stopped by the limit.
 */
static double expected_steps(const struct assay_step_reply *r)
{
	const double by_work = r->by_work > 0 ? r->by_work : r->by_memory;
	const double by_memory = r->by_memory > 0 ? r->by_memory : r->by_work;
	const double by_cost = fmin(by_work, by_memory);

	return fmax((double)r->steps, r->whole ? 0 : r->by_outputs > 0 ? r->by_outputs : by_cost);
}

static void tell_steps(void *arg)
{
	struct counting *k = arg;

	k->steps.done = fmin(k->steps.expected, (double)assay_worker_steps(k->worker));
	if (k->o->on_steps)
		k->o->on_steps(k->o->on_steps_arg, &k->steps);
}

/* Is there time for @steps that take @step_ns each? Otherwise the status is set. */
static bool in_time(struct counting *k, double steps, double step_ns)
{
	const uint64_t most = k->o->left_ns, spent = assay_worker_cpu_ns(k->worker);
	const double needed = steps * step_ns, left = spent < most ? (double)(most - spent) : 0;
	char takes[32], remains[32], about[32];

	if (!most || needed <= left)
		return true;
	assay_quantity_text(needed * 1e-9, "s", true, takes, sizeof(takes));
	assay_quantity_text(left * 1e-9, "s", true, remains, sizeof(remains));
	assay_exact_about_text(steps, about, sizeof(about));
	k->out->status = ASSAY_STATUS_SKIPPED;
	k->end = ASSAY_EXACT_END_LATE;
	snprintf(k->out->reason, sizeof(k->out->reason),
		 "its %s steps take about %s, and of the time for all counts %s is left", about, takes, remains);
	return false;
}

/*
 * A kernel may read all of its input before it calculates, so a stretch that has not filled enough of the outputs to
 * tell a rate goes on until there is one. It may take LONG_SHARE of what a call may, and is worth that where the call
 * seems to fit. What was counted before takes what it took then, and a few steps tell their price.
 */
static int step_stretch(struct counting *k, uint64_t most, double *expected)
{
	const bool known = k->o->known_steps > 0 && k->o->known_steps <= (double)most;
	const uint64_t few = known ? PRICE_STEPS : FIRST_STEPS;
	const struct assay_worker_args first = { .iterations = 1, .max_steps = most < few ? most : few };
	struct assay_worker_args behind = { .iterations = 1, .max_steps = most / LONG_SHARE, .count = FIRST_STEPS };
	const struct assay_step_reply *r = &assay_worker_reply(k->worker)->step;
	int rc = command_with(k, ASSAY_CMD_STEP, &first);
	bool longer;

	if (!rc && known && !r->whole) {
		*expected = k->o->known_steps;
		return 0;
	}
	longer = !rc && !r->whole && !(r->by_outputs > 0) && behind.max_steps > FIRST_STEPS &&
		 expected_steps(r) <= LONG_WORTH * (double)most;
	if (longer)
		rc = command_with(k, ASSAY_CMD_STEP, &behind);
	/* small outputs may be written at once, and again and again */
	if (longer && !rc && !r->whole && !(r->by_outputs > 0) && r->steps < behind.max_steps) {
		behind.count = 0;
		rc = command_with(k, ASSAY_CMD_STEP, &behind);
	}
	*expected = rc ? 0 : expected_steps(r);
	return rc;
}

/* Say what all of it takes before it is paid; what takes more than it may is not begun. */
static int drive_steps(struct counting *k, bool warm)
{
	const uint64_t most = k->o->max_steps ? k->o->max_steps : ASSAY_EXACT_STEPS;
	const struct assay_worker_args all = { .iterations = 1, .counting = true, .count = warm, .max_steps = most };
	const struct assay_step_reply *r = &assay_worker_reply(k->worker)->step;
	char takes[32], may[32];
	double expected;
	int rc = step_stretch(k, most, &expected);

	if (rc)
		return rc;
	if (expected > (double)most) {
		k->out->status = ASSAY_STATUS_SKIPPED;
		assay_exact_about_text(expected, takes, sizeof(takes));
		assay_exact_count_text(most, may, sizeof(may));
		snprintf(k->out->reason, sizeof(k->out->reason), "takes about %s steps, more than the limit of %s",
			 takes, may);
		k->end = ASSAY_EXACT_END_TOO_LONG;
		return 1;
	}
	k->steps = (struct assay_exact_steps){ .key = k->out->key,
					       .expected = 2 * expected,
					       .step_ns = r->steps ? (double)r->ns / (double)r->steps : 0 };
	if (!in_time(k, k->steps.expected, k->steps.step_ns))
		return 1;
	tell_steps(k);
	assay_worker_while_waiting(k->worker, tell_steps, k);
	rc = command_with(k, ASSAY_CMD_STEP, &all);
	assay_worker_while_waiting(k->worker, NULL, NULL);
	if (rc == 1 && k->out->status == ASSAY_STATUS_SKIPPED && r->steps >= most)
		k->end = ASSAY_EXACT_END_TOO_LONG;
	return rc;
}

static int drive(struct counting *k, bool warm)
{
	int rc = command(k, ASSAY_CMD_PREPARE, 0);

	if (!rc)
		rc = command(k, ASSAY_CMD_VERIFY, 0);
	if (!rc)
		memcpy(k->out->digest, assay_worker_reply(k->worker)->digest, sizeof(k->out->digest));
	if (!rc)
		rc = k->out->how == ASSAY_EXACT_STEPPED ? drive_steps(k, warm) : command(k, ASSAY_CMD_COUNT, warm);
	if (!rc)
		rc = command(k, ASSAY_CMD_FINISH, 0);
	return rc;
}

/* Does the check count what the run did? Otherwise the case says that it is not exact, and where. */
static void compare_runs(struct assay_exact_case *out, const struct assay_exact_case *check)
{
	for (size_t i = 0; i < out->n_functions; i++) {
		const struct assay_exact_function *f = &out->functions[i];
		const struct assay_exact_function *g = assay_exact_function_find(check, f->name, f->object);

		for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++) {
			unsigned long long next = g ? g->counts.v[e] : 0;

			if (e == ASSAY_EXACT_MISPREDICTIONS || f->counts.v[e] == next)
				continue;
			out->status = ASSAY_STATUS_FAILED;
			snprintf(out->reason, sizeof(out->reason),
				 "not exact: %s of %s were %llu in one run and %llu in the next",
				 assay_exact_event_name((enum assay_exact_event)e), f->name,
				 (unsigned long long)f->counts.v[e], next);
			return;
		}
	}
}

static int read_counts(struct counting *k)
{
	struct assay_exact_case check = { .key = "" };
	char program[4096] = "";
	struct assay_err why = { 0 };
	char *text = NULL;
	size_t len;
	int rc = assay_file_read(k->counts, &text, &len, &why);

	if (!realpath("/proc/self/exe", program))
		program[0] = '\0';
	if (!rc)
		rc = assay_callgrind_parse(text, ASSAY_CALLGRIND_RUN, program, k->out, &why);
	if (!rc && k->out->how == ASSAY_EXACT_CALLGRIND)
		rc = assay_callgrind_parse(text, ASSAY_CALLGRIND_CHECK, program, &check, &why);
	free(text);
	if (rc == ASSAY_ENOMEM) {
		*k->err = why;
	} else if (rc) {
		k->out->status = ASSAY_STATUS_FAILED;
		snprintf(k->out->reason, sizeof(k->out->reason), "%s", why.text);
		rc = 0;
	} else if (k->out->how == ASSAY_EXACT_CALLGRIND) {
		compare_runs(k->out, &check);
	}
	assay_exact_case_release(&check);
	return rc;
}

/* Was it stopped because the time for all counts was over? */
static void tell_late(struct counting *k)
{
	if (k->out->status != ASSAY_STATUS_TIMEOUT || !k->worker || !assay_worker_is_spent(k->worker))
		return;
	k->out->status = ASSAY_STATUS_SKIPPED;
	k->end = ASSAY_EXACT_END_LATE;
	snprintf(k->out->reason, sizeof(k->out->reason), "it was not finished when the time for all counts ended");
}

static int count(struct counting *k, const struct assay_case *c)
{
	const struct assay_exact_options *o = k->o;
	const struct assay_cache_model *m = o->model;
	/* what ops and variants may divide their work by */
	const struct assay_host_info host = { .size = sizeof(host),
					      .n_cores = c->threads,
					      .l1d_bytes = m->d1.bytes,
					      .l2_bytes = m->ll.bytes,
					      .llc_bytes = m->ll.bytes,
					      .vector_bits = o->measure.worker.host->vector_bits };
	struct assay_callgrind_command cg;
	struct assay_worker_launch launch;
	struct assay_worker_options wo;
	struct assay_timeout_history timeouts = { .first_ns = c->timeout_ns / FIRST_SHARE };
	struct assay_case bound = *c;
	const bool stepped = k->out->how == ASSAY_EXACT_STEPPED;
	const uint64_t steps = o->max_steps ? o->max_steps : ASSAY_EXACT_STEPS;
	static const char *const plainly[] = { NULL };
	struct assay_err why = { 0 };
	int rc;

	bound.timeout_ns *= TIMEOUT_FACTOR;
	if (stepped)
		bound.timeout_ns += steps * MOST_STEP_NS;
	if (bound.memory_bytes)
		bound.memory_bytes += TOOL_BYTES + (stepped ? steps * STEP_BYTES : 0);
	wo = assay_measure_worker(&o->measure, &bound, k->facts, ASSAY_WORKER_COUNTED);
	rc = assay_measure_place(&o->measure, &wo, &why);
	if (rc) {
		free(wo.cpus);
		k->out->status = ASSAY_STATUS_FAILED;
		memcpy(k->out->reason, why.text, sizeof(k->out->reason));
		return 0;
	}
	assay_callgrind_command(&cg, m, k->counts, k->log);
	launch = (struct assay_worker_launch){ .prefix = stepped ? plainly : cg.prefix, .env = cg.env };
	wo.setup.plugins = &k->plugins.files;
	wo.setup.parts = k->plugins.parts;
	wo.setup.host = &host;
	wo.launch = &launch;
	wo.cpu_most_ns = o->left_ns;
	wo.timeouts = &timeouts;
	wo.cache_model = stepped ? m : NULL;
	wo.counts_path = stepped ? k->counts : NULL;
	rc = assay_worker_start(&k->worker, &wo, k->err);
	if (!rc)
		rc = drive(k, c->cache == ASSAY_CACHE_WARM);
	tell_late(k);
	k->signal = k->worker ? assay_worker_signal(k->worker) : 0;
	if (k->worker)
		k->out->log = assay_worker_words(k->worker);
	assay_worker_free(k->worker);
	free(wo.cpus);
	return rc ? rc : read_counts(k);
}

/* Does a program send it to itself, by what it does? Others are sent, most often by a system that is out of memory. */
static bool is_of_a_fault(int signal)
{
	return signal == SIGILL || signal == SIGTRAP || signal == SIGABRT || signal == SIGBUS || signal == SIGFPE ||
	       signal == SIGSEGV || signal == SIGSYS;
}

/*
 * A plugin may have instructions that it does not declare and valgrind does not know, as -march=native makes them, and
 * valgrind may fail to start. Stepping runs the kernel on the processor itself. If somebody killed valgrind, the case
 * has no counts: stepped ones would be held against those of callgrind.
 */
static bool may_step_instead(const struct counting *k)
{
	return k->o->means->source == ASSAY_EXACT_SOURCE_AUTO && k->out->how == ASSAY_EXACT_CALLGRIND &&
	       !k->o->means->no_steps[0] &&
	       (k->out->status == ASSAY_STATUS_FAILED ||
		(k->out->status == ASSAY_STATUS_CRASHED && (!k->signal || is_of_a_fault(k->signal))));
}

int assay_measure_exact(const struct assay_case *c, const struct assay_catalog *cat,
			const struct assay_case_facts *facts, const struct assay_exact_options *o,
			struct assay_exact_case *out, enum assay_exact_end *end, struct assay_err *err)
{
	struct assay_temporary folder;
	struct counting k = { .o = o, .facts = facts, .out = out, .err = err };
	int rc;

	*out = (struct assay_exact_case){ .status = ASSAY_STATUS_OK };
	memcpy(out->key, c->key, sizeof(out->key));
	out->all_threads = c->all_threads;
	*end = ASSAY_EXACT_END_OTHER;
	if (!assay_exact_means_choose(o->means, o->tool, c, cat, facts, out))
		return 0;
	rc = assay_temporary_make(&folder, "exact", err);
	if (rc)
		return rc;
	snprintf(k.counts, sizeof(k.counts), "%s/counts", folder.path);
	snprintf(k.log, sizeof(k.log), "%s/log", folder.path);
	rc = assay_case_plugins_find(c, cat, o->measure.worker.plugins, o->measure.worker.parts, &k.plugins, err);
	if (!rc)
		rc = count(&k, c);
	if (rc >= 0 && may_step_instead(&k)) {
		/* If stepping fails in the same way, valgrind is not at fault, and the first reason stays. */
		struct assay_exact_case first = *k.out;

		*k.out = (struct assay_exact_case){ .status = ASSAY_STATUS_OK,
						    .how = ASSAY_EXACT_STEPPED,
						    .all_threads = first.all_threads };
		memcpy(k.out->key, first.key, sizeof(first.key));
		rc = count(&k, c);
		if (rc >= 0 && k.out->status == first.status) {
			assay_exact_case_release(k.out);
			*k.out = first;
		} else {
			assay_exact_case_release(&first);
		}
	}
	assay_case_plugins_release(&k.plugins);
	assay_temporary_remove(&folder);
	*end = k.end;
	if (rc > 0)
		rc = 0;
	if (!rc && out->status != ASSAY_STATUS_OK)
		assay_exact_case_drop_counts(out);
	return rc;
}

int assay_exact_add_metrics(struct assay_result *r, const struct assay_exact_case *c, struct assay_err *err)
{
	for (size_t i = 0; i < assay_n_metrics; i++) {
		const struct assay_metric_info *info = &assay_metrics[i];
		struct assay_metric m = { .better = info->better,
					  .value = assay_exact_case_metric(c, info->tag),
					  .source = ASSAY_SOURCE_EXACT };

		if (!isfinite(m.value))
			continue;
		snprintf(m.tag, sizeof(m.tag), "%s", info->tag);
		snprintf(m.unit, sizeof(m.unit), "%s", info->unit);
		if (assay_result_put_metric(r, &m))
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	return 0;
}
