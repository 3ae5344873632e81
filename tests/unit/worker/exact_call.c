/* SPDX-License-Identifier: Apache-2.0 */
/* Where the stack and the memory of a case lie while it is counted: the same whoever counts, and nowhere special. */
#include "unit.h"

#include <alloca.h>
#include <sched.h>

#include "counters/preloaded.h"
#include "counters/step/stepper.h"
#include "worker/case/exact_call.h"
#include "worker/case/services.h"

#define PLACES ((uintptr_t)1 << 20)

static struct assay_job jobs[3];
static int order[8];
static unsigned n_calls;
static uintptr_t outside, inside; /* a region: places of the stack */

static __attribute__((noinline)) void region(void *arg, uint32_t tid, uint32_t n)
{
	inside = (uintptr_t)__builtin_frame_address(0) % PLACES;
	assert_int_equal(tid + (arg == NULL), 1);
	assert_int_equal(n, 1);
}

static __attribute__((noinline)) int run(struct assay_job *job)
{
	outside = (uintptr_t)__builtin_frame_address(0) % PLACES;
	order[n_calls++] = (int)(job - jobs);
	job->host->parallel(job, region, NULL);
	return 0;
}

static struct assay_worker_spec spec;

static void open_case(struct assay_case_job *j)
{
	static const struct assay_variant variant = { .name = "placed", .run = run };
	static _Atomic uint32_t phase;
	static struct assay_case_given given;
	const int cpu = sched_getcpu();
	static int bound;
	struct assay_topology *t;

	spec = (struct assay_worker_spec){ .fixed_layout = 1, .c.threads = 1 };
	*j = (struct assay_case_job){ .spec = &spec,
				      .phase = &phase,
				      .variant = &variant,
				      .jobs = jobs,
				      .n_jobs = sizeof(jobs) / sizeof(jobs[0]),
				      .given = &given };
	n_calls = 0;
	assert_int_equal(assay_topology_open(&t, NULL, NULL), 0);
	assert_int_equal(assay_pool_new(&j->pool, t, &cpu, 1, &bound, NULL, NULL), 0);
	assay_topology_close(t);
	assay_case_services_init(j);
	for (size_t i = 0; i < j->n_jobs; i++)
		jobs[i].host = &given.host;
}

static __attribute__((noinline)) void call_from(struct assay_case_job *j, size_t deeper)
{
	volatile char *room = alloca(deeper);

	room[0] = 0;
	assert_int_equal(assay_exact_call_once(j).status, ASSAY_STATUS_OK);
	room[0] = 0;
}

TEST(a_stack_begins_at_the_same_place_from_any_depth)
{
	static const size_t depths[] = { 16, 48, 4096, 70000 };
	struct assay_case_job j;
	uintptr_t first_outside = 0, first_inside = 0;

	open_case(&j);
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		call_from(&j, depths[i]);
		if (!i) {
			first_outside = outside;
			first_inside = inside;
		}
		assert_int_equal(outside, first_outside);
		assert_int_equal(inside, first_inside);
		assert_int_equal(order[i], i % j.n_jobs);
	}
	assert_true(PLACES - first_outside < 4096);
	assay_pool_free(j.pool);
}

TEST(a_stack_lies_alike_stepped_and_not)
{
	const struct assay_stepper_options o = { .threads = 1, .max_steps = 100000 };
	struct assay_case_job j;
	struct assay_stepper *s;
	struct assay_err err = { 0 };
	uintptr_t plain_outside, plain_inside;
	char why[256];
	uint64_t at;

	if (assay_stepper_open(&s, &o, &err)) {
		print_message("%s\n", err.text);
		assert_int_equal(err.code, ASSAY_EUNAVAILABLE);
		skip();
	}
	open_case(&j);
	call_from(&j, 16);
	plain_outside = outside;
	plain_inside = inside;
	outside = inside = 0;
	assay_stepper_begin(s, 0);
	assay_case_services_step(s);
	assay_stepper_enter(s, 0);
	call_from(&j, 16);
	assay_stepper_leave(s);
	assay_case_services_step(NULL);
	assert_int_equal(assay_stepper_end(s, &at, why, sizeof(why)), ASSAY_STEPPER_WHOLE);
	assert_int_equal(outside, plain_outside);
	assert_int_equal(inside, plain_inside);
	assay_stepper_close(s);
	assay_pool_free(j.pool);
}

TEST(arenas_of_a_fixed_layout_touch_each_other)
{
	static const size_t sizes[] = { 100, 5000, 3 << 20, 64 };
	struct assay_arena arenas[4];
	struct assay_case_job j;
	uintptr_t end = 0;

	if (ASSAY_SANITIZED_HEAP)
		skip(); /* its shadow lies where the arenas would */
	open_case(&j);
	for (size_t i = 0; i < 4; i++) {
		const struct assay_arena_options o = {
			.bytes = sizes[i], .copies = 2, .address = assay_case_job_place(&j), .cpu = -1
		};

		assert_true(o.address != 0);
		assert_int_equal(assay_arena_init(&arenas[i], &o, NULL), 0);
		assay_case_job_placed(&j, &arenas[i]);
		assert_int_equal((uintptr_t)arenas[i].map, o.address);
		if (i)
			assert_int_equal((uintptr_t)arenas[i].map, end);
		end = (uintptr_t)arenas[i].map + arenas[i].map_bytes;
	}
	for (size_t i = 0; i < 4; i++)
		assay_arena_release(&arenas[i]);
	spec.fixed_layout = 0;
	assert_int_equal(assay_case_job_place(&j), 0);
	assay_pool_free(j.pool);
}

UNIT_GROUP(NULL, NULL)
