/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker from its start to its end. While it has the turn, the controller wakes 20 times a second to see whether it
 * died, ran out of time, took too much memory, or the user wants to stop.
 */
#include "worker/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/process.h"
#include "base/text.h"
#include "model/exact.h"
#include "model/quantity.h"
#include "worker/reply.h"
#include "worker/start.h"

#define SLICE_NS         50000000u
#define END_NS           5000000000u
#define SIMULATED_END_NS 60000000000u
/* As long as the worker prints more than a pipe holds: it waits until somebody reads. */
#define TALKING_SLICE_NS 1000000u
#define TALKING_BYTES    ((size_t)32 << 10)

struct assay_worker {
	struct assay_page *page;
	struct assay_pair_shared *pair; /* NULL: it has no partner */
	bool owns_pair;
	unsigned index;
	struct assay_order order;
	struct assay_worker_reply reply; /* checked */
	uint32_t n_threads;
	bool same_clock; /* as this process: it does not run in a simulator */
	struct assay_clock clock;
	uint64_t started_ns;
	struct assay_process process;
	pid_t partner; /* of a pair, the one that was started later; 0: none */
	struct assay_strays strays;
	struct assay_process_limits limits; /* of this process, as they are to be */
	struct assay_pipe words;            /* what the process prints */
	uint64_t deadline_ns, timeout_ns, memory_bytes;
	uint64_t cpu_most_ns; /* 0: any */
	bool spent;           /* that processor time */
	uint64_t end_ns;      /* that it may take to end */
	struct assay_timeout_history *timeouts, own_timeouts;
	const struct assay_case_facts *facts;
	/* of the command that it has */
	struct assay_timeout_limit limit;
	uint64_t begun_ns, looked_ns, waited_ns, given_ticks;
	void (*waiting)(void *arg);
	void *waiting_arg;
	uint64_t wait_ns; /* until the function that is called meanwhile wants to be called again; 0: it does not say */
	const volatile sig_atomic_t *interrupted;
	char key[ASSAY_KEY_MAX]; /* of its case */
};

/* The file that both sides of a pair map. */
struct pair_file {
	struct assay_pair_shared *shared; /* NULL: the worker has no partner */
	int fd;
	bool kept;
};

static int start(struct assay_worker **out, const struct pair_file *pair, unsigned index,
		 const struct assay_worker_options *o, struct assay_err *err)
{
	struct assay_worker *w = calloc(1, sizeof(*w));
	int rc, fd;

	if (!w)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a worker");
	w->process.pidfd = -1;
	w->pair = pair->shared;
	w->index = index;
	w->started_ns = assay_monotonic_ns();
	w->deadline_ns = o->deadline_ns;
	w->timeout_ns = o->c->timeout_ns;
	w->cpu_most_ns = o->cpu_most_ns;
	w->memory_bytes = o->c->memory_bytes;
	w->same_clock = !o->launch;
	w->clock = *o->setup.clock;
	w->end_ns = o->launch ? SIMULATED_END_NS : END_NS;
	w->timeouts = o->timeouts ? o->timeouts : &w->own_timeouts;
	w->facts = o->facts;
	w->interrupted = o->setup.interrupted;
	memcpy(w->key, o->c->key, sizeof(w->key));
	rc = assay_pipe_open(&w->words, ASSAY_WORKER_WORDS_MAX, err);
	if (!rc)
		rc = assay_page_create(&w->page, o->setup.topology ? assay_topology_text(o->setup.topology) : NULL, &fd,
				       err);
	if (!rc) {
		w->page->spec.kept_memory = pair->kept;
		rc = assay_worker_spec_fill(&w->page->spec, o, err);
		assay_strays_watch(&w->strays);
		assay_process_limits_take(&w->limits);
		if (!rc)
			rc = assay_worker_process_start(&w->process, o,
							&(struct assay_worker_place){ .page_fd = fd,
										      .pair_fd = pair->fd,
										      .words_fd = w->words.write_fd,
										      .index = index },
							err);
		close(fd);
	}
	assay_pipe_started(&w->words);
	if (rc) {
		assay_page_unmap(w->page);
		assay_pipe_release(&w->words);
		free(w);
		return rc;
	}
	w->n_threads = o->c->threads;
	*out = w;
	return 0;
}

int assay_worker_start(struct assay_worker **w, const struct assay_worker_options *o, struct assay_err *err)
{
	static const struct pair_file none;

	return start(w, &none, 0, o, err);
}

/* Each side's part begins far behind all tensors, and files may be limited to less. */
bool assay_kept_memory_usable(const struct assay_kept_memory *kept)
{
	struct rlimit most;

	return kept && !getrlimit(RLIMIT_FSIZE, &most) && most.rlim_cur == RLIM_INFINITY;
}

static int open_pair(struct assay_kept_memory *kept, struct pair_file *pair, struct assay_err *err)
{
	int rc = 0;

	*pair = (struct pair_file){ .kept = kept };
	if (!kept)
		return assay_pair_create(&pair->shared, &pair->fd, err);
	if (kept->shared)
		assay_pair_reset(kept->shared);
	else
		rc = assay_pair_create(&kept->shared, &kept->fd, err);
	pair->shared = kept->shared;
	pair->fd = kept->fd;
	return rc;
}

void assay_kept_memory_release(struct assay_kept_memory *m)
{
	if (!m->shared)
		return;
	assay_pair_unmap(m->shared);
	close(m->fd);
	*m = (struct assay_kept_memory){ 0 };
}

int assay_worker_start_pair(struct assay_worker *w[2], const struct assay_worker_options o[2],
			    struct assay_kept_memory *kept, struct assay_err *err)
{
	struct pair_file pair;
	int rc;

	rc = open_pair(assay_kept_memory_usable(kept) ? kept : NULL, &pair, err);
	if (rc)
		return rc;
	rc = start(&w[0], &pair, 0, &o[0], err);
	if (rc) {
		if (!pair.kept)
			assay_pair_unmap(pair.shared);
	} else {
		w[0]->owns_pair = !pair.kept;
		rc = start(&w[1], &pair, 1, &o[1], err);
		if (rc)
			assay_worker_free(w[0]);
		else
			w[0]->partner = w[1]->process.pid;
	}
	if (!pair.kept)
		close(pair.fd);
	return rc;
}

void assay_worker_free(struct assay_worker *w)
{
	char what[128];

	if (!w)
		return;
	if (w->process.pid)
		assay_process_kill(&w->process);
	assay_strays_kill(&w->strays, w->partner);
	assay_process_limits_restore(&w->limits, what, sizeof(what));
	if (w->owns_pair)
		assay_pair_unmap(w->pair);
	assay_page_unmap(w->page);
	assay_pipe_release(&w->words);
	free(w);
}

static enum assay_phase phase_of(const struct assay_worker *w)
{
	return (enum assay_phase)atomic_load_explicit(&w->page->phase, memory_order_relaxed);
}

char *assay_worker_words(struct assay_worker *w)
{
	struct assay_text *t = &w->words.text;

	if (w->process.pid)
		assay_process_kill(&w->process);
	while (assay_pipe_drain(&w->words) && w->words.left_out < ASSAY_WORKER_WORDS_MAX)
		;
	if (!t->len || t->failed)
		return NULL;
	t->len = assay_printable_lines(t->s, t->len);
	if (w->words.left_out)
		assay_text_addf(t, "%s… %llu bytes left out\n", t->s[t->len - 1] == '\n' ? "" : "\n",
				(unsigned long long)w->words.left_out);
	return assay_text_take(t);
}

/* Take what it printed, and say how long to wait until it may have printed as much again. */
static uint64_t listen_to(struct assay_worker *w)
{
	return assay_pipe_drain(&w->words) >= TALKING_BYTES ? TALKING_SLICE_NS : SLICE_NS;
}

static int interrupted(const struct assay_worker *w, struct assay_err *err)
{
	return assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted in '%s' (while %s)", w->key,
			     assay_phase_name(phase_of(w)));
}

static void ended(struct assay_worker *w, struct assay_ending end)
{
	char how[128];

	assay_process_describe(&w->process, how, sizeof(how));
	*end.status = ASSAY_STATUS_CRASHED;
	snprintf(end.reason, end.size, "%s while %s", how, assay_phase_name(phase_of(w)));
}

/* Kill it; if it does not end, the reason says so, too. */
static void kill_for(struct assay_worker *w, struct assay_ending end)
{
	const size_t n = strlen(end.reason);
	char how[128];

	assay_process_kill(&w->process);
	assay_process_describe(&w->process, how, sizeof(how));
	if (w->process.status == -1 && n < end.size)
		snprintf(end.reason + n, end.size - n, "; %s", how);
}

/* Memory used up? Then the worker is killed and @end says so. */
static bool over_memory(struct assay_worker *w, struct assay_ending end)
{
	uint64_t rss = w->memory_bytes ? assay_process_rss_bytes(&w->process) : 0;

	if (rss <= w->memory_bytes)
		return false;
	*end.status = ASSAY_STATUS_FAILED;
	snprintf(end.reason, end.size, "took %.1f MiB while %s, the memory limit is %.1f MiB", (double)rss / 1048576,
		 assay_phase_name(phase_of(w)), (double)w->memory_bytes / 1048576);
	kill_for(w, end);
	return true;
}

/* The process ends by itself after its last command, in time; under a simulator that takes longer. */
static int await_end(struct assay_worker *w, struct assay_ending end, struct assay_err *err)
{
	const uint64_t until_ns = assay_monotonic_ns() + w->end_ns;
	pid_t tracer;

	while (!assay_process_wait(&w->process, listen_to(w))) {
		if (w->interrupted && *w->interrupted)
			return interrupted(w, err);
		if (assay_monotonic_ns() > until_ns) {
			*end.status = ASSAY_STATUS_FAILED;
			tracer = assay_process_tracer(w->process.pid);
			snprintf(end.reason, end.size, "the worker did not end after its last command");
			if (tracer)
				snprintf(end.reason, end.size, "the worker cannot end because process %d traces it",
					 (int)tracer);
			kill_for(w, end);
			return 0;
		}
	}
	if (w->process.status)
		ended(w, end);
	return 0;
}

/* Time used up, that of the case or what the command may take by all that is known? Then likewise. */
static bool over_time(struct assay_worker *w, const struct assay_worker *partner, struct assay_ending end)
{
	const struct assay_timeout_limit limit =
		partner ? assay_timeout_history_sum(w->timeouts, w->limit, partner->limit) : w->limit;
	uint64_t now = assay_monotonic_ns();
	char expected[64], waited[32];

	w->waited_ns += assay_timeout_history_counted(now - w->looked_ns, SLICE_NS);
	w->looked_ns = now;
	w->spent = w->cpu_most_ns && assay_process_cpu_ns(&w->process) > w->cpu_most_ns;
	if (!w->spent && now <= w->deadline_ns && w->waited_ns <= limit.most_ns)
		return false;
	*end.status = ASSAY_STATUS_TIMEOUT;
	assay_quantity_text((double)(limit.expected_ns ? limit.expected_ns : limit.most_ns) * 1e-9, "s", true, expected,
			    sizeof(expected));
	assay_exact_about_text((double)(now > w->deadline_ns ? w->timeout_ns : w->waited_ns) * 1e-9, waited,
			       sizeof(waited));
	if (w->spent)
		snprintf(end.reason, end.size, "it used up its processor time (while %s)",
			 assay_phase_name(phase_of(w)));
	else if (now > w->deadline_ns)
		snprintf(end.reason, end.size, "no result after %s s (while %s)", waited,
			 assay_phase_name(phase_of(w)));
	else
		snprintf(end.reason, end.size, "no result after %s s (while %s, expected %s %s)", waited,
			 assay_phase_name(phase_of(w)), limit.expected_ns ? "to take" : "within", expected);
	kill_for(w, end);
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

	w->order = (struct assay_order){ .command = cmd, .token = assay_token_draw(), .args = args ? *args : none };
	if (cmd == ASSAY_CMD_PAIR && !w->index) /* the base begins first */
		assay_pair_hold(&w->pair->turn, w->order.args.order_seed);
	w->limit = assay_timeout_limit(w->timeouts, cmd, &w->order.args, w->facts, w->timeout_ns);
	w->begun_ns = w->looked_ns = assay_monotonic_ns();
	w->waited_ns = 0;
	w->given_ticks = assay_clock_ticks(&w->clock);
	w->page->order = w->order;
	assay_page_give(w->page, ASSAY_TURN_WORKER);
}

/* Read the answer. False, and the worker is gone, when it makes no sense. */
static bool take_reply(struct assay_worker *w, struct assay_ending end)
{
	const struct assay_reply_expected expected = { .order = &w->order,
						       .n_threads = w->n_threads,
						       .clock = w->same_clock ? &w->clock : NULL,
						       .given_ticks = w->given_ticks,
						       .now_ticks = assay_clock_ticks(&w->clock),
						       .age_ns = assay_monotonic_ns() - w->started_ns };
	struct assay_err why = { 0 };

	if (assay_reply_take(&w->reply, &w->page->reply, &expected, &why)) {
		*end.status = ASSAY_STATUS_FAILED;
		snprintf(end.reason, end.size, "%s", why.text);
		kill_for(w, end);
		return false;
	}
	*end.status = (enum assay_status)w->reply.status;
	snprintf(end.reason, end.size, "%s", w->reply.reason);
	return true;
}

/* Nothing but the case that runs changes what this process may have. */
static void check_limits(struct assay_worker *w, struct assay_ending end)
{
	char what[128];

	if (!assay_process_limits_restore(&w->limits, what, sizeof(what)))
		return;
	if (*end.status == ASSAY_STATUS_OK) {
		*end.status = ASSAY_STATUS_FAILED;
		snprintf(end.reason, end.size, "its process changed %s", what);
		kill_for(w, end);
	} else {
		const size_t n = strlen(end.reason);

		snprintf(end.reason + n, n < end.size ? end.size - n : 0, "; its process changed %s", what);
	}
}

static int await_reply(struct assay_worker *w, struct assay_worker *partner, struct assay_ending end,
		       struct assay_err *err)
{
	const enum assay_command cmd = (enum assay_command)w->order.command;
	uint64_t slice_ns = w->wait_ns && w->wait_ns < SLICE_NS ? w->wait_ns : SLICE_NS;

	/* a worker that answers at once, and never says what ends the case, is over its time, too */
	if (over_time(w, NULL, end))
		return 0;
	while (!assay_page_wait(w->page, ASSAY_TURN_CONTROLLER, slice_ns)) {
		slice_ns = listen_to(w);
		w->wait_ns = 0;
		if (w->waiting)
			w->waiting(w->waiting_arg);
		if (w->wait_ns && w->wait_ns < slice_ns)
			slice_ns = w->wait_ns;
		if (partner && listen_to(partner) < slice_ns)
			slice_ns = TALKING_SLICE_NS;
		if (w->interrupted && *w->interrupted)
			return interrupted(w, err);
		if (assay_process_ended(&w->process)) {
			ended(w, end);
			return 0;
		}
		if (over_memory(w, end))
			return 0;
		if (over_time(w, partner, end)) {
			if (!waits_for(w, partner))
				return 0;
			partner->waited_ns = w->waited_ns;
			*end.status = ASSAY_STATUS_FAILED;
			return 1;
		}
		if (partner && assay_process_ended(&partner->process)) {
			*end.status = ASSAY_STATUS_FAILED;
			assay_process_kill(&w->process);
			return 1;
		}
	}
	if (!take_reply(w, end))
		return 0;
	if (*end.status == ASSAY_STATUS_OK)
		assay_timeout_history_learn(w->timeouts, cmd, &w->order.args, assay_monotonic_ns() - w->begun_ns);
	if (cmd == ASSAY_CMD_VERIFY)
		w->timeouts->call_parts = w->reply.call_parts;
	return cmd == ASSAY_CMD_FINISH ? await_end(w, end, err) : 0;
}

int assay_worker_end(struct assay_worker *w, struct assay_worker *partner, struct assay_ending end,
		     struct assay_err *err)
{
	int rc = await_reply(w, partner, end, err);

	if (!rc)
		check_limits(w, end);
	return rc;
}

int assay_worker_call(struct assay_worker *w, enum assay_command cmd, const struct assay_worker_args *args,
		      struct assay_ending end, struct assay_err *err)
{
	assay_worker_begin(w, cmd, args);
	return assay_worker_end(w, NULL, end, err);
}

int assay_worker_respond(struct assay_worker *w, const int32_t *prompt, uint32_t n, uint32_t n_wanted,
			 struct assay_ending end, struct assay_err *err)
{
	const struct assay_worker_args args = { .iterations = n, .count = n_wanted };

	memcpy(w->page->tokens.prompt, prompt, n * sizeof(*prompt));
	atomic_store_explicit(&w->page->tokens.n, 0, memory_order_relaxed);
	w->page->tokens.enough = 0;
	return assay_worker_call(w, ASSAY_CMD_RESPOND, &args, end, err);
}

void assay_worker_enough(struct assay_worker *w)
{
	__atomic_store_n(&w->page->tokens.enough, 1, __ATOMIC_RELAXED);
}

uint32_t assay_worker_tokens(const struct assay_worker *w, int32_t *tokens, uint64_t *at_ns)
{
	const struct assay_page_tokens *t = &w->page->tokens;
	const uint32_t told = atomic_load_explicit(&t->n, memory_order_acquire), most = w->order.args.count,
		       n = told < most ? told : most;

	memcpy(tokens, t->tokens, n * sizeof(*tokens));
	memcpy(at_ns, t->at_ns, n * sizeof(*at_ns));
	return n;
}

void assay_worker_accept(struct assay_worker *w, const struct assay_accepted *accepted)
{
	w->page->spec.accepted = *accepted;
}

const struct assay_worker_reply *assay_worker_reply(const struct assay_worker *w)
{
	return &w->reply;
}

void assay_worker_while_waiting(struct assay_worker *w, void (*f)(void *arg), void *arg)
{
	w->waiting = f;
	w->waiting_arg = arg;
}

void assay_worker_wait_less(struct assay_worker *w, uint64_t ns)
{
	w->wait_ns = ns;
}

uint64_t assay_worker_steps(const struct assay_worker *w)
{
	return atomic_load_explicit(&w->page->steps, memory_order_relaxed);
}

uint64_t assay_worker_cpu_ns(const struct assay_worker *w)
{
	return assay_process_cpu_ns(&w->process);
}

bool assay_worker_is_spent(const struct assay_worker *w)
{
	return w->spent;
}

int assay_worker_signal(const struct assay_worker *w)
{
	const struct assay_process *p = &w->process;

	return p->reaped && p->status != -1 && WIFSIGNALED(p->status) ? WTERMSIG(p->status) : 0;
}

pid_t assay_worker_pid(const struct assay_worker *w)
{
	return w->process.pid;
}

unsigned assay_worker_threads(const struct assay_worker *w)
{
	return assay_process_threads(&w->process);
}
