/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies between the two clock reads of a sample beside the variant's calls: nothing but a loop. Counted in calls,
 * with a clock of the test's own, and in instructions, one step at a time; no time is measured.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counters/preloaded.h"
#include "measure/samples.h"
#include "unit.h"
#include "worker/case/job.h"

/* A clock read, or a call with the number of its job. */
#define READ       (-1)
#define MAX_EVENTS 64

static int events[MAX_EVENTS];
static size_t n_events;
static uint64_t fake_ns;
static bool own_clock;      /* other files of this program have the real one */
static _Atomic int *inside; /* between the clock reads? shared with a tracer */

/* Stands before that of the C library: every read is one step of 1000 ns. */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	if (!own_clock)
		return (int)syscall(SYS_clock_gettime, id, ts);
	if (n_events < MAX_EVENTS)
		events[n_events++] = READ;
	fake_ns += 1000;
	*ts = (struct timespec){ .tv_nsec = (long)fake_ns };
	if (inside)
		*inside = !*inside;
	return 0;
}

static struct assay_job jobs[3];

static int run_logged(struct assay_job *job)
{
	if (n_events < MAX_EVENTS)
		events[n_events++] = (int)(job - jobs);
	return 0;
}

static int run_nothing(struct assay_job *job)
{
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

/*
 * Instructions between the clock reads of a sample of @iterations calls that do nothing; -1 where nothing may be
 * traced.
 */
static long instructions(uint64_t iterations)
{
	long n = 0;
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP))
			_exit(1);
		take_sample(run_nothing, 1, iterations);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSTOPPED(status))
		return -1;
	while (WIFSTOPPED(status)) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL)) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		n += *inside;
	}
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	return n;
}

/*
 * gcc 12 at -O2 makes 60 of a sample, most of them in the test's own clock, and 15 of a call and its return. There is
 * room for another compiler, not for another call.
 */
#define MOST_FIXED     100
#define MOST_ITERATION 20

TEST(test_instructions_beside_the_calls)
{
	long none, one, ten;

	inside = mmap(NULL, sizeof(*inside), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(inside != MAP_FAILED);
	none = instructions(0);
	one = instructions(1);
	ten = instructions(10);
	munmap((void *)inside, sizeof(*inside));
	inside = NULL;
	if (none < 0 || one < 0 || ten < 0) {
		print_message("no process may be traced here\n");
		skip();
	}
	print_message("%ld instructions, and %ld a call\n", none, (ten - one) / 9);
	assert_int_equal((ten - one) % 9, 0);
#if defined(__OPTIMIZE__)
	if (!ASSAY_SANITIZED_HEAP) {
		assert_in_range(none, 1, MOST_FIXED);
		assert_in_range((ten - one) / 9, 1, MOST_ITERATION);
	}
#endif
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
