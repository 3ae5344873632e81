/* SPDX-License-Identifier: Apache-2.0 */
/* A process pair of a comparison from start to end. */
#include "measure/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/random.h"
#include "base/monotonic.h"
#include "measure/case_metrics.h"
#include "measure/case_needs.h"
#include "measure/program.h"
#include "measure/samples.h"
#include "measure/turns.h"
#include "model/comparison.h"
#include "model/summary.h"

#define INJECTED_SAMPLE_NS 400000.0
#define EXTRA_ERROR        0.001 /* of what is to be injected */
/* One pair of so many has all checks, fewer where samples are long, since the checks are many calls. */
#define ALL_CHECKS_OF      4
#define ALL_CHECKS_LONG_OF 16
#define LONG_SAMPLE_NS     1e7
/* That are checked where the copies are those of the pairs before. */
#define FEW_COPIES 2
/* Buffers up to this size may be there twice, for calls in slices. */
#define DOUBLED_BYTES (UINT64_C(512) << 20)
/*
 * If samples take less than this share of the time of turns in slices, in so many pairs in a row, calls are no longer
 * cut: on a busy machine, other programs run in between.
 */
#define SLICES_SHARE  0.25
#define CROWDED_PAIRS 2

struct pair_session {
	const struct assay_measure_options *o;
	const struct assay_pair_options *po;
	struct assay_pair_calibration *calibration;
	const struct assay_case *c;
	const struct assay_case_facts *facts; /* of the case, or own_facts */
	const struct assay_case_facts *case_facts;
	struct assay_pair *p;
	struct assay_err *err;
	struct assay_turns turns;
	struct assay_counter_choice choice;
	struct assay_case_facts own_facts; /* of calls in slices: what each side has to itself */
	bool again;                        /* a suspicious pair is tried once more */
};

static const struct assay_case *case_of(const struct pair_session *s, int side)
{
	return side == ASSAY_BASE && s->po->base_case ? s->po->base_case : s->c;
}

/* Which side is set up first and tells the number of iterations: drawn, so that neither has it better on average. */
static int first_side(const struct pair_session *s)
{
	return (int)(assay_random4(s->po->pair_seed, 3, 0).v[0] & 1);
}

/* The least number of iterations from @n on of which @frac is a whole number, but for EXTRA_ERROR; *extra gets that. */
static uint64_t divisible(uint64_t n, double frac, uint64_t *extra)
{
	double want = frac * (double)n;

	for (; fabs(round(want) - want) > EXTRA_ERROR * want; want = frac * (double)++n)
		;
	*extra = (uint64_t)round(want);
	return n;
}

/*
 * A slowdown of known size. Extra work must be whole iterations; a kernel that takes too long for samples of so many to
 * pass undisturbed is stretched by time instead.
 */
static void find_injection(struct pair_session *s)
{
	struct assay_pair *p = s->p;
	uint64_t extra, whole = divisible(p->iterations, s->po->injected_frac, &extra);
	double whole_ns = s->turns.sample_ns * (double)whole / (double)p->iterations;

	if (whole_ns > INJECTED_SAMPLE_NS) {
		s->turns.stretch_frac = s->po->injected_frac;
		return;
	}
	s->turns.sample_ns = whole_ns;
	p->iterations = whole;
	p->extra_iterations[ASSAY_HEAD] = extra;
}

static int find_iterations(struct pair_session *s)
{
	struct assay_pair *p = s->p;
	double target = assay_iterations_target_ns(s->o->worker.clock);
	const int first = first_side(s);
	struct assay_result *ps = &p->side[first];
	int rc;

	p->iterations = s->po->iterations;
	if (p->iterations && s->calibration->sample_ns > 0) {
		s->turns.sample_ns = s->calibration->sample_ns;
		rc = 0;
	} else if (!p->iterations) {
		rc = assay_iterations_find(s->turns.w[first], target, &p->iterations, &s->turns.sample_ns,
					   ASSAY_ENDING_OF(ps), s->err);
	} else {
		const struct assay_worker_args args = { .iterations = p->iterations, .count = 1 };

		rc = assay_turns_command(&s->turns, first, ASSAY_CMD_SAMPLE, &args);
		if (!rc)
			s->turns.sample_ns = (double)assay_worker_reply(s->turns.w[first])->samples[0].ns;
	}
	if (!rc && s->po->injected_frac > 0)
		find_injection(s);
	return rc;
}

/* Set the metrics of a side as a run sets those of a case, by whole calls where samples are parts of calls. */
static int keep_metrics(struct pair_session *s, int side, const struct assay_catalog_op *op)
{
	const struct assay_case_report from = { .reply = assay_worker_reply(s->turns.w[side]),
						.op = op,
						.cost = &s->facts->cost,
						.rotated_bytes = s->facts->rotated_bytes,
						.choice = &s->choice,
						.pace_untold = s->turns.pace_untold,
						.twice = s->facts == &s->own_facts };
	struct assay_result *r = &s->p->side[side];
	struct assay_sample *taken = r->samples;
	int rc = assay_case_cpus(from.reply, r, s->err);

	r->samples = NULL;
	if (!rc && taken)
		rc = assay_whole_calls(taken, 2 * s->p->n_blocks, &r->samples, &r->n_samples, s->err);
	if (!rc)
		rc = assay_summary_fill(r, s->err);
	if (!rc)
		rc = assay_case_metrics(&from, r, s->err);
	free(r->samples);
	r->samples = taken;
	r->n_samples = taken ? 2 * s->p->n_blocks : 0;
	return rc;
}

/* Outputs of an exact op, of which each side has those that it defines or deviates where it may. */
static bool differ(const struct assay_pair *p)
{
	return !p->side[ASSAY_BASE].deviation.edges && !p->side[ASSAY_HEAD].deviation.edges &&
	       strcmp(p->side[ASSAY_BASE].digest, p->side[ASSAY_HEAD].digest) != 0;
}

/*
 * The first pair warms up until it is steady, and on a device, whose clock may be low, the others do, too, for an
 * eighth of their time. Elsewhere their processes have run the case to verify it, and a few turns are enough; none
 * where that eighth is less than a block: drift meets both sides alike. Of several copies all are used once, but not of
 * the two that a side has for slices: those that were verified may lie in a cache still, and the first use of the
 * others takes up to twice as long, of one side more than of the other.
 */
static int warm_up(struct pair_session *s)
{
	const bool first = !(s->calibration->sample_ns > 0);
	const uint64_t cap_ns = s->po->sampling_ns / (first ? 2 : 8);
	const bool rotate = s->facts->copies > 1 && s->facts != &s->own_facts;
	int rc = rotate ? assay_turns_rotate(&s->turns, s->po->pair_seed, s->facts->copies) : 0;

	if (rc)
		return rc;
	if (first || 4 * s->turns.sample_ns <= (double)cap_ns)
		rc = assay_turns_warm(&s->turns, s->po->pair_seed, cap_ns, !first && !s->c->device[0]);
	if (first)
		s->calibration->steady = s->p->steady;
	s->p->steady |= s->calibration->steady;
	s->calibration->sample_ns = s->turns.sample_ns;
	return rc;
}

/*
 * What the sides have in common while a call of each is under way. A second copy of all lets both write to the same
 * memory, unless the case then no longer lies in the cache in which it lies alone; there it is *inputs_only. False:
 * there is no room for either.
 */
static bool find_room(const struct pair_session *s, bool *inputs_only)
{
	const uint64_t llc = s->o->worker.host->llc_bytes, asked = s->c->memory_bytes / 3;
	const uint64_t limit = asked && asked < DOUBLED_BYTES ? asked : DOUBLED_BYTES;
	uint64_t all = 0, inputs = 0;

	*inputs_only = false;
	if (s->facts->copies > 1)
		return true;
	for (int i = 0; i < 2; i++) {
		const struct assay_worker_reply *r = assay_worker_reply(s->turns.w[i]);

		if (r->op_bytes + r->prepare_bytes > all) {
			all = r->op_bytes + r->prepare_bytes;
			inputs = r->input_bytes;
		}
	}
	*inputs_only = all <= llc && 2 * all > llc / 4 * 3;
	return all <= limit && (!*inputs_only || 2 * all - inputs <= llc);
}

static uint64_t call_parts(const struct pair_session *s, int side)
{
	return assay_worker_reply(s->turns.w[side])->call_parts;
}

/* The first pair, whose sides share their outputs, finds out whether calls can be divided; the others do it. */
static void divide_calls(struct pair_session *s, bool first)
{
	struct assay_turns *t = &s->turns;
	struct assay_pair_calibration *l = s->calibration;
	bool inputs_only = true;

	if (first && assay_turns_by_parts(t)) {
		l->turn_parts = t->turn_parts;
		l->call_turns = t->call_turns;
	}
	if (first)
		l->slices = !l->whole && !s->c->device[0] && assay_turns_can_slice(t) &&
			    (t->turn_parts || find_room(s, &inputs_only));
	l->inputs_only |= first && inputs_only && (t->turn_parts || l->slices);
	t->slices = l->slices && t->common != ASSAY_COMMON_NONE && !first;
	/* unequally many parts cannot be compared */
	t->turn_parts = t->common != ASSAY_COMMON_ALL && call_parts(s, ASSAY_BASE) == call_parts(s, ASSAY_HEAD)
				? l->turn_parts
				: 0;
	t->call_turns = l->call_turns;
}

static void give_up_slices(struct assay_pair_calibration *l)
{
	l->slices = false;
	l->whole = true;
	l->inputs_only = l->turn_parts;
}

static double samples_ns(const struct assay_pair *p)
{
	double ns = 0;

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < 2 * p->n_blocks; i++)
			ns += (double)p->side[side].samples[i].ns;
	return ns;
}

static int sample(struct pair_session *s)
{
	const uint64_t start = assay_monotonic_ns();
	int rc = assay_turns_sample(&s->turns, s->po->pair_seed, s->po->sampling_ns);

	if (rc)
		return rc;
	s->calibration->sample_ns = s->turns.sample_ns;
	if (s->turns.slices) {
		const double ns = (double)(assay_monotonic_ns() - start);

		s->calibration->crowded = samples_ns(s->p) < SLICES_SHARE * ns ? s->calibration->crowded + 1 : 0;
		if (s->calibration->crowded == CROWDED_PAIRS)
			give_up_slices(s->calibration);
	}
	return 0;
}

/* Then whole calls of the first pair tell nothing of the pairs behind it. */
static bool others_are_divided(const struct assay_pair_calibration *l)
{
	return l->turn_parts || (l->slices && !l->own_memory);
}

static int take_samples(struct pair_session *s)
{
	const bool first = !(s->calibration->sample_ns > 0);
	int rc = find_iterations(s);

	if (!rc)
		rc = warm_up(s);
	s->turns.counting = true;
	if (!rc)
		divide_calls(s, first);
	if (!rc && (!first || s->again || s->po->alone || !others_are_divided(s->calibration)))
		rc = sample(s);
	return rc ? rc : assay_turns_both(&s->turns, ASSAY_CMD_RECHECK, NULL);
}

static int fetch_windows(struct assay_turns *t, uint64_t from)
{
	const struct assay_worker_args args = { .iterations = from };
	int rc = assay_turns_command(t, ASSAY_BASE, ASSAY_CMD_OUTPUT, &args);

	return rc ? rc : assay_turns_command(t, ASSAY_HEAD, ASSAY_CMD_OUTPUT, &args);
}

/* Bytes of an element as one number, as people write it. */
static uint64_t element_bits(const struct assay_worker_reply *r)
{
	uint64_t bits = 0;

	for (uint32_t i = r->element_bytes; i > 0; i--)
		bits = bits << 8 | r->window[i - 1];
	return bits;
}

/*
 * Describe the first element in which two outputs differ that should be equal, or that their lengths differ, in
 * @difference (ASSAY_DIFFERENCE_MAX bytes). 0, or what assay_turns_command() returned.
 */
static int describe_difference(struct assay_turns *t, char *difference)
{
	const struct assay_worker_reply *b = assay_worker_reply(t->w[ASSAY_BASE]),
					*h = assay_worker_reply(t->w[ASSAY_HEAD]);
	uint64_t from = 0;
	uint32_t i = 0;
	int rc;

	do {
		from += i;
		rc = fetch_windows(t, from);
		for (i = 0; !rc && i < b->window_bytes && i < h->window_bytes && b->window[i] == h->window[i];)
			i++;
	} while (!rc && i && i == b->window_bytes && i == h->window_bytes);
	if (rc)
		return rc;
	if (i >= b->window_bytes || i >= h->window_bytes) {
		snprintf(difference, ASSAY_DIFFERENCE_MAX, "outputs differ in length: base %llu bytes, head %llu",
			 (unsigned long long)b->output_bytes, (unsigned long long)h->output_bytes);
		return 0;
	}
	rc = fetch_windows(t, from + i);
	if (!rc)
		rc = fetch_windows(t, b->element_at); /* so that the window begins with the whole element */
	if (!rc)
		snprintf(difference, ASSAY_DIFFERENCE_MAX, "element %llu of '%s' differs: base 0x%0*llx, head 0x%0*llx",
			 (unsigned long long)b->element, b->output_name, (int)(2 * b->element_bytes),
			 (unsigned long long)element_bits(b), (int)(2 * h->element_bytes),
			 (unsigned long long)element_bits(h));
	return rc;
}

static int drive_pair(struct pair_session *s, const struct assay_catalog_op *op, char *difference)
{
	int rc = assay_turns_prepare(&s->turns, first_side(s));

	if (!rc && differ(s->p)) {
		rc = s->turns.common ? 0 : describe_difference(&s->turns, difference);
		return rc < 0 ? rc : 0;
	}
	if (!rc && !(s->po->changed_only && assay_pair_same_code(s->p)))
		rc = take_samples(s);
	if (!rc)
		rc = assay_turns_both(&s->turns, ASSAY_CMD_REPORT, NULL);
	for (int i = 0; i < 2 && !rc; i++)
		rc = keep_metrics(s, i, op);
	if (!rc)
		rc = assay_turns_finish(&s->turns);
	return rc < 0 ? rc : 0;
}

/* In the first pairs, and in as many others as the seed draws, since they take time. */
static bool with_all_checks(const struct pair_session *s)
{
	const uint32_t of = s->calibration->sample_ns < LONG_SAMPLE_NS ? ALL_CHECKS_OF : ALL_CHECKS_LONG_OF;

	return !(s->calibration->sample_ns > 0) || s->po->all_checks ||
	       assay_random4(s->po->pair_seed, 4, 0).v[0] % of == 0;
}

/*
 * Where a call of each side is under way, each has a copy to itself, in turn: so both write to the same memory, and
 * neither finds in a cache what the other one has just read. Each call follows one of its own side as often as one of
 * the other, whose last accesses are in a cache still.
 */
static void keep_apart(struct pair_session *s)
{
	s->facts = s->case_facts;
	if (!s->calibration->slices || s->turns.common != ASSAY_COMMON_ALL || s->facts->copies > 1)
		return;
	s->own_facts = *s->facts;
	s->own_facts.copies = 2;
	s->facts = &s->own_facts;
	s->turns.swap_copies = true;
}

static int take_pair(struct pair_session *s, const struct assay_catalog_op *op, const char *events, char *difference)
{
	const bool first = !(s->calibration->sample_ns > 0);
	struct assay_worker_options wo[2];
	int rc;

	*s->p = (struct assay_pair){ .seed = s->po->pair_seed,
				     .side = { { .c = *case_of(s, ASSAY_BASE) }, { .c = *case_of(s, ASSAY_HEAD) } } };
	s->turns = (struct assay_turns){
		.p = s->p,
		.err = s->err,
		.accepted = &s->calibration->accepted,
		.kept = s->po->kept,
		.common = s->calibration->own_memory    ? ASSAY_COMMON_NONE
			  : s->calibration->inputs_only ? ASSAY_COMMON_INPUTS
							: ASSAY_COMMON_ALL,
	};
	difference[0] = '\0';
	keep_apart(s);
	for (int i = 0; i < 2; i++) {
		s->calibration->timeouts[i].other = &s->calibration->timeouts[!i];
		wo[i] = assay_measure_worker(s->o, case_of(s, i), s->facts, ASSAY_WORKER_PAIRED);
		wo[i].setup.plugins = s->po->plugins[i];
		wo[i].setup.parts = s->po->parts[i];
		wo[i].events = events;
		wo[i].timeouts = &s->calibration->timeouts[i];
		wo[i].checks.all = with_all_checks(s);
		wo[i].checks.other_late = !first;
		if (s->turns.common == ASSAY_COMMON_ALL && !first && assay_kept_memory_usable(s->po->kept))
			wo[i].checks.few_copies = FEW_COPIES;
	}
	rc = assay_turns_open(&s->turns, wo, s->o);
	if (rc)
		return rc;
	rc = drive_pair(s, op, difference);
	assay_turns_close(&s->turns);
	return rc;
}

/* May be for what the other side does to common memory. */
static bool suspicious(const struct assay_pair *p)
{
	for (int side = 0; side < 2; side++)
		switch (p->side[side].status) {
		case ASSAY_STATUS_WRONG:
		case ASSAY_STATUS_CRASHED:
		case ASSAY_STATUS_FAILED:
			return true;
		default:
			break;
		}
	return differ(p);
}

/*
 * A suspicious pair once more, with memory for each side: what is wrong then is so by itself. What is right then is
 * excused only if common memory makes it wrong a second time; a side that is wrong now and then stays wrong. A side
 * that was wrong in slices, and is right in whole calls, is not cut from then on; it is wrong if it is so again.
 */
static int take_again(struct pair_session *s, const struct assay_catalog_op *op, const char *events,
		      const struct assay_pair_calibration *before, char *difference)
{
	struct assay_pair first = *s->p, own;
	int rc;

	s->again = true;
	s->calibration->own_memory = true;
	s->calibration->sample_ns = 0;
	rc = take_pair(s, op, events, difference);
	if (rc || suspicious(s->p)) {
		assay_pair_release(&first);
		return rc;
	}
	own = *s->p;
	s->calibration->own_memory = false;
	s->calibration->slices = false;
	s->calibration->sample_ns = 0;
	s->calibration->turn_parts = before->turn_parts; /* so that as much is common as was */
	s->calibration->inputs_only = before->inputs_only;
	rc = take_pair(s, op, events, difference);
	if (!rc && before->slices && !suspicious(s->p)) {
		assay_pair_release(&first);
		assay_pair_release(&own);
		give_up_slices(s->calibration);
		return 0;
	}
	s->calibration->own_memory = suspicious(s->p);
	assay_pair_release(s->p);
	*s->p = s->calibration->own_memory ? own : first;
	assay_pair_release(s->calibration->own_memory ? &first : &own);
	difference[0] = '\0';
	if (!s->calibration->own_memory && differ(s->p) && s->p->side[ASSAY_HEAD].status == ASSAY_STATUS_OK)
		snprintf(difference, ASSAY_DIFFERENCE_MAX, "outputs differ now and then");
	return rc;
}

int assay_measure_pair(const struct assay_case *c, const struct assay_catalog *cat,
		       const struct assay_case_facts *facts, const struct assay_measure_options *o,
		       const struct assay_pair_options *po, struct assay_pair_calibration *calibration,
		       struct assay_pair *out, char *difference, struct assay_err *err)
{
	struct pair_session s = {
		.o = o, .po = po, .calibration = calibration, .c = c, .case_facts = facts, .p = out, .err = err
	};
	const struct assay_catalog_op *op = assay_catalog_op(cat, c->op);
	const struct assay_pair_calibration before = *calibration;
	uint64_t start = assay_monotonic_ns();
	struct assay_text events = { 0 };
	int rc;

	*out = (struct assay_pair){ 0 };
	if (!op)
		return assay_err_set(err, ASSAY_EINTERNAL, "op '%s' of case '%s' is not in the catalog", c->op, c->key);
	if (op->program)
		return assay_program_pair(c, op, o, po, calibration, out, err);
	rc = assay_measure_choose(o, c, op, &s.choice, &events, err);
	if (!rc)
		rc = take_pair(&s, op, events.s, difference);
	if (!rc && suspicious(out) && !calibration->own_memory)
		rc = take_again(&s, op, events.s, &before, difference);
	assay_counter_choice_release(&s.choice);
	assay_text_release(&events);
	out->wall_ns = assay_monotonic_ns() - start;
	return rc;
}
