/* SPDX-License-Identifier: Apache-2.0 */
/* Samples: when the machine is steady, what a sample costs, and calls that are samples of their own. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "measure/samples.h"
#include "unit.h"
#include "worker/case/job.h"

/* ---- steadiness ---- */

/* Series of samples, each between two clocks of the device. */
TEST(test_clock)
{
	static const struct {
		double least, most;
		bool moves;
	} rows[] = {
		{ 0, 0, false },         /* nobody tells */
		{ 8e8, 8.1e8, true },    /* nothing to hold it against */
		{ 9e8, 9e8, true },      /* steady in itself, but higher */
		{ 9e8, 9.05e8, false },  /* a hundredth is none */
		{ 8.8e8, 9.05e8, true }, /* within one */
		{ 9e8, 9e8, false },     { 8.9e8, 8.9e8, true }, { 0, 0, false },
	};
	struct assay_steadiness s = { 0 };

	for (size_t i = 0; i < N_OF(rows); i++) {
		assay_steadiness_clock(&s, rows[i].least, rows[i].most);
		if (s.clock_moves != rows[i].moves)
			fail_msg("series %zu", i);
	}
}

/* ---- whole calls ---- */

/* Parts of calls put together: times and counts add up, and each poll of the host counts once. */

#define GOES_ON ASSAY_SAMPLE_CONTINUES
#define TOLD    ASSAY_SAMPLE_WAIT_TOLD
#define POLLED  ASSAY_SAMPLE_POLLED

static size_t put_together(const struct assay_sample *s, size_t n, struct assay_sample *calls)
{
	struct assay_sample *out;
	size_t n_calls;

	assert_int_equal(assay_whole_calls(s, n, &out, &n_calls, NULL), 0);
	memcpy(calls, out, n_calls * sizeof(*out));
	free(out);
	return n_calls;
}

TEST(parts_add_up)
{
	static const struct assay_sample s[] = {
		{ 1, 100, GOES_ON | TOLD | ASSAY_DISTURB_SWITCH, .switches = 1, .faults = 3, .waited_ns = 10 },
		{ 1, 20, GOES_ON | TOLD, .switches = 0, .waited_ns = 1, .stolen_ns = 5 },
		{ 1, 3, TOLD | ASSAY_DISTURB_MIGRATION, .switches = 2, .faults = 4, .stolen_ns = 6 },
		/* the kernel told of one part only */
		{ 1, 7, GOES_ON | TOLD, .waited_ns = 9 },
		{ 1, 8, 0, .switches = 1 },
	};
	struct assay_sample calls[N_OF(s)];

	assert_int_equal(put_together(s, N_OF(s), calls), 2);
	assert_true(calls[0].iterations == 1 && calls[0].ns == 123);
	assert_int_equal(calls[0].flags, TOLD | ASSAY_DISTURB_SWITCH | ASSAY_DISTURB_MIGRATION);
	assert_true(calls[0].switches == 3 && calls[0].faults == 7);
	assert_true(calls[0].waited_ns == 11 && calls[0].stolen_ns == 11);
	assert_true(calls[1].ns == 15 && calls[1].switches == 1 && calls[1].waited_ns == 9);
	assert_int_equal(calls[1].flags, 0);
}

/* A poll's findings mark each part since the poll before. */
TEST(polls_count_once)
{
	static const struct {
		const char *name;
		uint32_t ticks[6];
		const char *polled; /* after which samples */
		uint32_t want[2];   /* of calls of three parts */
	} rows[] = {
		{ "one poll in a call", { 2, 2, 2, 0, 0, 0 }, "  P   ", { 2, 0 } },
		{ "two that say the same", { 1, 1, 1, 0, 0, 0 }, " PP   ", { 2, 0 } },
		{ "each part has its own", { 1, 4, 2, 0, 0, 0 }, "PPP   ", { 7, 0 } },
		{ "a poll of both calls", { 1, 1, 3, 3, 3, 0 }, " P  P ", { 4, 3 } },
		{ "quiet, then not", { 0, 0, 3, 3, 1, 1 }, " P P P", { 3, 4 } },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_sample s[6], calls[6];

		for (size_t k = 0; k < 6; k++)
			s[k] = (struct assay_sample){ .iterations = 1,
						      .ns = 1,
						      .steal_ticks = rows[i].ticks[k],
						      .flags = (rows[i].polled[k] == 'P' ? POLLED : 0) |
							       (k % 3 < 2 ? GOES_ON : 0) };
		assert_int_equal(put_together(s, 6, calls), 2);
		if (calls[0].steal_ticks != rows[i].want[0] || calls[1].steal_ticks != rows[i].want[1])
			fail_msg("%s: %u and %u", rows[i].name, calls[0].steal_ticks, calls[1].steal_ticks);
	}
}

/* ---- sample overhead ---- */

/*
 * Between the two clock reads of a sample there are only the variant's calls, as a clock of the test's own shows; no
 * time is measured.
 */

/* A clock read, or a call with the number of its job. */
#define READ       (-1)
#define MAX_EVENTS 64

static int events[MAX_EVENTS];
static size_t n_events;
static uint64_t fake_ns;
static bool own_clock; /* other files of this program have the real one */

/* Stands before that of the C library: every read is one step of 1000 ns. */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	if (!own_clock)
		return (int)syscall(SYS_clock_gettime, id, ts);
	if (n_events < MAX_EVENTS)
		events[n_events++] = READ;
	fake_ns += 1000;
	*ts = (struct timespec){ .tv_nsec = (long)fake_ns };
	return 0;
}

static struct assay_job jobs[3];

static int run_logged(struct assay_job *job)
{
	if (n_events < MAX_EVENTS)
		events[n_events++] = (int)(job - jobs);
	return 0;
}

static uint64_t take_sample(int (*run)(struct assay_job *), uint64_t copies, uint64_t iterations)
{
	static struct assay_worker_spec spec = { .clock = { .source = ASSAY_CLOCK_MONOTONIC_RAW, .ns_per_tick = 1 } };
	static _Atomic uint32_t phase;
	const struct assay_variant variant = { .name = "logged", .run = run };
	struct assay_case_job j = {
		.spec = &spec, .phase = &phase, .variant = &variant, .jobs = jobs, .n_jobs = copies
	};
	uint64_t ns = 0;

	n_events = 0;
	assert_int_equal(assay_case_job_time(&j, iterations, &ns).status, ASSAY_STATUS_OK);
	return ns;
}

TEST(test_two_reads_around_the_calls)
{
	static const struct {
		uint64_t copies, iterations;
		int want[MAX_EVENTS];
		size_t n;
	} rows[] = {
		{ 1, 0, { READ, READ }, 2 },
		{ 1, 1, { READ, 0, READ }, 3 },
		{ 1, 4, { READ, 0, 0, 0, 0, READ }, 6 },
		{ 3, 5, { READ, 0, 1, 2, 0, 1, READ }, 7 },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		assert_int_equal(take_sample(run_logged, rows[i].copies, rows[i].iterations), 1000);
		assert_int_equal(n_events, rows[i].n);
		assert_memory_equal(events, rows[i].want, rows[i].n * sizeof(events[0]));
	}
}

/* The doctor's number is that of the same loop: one step of the clock a sample. */
TEST(test_what_the_doctor_shows)
{
	const struct assay_clock clock = { .source = ASSAY_CLOCK_MONOTONIC_RAW, .ns_per_tick = 1 };
	struct assay_findings all = { 0 };
	const struct assay_finding *f;

	assert_true(assay_sample_overhead_ns(&clock) == 1000);
	assay_sample_overhead_add(&all, 59.4);
	assay_sample_overhead_add(&all, 60);
	assert_int_equal(all.n, 2);
	f = all.v;
	assert_string_equal(f[0].name, "sample_overhead");
	assert_int_equal(f[0].health, ASSAY_HEALTH_GOOD);
	assert_string_equal(f[0].value, "a sample has 59 ns of overhead; the goal is under 60 ns");
	assert_string_equal(f[0].advice, "");
	assert_int_equal(f[1].health, ASSAY_HEALTH_WARN);
	assert_non_null(strstr(f[1].advice, "invariant TSC"));
	assay_findings_release(&all);
}

static int use_own_clock(void **state)
{
	own_clock = true;
	return 0;
}

UNIT_GROUP(use_own_clock, NULL)
