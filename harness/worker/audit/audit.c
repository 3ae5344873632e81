/* SPDX-License-Identifier: Apache-2.0 */
/* Calls between samples, on outputs and inputs that change. */
#include "worker/audit/audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/provider.h"
#include "worker/audit/data.h"
#include "worker/case/device.h"
#include "worker/case/job.h"
#include "worker/case/memory.h"

/* Of inputs that are made anew in every audit, and not only before the first sample. */
#define QUICK_INPUT_BYTES (256u << 10)
/* In a row, so that a variant that computes once after a pause is found out. */
#define LEAST_CALLS 4
#define MORE_CALLS  8
/* Of an element that differs; of elements that change together. */
#define DRAWS            64
#define ELEMENTS_TO_VARY 16

/* Of a series, while its data is not in the caches yet. */
#define FIRST_CALLS 3

/* Before a single call. Caches and clocks stay as they are for so long, also where neighbours are busy. */
#define LEAST_PAUSE_NS 30000u
#define MORE_PAUSE_NS  220000u
#define PAUSE_TRIES    16 /* another program may have the CPU in most of them */

/* How often an audit times something again at most, because another program had the CPU meanwhile. */
#define REPEATS 16

#define PAGE 4096u

#define AUDIT_SHARE 0.02
/* Of the oracle in the last audit, as long as that took on other inputs before; the second is little beside a start. */
#define LAST_SHARE 0.03
#define LAST_NS    2e6

/* The first call on inputs that are all new foresees branches less well, and a little so where those are forgotten. */
#define SLACK_NEW_NS 200.0

void assay_case_audit_scramble(struct assay_case_job *j)
{
	struct assay_case_audit *a = &j->audit;

	a->copy = j->next_copy;
	for (uint32_t i = 0; i < a->n_spots; i++)
		assay_audit_scramble_spot(j, &a->spots[i], a->copy);
}

struct assay_outcome assay_case_audit_look(struct assay_case_job *j)
{
	return assay_audit_look(j, j->audit.copy);
}

/* From poison, on other inputs: the oracle is asked what it should give. Of copies, the first alone has them. */
static struct assay_outcome check_other(struct assay_case_job *j)
{
	char output[ASSAY_DIGEST_LEN + 1];
	struct assay_outcome out = assay_audit_make_inputs(j, true), back;
	const uint64_t check_n = j->check_n;
	double err;

	j->check_n = 1;
	j->input_digests[0] = assay_case_input_digest(j, 0);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_job_poison(j);
	j->next_copy = 0;
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_job_run(j);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_job_check(j, 0, &err, output);
	if (out.status == ASSAY_STATUS_OK)
		assay_audit_learn_spots(j);
	j->check_n = check_n;
	back = assay_audit_make_inputs(j, false);
	if (out.status == ASSAY_STATUS_WRONG)
		return assay_outcome_set(ASSAY_STATUS_WRONG, "with other inputs than before: %.470s", out.reason);
	if (out.status != ASSAY_STATUS_OK || back.status != ASSAY_STATUS_OK)
		return out.status != ASSAY_STATUS_OK ? out : back;
	j->next_copy = 0;
	out = assay_case_job_run(j); /* whoever looks at the outputs finds those of the inputs that are there */
	j->next_copy = 0;
	return out;
}

struct assay_outcome assay_case_audit_other(struct assay_case_job *j)
{
	const struct assay_clock *clock = &j->spec->clock;
	struct assay_case_audit *a = &j->audit;
	struct assay_thread_time before, after;
	struct assay_outcome out;
	uint64_t begun;

	if (a->change != ASSAY_AUDIT_REVERSE && a->change != ASSAY_AUDIT_REFILL)
		return assay_outcome_ok();
	a->knows_other = true;
	assay_thread_time_read(&before);
	begun = assay_clock_ticks(clock);
	out = check_other(j);
	a->other_ns = (double)assay_clock_ticks_to_ns(clock, assay_clock_ticks(clock) - begun);
	assay_thread_time_read(&after);
	a->other_ns = assay_audit_times_less_waits((uint64_t)a->other_ns, &before, &after, true);
	return out;
}

struct assay_outcome assay_case_audit_begin(struct assay_case_job *j)
{
	struct assay_case_audit *a = &j->audit;

	*a = (struct assay_case_audit){ .seed = j->spec->settings.seed ^ j->spec->settings.layout_seed };
	assay_audit_choose_spots(j);
	assay_audit_learn_spots(j);
	assay_audit_choose_inputs(j);
	return j->spec->checks.all && !j->spec->checks.other_late ? assay_case_audit_other(j) : assay_outcome_ok();
}

/* ---- timed calls ------------------------------------------------------------------------------------------------- */

/*
 * The number of calls before those that an audit looks at: drawn, and fewer than a sample has. The first calls of a
 * series take longer, and a variant could take that for a pause, too.
 */
static uint64_t calls_before(struct assay_case_job *j, uint64_t iterations)
{
	const uint64_t least = iterations > 2 * FIRST_CALLS ? FIRST_CALLS : iterations > 1;

	return least + assay_audit_draw(&j->audit, iterations - least);
}

static struct assay_outcome hooked_calls(struct assay_case_job *j, const struct assay_call_hook *hook, uint64_t n,
					 uint64_t *ns)
{
	struct assay_outcome out;

	j->hook = hook;
	out = assay_case_job_time(j, n, ns);
	j->hook = NULL;
	return out;
}

struct scrambling {
	struct assay_case_job *j;
	uint64_t n, begun;
};

static void scramble_next(void *arg, uint64_t copy)
{
	struct scrambling *s = arg;
	struct assay_case_audit *a = &s->j->audit;

	if (!s->n)
		s->begun = assay_clock_ticks(&s->j->spec->clock);
	assay_audit_scramble_spot(s->j, &a->spots[s->n++ % a->n_spots], copy);
	a->copy = copy;
}

static void wake_up(void *arg, uint32_t tid, uint32_t n_threads)
{
	(void)arg;
	(void)tid;
	(void)n_threads;
}

/* The time of a call, in a series in which the thread may have lost its CPU. */
struct call_time {
	double least_ns; /* as if it lost its CPU only in the calls that count */
	double most_ns;  /* as if it lost it only in those before */
};

/*
 * The time of the last calls of a series: outputs are scrambled before each of them, and their number is drawn, so that
 * none can be left out.
 */
static struct assay_outcome time_scrambled(struct assay_case_job *j, uint64_t iterations, struct call_time *call)
{
	const uint64_t n = LEAST_CALLS + assay_audit_draw(&j->audit, MORE_CALLS);
	const struct assay_clock *clock = &j->spec->clock;
	struct scrambling s = { .j = j };
	const struct assay_call_hook hook = { .from = calls_before(j, iterations), .before = scramble_next, .arg = &s };
	struct assay_os_counts first, last, switches;
	struct assay_thread_time before, after;
	struct assay_outcome out;
	uint64_t all_ns, ns;
	double lost_ns;

	/*
	 * Threads that fell asleep meanwhile wait for their CPUs on a busy machine, milliseconds that a sample spreads
	 * over all of its calls, and these few would not.
	 */
	assay_pool_run(j->pool, wake_up, NULL);
	assay_os_counts_read(&first);
	assay_thread_time_read(&before);
	out = hooked_calls(j, &hook, hook.from + n, &all_ns);
	ns = assay_clock_ticks_to_ns(clock, assay_clock_ticks(clock) - s.begun);
	assay_thread_time_read(&after);
	assay_os_counts_read(&last);
	switches = assay_os_counts_between(&first, &last);
	/* It is unknown when in the series the thread had no CPU. */
	lost_ns =
		(double)all_ns - assay_audit_times_less_waits(all_ns, &before, &after, switches.voluntary_switches > 0);
	call->most_ns = (double)ns / (double)n;
	call->least_ns = fmax((double)ns - fmax(lost_ns, 0), 0) / (double)n;
	return out.status == ASSAY_STATUS_OK ? assay_audit_look(j, j->audit.copy) : out;
}

static void wait_awake(const struct assay_clock *clock, double ns)
{
	const uint64_t begun = assay_clock_ticks(clock);

	while ((double)assay_clock_ticks_to_ns(clock, assay_clock_ticks(clock) - begun) < ns)
		;
}

/*
 * The time of a single call after a pause, which a variant could take for the begin of a check. 0 where another process
 * had the CPU in each of some tries: it may have emptied the caches.
 */
static struct assay_outcome time_after_pause(struct assay_case_job *j, uint64_t iterations, struct call_time *call)
{
	struct assay_outcome out = assay_outcome_ok();
	double call_ns = 0;

	(void)iterations;
	for (int i = 0; i < PAUSE_TRIES && call_ns == 0 && out.status == ASSAY_STATUS_OK; i++) {
		struct assay_os_counts first, last, switches;
		struct assay_thread_time before, after;
		uint64_t ns;

		assay_os_counts_read(&first);
		wait_awake(&j->spec->clock, LEAST_PAUSE_NS + (double)assay_audit_draw(&j->audit, MORE_PAUSE_NS));
		assay_pool_run(j->pool, wake_up, NULL);
		assay_thread_time_read(&before);
		out = assay_case_job_time(j, 1, &ns);
		assay_thread_time_read(&after);
		assay_os_counts_read(&last);
		switches = assay_os_counts_between(&first, &last);
		if (!switches.involuntary_switches)
			call_ns = assay_audit_times_less_waits(ns, &before, &after, switches.voluntary_switches > 0);
	}
	*call = (struct call_time){ .least_ns = call_ns, .most_ns = call_ns };
	return out;
}

/* The time of calls in a series of some length, before which outputs are scrambled or time passes. */
typedef struct assay_outcome time_other_fn(struct assay_case_job *j, uint64_t iterations, struct call_time *call);

/* The mean time of the calls of a series like those of samples, without that in which the thread had no CPU. */
static struct assay_outcome time_series(struct assay_case_job *j, uint64_t iterations, double *call_ns)
{
	struct assay_os_counts first, last, switches;
	struct assay_thread_time before, after;
	struct assay_outcome out;
	uint64_t ns = 0;

	assay_os_counts_read(&first);
	assay_thread_time_read(&before);
	out = assay_case_job_time(j, iterations, &ns);
	assay_thread_time_read(&after);
	assay_os_counts_read(&last);
	switches = assay_os_counts_between(&first, &last);
	*call_ns =
		assay_audit_times_less_waits(ns, &before, &after, switches.voluntary_switches > 0) / (double)iterations;
	return out;
}

/* Is it worth taking more times if a call on changed data took so long? */
static bool may_tell(const struct assay_case_job *j, const struct assay_audit_times *t, double call_ns)
{
	struct assay_audit_times with = *t;

	assay_audit_times_changed(&with, call_ns);
	return assay_audit_times_may_tell(j, &with);
}

/*
 * Hold the times of such calls against those of the calls in samples, the shortest of which took @call_ns. A series
 * that only seems short because its thread had lost the CPU says nothing, and is timed again: it must not acquit.
 */
static struct assay_outcome audit_series(struct assay_case_job *j, uint64_t iterations, double call_ns,
					 time_other_fn *time_other, const char *when)
{
	struct assay_audit_times t = { .paused = time_other == time_after_pause };
	int repeats = 0;

	assay_audit_times_same(&t, call_ns);
	for (;;) {
		struct call_time other = { 0 };
		struct assay_outcome out = time_other(j, iterations, &other);

		if (out.status != ASSAY_STATUS_OK)
			return out;
		if (!may_tell(j, &t, other.least_ns) && may_tell(j, &t, other.most_ns) && repeats++ < REPEATS)
			continue;
		assay_audit_times_changed(&t, other.least_ns);
		if (t.n == ASSAY_AUDIT_ROUNDS || !assay_audit_times_may_tell(j, &t))
			return assay_audit_times_verdict(j, &t, when);
		out = time_series(j, iterations, &call_ns);
		if (out.status != ASSAY_STATUS_OK)
			return out;
		assay_audit_times_same(&t, call_ns);
	}
}

/* A call, before which the outputs are put on the device: as they are right, or scrambled. */
static struct assay_outcome call_on_device(struct assay_case_job *j, bool scramble, double *call_ns)
{
	struct assay_outcome out;
	uint64_t ns = 0;

	j->next_copy = 0;
	if (scramble)
		assay_case_audit_scramble(j);
	out = assay_device_buffers_put(j, 0, ASSAY_OUTPUT);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_job_time(j, 1, &ns);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_device_buffers_get(j, 0, ASSAY_OUTPUT);
	*call_ns = (double)ns;
	return out.status == ASSAY_STATUS_OK && scramble ? assay_case_audit_look(j) : out;
}

/* Samples do not tell whether the device's clock is right, where its stream is held for them. */
static struct assay_outcome check_clock(struct assay_case_job *j, uint64_t iterations)
{
	struct assay_outcome out = assay_outcome_ok();
	uint64_t ns;

	j->device_unheld = true;
	for (int i = 0; i < ASSAY_DEVICE_SERIES && out.status == ASSAY_STATUS_OK; i++)
		if (j->device_clock.n_series < ASSAY_DEVICE_SERIES)
			out = assay_case_job_time(j, iterations, &ns);
	j->device_unheld = false;
	return out.status == ASSAY_STATUS_OK ? assay_case_device_clock_is_right(j) : out;
}

/* Nothing can be stored into the outputs of a device between calls in a row, so all calls are single ones. */
static struct assay_outcome audit_device(struct assay_case_job *j, uint64_t iterations)
{
	struct assay_audit_times t = { .n = 0 };
	struct assay_outcome out = assay_device_buffers_get(j, 0, ASSAY_OUTPUT);

	do {
		double same = 0, changed = 0;

		if (out.status == ASSAY_STATUS_OK)
			out = call_on_device(j, false, &same);
		if (out.status == ASSAY_STATUS_OK)
			out = call_on_device(j, true, &changed);
		if (out.status != ASSAY_STATUS_OK)
			return out;
		assay_audit_times_same(&t, same);
		assay_audit_times_changed(&t, changed);
	} while (t.n < ASSAY_AUDIT_ROUNDS && assay_audit_times_may_tell(j, &t));
	out = assay_audit_times_verdict(j, &t, "outputs were scrambled before");
	return out.status == ASSAY_STATUS_OK ? check_clock(j, iterations) : out;
}

static struct assay_outcome time_call(struct assay_case_job *j, double *call_ns)
{
	struct assay_outcome out;
	uint64_t ns = 0;

	assay_audit_scramble_spot(j, &j->audit.spots[0], 0);
	j->next_copy = 0;
	out = assay_case_job_time(j, 1, &ns);
	*call_ns = (double)ns;
	return out;
}

/* Of another element of the tensor than one that holds @value; @value where none was found. */
static uint64_t another_value(struct assay_case_job *j, uint32_t tensor, uint64_t value)
{
	struct assay_case_audit *a = &j->audit;
	uint64_t other = value;

	for (int i = 0; i < DRAWS && other == value; i++)
		other = assay_audit_load(
			assay_audit_element(j, 0, tensor, assay_audit_draw(a, assay_audit_elements(j, tensor))),
			assay_audit_element_bytes(j, tensor));
	return other;
}

/*
 * A call on the inputs as they are, and one after an element has taken the value of another. The first call after a
 * change does not count: a variant that keeps one answer has that of the inputs before.
 */
static struct assay_outcome one_element(struct assay_case_job *j, struct assay_audit_times *t)
{
	struct assay_case_audit *a = &j->audit;
	const uint32_t tensor = a->changing[assay_audit_draw(a, a->n_changing)],
		       bytes = assay_audit_element_bytes(j, tensor);
	unsigned char *p = assay_audit_element(j, 0, tensor, assay_audit_draw(a, assay_audit_elements(j, tensor)));
	const uint64_t before = assay_audit_load(p, bytes), other = another_value(j, tensor, before);
	double same = 0, changed = 0;
	struct assay_outcome out;

	if (other == before)
		return assay_outcome_ok();
	assay_audit_store(p, before, bytes);
	out = time_call(j, &same);
	if (out.status == ASSAY_STATUS_OK)
		out = time_call(j, &same);
	assay_audit_store(p, other, bytes);
	if (out.status == ASSAY_STATUS_OK)
		out = time_call(j, &changed);
	assay_audit_store(p, before, bytes);
	assay_audit_times_same(t, same);
	assay_audit_times_changed(t, changed);
	return out;
}

static void clear_branches(void *seed, uint32_t tid, uint32_t n_threads)
{
	(void)n_threads;
	assay_branch_memory_clear(*(const uint64_t *)seed + tid);
}

/*
 * The first call on inputs @b is held against the second, both after the inputs were put there, so that they lie in the
 * same caches. One on inputs @a goes before, since making inputs is other code, which the processor remembers.
 */
static struct assay_outcome time_new(struct assay_case_job *j, const unsigned char *a, const unsigned char *b,
				     struct assay_audit_times *t)
{
	uint64_t seed = assay_audit_draw(&j->audit, UINT64_MAX);
	struct assay_outcome out = assay_outcome_ok();
	double ns[3];

	for (int i = 0; i < 3 && out.status == ASSAY_STATUS_OK; i++) {
		if (t->forgets)
			assay_pool_run(j->pool, clear_branches, &seed);
		assay_audit_put_inputs(j, i ? b : a);
		out = time_call(j, &ns[i]);
	}
	if (out.status != ASSAY_STATUS_OK)
		return out;
	assay_audit_times_changed(t, ns[1]);
	assay_audit_times_same(t, ns[2] + SLACK_NEW_NS);
	return out;
}

/* Answers that are kept for parts of the inputs show only where all of them change. */
static struct assay_outcome all_elements(struct assay_case_job *j, struct assay_audit_times *t)
{
	const uint64_t bytes = assay_audit_changed_bytes(j);
	struct assay_outcome out = assay_audit_inputs_are_kept(j);
	unsigned char *buf = malloc(3 * bytes), *was = buf, *a = buf + bytes, *b = a + bytes;

	if (!buf)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for other inputs");
	assay_audit_keep_inputs(j, was);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_audit_draw_inputs(j, a);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_audit_draw_inputs(j, b);
	if (out.status == ASSAY_STATUS_OK)
		out = time_new(j, a, b, t);
	if (out.status == ASSAY_STATUS_OK) {
		assay_audit_keep_inputs(j, a);
		if (memcmp(a, b, bytes))
			out = assay_outcome_set(ASSAY_STATUS_WRONG, "changed its inputs");
	}
	assay_audit_put_inputs(j, was);
	free(buf);
	return out;
}

static struct assay_outcome audit_inputs(struct assay_case_job *j,
					 struct assay_outcome (*change)(struct assay_case_job *,
									struct assay_audit_times *))
{
	struct assay_audit_times t = { .n = 0 };
	int rounds = 0, repeats = 0;

	do {
		struct assay_audit_times with = t;
		struct assay_os_counts first, last;
		struct assay_outcome out;

		assay_os_counts_read(&first);
		out = change(j, &with);
		assay_os_counts_read(&last);
		if (out.status != ASSAY_STATUS_OK)
			return out;
		/* another program has emptied the caches of one call, and not of the other */
		if (assay_os_counts_between(&first, &last).involuntary_switches && repeats++ < REPEATS)
			continue;
		t = with;
		rounds++;
		/* the data's branches may have been learnt in a single call */
		if (assay_audit_times_may_tell(j, &t) && !t.forgets) {
			t = (struct assay_audit_times){ .forgets = true };
			rounds = 0;
		}
	} while (rounds < ASSAY_AUDIT_ROUNDS && (assay_audit_times_may_tell(j, &t) || !t.n_changed));
	return assay_audit_times_verdict(j, &t, "the inputs have changed");
}

/* A variant that reuses answers to its first inputs shows here, however late it begins to. */
static struct assay_outcome look_at_other(struct assay_case_job *j)
{
	struct assay_outcome out = assay_audit_make_inputs(j, true), back;

	j->next_copy = 0;
	assay_case_audit_scramble(j);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_device_buffers_put(j, 0, ASSAY_OUTPUT);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_job_run(j);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_device_buffers_get(j, 0, ASSAY_OUTPUT);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_audit_look(j, 0);
	back = assay_audit_make_inputs(j, false);
	return out.status == ASSAY_STATUS_OK ? back : out;
}

/* Of copy 0: some elements take the values of others, or other memory takes the place of inputs. */
struct change {
	struct assay_case_job *j;
	void *data[ASSAY_MAX_TENSORS]; /* what takes their place, and afterwards what they were; NULL: they stay */
	bool made;
	int n; /* elements */
	unsigned char *at[ELEMENTS_TO_VARY];
	uint64_t before[ELEMENTS_TO_VARY], value[ELEMENTS_TO_VARY];
	uint32_t bytes[ELEMENTS_TO_VARY];
};

static void swap_inputs(struct change *c)
{
	for (uint32_t t = 0; t < c->j->problem.n_tensors; t++) {
		void *was = c->j->tensors[t].data;

		if (!c->data[t])
			continue;
		c->j->tensors[t].data = c->data[t];
		c->data[t] = was;
	}
	c->made = !c->made;
}

static void make_change(void *arg, uint64_t copy)
{
	struct change *c = arg;

	(void)copy;
	swap_inputs(c);
	for (int i = 0; i < c->n; i++)
		assay_audit_store(c->at[i], c->value[i], c->bytes[i]);
}

/* An element that is drawn twice gets its own value back, because the last change is undone first. */
static void undo_change(struct change *c)
{
	if (c->made)
		swap_inputs(c);
	for (int i = c->n - 1; i >= 0; i--)
		assay_audit_store(c->at[i], c->before[i], c->bytes[i]);
}

static void choose_elements(struct change *c)
{
	struct assay_case_job *j = c->j;
	struct assay_case_audit *a = &j->audit;

	for (c->n = 0; c->n < ELEMENTS_TO_VARY; c->n++) {
		const uint32_t tensor = a->changing[assay_audit_draw(a, a->n_changing)],
			       bytes = assay_audit_element_bytes(j, tensor);
		unsigned char *p =
			assay_audit_element(j, 0, tensor, assay_audit_draw(a, assay_audit_elements(j, tensor)));

		c->at[c->n] = p;
		c->bytes[c->n] = bytes;
		c->before[c->n] = assay_audit_load(p, bytes);
		c->value[c->n] = another_value(j, tensor, c->before[c->n]);
		/* the next draw of the same element has to find what this change leaves there */
		assay_audit_store(p, c->value[c->n], bytes);
	}
	undo_change(c);
}

/*
 * The inputs change within a series, and the outputs of the next call are looked at. A variant that calculates only
 * after a pause leaves those of the inputs before, because the change takes less than a microsecond. Ask the oracle if
 * the outputs are the same as before, or in any case (@ask).
 */
static struct assay_outcome change_within(struct assay_case_job *j, uint64_t iterations, struct change *c, bool ask)
{
	const struct assay_call_hook hook = { .from = calls_before(j, iterations), .before = make_change, .arg = c };
	char was[ASSAY_DIGEST_LEN + 1], is[ASSAY_DIGEST_LEN + 1];
	struct assay_outcome out;
	uint64_t ns;
	double err;

	j->next_copy = 0;
	out = assay_case_job_run(j);
	assay_case_job_digest(j, 0, was);
	j->next_copy = (j->n_jobs - hook.from % j->n_jobs) % j->n_jobs; /* so that copy 0 has the last call */
	if (out.status == ASSAY_STATUS_OK)
		out = hooked_calls(j, &hook, hook.from + 1, &ns);
	assay_case_job_digest(j, 0, is);
	if (out.status == ASSAY_STATUS_OK && (ask || !strcmp(is, was)))
		out = assay_case_job_ask(j, 0, &err);
	if (out.status == ASSAY_STATUS_WRONG)
		return assay_outcome_set(ASSAY_STATUS_WRONG, "with some inputs changed: %.470s", out.reason);
	return out;
}

/*
 * Where the op lets elements take the values of others, the oracle is asked what that gives if @ask: few inputs tell of
 * all others.
 */
static struct assay_outcome vary_elements(struct assay_case_job *j, uint64_t iterations, bool ask)
{
	struct change c = { .j = j };
	struct assay_outcome out;

	choose_elements(&c);
	out = change_within(j, iterations, &c, ask);
	undo_change(&c);
	return out;
}

/* Copy the inputs that change to memory in @room, which lies in its page as they do. */
static void place_inputs(struct change *c, unsigned char *room)
{
	const struct assay_case_job *j = c->j;

	for (uint32_t t = 0; t < j->problem.n_tensors; t++) {
		const struct assay_tensor *from = &j->tensors[t];

		if (!assay_audit_changes(j, t))
			continue;
		room += PAGE - (uintptr_t)room % PAGE + (uintptr_t)from->data % PAGE;
		c->data[t] = memcpy(room, from->data, from->bytes);
		room += from->bytes + PAGE; /* a variant may read a little beyond */
	}
}

/*
 * No element may change alone, because it may be a place or a length. Copying all of them would take so long that a
 * call could take it for a pause, so that their tensors get other memory.
 */
static struct assay_outcome vary_all(struct assay_case_job *j, uint64_t iterations)
{
	struct assay_outcome out = assay_audit_inputs_are_kept(j);
	const uint64_t bytes = assay_audit_changed_bytes(j);
	unsigned char *was = calloc(1, 3 * bytes + 3 * PAGE * ASSAY_MAX_TENSORS);
	struct change c = { .j = j };

	if (!was)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for other inputs");
	assay_audit_keep_inputs(j, was);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_audit_draw_inputs(j, was + bytes);
	place_inputs(&c, was + 2 * bytes);
	assay_audit_put_inputs(j, was);
	if (out.status == ASSAY_STATUS_OK)
		out = change_within(j, iterations, &c, false);
	undo_change(&c);
	free(was);
	return out;
}

/* The calls of an audit take a small share of the time of the samples. */
static bool is_brief(const struct assay_case_audit *a, double call_ns)
{
	return ASSAY_AUDIT_CALLS * call_ns <= AUDIT_SHARE * a->sampled_ns;
}

/* @last: what would take too long between samples is done once, where it takes little of their time. */
static struct assay_outcome audit(struct assay_case_job *j, uint64_t iterations, double call_ns, bool last)
{
	const struct assay_case_audit *a = &j->audit;
	const bool whole = last && a->knows_other && a->other_ns <= fmax(LAST_SHARE * a->sampled_ns, LAST_NS);
	const uint64_t copy = j->next_copy, most = whole ? ASSAY_AUDIT_MOST_BYTES : QUICK_INPUT_BYTES;
	/* what was made of the first inputs holds for no others */
	const bool kept = a->change == ASSAY_AUDIT_REFILL && (j->variant->prepare || j->op_state);
	const bool quick = assay_audit_changed_bytes(j) <= most && (whole || !kept);
	const bool single = !kept && !j->device && !j->call_parts; /* calls can be told by their times */
	struct assay_outcome out = assay_outcome_ok();

	if (j->device)
		out = audit_device(j, iterations);
	else if (iterations > 1)
		out = audit_series(j, iterations, call_ns, time_scrambled, "outputs were scrambled before");
	if (out.status == ASSAY_STATUS_OK && iterations > 1 && !j->device && !j->call_parts && !j->spec->c.own_threads)
		out = audit_series(j, iterations, call_ns, time_after_pause, "it is the first after a pause");
	if (a->change == ASSAY_AUDIT_SAME)
		return out;
	if (out.status == ASSAY_STATUS_OK && single && a->n_changing)
		out = audit_inputs(j, one_element);
	if (out.status == ASSAY_STATUS_OK && single && quick && ((whole && is_brief(a, call_ns)) || !a->n_changing))
		out = audit_inputs(j, all_elements);
	if (out.status == ASSAY_STATUS_OK && quick && a->knows_other)
		out = look_at_other(j);
	if (out.status == ASSAY_STATUS_OK && last && single && a->n_changing)
		out = vary_elements(j, iterations, whole && a->change == ASSAY_AUDIT_REVERSE);
	else if (out.status == ASSAY_STATUS_OK && last && single && quick)
		out = vary_all(j, iterations);
	j->next_copy = copy;
	return out;
}

struct assay_outcome assay_case_audit_take(struct assay_case_job *j, uint64_t iterations, double call_ns,
					   double sampled_ns, bool last)
{
	const struct assay_clock *clock = &j->spec->clock;
	struct assay_case_audit *a = &j->audit;
	struct assay_outcome out;
	uint64_t begun;
	bool due;

	a->sampled_ns += sampled_ns;
	due = a->spent_ns + assay_audit_calls(iterations) * call_ns <= AUDIT_SHARE * a->sampled_ns;
	if (!a->n_spots || !(due || (last && (is_brief(a, call_ns) || !(a->spent_ns > 0)))))
		return assay_outcome_ok();
	begun = assay_clock_ticks(clock);
	out = audit(j, iterations, call_ns, last);
	a->spent_ns += (double)assay_clock_ticks_to_ns(clock, assay_clock_ticks(clock) - begun);
	return out;
}
