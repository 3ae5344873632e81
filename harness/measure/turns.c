/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both sides load their plugins, and end, at the same time. They prepare and verify one after the other; from the
 * warm-up on they only ever run in turn, as the samples will.
 */
#include "measure/turns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/random.h"
#include "base/monotonic.h"
#include "measure/case_needs.h"
#include "measure/samples.h"
#include "model/result.h"
#include "stats/stats.h"
#include "worker/pair/call_slices.h"

#define WARMUP_BLOCKS         8
#define WARMUP_TOLERANCE_FRAC 0.01
#define HAND_OVER_NS          20000.0 /* of a turn, both ways, generously: only to divide the time into blocks */
#define LONG_CALL_NS          5e5     /* in so long a call, caches that the partner used matter little */
#define LONG_COMMON_CALL_NS   5e4     /* and in this one, where it used them for the same data */
#define DIVIDED_CALL_NS       5e6     /* of so long a call, parts are turns */
#define MIN_BLOCKS            2
#define MAX_BLOCKS            (ASSAY_PAGE_SAMPLES / 2)
#define PART_TURN_NS          1e6 /* of a turn that is a part of a call */
/* A hand-over costs some 20 µs, and what disturbs lasts for milliseconds. */
#define SLICE_NS       250000u
#define SLICED_CALL_NS 1e6

/* The sides have it in common: layout is chance that must not tell them apart. Never 0, which would switch it off. */
static uint64_t layout_seed(uint64_t pair_seed)
{
	struct assay_philox draw = assay_random4(pair_seed, 1, 0);

	return ((uint64_t)draw.v[0] << 32 | draw.v[1]) | 1;
}

int assay_turns_open(struct assay_turns *t, struct assay_worker_options wo[2], const struct assay_measure_options *o)
{
	const unsigned threads = wo[ASSAY_BASE].c->threads;
	int rc = assay_measure_place(o, &wo[ASSAY_BASE], t->err);

	if (!rc)
		t->pace_untold =
			assay_core_pace_untold(o->worker.topology, o->worker.clock, wo[ASSAY_BASE].cpus, threads);
	for (int i = 0; i < 2; i++) {
		wo[i].cpus = wo[ASSAY_BASE].cpus;
		wo[i].setup.settings.layout_seed = layout_seed(t->p->seed);
		wo[i].common = t->common;
		wo[i].try_pace = !t->pace_untold;
		wo[i].pace = assay_core_paces_of(o->paces, wo[i].c->variant, threads);
	}
	if (!rc)
		rc = assay_worker_start_pair(t->w, wo, t->kept, t->err);
	free(wo[ASSAY_BASE].cpus);
	return rc;
}

int assay_turns_command(struct assay_turns *t, int side, enum assay_command cmd, const struct assay_worker_args *args)
{
	struct assay_result *ps = &t->p->side[side];
	int rc = assay_worker_call(t->w[side], cmd, args, ASSAY_ENDING_OF(ps), t->err);

	return rc ? rc : ps->status != ASSAY_STATUS_OK;
}

/* Is the other side asked, too? One that is wrong must not hide that the other is. */
static bool goes_on(const struct assay_turns *t, int side, int rc)
{
	return !rc || (rc > 0 && t->p->side[side].status == ASSAY_STATUS_WRONG);
}

int assay_turns_both(struct assay_turns *t, enum assay_command cmd, const struct assay_worker_args *args)
{
	int base = assay_turns_command(t, ASSAY_BASE, cmd, args), head;

	if (!goes_on(t, ASSAY_BASE, base))
		return base;
	head = assay_turns_command(t, ASSAY_HEAD, cmd, args);
	return head ? head : base;
}

/*
 * Both work at it at the same time, where nothing is measured. What @first says counts first; until then the memory of
 * the other one is not watched.
 */
static int at_once(struct assay_turns *t, enum assay_command cmd, int first)
{
	int rc = 0;

	for (int i = 0; i < 2; i++)
		assay_worker_begin(t->w[i], cmd, NULL);
	for (int k = 0; k < 2 && !rc; k++) {
		const int i = first ^ k;
		struct assay_result *ps = &t->p->side[i];

		rc = assay_worker_end(t->w[i], NULL, ASSAY_ENDING_OF(ps), t->err);
		if (!rc)
			rc = ps->status != ASSAY_STATUS_OK;
	}
	return rc;
}

int assay_turns_finish(struct assay_turns *t)
{
	return at_once(t, ASSAY_CMD_FINISH, ASSAY_BASE);
}

/* Tell a side that only waited what ended the other. */
static void tell_of_other(struct assay_result *waited, const struct assay_result *other)
{
	char why[401]; /* a copy, because gcc 16 warns that the two sides may be one */

	snprintf(why, sizeof(why), "%.400s", other->reason);
	snprintf(waited->reason, sizeof(waited->reason), "the other side of the pair %s: %s",
		 assay_status_name(other->status), why);
}

/* As far as it is known: a plugin may have memory of its own that it did not ask the host for. */
static bool all_is_common(const struct assay_turns *t)
{
	return t->common == ASSAY_COMMON_ALL && !assay_worker_reply(t->w[ASSAY_BASE])->own_bytes &&
	       !assay_worker_reply(t->w[ASSAY_HEAD])->own_bytes;
}

/* Then nobody calls once untimed to have the caches back. */
static bool calls_are_long(const struct assay_turns *t)
{
	const double long_ns = all_is_common(t) ? LONG_COMMON_CALL_NS : LONG_CALL_NS;

	return t->sample_ns >= long_ns * (double)t->p->iterations;
}

/* Let both take @blocks blocks in turn. */
static int take_turns(struct assay_turns *t, uint32_t blocks, uint64_t order_seed)
{
	struct assay_worker_args args[2];
	int rc = 0;

	for (int i = 0; i < 2; i++) {
		args[i] = (struct assay_worker_args){ .iterations = t->p->iterations,
						      .count = blocks,
						      .order_seed = order_seed,
						      .counting = t->counting,
						      .long_calls = calls_are_long(t),
						      .turn_parts = t->turn_parts,
						      .slice_ns = t->slices ? SLICE_NS : 0,
						      .swap_copies = t->slices && t->swap_copies,
						      .extra_iterations = t->p->extra_iterations[i],
						      .stretch_frac = i == ASSAY_HEAD ? t->stretch_frac : 0 };
		assay_worker_begin(t->w[i], ASSAY_CMD_PAIR, &args[i]);
	}
	for (int i = 0; i < 2; i++) {
		struct assay_result *ps = &t->p->side[i];
		int one = assay_worker_end(t->w[i], t->w[!i], ASSAY_ENDING_OF(ps), t->err);

		if (one < 0)
			return one;
		t->followed[i] = one > 0;
		rc |= ps->status != ASSAY_STATUS_OK;
	}
	for (int i = 0; i < 2; i++)
		if (t->followed[i])
			tell_of_other(&t->p->side[i], &t->p->side[!i]);
	return rc;
}

/*
 * Both learn what the oracle accepts, and load; not later, since plugins could write to the page. In the first pair one
 * side learns it from the other, so that they load one after the other.
 */
static int load_at_once(struct assay_turns *t, int first)
{
	for (int i = 0; i < 2; i++)
		assay_worker_accept(t->w[i], t->accepted);
	return at_once(t, ASSAY_CMD_LOAD, first);
}

int assay_turns_prepare(struct assay_turns *t, int first)
{
	const bool loads = t->accepted && t->accepted->digest[0][0];
	int wrong = 0, rc = loads ? load_at_once(t, first) : 0;

	if (rc)
		return rc;
	for (int k = 0; k < 2; k++) {
		const int i = first ^ k;
		const struct assay_worker_reply *reply = assay_worker_reply(t->w[i]);
		struct assay_result *ps = &t->p->side[i];

		if (t->accepted && !loads)
			assay_worker_accept(t->w[i], t->accepted);
		rc = assay_turns_command(t, i, ASSAY_CMD_PREPARE, NULL);
		memcpy(ps->code_hash, reply->code_hash, sizeof(ps->code_hash));
		if (!rc)
			rc = assay_turns_command(t, i, ASSAY_CMD_VERIFY, NULL);
		if (!goes_on(t, i, rc))
			return rc;
		if (rc) {
			wrong = rc;
			continue;
		}
		if (t->accepted)
			*t->accepted = reply->accepted;
		ps->max_rel_err = reply->max_rel_err;
		ps->deviation = reply->deviation;
		memcpy(ps->digest, reply->digest, sizeof(ps->digest));
	}
	return wrong;
}

/* Blocks that fit into a time. */
static double blocks_in(const struct assay_turns *t, uint64_t ns)
{
	const double turn_ns = t->turn_parts       ? t->sample_ns / t->call_turns
			       : t->slices         ? t->sample_ns
			       : calls_are_long(t) ? t->sample_ns
						   : t->sample_ns * (1 + 0.5 / (double)t->p->iterations);

	return (double)ns / (4 * (turn_ns + HAND_OVER_NS));
}

static uint64_t turns_of(uint64_t parts, uint64_t each)
{
	return (parts + each - 1) / each;
}

bool assay_turns_divide(uint64_t parts, double call_ns, uint32_t *turn_parts, uint32_t *call_turns)
{
	uint64_t least, each;

	if (parts < 2 || call_ns < DIVIDED_CALL_NS)
		return false;
	least = (uint64_t)fmax(ceil((double)parts * PART_TURN_NS / call_ns), (double)turns_of(parts, MAX_BLOCKS));
	for (each = least; each < 2 * least && turns_of(parts, each) % 2; each++)
		;
	if (each == 2 * least)
		each = least;
	*turn_parts = (uint32_t)each;
	*call_turns = (uint32_t)turns_of(parts, each);
	return *call_turns >= 2;
}

bool assay_turns_by_parts(struct assay_turns *t)
{
	const uint64_t parts = assay_worker_reply(t->w[ASSAY_BASE])->call_parts;
	uint32_t each, turns;

	if (parts != assay_worker_reply(t->w[ASSAY_HEAD])->call_parts || t->p->iterations != 1 ||
	    !assay_turns_divide(parts, t->sample_ns, &each, &turns))
		return false;
	t->turn_parts = each;
	t->call_turns = turns;
	return true;
}

bool assay_turns_can_slice(const struct assay_turns *t)
{
	if (t->p->iterations != 1 || t->sample_ns < SLICED_CALL_NS || !assay_call_slices_possible())
		return false;
	for (int i = 0; i < 2; i++)
		if (assay_worker_threads(t->w[i]) != assay_worker_reply(t->w[i])->n_threads)
			return false;
	return true;
}

/* Of each side two turns make a block, and all its turns whole calls. */
static uint32_t whole_blocks(const struct assay_turns *t, double blocks)
{
	uint32_t n = (uint32_t)fmin(MAX_BLOCKS, fmax(MIN_BLOCKS, blocks)), unit;

	if (!t->turn_parts)
		return n;
	unit = t->call_turns % 2 ? t->call_turns : t->call_turns / 2;
	return n < unit ? unit : n / unit * unit;
}

int assay_turns_rotate(struct assay_turns *t, uint64_t order_seed, uint64_t copies)
{
	double blocks = ceil((double)copies / (2 * (double)t->p->iterations));

	return take_turns(t, (uint32_t)fmin(MAX_BLOCKS, blocks), order_seed);
}

/* Median of the newest samples: one that was disturbed must not stand for those that follow. */
static double newest_ns(const struct assay_steadiness *x)
{
	const size_t n = x->n < WARMUP_BLOCKS ? x->n : WARMUP_BLOCKS;
	double newest[WARMUP_BLOCKS];

	memcpy(newest, x->ns + x->n - n, n * sizeof(*newest));
	assay_stats_sort(newest, n);
	return assay_stats_median(newest, n);
}

int assay_turns_warm(struct assay_turns *t, uint64_t order_seed, uint64_t cap_ns, bool once)
{
	uint64_t start = assay_monotonic_ns();
	struct assay_steadiness x[2] = { 0 };
	int rc = 0;

	do {
		bool steady[2];

		rc = take_turns(t, (uint32_t)fmax(1, fmin(WARMUP_BLOCKS / 2, blocks_in(t, cap_ns))),
				order_seed ^ x[0].n);
		for (int i = 0; i < 2 && !rc; i++) {
			const struct assay_worker_reply *reply = assay_worker_reply(t->w[i]);

			rc = assay_steadiness_add(&x[i], reply->samples, reply->n_samples, t->err);
			assay_steadiness_clock(&x[i], reply->device_least_hz, reply->device_most_hz);
			steady[i] = !rc && !x[i].clock_moves &&
				    assay_stats_steady(x[i].ns, x[i].n, WARMUP_BLOCKS, WARMUP_TOLERANCE_FRAC);
		}
		if (!rc && x[0].n && x[1].n)
			t->sample_ns = (newest_ns(&x[0]) + newest_ns(&x[1])) / 2;
		t->p->steady = !rc && steady[0] && steady[1];
	} while (!rc && !once && !t->p->steady && assay_monotonic_ns() - start < cap_ns);
	assay_steadiness_release(&x[0]);
	assay_steadiness_release(&x[1]);
	return rc;
}

/* Median of the calls that a side's samples make. */
static int call_ns(const struct assay_turns *t, const struct assay_result *ps, double *ns)
{
	struct assay_steadiness x = { 0 };
	struct assay_sample *calls;
	size_t n;
	int rc = assay_whole_calls(ps->samples, 2 * t->p->n_blocks, &calls, &n, t->err);

	if (rc)
		return rc;
	rc = assay_steadiness_add(&x, calls, n, t->err);
	free(calls);
	if (!rc) {
		assay_stats_sort(x.ns, x.n);
		*ns = assay_stats_median(x.ns, x.n);
	}
	assay_steadiness_release(&x);
	return rc;
}

/* The slower side takes its time, too. */
static int expect_like_samples(struct assay_turns *t)
{
	double base, head;
	int rc;

	if (!t->p->n_blocks)
		return 0;
	rc = call_ns(t, &t->p->side[ASSAY_BASE], &base);
	if (!rc)
		rc = call_ns(t, &t->p->side[ASSAY_HEAD], &head);
	if (!rc)
		t->sample_ns = (base + head) / 2;
	return rc;
}

int assay_turns_sample(struct assay_turns *t, uint64_t order_seed, uint64_t sampling_ns)
{
	int rc = take_turns(t, whole_blocks(t, blocks_in(t, sampling_ns)), order_seed);

	for (int i = 0; i < 2 && !rc; i++) {
		const struct assay_worker_reply *reply = assay_worker_reply(t->w[i]);
		struct assay_result *ps = &t->p->side[i];

		ps->samples = malloc(reply->n_samples * sizeof(*ps->samples) + 1);
		if (!ps->samples)
			return assay_err_set(t->err, ASSAY_ENOMEM, "out of memory for %u samples", reply->n_samples);
		ps->n_samples = reply->n_samples;
		memcpy(ps->samples, reply->samples, reply->n_samples * sizeof(*ps->samples));
		t->p->n_blocks = reply->n_samples / 2;
	}
	return rc ? rc : expect_like_samples(t);
}

static uint64_t iterations_of(const struct assay_pair *p, int side)
{
	return p->iterations + p->extra_iterations[side];
}

/* The four samples of block @b, base first. */
struct block {
	struct assay_sample s[4];
};

static struct block block_of(const struct assay_pair *p, size_t b)
{
	const struct assay_sample *base = &p->side[ASSAY_BASE].samples[2 * b],
				  *head = &p->side[ASSAY_HEAD].samples[2 * b];

	return (struct block){ { base[0], base[1], head[0], head[1] } };
}

/* Log of the time of a call of the head over that of a call of the base. */
static double log_ratio(const struct assay_pair *p, const struct block *b)
{
	double base_ns = (double)(b->s[0].ns + b->s[1].ns) / (double)iterations_of(p, ASSAY_BASE);
	double head_ns = (double)(b->s[2].ns + b->s[3].ns) / (double)iterations_of(p, ASSAY_HEAD);

	return log(fmax(head_ns, 1e-3) / fmax(base_ns, 1e-3));
}

int assay_turns_ratio(const struct assay_pair *p, double *median, struct assay_interval *ci, bool *reached,
		      struct assay_err *err)
{
	double *x = malloc((p->n_blocks + 1) * sizeof(*x));
	struct assay_sample_choice choice = { 0 };
	size_t n = 0;

	if (!x)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct block b = block_of(p, i);

		assay_sample_choice_count(&choice, b.s, 4);
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct block b = block_of(p, i);

		if (assay_sample_choice_keeps(&choice, b.s, 4))
			x[n++] = log_ratio(p, &b);
	}
	assay_stats_sort(x, n);
	*median = exp(assay_stats_median(x, n));
	*ci = assay_stats_median_ci(x, n, 0.95, reached);
	ci->lo = exp(ci->lo);
	ci->hi = exp(ci->hi);
	free(x);
	return 0;
}

void assay_turns_close(struct assay_turns *t)
{
	/* Words of a side that went well would come again with every pair. */
	for (int i = 0; i < 2; i++)
		if (t->p->side[i].status != ASSAY_STATUS_OK)
			t->p->side[i].log = assay_worker_words(t->w[i]);
	assay_worker_free(t->w[1]);
	assay_worker_free(t->w[0]);
	if (t->p->side[0].status != ASSAY_STATUS_OK || t->p->side[1].status != ASSAY_STATUS_OK)
		assay_pair_drop_samples(t->p);
}
