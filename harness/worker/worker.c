/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting and watching a worker. While it has the turn, the controller wakes 20 times a second to see whether it
 * died, ran out of time, took too much memory, or the user wants to stop.
 */
#include "worker/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/process.h"
#include "base/process_strays.h"
#include "counters/heap.h"
#include "model/quantity.h"
#include "worker/plugin_loader.h"
#include "worker/worker_main.h"

#define SLICE_NS         50000000u
#define END_NS           5000000000u
#define SIMULATED_END_NS 60000000000u

struct assay_worker {
	struct assay_shared *shared; /* unmapped by the worker with index 0, if it is not kept */
	bool kept;
	struct assay_page *page;
	unsigned index;
	enum assay_command command;
	struct assay_process process;
	pid_t partner; /* of a pair, the one that was started later; 0: none */
	struct assay_strays strays;
	uint64_t deadline_ns, timeout_ns, memory_bytes;
	uint64_t end_ns; /* that it may take to end */
	struct assay_patience *patience, own_patience;
	const struct assay_case_facts *facts;
	/* of the command that it has */
	struct assay_worker_args args;
	struct assay_patience_limit limit;
	uint64_t begun_ns, looked_ns, waited_ns;
	const volatile sig_atomic_t *interrupted;
};

static int fill_spec(struct assay_worker_spec *s, const struct assay_worker_options *o, struct assay_err *err)
{
	const struct assay_case *c = o->c;
	size_t at = 0;

	memcpy(s->op, c->op, sizeof(s->op));
	memcpy(s->variant, c->variant, sizeof(s->variant));
	for (unsigned i = 0; i < c->n_axes; i++)
		s->axis[i] = c->axes[i].value;
	s->n_axes = c->n_axes;
	if (c->threads > ASSAY_PAGE_CPUS)
		return assay_err_set(err, ASSAY_ELIMIT, "%u threads asked, %d are possible", c->threads,
				     ASSAY_PAGE_CPUS);
	s->n_threads = c->threads;
	s->try_pace = o->try_pace;
	for (unsigned i = 0; i < c->threads; i++) {
		s->cpus[i] = o->cpus[i];
		s->core_least[i] = assay_core_pace_known(o->pace, o->cpus[i]);
	}
	s->copies = o->copies;
	s->seed = o->seed;
	s->layout_seed = o->layout_seed;
	s->fixed_layout = o->launch != NULL;
	s->memory_bytes = c->memory_bytes;
	s->clock = *o->clock;
	s->host = *o->host;
	s->multiplex = o->multiplex;
	s->audit = o->audit;
	s->common = (uint32_t)o->common;
	if (o->events && strlen(o->events) >= sizeof(s->events))
		return assay_err_set(err, ASSAY_ELIMIT, "the names of all events take more than %zu bytes",
				     sizeof(s->events));
	snprintf(s->events, sizeof(s->events), "%s", o->events ? o->events : "");
	for (size_t i = 0; i < o->plugins->n; i++) {
		int n = snprintf(s->plugins + at, sizeof(s->plugins) - at, "%c%s\n",
				 o->parts ? o->parts[i] : ASSAY_PART_ALL, o->plugins->v[i]);

		if (n < 0 || (size_t)n >= sizeof(s->plugins) - at)
			return assay_err_set(err, ASSAY_ELIMIT, "the paths of the plugins take more than %zu bytes",
					     sizeof(s->plugins));
		at += (size_t)n;
	}
	return 0;
}

/* What counts the heap has to stand before everything else in the worker, also before what the user preloads. */
static const char *preload_variable(const struct assay_worker_options *o, char *buf, size_t size)
{
	const char *users = getenv("LD_PRELOAD");
	char path[ASSAY_HEAP_PATH_MAX];

	if (!o->events || !assay_heap_wanted(o->events) || assay_heap_library(path, sizeof(path), NULL))
		return NULL;
	snprintf(buf, size, "LD_PRELOAD=%s%s%s", path, users ? ":" : "", users ? users : "");
	return buf;
}

#define MAX_PREFIX 32

static int start(struct assay_worker **out, struct assay_shared *shared, int fd, unsigned index,
		 const struct assay_worker_options *o, struct assay_err *err)
{
	struct assay_worker *w = calloc(1, sizeof(*w));
	char number[16], program[4096] = "/proc/self/exe", preload[2 * ASSAY_HEAP_PATH_MAX];
	const char *env[] = { preload_variable(o, preload, sizeof(preload)), NULL };
	const char *argv[MAX_PREFIX + 5];
	struct assay_process_options po = { .argv = argv, .keep_fd = fd, .stdout_fd = STDERR_FILENO, .stderr_fd = -1 };
	size_t n = 0;
	int rc;

	if (!w)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a worker");
	snprintf(number, sizeof(number), "%d", fd);
	po.env = env;
	if (o->launch) {
		/* the name is resolved by another program, whose own it would be */
		if (!realpath("/proc/self/exe", program)) {
			free(w);
			return assay_err_set(err, ASSAY_EIO, "cannot find the running program: %s", strerror(errno));
		}
		while (o->launch->prefix[n] && n < MAX_PREFIX) {
			argv[n] = o->launch->prefix[n];
			n++;
		}
		po.env = o->launch->env;
		po.only_env = po.fixed_addresses = true;
	}
	argv[n++] = program;
	argv[n++] = ASSAY_WORKER_COMMAND;
	argv[n++] = number;
	argv[n++] = index ? "1" : "0";
	argv[n] = NULL;
	w->process.pidfd = -1;
	w->shared = shared;
	w->page = &shared->page[index];
	w->index = index;
	w->deadline_ns = o->deadline_ns;
	w->timeout_ns = o->c->timeout_ns;
	w->memory_bytes = o->c->memory_bytes;
	w->end_ns = o->launch ? SIMULATED_END_NS : END_NS;
	w->patience = o->patience ? o->patience : &w->own_patience;
	w->facts = o->facts;
	w->interrupted = o->interrupted;
	assay_strays_watch(&w->strays);
	rc = fill_spec(&w->page->spec, o, err);
	if (!rc)
		rc = assay_process_start(&w->process, &po, err);
	if (rc) {
		free(w);
		return rc;
	}
	*out = w;
	return 0;
}

int assay_worker_start(struct assay_worker **w, const struct assay_worker_options *o, struct assay_err *err)
{
	struct assay_shared *shared;
	int fd, rc;

	rc = assay_shared_create(&shared, &fd, err);
	if (rc)
		return rc;
	rc = start(w, shared, fd, 0, o, err);
	close(fd);
	if (rc)
		assay_shared_unmap(shared);
	return rc;
}

/* Each side's part begins far behind all tensors, and files may be limited to less. */
static bool may_keep(const struct assay_kept_memory *kept)
{
	struct rlimit most;

	return kept && !getrlimit(RLIMIT_FSIZE, &most) && most.rlim_cur == RLIM_INFINITY;
}

static int open_pages(struct assay_kept_memory *kept, struct assay_shared **shared, int *fd, struct assay_err *err)
{
	int rc = 0;

	if (!kept)
		return assay_shared_create(shared, fd, err);
	if (kept->shared)
		assay_shared_reset(kept->shared);
	else
		rc = assay_shared_create(&kept->shared, &kept->fd, err);
	*shared = kept->shared;
	*fd = kept->fd;
	return rc;
}

void assay_kept_memory_release(struct assay_kept_memory *m)
{
	if (!m->shared)
		return;
	assay_shared_unmap(m->shared);
	close(m->fd);
	*m = (struct assay_kept_memory){ 0 };
}

int assay_worker_start_pair(struct assay_worker *w[2], const struct assay_worker_options o[2],
			    struct assay_kept_memory *kept, struct assay_err *err)
{
	struct assay_shared *shared;
	int fd, rc;

	if (!may_keep(kept))
		kept = NULL;
	rc = open_pages(kept, &shared, &fd, err);
	if (rc)
		return rc;
	for (int i = 0; i < 2; i++)
		shared->page[i].spec.kept_memory = kept;
	rc = start(&w[0], shared, fd, 0, &o[0], err);
	if (rc) {
		if (!kept)
			assay_shared_unmap(shared);
	} else {
		w[0]->kept = kept;
		rc = start(&w[1], shared, fd, 1, &o[1], err);
		if (rc)
			assay_worker_free(w[0]);
		else
			w[0]->partner = w[1]->process.pid;
	}
	if (!kept)
		close(fd);
	return rc;
}

void assay_worker_free(struct assay_worker *w)
{
	if (!w)
		return;
	if (w->process.pid)
		assay_process_kill(&w->process);
	assay_strays_kill(&w->strays, w->partner);
	if (!w->index && !w->kept)
		assay_shared_unmap(w->shared);
	free(w);
}

static enum assay_phase phase_of(const struct assay_worker *w)
{
	return (enum assay_phase)atomic_load_explicit(&w->page->phase, memory_order_relaxed);
}

static void ended(struct assay_worker *w, enum assay_status *status, char *reason, size_t size)
{
	char how[128];

	assay_process_describe(&w->process, how, sizeof(how));
	*status = ASSAY_STATUS_CRASHED;
	snprintf(reason, size, "%s while %s", how, assay_phase_name(phase_of(w)));
}

/* Memory used up? Then the worker is killed and *status says so. */
static bool over_memory(struct assay_worker *w, enum assay_status *status, char *reason, size_t size)
{
	uint64_t rss = w->memory_bytes ? assay_process_rss_bytes(&w->process) : 0;

	if (rss <= w->memory_bytes)
		return false;
	*status = ASSAY_STATUS_FAILED;
	snprintf(reason, size, "took %.1f MiB while %s, the memory limit is %.1f MiB", (double)rss / 1048576,
		 assay_phase_name(phase_of(w)), (double)w->memory_bytes / 1048576);
	assay_process_kill(&w->process);
	return true;
}

/* The process ends by itself after its last command, in time; under a simulator that takes longer. */
static int await_end(struct assay_worker *w, enum assay_status *status, char *reason, size_t size,
		     struct assay_err *err)
{
	const uint64_t end = assay_monotonic_ns() + w->end_ns;

	while (!assay_process_wait(&w->process, SLICE_NS)) {
		if (w->interrupted && *w->interrupted)
			return assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted");
		if (assay_monotonic_ns() > end) {
			*status = ASSAY_STATUS_FAILED;
			snprintf(reason, size, "the worker did not end after its last command");
			return 0;
		}
	}
	if (w->process.status)
		ended(w, status, reason, size);
	return 0;
}

/* Time used up, that of the case or what the command may take by all that is known? Then likewise. */
static bool over_time(struct assay_worker *w, const struct assay_worker *partner, enum assay_status *status,
		      char *reason, size_t size)
{
	const struct assay_patience_limit limit =
		partner ? assay_patience_sum(w->patience, w->limit, partner->limit) : w->limit;
	uint64_t now = assay_monotonic_ns();
	char expected[64];

	w->waited_ns += assay_patience_counted(now - w->looked_ns, SLICE_NS);
	w->looked_ns = now;
	if (now <= w->deadline_ns && w->waited_ns <= limit.most_ns)
		return false;
	*status = ASSAY_STATUS_TIMEOUT;
	assay_quantity_text((double)(limit.expected_ns ? limit.expected_ns : limit.most_ns) * 1e-9, "s", false,
			    expected, sizeof(expected));
	if (now > w->deadline_ns)
		snprintf(reason, size, "not done after %.3g s (while %s)", (double)w->timeout_ns * 1e-9,
			 assay_phase_name(phase_of(w)));
	else
		snprintf(reason, size, "not done after %.3g s (while %s, expected %s %s)", (double)w->waited_ns * 1e-9,
			 assay_phase_name(phase_of(w)), limit.expected_ns ? "to take" : "within", expected);
	assay_process_kill(&w->process);
	return true;
}

/* Is it the partner that does not go on? */
static bool waits_for(const struct assay_worker *w, const struct assay_worker *partner)
{
	return partner && phase_of(w) == ASSAY_PHASE_TURN && phase_of(partner) != ASSAY_PHASE_TURN;
}

void assay_worker_begin(struct assay_worker *w, enum assay_command cmd, const struct assay_worker_args *args)
{
	static const struct assay_worker_args none;

	if (!args)
		args = &none;
	if (cmd == ASSAY_CMD_PAIR && !w->index) { /* reset the pair's state; the base begins first */
		atomic_store(&w->shared->pair.ready, 0);
		atomic_store(&w->shared->pair.slot, ASSAY_PAIR_WAITING);
	}
	w->args = *args;
	w->limit = assay_patience_limit(w->patience, cmd, args, w->facts, w->timeout_ns);
	w->begun_ns = w->looked_ns = assay_monotonic_ns();
	w->waited_ns = 0;
	w->command = cmd;
	w->page->command = cmd;
	w->page->iterations = args->iterations;
	w->page->extra_iterations = args->extra_iterations;
	w->page->stretch_frac = args->stretch_frac;
	w->page->counting = args->counting;
	w->page->long_calls = args->long_calls;
	w->page->turn_parts = args->turn_parts;
	w->page->count = args->count;
	w->page->order_seed = args->order_seed;
	assay_page_give(w->page, ASSAY_TURN_WORKER);
}

int assay_worker_end(struct assay_worker *w, struct assay_worker *partner, enum assay_status *status, char *reason,
		     size_t size, struct assay_err *err)
{
	while (!assay_page_wait(w->page, ASSAY_TURN_CONTROLLER, SLICE_NS)) {
		if (w->interrupted && *w->interrupted)
			return assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted");
		if (assay_process_ended(&w->process)) {
			ended(w, status, reason, size);
			return 0;
		}
		if (over_memory(w, status, reason, size))
			return 0;
		if (over_time(w, partner, status, reason, size)) {
			if (!waits_for(w, partner))
				return 0;
			partner->waited_ns = w->waited_ns;
			*status = ASSAY_STATUS_FAILED;
			return 1;
		}
		if (partner && assay_process_ended(&partner->process)) {
			*status = ASSAY_STATUS_FAILED;
			assay_process_kill(&w->process);
			return 1;
		}
	}
	*status = w->page->reply.status >= 0 && w->page->reply.status < ASSAY_N_STATUS
			  ? (enum assay_status)w->page->reply.status
			  : ASSAY_STATUS_FAILED;
	snprintf(reason, size, "%s", w->page->reply.reason);
	if (*status == ASSAY_STATUS_OK)
		assay_patience_learn(w->patience, w->command, &w->args, assay_monotonic_ns() - w->begun_ns);
	if (w->command == ASSAY_CMD_VERIFY)
		w->patience->call_parts = w->page->reply.call_parts;
	return w->command == ASSAY_CMD_FINISH ? await_end(w, status, reason, size, err) : 0;
}

int assay_worker_call(struct assay_worker *w, enum assay_command cmd, const struct assay_worker_args *args,
		      enum assay_status *status, char *reason, size_t size, struct assay_err *err)
{
	assay_worker_begin(w, cmd, args);
	return assay_worker_end(w, NULL, status, reason, size, err);
}

void assay_worker_accept(struct assay_worker *w, const struct assay_accepted *accepted)
{
	w->page->spec.accepted = *accepted;
}

const struct assay_worker_reply *assay_worker_reply(const struct assay_worker *w)
{
	return &w->page->reply;
}

pid_t assay_worker_pid(const struct assay_worker *w)
{
	return w->process.pid;
}
