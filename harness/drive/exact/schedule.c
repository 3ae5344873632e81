/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each case is counted by a process of its own (base/lanes.h). Threads of a case have CPUs to themselves, since they
 * wait for each other. Cases of one thread share a CPU: while one waits for its program to load the other counts, and
 * beside a load they get a larger part of it.
 */
#include "drive/exact/exact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/lanes.h"
#include "base/process.h"
#include "model/quantity.h"

/* The assumed time of a case until one has ended, for the progress bar. */
#define COUNT_NS 1e9
/* How many cases of one thread share a CPU. */
#define CPU_SHARED 2
/* Cases without time that are named. */
#define NAMED 3

/* Records of a task. */
enum { TOLD_CASE, TOLD_STEPS, TOLD_PART };

struct task {
	const struct assay_case *c;
	const struct assay_case_facts *facts;
	size_t of;                           /* in the plan */
	bool smaller;                        /* stands for that one */
	unsigned rank;                       /* the lowest come first */
	double price_ns;                     /* of these the cheapest; INFINITY where it is not known */
	bool begun, running, done, replaced; /* replaced: by smaller ones, for want of time */
	double part;                         /* of it, while it runs */
	struct assay_exact_case result;
	enum assay_exact_end end;
	int cpus[ASSAY_LANES_MOST];
};

struct schedule {
	const struct assay_exact_schedule *s;
	struct assay_exact_options options;
	struct task *tasks; /* room for all smaller ones */
	size_t n, n_done;
	int cpus[ASSAY_LANES_MOST];
	unsigned users[ASSAY_LANES_MOST]; /* CPU_SHARED: it is taken */
	size_t n_cpus;
	uint64_t begun_ns; /* see cpu_ns() */
};

/* ---- in the process of a task ---- */

struct telling {
	const struct assay_lane *lane;
};

static void tell_parent(void *arg, const struct assay_event *e)
{
	const struct telling *t = arg;

	if (e->kind == ASSAY_EVENT_NOTE)
		assay_lane_tell(t->lane, TOLD_STEPS, e->text, strlen(e->text) + 1);
	else if (e->kind == ASSAY_EVENT_PART)
		assay_lane_tell(t->lane, TOLD_PART, &e->done_frac, sizeof(e->done_frac));
}

static int tell_case(const struct assay_lane *lane, const struct assay_exact_case *c, enum assay_exact_end end,
		     struct assay_err *err)
{
	struct assay_text t = { 0 };
	int rc = 0;

	assay_exact_pack(c, end, &t);
	if (t.failed)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for the counts of '%s'", c->key);
	else if (!assay_lane_tell(lane, TOLD_CASE, t.s, t.len))
		rc = assay_err_set(err, ASSAY_EIO, "cannot hand on the counts of '%s'", c->key);
	assay_text_release(&t);
	return rc;
}

static int work(void *arg, size_t i, const struct assay_lane *lane, struct assay_err *err)
{
	const struct schedule *k = arg;
	struct task *t = &k->tasks[i];
	struct telling telling = { lane };
	struct assay_watch watch = { .event = tell_parent, .arg = &telling };
	struct assay_exact_options o = k->options;
	struct assay_exact_case c;
	enum assay_exact_end end;
	int rc;

	if (t->c->threads <= k->n_cpus) {
		o.measure.placement.cpus = t->cpus;
		o.measure.placement.n_cpus = t->c->threads;
	}
	o.known_steps = assay_exact_price_steps(k->s->recorded, t->c->key);
	o.on_steps = assay_exact_size_tell;
	o.on_steps_arg = &watch;
	o.measure.worker.interrupted = assay_lane_stop(lane);
	rc = assay_measure_exact(t->c, k->s->session->catalog, t->facts, &o, &c, &end, err);
	return rc ? rc : tell_case(lane, &c, end, err);
}

/* ---- what tasks told ---- */

static void tell_share(const struct schedule *k)
{
	const char *key = "";
	double done = 0;

	for (size_t i = 0; i < k->n; i++) {
		done += k->tasks[i].running ? k->tasks[i].part : k->tasks[i].begun;
		key = k->tasks[i].running ? k->tasks[i].c->key : key;
	}
	assay_watch_tell(k->s->watch, &(struct assay_event){ .kind = ASSAY_EVENT_SHARE,
							     .done_frac = k->n ? done / (double)k->n : 1,
							     .text = key });
}

static int heard(void *arg, size_t i, unsigned kind, const char *bytes, size_t n, struct assay_err *err)
{
	struct schedule *k = arg;
	struct task *t = &k->tasks[i];

	if (kind == TOLD_CASE) {
		t->done = true;
		return assay_exact_unpack(bytes, n, &t->result, &t->end, err);
	}
	if (kind == TOLD_STEPS)
		assay_watch_tell(k->s->watch, &(struct assay_event){ .kind = ASSAY_EVENT_NOTE, .text = bytes });
	else if (n == sizeof(t->part))
		memcpy(&t->part, bytes, n);
	tell_share(k);
	return 0;
}

/* ---- which one is next ---- */

static bool is_task(const struct schedule *k, const char *key)
{
	for (size_t i = 0; i < k->n; i++)
		if (!strcmp(k->tasks[i].c->key, key))
			return true;
	return false;
}

/* The smaller cases of what was not counted, which say so. Those of what cannot run here are skipped like it. */
static void add_smaller(struct schedule *k, struct task *t)
{
	const struct assay_session *s = k->s->session;

	for (size_t i = 0; i < s->plan.n_smaller; i++) {
		const struct assay_case *c = &s->plan.smaller[i].c;

		if (s->plan.smaller[i].of != t->of)
			continue;
		t->replaced = t->end == ASSAY_EXACT_END_LATE;
		if (!is_task(k, c->key))
			k->tasks[k->n++] = (struct task){
				.c = c,
				.facts = &s->smaller_facts[i],
				.of = t->of,
				.smaller = true,
				.rank = t->rank,
				.price_ns = assay_exact_price_ns(k->s->recorded, c->key),
			};
	}
}

static bool wants_smaller(const struct task *t)
{
	return !t->smaller && (t->end != ASSAY_EXACT_END_OTHER || t->result.skip == ASSAY_EXACT_SKIP_UNABLE);
}

/* How many users @t counts as on each of its CPUs: with several threads it has them to itself. */
static unsigned users_of(const struct task *t)
{
	return t->c->threads == 1 ? 1 : CPU_SHARED;
}

static void give_cpus_back(struct schedule *k, const struct task *t)
{
	for (size_t i = 0; i < k->n_cpus && t->c->threads <= k->n_cpus; i++)
		for (size_t n = 0; n < t->c->threads; n++)
			if (k->cpus[i] == t->cpus[n])
				k->users[i] -= users_of(t);
}

static void refuse_as(struct task *t, enum assay_status status, const char *reason)
{
	t->begun = t->done = true;
	t->result = (struct assay_exact_case){ .status = status, .all_threads = t->c->all_threads };
	memcpy(t->result.key, t->c->key, sizeof(t->result.key));
	snprintf(t->result.reason, sizeof(t->result.reason), "%s", reason);
}

static void refuse(struct task *t, enum assay_exact_end end, const char *reason)
{
	refuse_as(t, ASSAY_STATUS_SKIPPED, reason);
	t->end = end;
}

static int ended(void *arg, size_t i, const struct assay_err *why, struct assay_err *err)
{
	struct schedule *k = arg;
	struct task *t = &k->tasks[i];

	give_cpus_back(k, t);
	t->running = false;
	/* whatever ended its process, such as a system that is out of memory, ended this case alone */
	if (!t->done && why->code == ASSAY_EIO)
		refuse_as(t, ASSAY_STATUS_CRASHED, why->text);
	if (!t->done && why->code) {
		*err = *why;
		return why->code;
	}
	if (!t->done)
		return assay_err_set(err, ASSAY_EINTERNAL, "no result of '%s' arrived", t->c->key);
	if (wants_smaller(t))
		add_smaller(k, t);
	tell_share(k);
	return 0;
}

static size_t free_cpus(const struct schedule *k, const struct task *t)
{
	size_t n = 0;

	for (size_t i = 0; i < k->n_cpus; i++)
		n += k->users[i] + users_of(t) <= CPU_SHARED;
	return n;
}

/* A case with more threads than there are CPUs runs alone, and says so itself. */
static bool fits(const struct schedule *k, const struct task *t)
{
	const size_t wanted = t->c->threads < k->n_cpus ? t->c->threads : k->n_cpus;

	return wanted <= free_cpus(k, t);
}

static void take_cpus(struct schedule *k, struct task *t)
{
	size_t n = 0;

	/* first those that nobody uses */
	for (unsigned users = 0; users + users_of(t) <= CPU_SHARED && t->c->threads <= k->n_cpus; users++)
		for (size_t i = 0; i < k->n_cpus && n < t->c->threads; i++) {
			if (k->users[i] != users)
				continue;
			k->users[i] += users_of(t);
			t->cpus[n++] = k->cpus[i];
		}
}

static void refuse_late(const struct schedule *k, struct task *t)
{
	char all[32], reason[128];

	assay_quantity_text((double)k->s->budget_ns * 1e-9, "s", true, all, sizeof(all));
	snprintf(reason, sizeof(reason), "the %s for all counts ended before its turn", all);
	refuse(t, ASSAY_EXACT_END_LATE, reason);
}

/*
 * The processor time of this process and of all tasks that ended. The time of day is no measure of what is left: beside
 * a load of 12 it ran out before half of the counts were there, and a recorded count that is missing fails a gate.
 */
static uint64_t cpu_ns(void)
{
	struct timespec self = { 0 };
	struct rusage tasks = { .ru_nvcsw = 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &self);
	getrusage(RUSAGE_CHILDREN, &tasks);
	return (uint64_t)(self.tv_sec + tasks.ru_utime.tv_sec + tasks.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)self.tv_nsec + (uint64_t)(tasks.ru_utime.tv_usec + tasks.ru_stime.tv_usec) * 1000u;
}

/* Several threads first, while CPUs are free together; then by price. Equal ones stay in the order of the plan. */
static bool is_before(const struct task *a, const struct task *b)
{
	return a->c->threads != b->c->threads ? a->c->threads > b->c->threads : a->price_ns < b->price_ns;
}

/* Choose a task of the lowest rank that is left, if there are CPUs for one; higher ranks wait until all of it began. */
static bool next(void *arg, size_t *task)
{
	struct schedule *k = arg;
	const uint64_t budget = k->s->budget_ns, spent = (cpu_ns() - k->begun_ns) / k->n_cpus;
	const bool late = budget && spent >= budget;
	unsigned rank = UINT32_MAX;
	struct task *first = NULL;

	for (size_t i = 0; i < k->n && late; i++)
		if (!k->tasks[i].begun)
			refuse_late(k, &k->tasks[i]);
	for (size_t i = 0; i < k->n; i++)
		if (!k->tasks[i].begun && k->tasks[i].rank < rank)
			rank = k->tasks[i].rank;
	for (size_t i = 0; i < k->n; i++) {
		struct task *t = &k->tasks[i];

		if (!t->begun && t->rank == rank && fits(k, t) && (!first || is_before(t, first)))
			first = t;
	}
	if (!first)
		return false;
	take_cpus(k, first);
	first->begun = first->running = true;
	/* what runs beside it is not known yet, and neither is this one */
	k->options.left_ns = late || !budget ? 0 : budget - spent;
	*task = (size_t)(first - k->tasks);
	tell_share(k);
	return true;
}

/* ---- the whole ---- */

/* Is it recorded, or a smaller one of it? */
static bool is_recorded(const struct assay_exact_schedule *s, size_t of)
{
	const struct assay_plan *plan = &s->session->plan;
	bool any = assay_exact_price_case(s->recorded, plan->cases[of].key) != NULL;

	for (size_t i = 0; i < plan->n_smaller && !any; i++)
		any = plan->smaller[i].of == of && assay_exact_price_case(s->recorded, plan->smaller[i].c.key);
	return any;
}

static bool is_first_of_variant(const struct schedule *k, const struct assay_case *c)
{
	for (size_t i = 0; i < k->n; i++)
		if (!strcmp(k->tasks[i].c->op, c->op) && !strcmp(k->tasks[i].c->variant, c->variant))
			return false;
	return true;
}

/* A case that cannot run here says so itself. */
static bool cannot_run(const struct assay_case *c, const struct assay_case_facts *facts)
{
	return c->skip_reason[0] || facts->failed || !facts->supported;
}

/* It owes no counts, and says so without running. */
static bool is_on_device(const struct schedule *k, const struct assay_case *c)
{
	const struct assay_catalog_variant *v = assay_catalog_variant(k->s->session->catalog, c->op, c->variant);

	return v && v->device_kind != ASSAY_DEVICE_CPU;
}

static void add_tasks(struct schedule *k)
{
	const struct assay_session *s = k->s->session;

	for (size_t i = 0; i < k->s->n_cases; i++) {
		const size_t of = k->s->cases[i];
		const struct assay_case *c = &s->plan.cases[of];

		k->tasks[k->n] = (struct task){ .c = c,
						.facts = &s->facts[of],
						.of = of,
						.price_ns = assay_exact_price_ns(k->s->recorded, c->key),
						.rank = is_recorded(k->s, of) || is_on_device(k, c) ? 0
							: is_first_of_variant(k, c)                 ? 1
												    : 2 };
		k->n++;
		if (!assay_exact_size_small(&s->plan, k->s->request, c->key) || cannot_run(c, &s->facts[of]) ||
		    is_on_device(k, c))
			continue;
		refuse(&k->tasks[k->n - 1], ASSAY_EXACT_END_TOO_LONG, ASSAY_EXACT_SMALL);
		add_smaller(k, &k->tasks[k->n - 1]);
	}
}

static int take_all_cpus(struct schedule *k, struct assay_err *err)
{
	const struct assay_measure_options *o = &k->s->options->measure;
	size_t most = assay_placement_max(o->worker.topology, &o->placement);

	k->n_cpus = most < ASSAY_LANES_MOST ? most : ASSAY_LANES_MOST;
	return assay_placement_pick(o->worker.topology, &o->placement, k->n_cpus, k->cpus, err);
}

/* A case for which there was no time at all has no smaller shapes either. */
static void name_smaller(const struct schedule *k, struct task *t)
{
	if (!t->smaller && (t->end == ASSAY_EXACT_END_TOO_LONG || t->replaced))
		assay_exact_size_name_smaller(&k->s->session->plan, t->c->key, &t->result);
}

/* In the order of the plan, which is not that of time. */
static void hand_over(struct schedule *k, struct assay_exact_run *out)
{
	for (size_t i = 0; i < k->s->n_cases; i++)
		for (size_t n = 0; n < k->n; n++) {
			struct task *t = &k->tasks[n];

			if (t->of != k->s->cases[i] || !t->done)
				continue;
			name_smaller(k, t);
			out->cases[out->n_cases++] = t->result;
			t->result = (struct assay_exact_case){ .key = "" };
		}
}

/* Never silently. */
static void warn_late(const struct schedule *k)
{
	struct assay_text names = { 0 };
	size_t late = 0;
	char all[32];

	for (size_t i = 0; i < k->n; i++) {
		const struct task *t = &k->tasks[i];

		if (t->end != ASSAY_EXACT_END_LATE)
			continue;
		if (late++ < NAMED)
			assay_text_addf(&names, "%s '%s'", late > 1 ? "," : "", t->c->key);
	}
	if (late > NAMED)
		assay_text_addf(&names, " and %zu more", late - NAMED);
	assay_quantity_text((double)k->s->budget_ns * 1e-9, "s", true, all, sizeof(all));
	if (late)
		assay_watch_warn(k->s->watch,
				 "no time for exact counts of %zu case%s within %s:%s; --exact-budget sets it", late,
				 late == 1 ? "" : "s", all, names.s ? names.s : "");
	assay_text_release(&names);
}

static void signalled(void *arg, pid_t sender)
{
	const struct schedule *k = arg;

	assay_watch_warn(k->s->watch, ASSAY_PROCESS_KIN_SIGNAL, (int)sender);
}

/* Said before it is paid. */
static void tell_cost(const struct schedule *k)
{
	const double all_ns = COUNT_NS * (double)k->n / (double)k->n_cpus;
	char text[160], most[32];

	assay_watch_tell(k->s->watch, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = all_ns });
	if (!k->s->budget_ns || all_ns < (double)k->s->budget_ns / 2)
		return;
	assay_quantity_text((double)k->s->budget_ns * 1e-9, "s", true, most, sizeof(most));
	snprintf(text, sizeof(text), "exact counts of %zu cases, %zu at a time, in %s at most", k->n, k->n_cpus, most);
	assay_watch_tell(k->s->watch, &(struct assay_event){ .kind = ASSAY_EVENT_NOTE, .text = text });
}

int assay_exact_schedule_run(const struct assay_exact_schedule *s, struct assay_exact_run *out, struct assay_err *err)
{
	const size_t most = s->n_cases + s->session->plan.n_smaller + 1;
	struct schedule k = { .s = s, .options = *s->options };
	const struct assay_lanes lanes = { .arg = &k,
					   .next = next,
					   .work = work,
					   .heard = heard,
					   .ended = ended,
					   .signalled = signalled,
					   .interrupted = s->watch->interrupted };
	int rc;

	k.tasks = calloc(most, sizeof(*k.tasks));
	out->cases = calloc(most, sizeof(*out->cases));
	if (!k.tasks || !out->cases) {
		free(k.tasks);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	add_tasks(&k);
	rc = take_all_cpus(&k, err);
	if (!rc) {
		tell_cost(&k);
		k.begun_ns = cpu_ns();
		rc = assay_lanes_run(&lanes, err);
		assay_watch_tell(s->watch, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
		hand_over(&k, out);
		warn_late(&k);
	}
	free(k.tasks);
	return rc;
}

/* ---- price ---- */

/* Only the order of prices matters, so that what a machine takes need not be known well. */

/* The fixed cost of a case, and the cost of each instruction of its call, which is run twice. */
#define CALLGRIND_NS      4e8
#define CALLGRIND_INSN_NS 100.0
#define STEPPED_NS        1e8
#define STEPPED_INSN_NS   24000.0 /* two steps of 12 us, as on a virtual machine */

const struct assay_exact_case *assay_exact_price_case(const struct assay_exact_baseline *b, const char *key)
{
	const struct assay_exact_case *c = NULL;

	for (size_t i = 0; i < b->n_builds && !c; i++)
		c = assay_exact_case_find(&b->builds[i], key);
	return c;
}

double assay_exact_price_ns(const struct assay_exact_baseline *b, const char *key)
{
	const struct assay_exact_case *c = assay_exact_price_case(b, key);
	const double instructions = c ? (double)c->total.v[ASSAY_EXACT_INSTRUCTIONS] : 0;

	if (!c)
		return INFINITY;
	return c->how == ASSAY_EXACT_STEPPED ? STEPPED_NS + instructions * STEPPED_INSN_NS
					     : CALLGRIND_NS + instructions * CALLGRIND_INSN_NS;
}

double assay_exact_price_steps(const struct assay_exact_baseline *b, const char *key)
{
	const struct assay_exact_case *c = assay_exact_price_case(b, key);

	return c && c->how == ASSAY_EXACT_STEPPED ? (double)c->total.v[ASSAY_EXACT_INSTRUCTIONS] : 0;
}

/* ---- packet ---- */

/* As it lies in memory: both ends are the same program. */

/* Detail, log and functions follow in this order. */
struct head {
	struct assay_exact_case c;
	enum assay_exact_end end;
	size_t n_detail, n_log; /* with their NUL; 0: NULL */
};

void assay_exact_pack(const struct assay_exact_case *c, enum assay_exact_end end, struct assay_text *out)
{
	const struct head h = { .c = *c,
				.end = end,
				.n_detail = c->detail ? strlen(c->detail) + 1 : 0,
				.n_log = c->log ? strlen(c->log) + 1 : 0 };

	assay_text_addn(out, (const char *)&h, sizeof(h));
	if (c->detail)
		assay_text_addn(out, c->detail, h.n_detail);
	if (c->log)
		assay_text_addn(out, c->log, h.n_log);
	if (c->n_functions)
		assay_text_addn(out, (const char *)c->functions, c->n_functions * sizeof(*c->functions));
}

/* NULL, too, where there are none. */
static void *copy(const char *from, size_t n, bool *failed)
{
	void *to = n ? malloc(n) : NULL;

	*failed |= n && !to;
	return to ? memcpy(to, from, n) : NULL;
}

int assay_exact_unpack(const char *bytes, size_t n, struct assay_exact_case *c, enum assay_exact_end *end,
		       struct assay_err *err)
{
	bool failed = false;
	struct head h;
	size_t functions;

	*c = (struct assay_exact_case){ .key = "" };
	if (n < sizeof(h))
		return assay_err_set(err, ASSAY_EINTERNAL, "the counts of a case are cut short");
	memcpy(&h, bytes, sizeof(h));
	functions = h.c.n_functions * sizeof(*h.c.functions);
	if (n != sizeof(h) + h.n_detail + h.n_log + functions)
		return assay_err_set(err, ASSAY_EINTERNAL, "the counts of '%s' are cut short", h.c.key);
	bytes += sizeof(h);
	*c = h.c;
	*end = h.end;
	c->detail = copy(bytes, h.n_detail, &failed);
	c->log = copy(bytes + h.n_detail, h.n_log, &failed);
	c->functions = copy(bytes + h.n_detail + h.n_log, functions, &failed);
	if (!c->functions)
		c->n_functions = 0;
	return failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory for the counts of '%s'", c->key) : 0;
}
