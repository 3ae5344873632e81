/* SPDX-License-Identifier: Apache-2.0 */
/* Calls between samples, on outputs and inputs that change. */
#include "worker/case_audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "worker/audit_data.h"
#include "worker/case_check.h"
#include "worker/case_job.h"

/* Of inputs that are made anew in every audit, and not only before the first sample. */
#define QUICK_INPUT_BYTES (256u << 10)
/* In a row, so that a variant that computes once after a pause is found out. */
#define LEAST_CALLS 4
#define MORE_CALLS  8
/* Of an element that differs; of elements that change together. */
#define DRAWS            64
#define ELEMENTS_TO_VARY 16

#define AUDIT_SHARE 0.02
#define LAST_SHARE  0.03 /* of the oracle in the last audit, as long as that took on other inputs before */

/* A call on changed data may take so many times longer, and so much besides: memory is touched before it. */
#define RATIO           1.5
#define SLACK_NS        30.0
#define CLOCK_READS     2      /* around what is timed */
#define SLACK_SHARED_NS 1000.0 /* lines that other cores, or no core, hold */
/*
 * The first call on inputs that are all new foresees branches less well. But what a processor learns it learns over
 * some calls, little by little; an answer that is kept is there in the second.
 */
#define SLACK_NEW_NS 200.0
#define LATER_CALLS  3
#define LEARNT_RATIO 1.25
/* In so many calls of each kind, the machine may disturb some. */
#define ROUNDS_TO_TELL  16
#define MOST_LONGER(n)  (((n)*3 + 15) / 16) /* of those on the same data */
#define MOST_SHORTER(n) ((n) / 16)          /* of those on data that changed */

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

/* From poison, on other inputs: the oracle is asked what it should give. */
static struct assay_outcome check_other(struct assay_case_job *j)
{
	char output[ASSAY_DIGEST_LEN + 1];
	struct assay_outcome out = assay_audit_make_inputs(j, true), back;
	double err;

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

struct assay_outcome assay_case_audit_begin(struct assay_case_job *j)
{
	const struct assay_clock *clock = &j->spec->clock;
	struct assay_case_audit *a = &j->audit;
	struct assay_outcome out;
	uint64_t begun;

	*a = (struct assay_case_audit){ .seed = j->spec->seed ^ j->spec->layout_seed };
	if (j->device)
		return assay_outcome_ok();
	assay_audit_choose_spots(j);
	assay_audit_learn_spots(j);
	assay_audit_choose_inputs(j);
	if (a->change == ASSAY_AUDIT_SAME || !j->spec->all_checks)
		return assay_outcome_ok();
	a->knows_other = true;
	begun = assay_clock_ticks(clock);
	out = check_other(j);
	a->other_ns = (double)assay_clock_ticks_to_ns(clock, assay_clock_ticks(clock) - begun);
	return out;
}

/* ---- timed calls ------------------------------------------------------------------------------------------------- */

/* As the loop of a sample, but for a store into the outputs before each call. */
static __attribute__((noinline)) int scrambled_calls(struct assay_case_job *j, uint64_t n)
{
	struct assay_case_audit *a = &j->audit;
	uint64_t copy = j->next_copy;
	int rc = 0;

	for (uint64_t i = 0; i < n; i++) {
		assay_audit_scramble_spot(j, &a->spots[i % a->n_spots], copy);
		rc |= j->variant->run(&j->jobs[copy]);
		a->copy = copy;
		copy = copy + 1 == j->n_jobs ? 0 : copy + 1;
	}
	j->next_copy = copy;
	return rc;
}

static struct assay_outcome time_scrambled(struct assay_case_job *j, uint64_t n, double *call_ns)
{
	const struct assay_clock *clock = &j->spec->clock;
	uint64_t begun, ended;
	int rc;

	assay_case_job_phase(j, ASSAY_PHASE_RUN);
	begun = assay_clock_ticks(clock);
	rc = scrambled_calls(j, n);
	ended = assay_clock_ticks(clock);
	*call_ns = (double)assay_clock_ticks_to_ns(clock, ended - begun) / (double)n;
	return rc ? assay_case_job_failed(j, "running") : assay_outcome_ok();
}

/* Calls on data like that of the call before, and on data that changed. Shortest first. */
struct times {
	double same_ns[ROUNDS_TO_TELL], changed_ns[ROUNDS_TO_TELL];
	int n, n_changed;
	int learning; /* rounds that tell nothing, since the processor was still learning */
};

static void add(double *ns, int *n, double one)
{
	int at = (*n)++;

	for (; at > 0 && ns[at - 1] > one; at--)
		ns[at] = ns[at - 1];
	ns[at] = one;
}

static double same_ns(const struct times *t)
{
	return t->n ? t->same_ns[t->n - 1 - MOST_LONGER(t->n - 1)] : 0;
}

static double changed_ns(const struct times *t)
{
	return t->changed_ns[MOST_SHORTER(t->n_changed)];
}

static bool too_quick(const struct assay_case_job *j, const struct times *t)
{
	const bool shared = j->n_jobs > 1 || j->spec->n_threads > 1;

	return t->n_changed && t->learning <= ROUNDS_TO_TELL / 2 &&
	       changed_ns(t) > RATIO * same_ns(t) + (shared ? SLACK_SHARED_NS : SLACK_NS) +
				       CLOCK_READS * j->spec->clock.overhead_ns;
}

static struct assay_outcome verdict(const struct assay_case_job *j, const struct times *t, const char *when)
{
	if (!too_quick(j, t))
		return assay_outcome_ok();
	return assay_outcome_set(
		ASSAY_STATUS_WRONG,
		"does not compute when it is timed: a call takes %.3g ns over and over, %.3g ns when %s", same_ns(t),
		changed_ns(t), when);
}

/* Outputs are scrambled before each of some calls in a row; their number is drawn, so that none can be left out. */
static struct assay_outcome audit_outputs(struct assay_case_job *j, uint64_t iterations, double call_ns)
{
	struct times t = { .n = 0 };
	double changed = 0, same = call_ns;

	for (;;) {
		struct assay_outcome out =
			time_scrambled(j, LEAST_CALLS + assay_audit_draw(&j->audit, MORE_CALLS), &changed);
		uint64_t ns;

		if (out.status == ASSAY_STATUS_OK)
			out = assay_audit_look(j, j->audit.copy);
		if (out.status != ASSAY_STATUS_OK)
			return out;
		add(t.same_ns, &t.n, same);
		add(t.changed_ns, &t.n_changed, changed);
		if (t.n == ROUNDS_TO_TELL || !too_quick(j, &t))
			return verdict(j, &t, "outputs were scrambled before");
		out = assay_case_job_time(j, iterations, &ns);
		if (out.status != ASSAY_STATUS_OK)
			return out;
		same = (double)ns / (double)iterations;
	}
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

/* A call on the inputs as they are, and one after an element has taken the value of another. */
static struct assay_outcome one_element(struct assay_case_job *j, struct times *t)
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
	assay_audit_store(p, other, bytes);
	if (out.status == ASSAY_STATUS_OK)
		out = time_call(j, &changed);
	assay_audit_store(p, before, bytes);
	add(t->same_ns, &t->n, same);
	add(t->changed_ns, &t->n_changed, changed);
	return out;
}

/* Inputs of copy 0, end to end. */
static void keep_inputs(const struct assay_case_job *j, unsigned char *buf)
{
	for (uint32_t t = 0; t < j->problem.n_tensors; t++)
		if (j->problem.tensors[t].role == ASSAY_INPUT) {
			memcpy(buf, j->tensors[t].data, j->tensors[t].bytes);
			buf += j->tensors[t].bytes;
		}
}

static void put_inputs(const struct assay_case_job *j, const unsigned char *buf)
{
	for (uint32_t t = 0; t < j->problem.n_tensors; t++)
		if (j->problem.tensors[t].role == ASSAY_INPUT) {
			memcpy(j->tensors[t].data, buf, j->tensors[t].bytes);
			buf += j->tensors[t].bytes;
		}
}

/*
 * The first call on inputs @b is held against the second, both after the inputs were put there, so that they lie in the
 * same caches. One on inputs @a goes before, since making inputs is other code, which the processor remembers.
 */
static struct assay_outcome time_new(struct assay_case_job *j, const unsigned char *a, const unsigned char *b,
				     struct times *t)
{
	double ns[3 + LATER_CALLS], later = INFINITY;
	struct assay_outcome out = assay_outcome_ok();

	for (int i = 0; i < 3 + LATER_CALLS && out.status == ASSAY_STATUS_OK; i++) {
		put_inputs(j, i ? b : a);
		out = time_call(j, &ns[i]);
		if (i >= 3)
			later = fmin(later, ns[i]);
	}
	if (out.status != ASSAY_STATUS_OK)
		return out;
	add(t->changed_ns, &t->n_changed, ns[1]);
	if (ns[2] > LEARNT_RATIO * later)
		t->learning++;
	else
		add(t->same_ns, &t->n, ns[2] + SLACK_NEW_NS);
	return out;
}

/* Whole numbers cannot take any value, so all inputs are made anew, twice. */
static struct assay_outcome all_elements(struct assay_case_job *j, struct times *t)
{
	const uint64_t bytes = assay_audit_changed_bytes(j), seed = assay_audit_draw(&j->audit, UINT64_MAX);
	struct assay_outcome out = assay_audit_inputs_are_kept(j), back;
	unsigned char *buf = malloc(2 * bytes);

	if (!buf)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for other inputs");
	for (uint64_t i = 0; i < 2 && out.status == ASSAY_STATUS_OK; i++) {
		out = assay_case_job_refill(j, seed + i);
		keep_inputs(j, buf + i * bytes);
	}
	if (out.status == ASSAY_STATUS_OK)
		out = time_new(j, buf, buf + bytes, t);
	if (out.status == ASSAY_STATUS_OK) {
		keep_inputs(j, buf);
		if (memcmp(buf, buf + bytes, bytes))
			out = assay_outcome_set(ASSAY_STATUS_WRONG, "changed its inputs");
	}
	free(buf);
	back = assay_case_job_refill(j, j->spec->seed);
	return out.status == ASSAY_STATUS_OK ? back : out;
}

static struct assay_outcome audit_inputs(struct assay_case_job *j)
{
	struct times t = { .n = 0 };
	int rounds = 0;

	do {
		struct assay_outcome out = j->audit.n_changing ? one_element(j, &t) : all_elements(j, &t);

		if (out.status != ASSAY_STATUS_OK)
			return out;
	} while (++rounds < ROUNDS_TO_TELL && (too_quick(j, &t) || !t.n_changed));
	return verdict(j, &t, "the inputs have changed");
}

/* What a variant keeps of its first inputs shows here, however late it begins with that. */
static struct assay_outcome look_at_other(struct assay_case_job *j)
{
	struct assay_outcome out = assay_audit_make_inputs(j, true), back;

	j->next_copy = 0;
	assay_case_audit_scramble(j);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_job_run(j);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_audit_look(j, 0);
	back = assay_audit_make_inputs(j, false);
	return out.status == ASSAY_STATUS_OK ? back : out;
}

/* Some elements take the values of others, and the oracle is asked what that gives: few inputs tell of all others. */
static struct assay_outcome vary_elements(struct assay_case_job *j)
{
	struct assay_case_audit *a = &j->audit;
	uint64_t before[ELEMENTS_TO_VARY];
	unsigned char *at[ELEMENTS_TO_VARY];
	uint32_t bytes[ELEMENTS_TO_VARY];
	struct assay_outcome out;
	double err;

	for (int i = 0; i < ELEMENTS_TO_VARY; i++) {
		const uint32_t tensor = a->changing[assay_audit_draw(a, a->n_changing)];

		bytes[i] = assay_audit_element_bytes(j, tensor);
		at[i] = assay_audit_element(j, 0, tensor, assay_audit_draw(a, assay_audit_elements(j, tensor)));
		before[i] = assay_audit_load(at[i], bytes[i]);
		assay_audit_store(at[i], another_value(j, tensor, before[i]), bytes[i]);
	}
	j->next_copy = 0;
	assay_case_audit_scramble(j);
	out = assay_case_job_run(j);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_job_ask(j, 0, &err);
	for (int i = ELEMENTS_TO_VARY - 1; i >= 0; i--)
		assay_audit_store(at[i], before[i], bytes[i]);
	if (out.status == ASSAY_STATUS_WRONG)
		return assay_outcome_set(ASSAY_STATUS_WRONG, "with some inputs changed: %.470s", out.reason);
	return out;
}

/* @last: what would take too long between samples is done once, where it takes little of their time. */
static struct assay_outcome audit(struct assay_case_job *j, uint64_t iterations, double call_ns, bool last)
{
	const struct assay_case_audit *a = &j->audit;
	const bool whole = last && a->other_ns <= LAST_SHARE * a->sampled_ns;
	const uint64_t copy = j->next_copy, most = whole ? ASSAY_AUDIT_MOST_BYTES : QUICK_INPUT_BYTES;
	const bool quick = assay_audit_changed_bytes(j) <= most;
	const bool kept = a->change == ASSAY_AUDIT_REFILL && j->variant->prepare; /* the first inputs, by prepare */
	struct assay_outcome out = assay_outcome_ok();

	if (iterations > 1)
		out = audit_outputs(j, iterations, call_ns);
	if (a->change == ASSAY_AUDIT_SAME || kept)
		return out;
	if (out.status == ASSAY_STATUS_OK && (a->n_changing || quick))
		out = audit_inputs(j);
	if (out.status == ASSAY_STATUS_OK && quick && a->knows_other)
		out = look_at_other(j);
	if (out.status == ASSAY_STATUS_OK && whole && a->change == ASSAY_AUDIT_REVERSE && a->n_changing)
		out = vary_elements(j);
	j->next_copy = copy;
	return out;
}

struct assay_outcome assay_case_audit_take(struct assay_case_job *j, uint64_t iterations, double call_ns,
					   double sampled_ns)
{
	const struct assay_clock *clock = &j->spec->clock;
	struct assay_case_audit *a = &j->audit;
	const bool last = isinf(sampled_ns);
	struct assay_outcome out;
	uint64_t begun;
	bool due;

	if (!last)
		a->sampled_ns += sampled_ns;
	due = a->spent_ns + ASSAY_AUDIT_CALLS * call_ns <= AUDIT_SHARE * a->sampled_ns;
	if (!a->n_spots || !(due || (last && !(a->spent_ns > 0))))
		return assay_outcome_ok();
	begun = assay_clock_ticks(clock);
	out = audit(j, iterations, call_ns, last);
	a->spent_ns += (double)assay_clock_ticks_to_ns(clock, assay_clock_ticks(clock) - begun);
	return out;
}
