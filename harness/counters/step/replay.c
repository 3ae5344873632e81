/* SPDX-License-Identifier: Apache-2.0 */
/* Outside of regions thread 0 runs alone; inside, whoever has reached a meeting point waits for the others. */
#include "counters/step/stepper.h"

#include <stdlib.h>
#include <string.h>

#include "counters/callgrind/cache_model.h"

struct replay_thread {
	struct assay_cache_sim i1, d1, l2;
	struct assay_branch_model branches;
	struct assay_step_counts *counts; /* malloc'ed, one an instruction of the table */
	size_t n_counts;
	struct assay_step_trace trace;
	size_t at; /* word of the trace */
};

struct assay_step_replay {
	struct assay_cache_sim ll;
	struct replay_thread *threads;
	unsigned n_threads;
	bool has_l2;
};

static int thread_init(struct replay_thread *t, const struct assay_cache_model *m, bool l2, struct assay_err *err)
{
	int rc = assay_cache_sim_init(&t->i1, &m->i1, err);

	if (!rc)
		rc = assay_cache_sim_init(&t->d1, &m->d1, err);
	return rc || !l2 ? rc : assay_cache_sim_init(&t->l2, &m->l2, err);
}

int assay_step_replay_new(struct assay_step_replay **out, const struct assay_cache_model *model, unsigned threads,
			  struct assay_err *err)
{
	struct assay_step_replay *r = calloc(1, sizeof(*r));
	int rc = 0;

	if (r)
		r->threads = calloc(threads, sizeof(*r->threads));
	if (!r || !r->threads) {
		free(r);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the models of caches");
	}
	r->n_threads = threads;
	r->has_l2 = threads > 1 && model->l2.bytes;
	for (unsigned i = 0; i < threads && !rc; i++)
		rc = thread_init(&r->threads[i], model, r->has_l2, err);
	if (!rc)
		rc = assay_cache_sim_init(&r->ll, &model->ll, err);
	if (rc) {
		assay_step_replay_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

void assay_step_replay_free(struct assay_step_replay *r)
{
	if (!r)
		return;
	/* those that could not be had are all-zero */
	for (unsigned i = 0; i < r->n_threads; i++) {
		assay_cache_sim_release(&r->threads[i].i1);
		assay_cache_sim_release(&r->threads[i].d1);
		assay_cache_sim_release(&r->threads[i].l2);
		free(r->threads[i].counts);
	}
	assay_cache_sim_release(&r->ll);
	free(r->threads);
	free(r);
}

void assay_step_replay_empty(struct assay_step_replay *r)
{
	assay_cache_sim_empty(&r->ll);
	for (unsigned i = 0; i < r->n_threads; i++) {
		assay_cache_sim_empty(&r->threads[i].i1);
		assay_cache_sim_empty(&r->threads[i].d1);
		if (r->has_l2)
			assay_cache_sim_empty(&r->threads[i].l2);
		memset(&r->threads[i].branches, 0, sizeof(r->threads[i].branches));
	}
}

/* ---- one step --------------------------------------------------------------------------------------------------- */

/* One access of the caches of @t, the first of which is @first; what it missed is added to @to. */
static void use(struct assay_step_replay *r, struct replay_thread *t, struct assay_cache_sim *first, uint64_t address,
		uint32_t bytes, struct assay_step_counts *to)
{
	const enum assay_exact_event event = first == &t->i1 ? ASSAY_EXACT_I1_MISSES : ASSAY_EXACT_D1_MISSES;
	const enum assay_cache_found found =
		assay_cache_sim_access(first, r->has_l2 ? &t->l2 : NULL, &r->ll, address, bytes);

	to->counts.v[event] += found != ASSAY_CACHE_L1;
	to->counts.v[ASSAY_EXACT_LL_MISSES] += found == ASSAY_CACHE_MEMORY;
	to->l2_misses += r->has_l2 && found > ASSAY_CACHE_L2;
}

/* Lines that @t writes leave the caches of the other threads; the last level keeps them for all. */
static void take_from_others(struct assay_step_replay *r, const struct replay_thread *t,
			     const struct assay_step_access *a)
{
	for (unsigned i = 0; i < r->n_threads; i++) {
		if (&r->threads[i] == t)
			continue;
		assay_cache_sim_lose(&r->threads[i].d1, a->address, a->bytes);
		if (r->has_l2)
			assay_cache_sim_lose(&r->threads[i].l2, a->address, a->bytes);
	}
}

/* As callgrind: what is read and written in one go is one write, and a prefetch is nothing. */
static void use_data(struct assay_step_replay *r, struct replay_thread *t, const struct assay_step_access *a,
		     struct assay_step_counts *to)
{
	if (a->kind == ASSAY_STEP_PREFETCH)
		return;
	to->counts.v[a->kind == ASSAY_STEP_READ ? ASSAY_EXACT_DATA_READS : ASSAY_EXACT_DATA_WRITES]++;
	use(r, t, &t->d1, a->address, a->bytes, to);
	if (a->kind != ASSAY_STEP_READ)
		take_from_others(r, t, a);
}

static bool predicted(struct replay_thread *t, const struct assay_step_insn *i, const struct assay_step_entry *e,
		      uint64_t target)
{
	return i->flow == ASSAY_STEP_CONDITIONAL ? assay_branch_conditional(&t->branches, i->address, e->taken != 0)
	       : e->has_target                   ? assay_branch_indirect(&t->branches, i->address, target)
						 : true;
}

static void replay_step(struct assay_step_replay *r, struct replay_thread *t, const struct assay_step_entry *e)
{
	const uint64_t *words = t->trace.words + t->at;
	const struct assay_step_insn *i = assay_step_table_at(t->trace.table, e->instruction);
	struct assay_step_counts *to = &t->counts[e->instruction];

	to->counts.v[ASSAY_EXACT_INSTRUCTIONS] += e->instructions;
	to->counts.v[ASSAY_EXACT_BRANCHES] += e->branches;
	to->taken += e->taken;
	use(r, t, &t->i1, i->address, i->length, to);
	for (unsigned a = 0; a < e->accesses; a++) {
		const struct assay_step_access access = assay_step_entry_access(words, a);

		use_data(r, t, &access, to);
	}
	to->counts.v[ASSAY_EXACT_MISPREDICTIONS] += !predicted(t, i, e, words[assay_step_entry_words(e) - 1]);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

static bool is_over(const struct replay_thread *t)
{
	return t->at >= t->trace.n;
}

/* The mark at which the thread stands; −1: it stands at a step or at its end. */
static int mark_of(const struct replay_thread *t)
{
	struct assay_step_entry e;

	if (is_over(t))
		return -1;
	e = assay_step_entry_of(t->trace.words[t->at]);
	return e.is_mark ? (int)e.instruction : -1;
}

/* The next step of @t; false where it stands at a mark or at its end. */
static bool go_on(struct assay_step_replay *r, struct replay_thread *t)
{
	struct assay_step_entry e;

	if (is_over(t) || mark_of(t) >= 0)
		return false;
	e = assay_step_entry_of(t->trace.words[t->at]);
	replay_step(r, t, &e);
	t->at += assay_step_entry_words(&e);
	return true;
}

/* All threads stand at the same mark: pass it. −1 where they do not. */
static int meet(struct assay_step_replay *r)
{
	const int mark = mark_of(&r->threads[0]);

	for (unsigned i = 1; i < r->n_threads; i++)
		if (mark_of(&r->threads[i]) != mark)
			return -1;
	for (unsigned i = 0; i < r->n_threads && mark >= 0; i++)
		r->threads[i].at++;
	return mark;
}

/* From a fork to the join. */
static bool replay_region(struct assay_step_replay *r)
{
	int mark;

	do {
		for (bool any = true; any;) {
			any = false;
			for (unsigned i = 0; i < r->n_threads; i++)
				any |= go_on(r, &r->threads[i]);
		}
		mark = meet(r);
	} while (mark == ASSAY_STEPPER_BARRIER);
	return mark == ASSAY_STEPPER_JOIN;
}

static int take_traces(struct assay_step_replay *r, const struct assay_stepper *s, struct assay_err *err)
{
	for (unsigned i = 0; i < r->n_threads; i++) {
		struct replay_thread *t = &r->threads[i];

		t->trace = assay_stepper_trace(s, i);
		t->at = 0;
		free(t->counts);
		t->n_counts = assay_step_table_size(t->trace.table);
		t->counts = calloc(t->n_counts + 1, sizeof(*t->counts));
		if (!t->counts)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the counts of steps");
		for (size_t k = 0; k < t->n_counts; k++)
			t->counts[k].address = assay_step_table_at(t->trace.table, k)->address;
	}
	return 0;
}

int assay_step_replay_run(struct assay_step_replay *r, const struct assay_stepper *s, struct assay_err *err)
{
	int rc = take_traces(r, s, err);
	bool met = true;

	while (!rc && met && !is_over(&r->threads[0]))
		if (!go_on(r, &r->threads[0]))
			met = meet(r) == ASSAY_STEPPER_FORK && replay_region(r);
	for (unsigned i = 1; i < r->n_threads && !rc; i++)
		met &= is_over(&r->threads[i]);
	return rc || met ? rc : assay_err_set(err, ASSAY_EIO, "its threads do not meet at the same barriers");
}

const struct assay_step_counts *assay_step_replay_counts(const struct assay_step_replay *r, unsigned thread, size_t *n)
{
	*n = r->threads[thread].n_counts;
	return r->threads[thread].counts;
}
