/* SPDX-License-Identifier: Apache-2.0 */
/* The processor time of a sleep, as the recorder of waits counts it; the clocks and the file are the test's own. */
#include "counters/waits/thread_waits.c"

#include "unit.h"

#define US 1000u

struct assay_thread_log_header *assay_thread_file;
struct assay_thread_recording assay_thread_recording = { .on = true };
__thread struct assay_thread_self *assay_thread_me ASSAY_THREAD_TLS;
static struct assay_thread_self me;
static struct assay_thread_record record;
static uint64_t wall_ns, cpu_ns;
static unsigned looks; /* at the processor time */

uint64_t assay_thread_now_ns(clockid_t clock)
{
	looks += clock == CLOCK_THREAD_CPUTIME_ID;
	return clock == CLOCK_THREAD_CPUTIME_ID ? cpu_ns : wall_ns;
}

struct assay_thread_self *assay_thread_self(void)
{
	return assay_thread_me;
}

bool assay_thread_meets(uint32_t call)
{
	return call <= ASSAY_WAIT_BARRIER;
}

void assay_thread_mark_if_due(struct assay_thread_self *t, uint64_t now_ns)
{
	(void)t;
	(void)now_ns;
}

void assay_thread_keep_span(struct assay_thread_self *t, const struct assay_thread_span *s)
{
	(void)t;
	(void)s;
}

/* All waits have site 0, which is none. */
uint32_t assay_known_stacks_find(const struct assay_known_stacks *k, struct assay_heap_caller from)
{
	(void)k;
	(void)from;
	return 0;
}

void assay_known_stacks_add(struct assay_known_stacks *k, struct assay_heap_caller from,
			    const struct assay_heap_stack *s, uint32_t site)
{
	(void)k;
	(void)from;
	(void)s;
	(void)site;
}

void assay_heap_stack_unwind(struct assay_heap_caller from, struct assay_heap_stack *out)
{
	(void)from;
	out->n = 0;
}

void assay_thread_file_lock(void)
{
}

void assay_thread_file_unlock(void)
{
}

void assay_thread_file_lost(void)
{
}

void assay_thread_file_maps(const struct assay_heap_stack *s)
{
	(void)s;
}

void *assay_thread_file_record(enum assay_thread_log_kind kind, size_t bytes)
{
	(void)kind;
	(void)bytes;
	return NULL;
}

void assay_thread_file_end(const void *r)
{
	(void)r;
}

uint32_t assay_thread_file_number(const void *r)
{
	(void)r;
	return 0;
}

void *assay_thread_file_at(uint32_t number)
{
	(void)number;
	return NULL;
}

static void begin(void)
{
	record = (struct assay_thread_record){ .watched = 1, .mark_ns = 1 };
	me = (struct assay_thread_self){ .record = &record };
	assay_thread_me = &me;
	wall_ns = 1000 * US;
	cpu_ns = 500 * US;
	looks = 0;
}

/* A wait in @call of @slept_us, in which the kernel works @cpu_us for the thread. */
static void wait_in(enum assay_wait_call call, uint64_t slept_us, uint64_t cpu_us)
{
	assert_true(assay_thread_wait_begin(call, &me, true, 0, (struct assay_heap_caller){ 0, 0, 0 }));
	wall_ns += slept_us * US;
	cpu_ns += cpu_us * US;
	assay_thread_wait_end();
}

TEST(the_first_sleep_after_a_mark_is_measured_and_others_count_as_much)
{
	begin();
	wait_in(ASSAY_WAIT_BARRIER, 100, 4);
	assert_int_equal(record.meets.cpu_ns, 4 * US);
	assert_int_equal(looks, 2);
	wait_in(ASSAY_WAIT_BARRIER, 100, 9);
	assert_int_equal(record.meets.cpu_ns, 8 * US);
	assert_int_equal(looks, 2);
	/* a wait takes no more than it lasts */
	wait_in(ASSAY_WAIT_BARRIER, 1, 1);
	assert_int_equal(record.meets.cpu_ns, 9 * US);
	assert_int_equal(record.meets.slept_ns, 201 * US);

	/* after the next mark it is measured again, and the mean follows: (3 · 4 + 8) / 4 */
	me.measured = 0;
	record.meets = (struct assay_thread_waits){ 0, 0, 0 };
	wait_in(ASSAY_WAIT_BARRIER, 100, 8);
	assert_int_equal(record.meets.cpu_ns, 8 * US);
	wait_in(ASSAY_WAIT_BARRIER, 100, 8);
	assert_int_equal(record.meets.cpu_ns, 13 * US);
	assert_int_equal(looks, 4);
}

TEST(each_kind_of_call_is_measured_by_itself)
{
	begin();
	wait_in(ASSAY_WAIT_BARRIER, 100, 4);
	wait_in(ASSAY_WAIT_MUTEX, 100, 7);
	wait_in(ASSAY_WAIT_MUTEX, 100, 1);
	assert_int_equal(record.meets.cpu_ns, 4 * US);
	assert_int_equal(record.others.cpu_ns, 14 * US);
	assert_int_equal(looks, 4);
	/* in these the kernel works for the thread */
	wait_in(ASSAY_WAIT_READ, 100, 50);
	wait_in(ASSAY_WAIT_SLEEP, 100, 50);
	assert_int_equal(record.others.cpu_ns, 14 * US);
	assert_int_equal(looks, 4);
}

TEST(a_wait_that_only_spins_is_not_measured)
{
	begin();
	assert_true(
		assay_thread_wait_begin(ASSAY_WAIT_POOL_BARRIER, &me, false, 0, (struct assay_heap_caller){ 0, 0, 0 }));
	wall_ns += 20 * US;
	cpu_ns += 20 * US;
	assay_thread_wait_end();
	assert_int_equal(record.meets.spun_ns, 20 * US);
	assert_int_equal(record.meets.cpu_ns, 0);
	assert_int_equal(looks, 0);

	assert_true(
		assay_thread_wait_begin(ASSAY_WAIT_POOL_BARRIER, &me, false, 0, (struct assay_heap_caller){ 0, 0, 0 }));
	wall_ns += 20 * US;
	cpu_ns += 20 * US;
	assay_thread_wait_sleeps();
	wall_ns += 100 * US;
	cpu_ns += 3 * US;
	assay_thread_wait_end();
	assert_int_equal(record.meets.spun_ns, 40 * US);
	assert_int_equal(record.meets.cpu_ns, 3 * US);
	assert_int_equal(looks, 2);
}

UNIT_GROUP(NULL, NULL)
