/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linux adds the time of a thread that runs on another CPU to the clock of the process only with a tick, and to the
 * thread's own clock whenever it is read. So a whole series of samples is measured rather than each sample, and the
 * clock of the process is read last before a series and first after it: it then never shows more than the threads of
 * an honest case do. Not judged are cases whose bench says own_threads; cases on devices, whose drivers have threads
 * and whose times are those of the device; and systems that count processor time in ticks.
 */
#include "worker/case/job.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "machine/lost_time.h"
#include "model/quantity.h"

#define SLACK_NS    4000000 /* such as the threads of OpenMP spin after a call of prepare */
#define BESIDE_FRAC 0.05    /* of the time of one of the case's threads, or of the partner's turns */
#define TURN_NS     20000.0 /* of a thread that falls asleep and wakes up: 5 to 12 µs */
#define COMM_MAX    64

/* Linux: the clock of the processor time of a thread by its number, as pthread_getcpuclockid() makes it. */
#define THREAD_CLOCK(tid) ((clockid_t)((~(unsigned)(tid) << 3) | 6u))

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- what was used ----------------------------------------------------------------------------------------------- */

static void add_thread_ns(void *arg, uint32_t tid, uint32_t n_threads)
{
	(void)tid;
	(void)n_threads;
	atomic_fetch_add((_Atomic uint64_t *)arg, clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

static uint64_t pool_ns(const struct assay_case_job *j)
{
	_Atomic uint64_t sum = 0;

	assay_pool_run(j->pool, add_thread_ns, &sum);
	return sum;
}

void assay_processor_time_begin(struct assay_case_job *j)
{
	j->processor.pool_from_ns = pool_ns(j);
	j->processor.process_from_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void end_series(struct assay_case_job *j)
{
	struct assay_processor_time *p = &j->processor;
	const uint64_t process_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - p->process_from_ns;
	const uint64_t of_pool_ns = pool_ns(j) - p->pool_from_ns;

	p->pool_ns += of_pool_ns;
	p->beside_ns += (int64_t)(process_ns - of_pool_ns);
}

void assay_processor_time_leave(struct assay_case_job *j)
{
	j->processor.left_wall_ns = clock_ns(CLOCK_MONOTONIC);
	j->processor.left_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void assay_processor_time_return(struct assay_case_job *j)
{
	struct assay_processor_time *p = &j->processor;

	p->away_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - p->left_ns;
	p->away_wall_ns += clock_ns(CLOCK_MONOTONIC) - p->left_wall_ns;
	p->turns++;
}

/* ---- who it was -------------------------------------------------------------------------------------------------- */

struct pool_tids {
	pid_t *tid;
	uint32_t n;
};

static void note_tid(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct pool_tids *p = arg;

	(void)n_threads;
	p->tid[tid] = gettid();
}

static bool is_of_pool(const struct pool_tids *p, pid_t tid)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->tid[i] == tid)
			return true;
	return false;
}

/* "thread 'NAME' (TIME)" of the one outside the pool that has used most, and how many others used any. */
static void name_threads(const struct pool_tids *p, char *who, size_t size)
{
	DIR *tasks = opendir("/proc/self/task");
	char most[COMM_MAX] = "", used[32];
	uint64_t most_ns = 0;
	unsigned others = 0;
	struct dirent *e;

	while (tasks && (e = readdir(tasks))) {
		const pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
		const uint64_t ns = tid > 0 && !is_of_pool(p, tid) ? clock_ns(THREAD_CLOCK(tid)) : 0;
		char path[64], *comm = NULL;
		size_t len;

		if (!ns)
			continue;
		others++;
		if (ns <= most_ns)
			continue;
		most_ns = ns;
		snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)tid);
		if (!assay_file_read(path, &comm, &len, NULL))
			snprintf(most, sizeof(most), "%.*s", (int)strcspn(comm, "\n"), comm);
		free(comm);
	}
	if (tasks)
		closedir(tasks);
	assay_quantity_text((double)most_ns * 1e-9, "s", true, used, sizeof(used));
	if (!others)
		snprintf(who, size, "threads that have ended");
	else if (others == 1)
		snprintf(who, size, "thread '%s' (%s)", most, used);
	else
		snprintf(who, size, "thread '%s' (%s) and %u other%s", most, used, others - 1, others > 2 ? "s" : "");
}

static struct assay_outcome fail(const char *who, uint64_t ns, const char *when)
{
	char spent[32];

	assay_quantity_text((double)ns * 1e-9, "s", true, spent, sizeof(spent));
	return assay_outcome_set(ASSAY_STATUS_FAILED,
				 "%s used %s of processor time %s; if the kernel is to have threads of its own, say "
				 "own_threads = \"yes\" in its bench",
				 who, spent, when);
}

static struct assay_outcome threads_fail(struct assay_case_job *j)
{
	struct pool_tids pool = { .tid = calloc(j->spec->c.threads, sizeof(*pool.tid)), .n = j->spec->c.threads };
	char who[COMM_MAX + 96], when[128], used[32];

	if (!pool.tid)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory");
	assay_pool_run(j->pool, note_tid, &pool);
	name_threads(&pool, who, sizeof(who));
	free(pool.tid);
	assay_quantity_text((double)j->processor.pool_ns * 1e-9, "s", true, used, sizeof(used));
	snprintf(when, sizeof(when), "beside the %u thread%s of the case, which used %s", j->spec->c.threads,
		 j->spec->c.threads > 1 ? "s" : "", used);
	return fail(who, (uint64_t)j->processor.beside_ns, when);
}

struct assay_outcome assay_processor_time_end(struct assay_case_job *j)
{
	const struct assay_processor_time *p = &j->processor;
	struct assay_thread_time now;
	bool beside, away;

	end_series(j);
	beside = (double)p->beside_ns > SLACK_NS + BESIDE_FRAC * (double)p->pool_ns / j->spec->c.threads;
	/* of the thread that waits for its turn; other threads are beside the case then as ever */
	away = (double)p->away_ns > SLACK_NS + BESIDE_FRAC * (double)p->away_wall_ns + TURN_NS * (double)p->turns;
	if (j->spec->c.own_threads || j->device || !(beside || away))
		return assay_outcome_ok();
	assay_thread_time_read(&now);
	if (!now.cpu_told)
		return assay_outcome_ok();
	return beside ? threads_fail(j)
		      : fail("a signal handler", p->away_ns, "while the other side of the pair was timed");
}
