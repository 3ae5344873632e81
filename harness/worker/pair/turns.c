/* SPDX-License-Identifier: Apache-2.0 */
/* Whose turn it is follows from the seed of the order (protocol.h); here is what a side does with its turns. */
#include "worker/case/served.h"

#include <alloca.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "assay/random.h"
#include "worker/pair/call_slices.h"
#include "worker/audit/audit.h"
#include "worker/case/job.h"

#define SLICE_NS 10000000u

/* The first version of the kernel's struct sched_attr; glibc has it only since 2.41. */
struct scheduling {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/*
 * For the calling thread, which will take turns with another process on its CPU: who wakes the partner goes on and
 * falls asleep, instead of being preempted while awake and coming back in the middle of the partner's sample
 * (SCHED_BATCH, sched(7)). Others preempt it less often (a slice of 10 ms, sched_setattr(2), Linux 6.12). Changes
 * nothing where the kernel refuses.
 */
static void schedule_for_turns(void)
{
	struct scheduling a = { 0 };

	/* keeps the nice value that the user gave */
	if (syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) || a.policy != SCHED_OTHER)
		return;
	a.size = sizeof(a);
	a.policy = SCHED_BATCH;
	a.runtime = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &a, 0);
}

#define STREAM_COPY   12u /* of the seed of a layout */
#define STREAM_STACK  13u /* of the seed of the order */
#define DRAWS         16u /* of pages, in a pair */
#define STACK_PAGES   16u
#define DEEPEST_PAGES 16u /* that a call may well use below */
#define PAGE_BYTES    4096u

/*
 * Copies in common memory that the partner has just used would not be cold: one side begins half a rotation later. The
 * first copy is drawn, since a pair may be over before each side has had them all.
 */
static void keep_apart(struct assay_served *w)
{
	const uint64_t n = w->job.n_jobs;

	if (w->job.common && !w->offset)
		w->job.next_copy =
			(assay_random4(w->spec.settings.layout_seed, STREAM_COPY, 0).v[0] + (w->index ? n / 2 : 0)) % n;
	w->offset = true;
}

/* The next slot of this side behind @slot, UINT32_MAX being the one before the first; w->slots: there is none. */
static uint32_t next_slot(const struct assay_served *w, uint32_t slot)
{
	while (++slot < w->slots && assay_pair_owner(w->order.args.order_seed, slot) != w->index)
		;
	return slot;
}

static void await_turn(struct assay_served *w)
{
	assay_case_job_phase(&w->job, ASSAY_PHASE_TURN);
	assay_processor_time_leave(&w->job);
	assay_pair_wait(&w->pair->turn, w->order.args.order_seed, w->slot);
	assay_processor_time_return(&w->job);
	assay_pool_borrow(w->job.pool, &w->pair->pool);
	assay_case_job_phase(&w->job, ASSAY_PHASE_RUN);
}

/* Nothing of this side's pool runs while the partner measures. */
static void end_turn(struct assay_served *w)
{
	assay_pool_park(w->job.pool);
	assay_pair_give(&w->pair->turn, w->order.args.order_seed, w->slot + 1);
}

/*
 * After a part of a call: whole calls of long kernels would let the machine change between the two sides. The call goes
 * on when this side has the turn again. The last slot takes the rest of its call, however many parts that has.
 */
static void part_done(void *arg)
{
	struct assay_served *w = arg;
	const struct assay_case_job *j = &w->job;

	if (j->part % w->order.args.turn_parts || j->part == j->call_parts || next_slot(w, w->slot) >= w->slots)
		return;
	assay_sampling_pause(&w->sampling);
	end_turn(w);
	w->slot = next_slot(w, w->slot);
	await_turn(w);
	assay_sampling_resume(&w->sampling);
}

/* Of a call in slices, parts end samples and no turns; the last sample takes the rest of its call. */
static void part_told(void *arg)
{
	struct assay_served *w = arg;
	const struct assay_case_job *j = &w->job;

	if (j->part % w->order.args.turn_parts || j->part == j->call_parts || w->reply.n_samples + 1 >= w->slots / 2)
		return;
	assay_call_slices_leave();
	assay_sampling_pause(&w->sampling);
	assay_sampling_resume(&w->sampling);
	assay_call_slices_enter();
}

/* A sample, or of a divided call as many as it has turns. Parts are compared one by one, so their number stays. */
static struct assay_outcome take_divided(struct assay_served *w)
{
	const uint64_t parts = w->job.call_parts;
	struct assay_outcome out = assay_served_take_sample(w);

	if (out.status == ASSAY_STATUS_OK && w->job.on_part && w->job.call_parts != parts)
		out = assay_outcome_set(ASSAY_STATUS_FAILED, "a call had %llu parts, the one before had %llu",
					(unsigned long long)w->job.call_parts, (unsigned long long)parts);
	return out;
}

/* One of this side's slots, at random, but not the last one. */
static uint32_t drawn_slot(const struct assay_served *w)
{
	uint32_t left = assay_random4(w->order.args.order_seed, 7 + w->index, 0).v[0] % (w->slots / 2 - 1), slot;

	for (slot = next_slot(w, UINT32_MAX); left; left--)
		slot = next_slot(w, slot);
	return slot;
}

/* Drawn: an audit, of some calls, is to take a tenth of the time of this side's samples at most, on average. */
static bool is_audited(const struct assay_served *w)
{
	const double calls = (double)(w->slots / 2) * (double)w->order.args.iterations;

	return assay_uniform_f32(assay_random4(w->order.args.order_seed, 9 + w->index, 0).v[0]) <
	       calls / (10 * assay_audit_calls(w->order.args.iterations));
}

static uint32_t sliced_calls(const struct assay_served *w)
{
	const uint32_t samples = w->slots / 2, parts = w->order.args.turn_parts;
	const uint64_t each = parts && w->job.call_parts ? (w->job.call_parts + parts - 1) / parts : 1;

	return (uint32_t)((samples + each - 1) / each);
}

/* This side has had its call: the partner ends its own, or the next one begins. */
static void end_call(struct assay_served *w, uint32_t call)
{
	struct assay_pair_turn *turn = &w->pair->turn;
	const uint64_t seed = w->order.args.order_seed;
	const unsigned next =
		assay_pair_finished(turn, seed, !w->index, call) ? assay_pair_beginner(seed, call + 1) : !w->index;

	assay_pool_park(w->job.pool);
	assay_pair_finish(turn, seed, w->index, call);
	if (next != w->index)
		assay_pair_pass(turn, next);
}

/* A call of each side at a time, both in slices. */
static struct assay_outcome take_in_slices(struct assay_served *w)
{
	const uint32_t calls = sliced_calls(w);
	struct assay_pair_turn *turn = &w->pair->turn;
	const struct assay_call_slices slices = { .job = &w->job,
						  .turn = turn,
						  .side = w->index,
						  .order_seed = w->order.args.order_seed,
						  .slice_ns = w->order.args.slice_ns,
						  .stand = assay_sampling_stand,
						  .go_on = assay_sampling_go_on,
						  .arg = &w->sampling };
	struct assay_outcome out = assay_call_slices_open(&slices);

	w->job.on_part = w->order.args.turn_parts ? part_told : NULL;
	assay_pair_join(turn, w->order.args.order_seed, true);
	for (uint32_t call = 0; call < calls; call++) {
		assay_case_job_phase(&w->job, ASSAY_PHASE_TURN);
		assay_processor_time_leave(&w->job);
		assay_pair_await(turn, w->index);
		assay_processor_time_return(&w->job);
		assay_case_job_phase(&w->job, ASSAY_PHASE_RUN);
		if (w->order.args.swap_copies)
			w->job.next_copy = (call / 2 + w->index) % 2;
		if (out.status == ASSAY_STATUS_OK) {
			assay_call_slices_on(&slices, call);
			out = take_divided(w);
			assay_call_slices_off();
		}
		if (w->job.common && w->order.args.counting && call + 1 == calls && out.status == ASSAY_STATUS_OK)
			out = assay_served_check_last(w);
		if (call + 1 == calls && out.status == ASSAY_STATUS_OK)
			out = assay_processor_time_end(&w->job);
		end_call(w, call);
	}
	return out;
}

/* Of a short call both what the partner left in the caches and where the pages of this process lie can be seen. */
static bool is_short(const struct assay_served *w)
{
	return w->job.n_jobs == 1 && !w->order.args.long_calls;
}

/* The untimed call is of a short one: others have new caches and pages for too small a part of their time. */
static struct assay_outcome take_sample(struct assay_served *w, bool untimed_first)
{
	struct assay_outcome out = assay_outcome_ok();
	uint64_t ns;

	if (untimed_first)
		out = assay_case_job_time(&w->job, 1, &ns);
	return out.status == ASSAY_STATUS_OK ? take_divided(w) : out;
}

static __attribute__((noinline)) struct assay_outcome take_sample_lower(struct assay_served *w, bool untimed_first,
									size_t pages)
{
	volatile char *pad = alloca(1 + pages * PAGE_BYTES);
	struct assay_outcome out;

	pad[0] = 0;
	out = take_sample(w, untimed_first);
	pad[0] = 0;
	return out;
}

/* So that no sample is the first to use a page of the stack. */
static __attribute__((noinline)) void touch_stack(void)
{
	volatile char *all = alloca((STACK_PAGES + DEEPEST_PAGES) * PAGE_BYTES);

	for (size_t i = 0; i < STACK_PAGES + DEEPEST_PAGES; i++)
		all[i * PAGE_BYTES] = 0;
}

/*
 * Pages that the partner does not share are drawn several times in a pair: with one draw, every sixth pair of short
 * calls showed the luck of a side. Of the stack other pages are used instead, so many further down on both sides.
 */
static size_t draw_pages(struct assay_served *w, uint32_t draw)
{
	if (!w->job.device)
		assay_case_job_draw_pages(&w->job);
	return assay_random4(w->order.args.order_seed, STREAM_STACK, draw).v[0] % STACK_PAGES;
}

/* After a hand-over, and after a draw, comes one untimed call. */
static struct assay_outcome take_by_samples(struct assay_served *w)
{
	const struct assay_worker_args *p = &w->order.args;
	struct assay_pair_turn *turn = &w->pair->turn;
	struct assay_outcome out = assay_outcome_ok();
	uint32_t last = UINT32_MAX, audited, drawn = 0;
	size_t stack_pages = 0;

	w->job.on_part = p->turn_parts ? part_done : NULL;
	audited = p->counting && !p->turn_parts && is_audited(w) ? drawn_slot(w) : UINT32_MAX;
	if (is_short(w))
		touch_stack();
	assay_pair_join(turn, p->order_seed, false);
	for (w->slot = next_slot(w, UINT32_MAX); w->slot < w->slots; w->slot = next_slot(w, w->slot)) {
		const uint32_t draw = 1 + w->slot / 4 * DRAWS / (w->slots / 4);
		const bool draws = is_short(w) && draw != drawn;

		await_turn(w);
		if (draws)
			stack_pages = draw_pages(w, drawn = draw);
		/* a side that failed keeps handing over, so that its partner comes to its end */
		if (out.status == ASSAY_STATUS_OK)
			out = take_sample_lower(w, draws || (is_short(w) && last + 1 != w->slot), stack_pages);
		if (w->slot == audited && out.status == ASSAY_STATUS_OK)
			out = assay_served_audit(w, false);
		last = w->slot;
		if (w->job.common && p->counting && next_slot(w, w->slot) >= w->slots && out.status == ASSAY_STATUS_OK)
			out = assay_served_check_last(w);
		if (next_slot(w, w->slot) >= w->slots && out.status == ASSAY_STATUS_OK)
			out = assay_processor_time_end(&w->job);
		end_turn(w);
	}
	return out;
}

struct assay_outcome assay_served_take_turns(struct assay_served *w)
{
	const uint32_t count = w->order.args.count;
	struct assay_outcome out;

	w->slots = 4 * (count < ASSAY_PAGE_SAMPLES / 2 ? count : ASSAY_PAGE_SAMPLES / 2);
	if (!w->in_turns) {
		schedule_for_turns();
		assay_worker_state_rescheduled(&w->job.state);
		w->in_turns = true;
	}
	keep_apart(w);
	assay_served_begin_samples(w);
	w->job.on_part_arg = w;
	assay_processor_time_begin(&w->job);
	assay_pool_park(w->job.pool);
	out = w->order.args.slice_ns ? take_in_slices(w) : take_by_samples(w);
	w->job.on_part = NULL;
	return out;
}
