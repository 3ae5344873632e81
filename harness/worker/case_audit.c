/* SPDX-License-Identifier: Apache-2.0 */
/* Calls between samples, on outputs and inputs that change. */
#include "worker/case_audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/random.h"
#include "worker/case_check.h"
#include "worker/case_job.h"

/* Streams of the generator, away from those of layouts. */
#define STREAM_SPOTS 0x41554401u
#define STREAM_AUDIT 0x41554402u
#define OTHER_SEED   UINT64_C(0x9E3779B97F4A7C15) /* of the inputs that variants are also checked on */

/* Larger inputs are not made anew: that would take longer than the samples. */
#define MOST_INPUT_BYTES (16u << 20)
/* Of inputs that are made anew in every audit, and not only before the first sample. */
#define QUICK_INPUT_BYTES (256u << 10)
/* In a row, so that a variant that computes once after a pause is found out. */
#define LEAST_CALLS 4
#define MORE_CALLS  8

#define AUDIT_SHARE  0.02
#define FIRST_MAX_NS 20e6 /* longer calls are audited only when due */

/* A call on changed data may take so many times longer, and so much besides: memory is touched before it. */
#define RATIO           1.5
#define SLACK_NS        30.0
#define SLACK_SHARED_NS 1000.0 /* lines that other cores, or no core, hold */
/*
 * The first call on inputs that are all new foresees branches less well. But what a processor learns it learns over some
 * calls, little by little; an answer that is kept is there in the second.
 */
#define SLACK_NEW_NS 200.0
#define LATER_CALLS  3
#define LEARNT_RATIO 1.25
/* In so many calls of each kind, the machine may disturb some. */
#define ROUNDS_TO_TELL  16
#define MOST_LONGER(n)  (((n)*3 + 15) / 16) /* of those on the same data */
#define MOST_SHORTER(n) ((n) / 16)          /* of those on data that changed */

static uint32_t element_bytes(const struct assay_case_job *j, uint32_t tensor)
{
	return (uint32_t)assay_dtype_bytes(j->problem.tensors[tensor].dtype);
}

static unsigned char *element_at(const struct assay_case_job *j, uint64_t copy, uint32_t tensor, uint64_t element)
{
	const struct assay_tensor *t = &j->tensors[copy * j->problem.n_tensors + tensor];

	return (unsigned char *)t->data + element * element_bytes(j, tensor);
}

static uint64_t load(const unsigned char *p, uint32_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes <= sizeof(v) ? bytes : 0);
	return v;
}

/* Of one size at a time, so that it is one instruction in the loop that is timed. */
static void store(unsigned char *p, uint64_t v, uint32_t bytes)
{
	switch (bytes) {
	case 1:
		memcpy(p, &v, 1);
		break;
	case 2:
		memcpy(p, &v, 2);
		break;
	case 4:
		memcpy(p, &v, 4);
		break;
	default:
		memcpy(p, &v, 8);
	}
}

/* A number below @n, drawn anew by each call. */
static uint64_t draw_below(struct assay_case_audit *a, uint64_t n)
{
	const struct assay_philox x = assay_random4(a->seed, STREAM_AUDIT, a->draws++);

	return n ? ((uint64_t)x.v[0] << 32 | x.v[1]) % n : 0;
}

/* ---- spots of the outputs ---------------------------------------------------------------------------------------- */

static uint64_t count_elements(const struct assay_case_job *j, uint32_t tensor)
{
	const uint32_t bytes = element_bytes(j, tensor);

	return bytes ? j->tensors[tensor].bytes / bytes : 0;
}

static void choose_spots(struct assay_case_job *j)
{
	struct assay_case_audit *a = &j->audit;
	uint64_t all = 0;

	for (uint32_t t = 0; t < j->problem.n_tensors; t++)
		if (j->problem.tensors[t].role == ASSAY_OUTPUT)
			all += count_elements(j, t);
	for (a->n_spots = 0; all && a->n_spots < ASSAY_AUDIT_SPOTS; a->n_spots++) {
		const struct assay_philox x = assay_random4(a->seed, STREAM_SPOTS, a->n_spots);
		uint64_t at = ((uint64_t)x.v[0] << 32 | x.v[1]) % all;

		for (uint32_t t = 0; t < j->problem.n_tensors; t++) {
			if (j->problem.tensors[t].role != ASSAY_OUTPUT)
				continue;
			if (at < count_elements(j, t)) {
				a->spots[a->n_spots] = (struct assay_audit_spot){ .tensor = t, .element = at };
				break;
			}
			at -= count_elements(j, t);
		}
	}
}

/* What the outputs of copy 0 hold is right for the present inputs. */
static void learn_spots(struct assay_case_job *j)
{
	struct assay_case_audit *a = &j->audit;

	for (uint32_t i = 0; i < a->n_spots; i++)
		a->spots[i].want[a->other] = load(element_at(j, 0, a->spots[i].tensor, a->spots[i].element),
						  element_bytes(j, a->spots[i].tensor));
}

static void scramble_spot(const struct assay_case_job *j, const struct assay_audit_spot *s, uint64_t copy)
{
	store(element_at(j, copy, s->tensor, s->element), ~s->want[j->audit.other], element_bytes(j, s->tensor));
}

static double as_number(uint64_t v, uint32_t dtype)
{
	double d;
	float f;

	if (dtype == ASSAY_F64) {
		memcpy(&d, &v, sizeof(d));
		return d;
	}
	memcpy(&f, &v, sizeof(f));
	return f;
}

/*
 * Ops that need not be exact may give other bits in every call. Then a float must lie nearer to the right value than to
 * anything it could hold by accident, and anything else must have been written.
 */
static bool is_right(const struct assay_case_job *j, const struct assay_audit_spot *s, uint64_t got)
{
	const uint32_t dtype = j->problem.tensors[s->tensor].dtype, bytes = element_bytes(j, s->tensor);
	const uint64_t want = s->want[j->audit.other];
	double scale = 0;

	if (got == want)
		return true;
	if (j->op->flags & ASSAY_OP_EXACT)
		return false;
	if (dtype != ASSAY_F32 && dtype != ASSAY_F64)
		return got != (~want & (UINT64_MAX >> (64 - 8 * bytes)));
	for (uint32_t i = 0; i < j->audit.n_spots; i++)
		if (j->audit.spots[i].tensor == s->tensor)
			scale = fmax(scale, fabs(as_number(j->audit.spots[i].want[j->audit.other], dtype)));
	return fabs(as_number(got, dtype) - as_number(want, dtype)) <= 0.01 * scale;
}

static struct assay_outcome look(const struct assay_case_job *j, uint64_t copy)
{
	const struct assay_case_audit *a = &j->audit;

	for (uint32_t i = 0; i < a->n_spots; i++) {
		const struct assay_audit_spot *s = &a->spots[i];
		const uint32_t bytes = element_bytes(j, s->tensor);
		const uint64_t got = load(element_at(j, copy, s->tensor, s->element), bytes);

		if (is_right(j, s, got))
			continue;
		return assay_outcome_set(
			ASSAY_STATUS_WRONG, "between samples, with %s: element %llu of '%s' is 0x%0*llx, want 0x%0*llx",
			a->other ? "other inputs" : "scrambled outputs", (unsigned long long)s->element,
			j->problem.tensors[s->tensor].name, (int)(2 * bytes), (unsigned long long)got, (int)(2 * bytes),
			(unsigned long long)s->want[a->other]);
	}
	return assay_outcome_ok();
}

void assay_case_audit_scramble(struct assay_case_job *j)
{
	struct assay_case_audit *a = &j->audit;

	a->copy = j->next_copy;
	for (uint32_t i = 0; i < a->n_spots; i++)
		scramble_spot(j, &a->spots[i], a->copy);
}

struct assay_outcome assay_case_audit_look(struct assay_case_job *j)
{
	return look(j, j->audit.copy);
}

/* ---- other inputs ------------------------------------------------------------------------------------------------ */

static void reverse(const struct assay_case_job *j, uint32_t tensor)
{
	const uint32_t bytes = element_bytes(j, tensor);
	const uint64_t n = count_elements(j, tensor);

	for (uint64_t i = 0; i < n / 2; i++) {
		unsigned char *p = element_at(j, 0, tensor, i), *q = element_at(j, 0, tensor, n - 1 - i);
		const uint64_t v = load(p, bytes);

		store(p, load(q, bytes), bytes);
		store(q, v, bytes);
	}
}

static bool varies(const struct assay_case_job *j, uint32_t tensor)
{
	const struct assay_tensor_spec *t = &j->problem.tensors[tensor];

	return t->role == ASSAY_INPUT && (t->flags & ASSAY_TENSOR_VARIES);
}

/* Any value of a float or of a signed byte is as good as another; a whole number may be a place or a length. */
static bool takes_any(const struct assay_case_job *j, uint32_t tensor)
{
	const struct assay_tensor_spec *t = &j->problem.tensors[tensor];

	switch (t->dtype) {
	case ASSAY_I8:
	case ASSAY_F16:
	case ASSAY_BF16:
	case ASSAY_F32:
	case ASSAY_F64:
		return t->role == ASSAY_INPUT;
	default:
		return varies(j, tensor);
	}
}

/*
 * What the op says may change is turned round. Of other ops all inputs are made anew from another seed, where no variant
 * keeps anything of the first ones and where making them leaves nothing else behind.
 */
static enum assay_audit_change change_of(const struct assay_case_job *j)
{
	uint64_t bytes = 0;
	bool any = false;

	for (uint32_t t = 0; t < j->problem.n_tensors; t++) {
		any |= varies(j, t);
		bytes += j->problem.tensors[t].role == ASSAY_INPUT ? j->tensors[t].bytes : 0;
	}
	if (any)
		return ASSAY_AUDIT_REVERSE;
	if (!bytes || bytes > MOST_INPUT_BYTES || j->variant->prepare || j->jobs[0].op_state || j->fill_bytes)
		return ASSAY_AUDIT_SAME;
	return ASSAY_AUDIT_REFILL;
}

/* Looked at before inputs are changed: afterwards, what a variant did to them could not be seen. */
static struct assay_outcome inputs_are_kept(const struct assay_case_job *j)
{
	if (strcmp(assay_case_input_digest(j, 0).hex, j->input_digests[0].hex))
		return assay_outcome_set(ASSAY_STATUS_WRONG, "changed its inputs");
	return assay_outcome_ok();
}

/* Leave what audits work on: the other inputs, or those of the case. */
static struct assay_outcome make_inputs(struct assay_case_job *j, bool other)
{
	struct assay_case_audit *a = &j->audit;
	struct assay_outcome out = inputs_are_kept(j);
	const struct assay_digest digest = j->input_digests[0];

	a->other = other;
	j->input_digests[0] = a->digest;
	a->digest = digest;
	if (out.status != ASSAY_STATUS_OK)
		return out;
	if (a->change == ASSAY_AUDIT_REFILL)
		return assay_case_job_refill(j, other ? j->spec->seed ^ OTHER_SEED : j->spec->seed);
	for (uint32_t t = 0; t < j->problem.n_tensors; t++)
		if (varies(j, t))
			reverse(j, t);
	return assay_outcome_ok();
}

/* From poison, on other inputs: the oracle is asked what it should give. */
static struct assay_outcome check_other(struct assay_case_job *j)
{
	char output[ASSAY_DIGEST_LEN + 1];
	struct assay_outcome out = make_inputs(j, true), back;
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
		learn_spots(j);
	back = make_inputs(j, false);
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
	struct assay_case_audit *a = &j->audit;

	*a = (struct assay_case_audit){ .seed = j->spec->seed ^ j->spec->layout_seed };
	if (j->device)
		return assay_outcome_ok();
	choose_spots(j);
	learn_spots(j);
	a->change = change_of(j);
	for (uint32_t t = 0; t < j->problem.n_tensors; t++)
		if (takes_any(j, t) && count_elements(j, t) > 1 && (varies(j, t) || a->change == ASSAY_AUDIT_REFILL))
			a->changing[a->n_changing++] = t;
	return a->change == ASSAY_AUDIT_SAME ? assay_outcome_ok() : check_other(j);
}

/* Of what make_inputs() changes. */
static uint64_t changed_bytes(const struct assay_case_job *j)
{
	uint64_t bytes = 0;

	for (uint32_t t = 0; t < j->problem.n_tensors; t++)
		if (varies(j, t) ||
		    (j->audit.change == ASSAY_AUDIT_REFILL && j->problem.tensors[t].role == ASSAY_INPUT))
			bytes += j->tensors[t].bytes;
	return bytes;
}

/* ---- timed calls ------------------------------------------------------------------------------------------------- */

/* As the loop of a sample, but for a store into the outputs before each call. */
static __attribute__((noinline)) int scrambled_calls(struct assay_case_job *j, uint64_t n)
{
	struct assay_case_audit *a = &j->audit;
	uint64_t copy = j->next_copy;
	int rc = 0;

	for (uint64_t i = 0; i < n; i++) {
		scramble_spot(j, &a->spots[i % a->n_spots], copy);
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

	return t->learning <= ROUNDS_TO_TELL / 2 &&
	       changed_ns(t) > RATIO * same_ns(t) + (shared ? SLACK_SHARED_NS : SLACK_NS);
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
		struct assay_outcome out = time_scrambled(j, LEAST_CALLS + draw_below(&j->audit, MORE_CALLS), &changed);
		uint64_t ns;

		if (out.status == ASSAY_STATUS_OK)
			out = look(j, j->audit.copy);
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

	scramble_spot(j, &j->audit.spots[0], 0);
	out = assay_case_job_time(j, 1, &ns);
	*call_ns = (double)ns;
	return out;
}

/* A call on the inputs as they are, and one after an element has taken the value of another. */
static struct assay_outcome one_element(struct assay_case_job *j, struct times *t)
{
	struct assay_case_audit *a = &j->audit;
	const uint32_t tensor = a->changing[draw_below(a, a->n_changing)], bytes = element_bytes(j, tensor);
	unsigned char *p = element_at(j, 0, tensor, draw_below(a, count_elements(j, tensor)));
	const unsigned char *q = element_at(j, 0, tensor, draw_below(a, count_elements(j, tensor)));
	const uint64_t before = load(p, bytes);
	double same = 0, changed = 0;
	struct assay_outcome out;

	store(p, before, bytes);
	out = time_call(j, &same);
	store(p, load(q, bytes), bytes);
	if (out.status == ASSAY_STATUS_OK)
		out = time_call(j, &changed);
	store(p, before, bytes);
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
	const uint64_t bytes = changed_bytes(j), seed = draw_below(&j->audit, UINT64_MAX);
	struct assay_outcome out = inputs_are_kept(j), back;
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

	do {
		struct assay_outcome out = j->audit.n_changing ? one_element(j, &t) : all_elements(j, &t);

		if (out.status != ASSAY_STATUS_OK)
			return out;
	} while (t.n_changed < ROUNDS_TO_TELL && too_quick(j, &t));
	return verdict(j, &t, "the inputs have changed");
}

/* What a variant keeps of its first inputs shows here, however late it begins with that. */
static struct assay_outcome look_at_other(struct assay_case_job *j)
{
	struct assay_outcome out = make_inputs(j, true), back;

	assay_case_audit_scramble(j);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_job_run(j);
	if (out.status == ASSAY_STATUS_OK)
		out = look(j, 0);
	back = make_inputs(j, false);
	return out.status == ASSAY_STATUS_OK ? back : out;
}

static struct assay_outcome audit(struct assay_case_job *j, uint64_t iterations, double call_ns)
{
	const struct assay_case_audit *a = &j->audit;
	const bool quick = changed_bytes(j) <= QUICK_INPUT_BYTES;
	struct assay_outcome out = assay_outcome_ok();

	if (iterations > 1)
		out = audit_outputs(j, iterations, call_ns);
	if (j->n_jobs > 1 || a->change == ASSAY_AUDIT_SAME)
		return out;
	if (out.status == ASSAY_STATUS_OK && (a->n_changing || quick))
		out = audit_inputs(j);
	if (out.status == ASSAY_STATUS_OK && quick)
		out = look_at_other(j);
	return out;
}

struct assay_outcome assay_case_audit_take(struct assay_case_job *j, uint64_t iterations, double call_ns,
					   double sampled_ns)
{
	const struct assay_clock *clock = &j->spec->clock;
	struct assay_case_audit *a = &j->audit;
	struct assay_outcome out;
	uint64_t begun;

	a->sampled_ns += sampled_ns;
	if (!a->n_spots || (a->spent_ns > 0 ? a->spent_ns > AUDIT_SHARE * a->sampled_ns : call_ns > FIRST_MAX_NS))
		return assay_outcome_ok();
	begun = assay_clock_ticks(clock);
	out = audit(j, iterations, call_ns);
	a->spent_ns += (double)assay_clock_ticks_to_ns(clock, assay_clock_ticks(clock) - begun);
	return out;
}
