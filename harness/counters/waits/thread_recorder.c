/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread writes to its own record, sites and spans without a lock. What the kernel knows of it is read at marks, at
 * most one in MARK_NS, or in LATE_NS where bins of the timeline are that long: between two, the wall time divides into
 * what the processor, the queue for it and the known waits took (counters/threads/log.h).
 */
#include "counters/waits/thread_recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MARK_NS    10000000u /* between two marks, at least */
#define LATE_NS    20000000u /* the same where bins are longer */
#define FIRST_BIN  1000000u
#define KNOWN_BITS 5

__thread struct assay_thread_self *assay_thread_me ASSAY_THREAD_TLS;
struct assay_thread_recording assay_thread_recording;

static __thread bool entering ASSAY_THREAD_TLS, left ASSAY_THREAD_TLS;
static pthread_key_t at_end;

bool assay_thread_meets(uint32_t call)
{
	static const bool meets[] = {
#define MEETS(id, name, all) all,
		ASSAY_WAIT_CALLS(MEETS)
#undef MEETS
	};

	return call < ASSAY_N_WAIT_CALLS && meets[call];
}

uint64_t assay_thread_now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- marks ---- */

/* "CPU WAITED SLICES" of a thread's schedstat; zeros where it cannot be read. */
static void read_schedstat(int fd, uint64_t *cpu_ns, uint64_t *ready_ns)
{
	char text[80];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	char *at = text;

	text[n > 0 ? n : 0] = '\0';
	*cpu_ns = strtoull(at, &at, 10);
	*ready_ns = strtoull(at, NULL, 10);
}

/* Of the calling thread. Its CPU clock is exact where schedstat is as old as the last tick. */
static void mark(struct assay_thread_self *t, uint64_t now)
{
	uint64_t cpu, ready, ignored;

	read_schedstat(t->schedstat, &ignored, &ready);
	cpu = assay_thread_now_ns(CLOCK_THREAD_CPUTIME_ID);
	assay_thread_mark(t->record, assay_thread_file->base_ns, now, cpu, ready, assay_thread_meets(t->record->call));
	t->measured = 0;
}

void assay_thread_mark_if_due(struct assay_thread_self *t, uint64_t now)
{
	const struct assay_thread_record *r = t->record;
	const uint64_t due_ns = r->bin_ns < MARK_NS ? MARK_NS : r->bin_ns < LATE_NS ? r->bin_ns : LATE_NS;

	if (r->watched && now > r->mark_ns + due_ns)
		mark(t, now);
}

/* ---- threads ---- */

static int open_schedstat(uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%u/schedstat", tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static struct assay_thread_self *new_thread(void)
{
	struct assay_thread_self *t =
		mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (t == MAP_FAILED)
		return NULL;
	if (!assay_known_stacks_init(&t->known, KNOWN_BITS)) {
		munmap(t, sizeof(*t));
		return NULL;
	}
	return t;
}

static struct assay_thread_record *new_record(void)
{
	struct assay_thread_record *r;

	assay_thread_file_lock();
	r = assay_thread_file_record(ASSAY_THREAD_LOG_THREAD, sizeof(*r));
	if (r) {
		r->tid = (uint32_t)syscall(SYS_gettid);
		r->handle = (uint64_t)pthread_self();
		r->bin_ns = FIRST_BIN;
		r->watched = !assay_thread_recording.windows;
		prctl(PR_GET_NAME, r->name, 0, 0, 0);
		r->mark_ns = r->begun_ns = assay_thread_now_ns(CLOCK_MONOTONIC);
		assay_thread_file_end(r);
	}
	assay_thread_file_unlock();
	return r;
}

void assay_thread_recorder_enter(void)
{
	uint64_t ignored;

	if (!assay_thread_recording.on || assay_thread_me || entering || left)
		return;
	entering = true;
	assay_thread_me = new_thread();
	if (assay_thread_me) {
		assay_thread_me->record = new_record();
		if (assay_thread_me->record) {
			assay_thread_me->schedstat = open_schedstat(assay_thread_me->record->tid);
			assay_thread_me->record->mark_cpu_ns = assay_thread_now_ns(CLOCK_THREAD_CPUTIME_ID);
			read_schedstat(assay_thread_me->schedstat, &ignored, &assay_thread_me->record->mark_ready_ns);
			pthread_setspecific(at_end, assay_thread_me);
		} else {
			assay_known_stacks_release(&assay_thread_me->known);
			munmap(assay_thread_me, sizeof(*assay_thread_me));
			assay_thread_me = NULL;
		}
	}
	if (!assay_thread_me) {
		assay_thread_file_lost();
		left = true; /* one try a thread */
	}
	entering = false;
}

static void thread_recorder_leave(void)
{
	struct assay_thread_self *t = assay_thread_me;

	if (!t || t->record->ended)
		return;
	prctl(PR_GET_NAME, t->record->name, 0, 0, 0);
	while (t->depth)
		assay_thread_span_end();
	mark(t, assay_thread_now_ns(CLOCK_MONOTONIC));
	t->record->ended = 1;
	close(t->schedstat);
	assay_thread_me = NULL;
	left = true;
	assay_known_stacks_release(&t->known);
	munmap(t, sizeof(*t));
}

static void at_thread_end(void *t)
{
	if (t == assay_thread_me)
		thread_recorder_leave();
}

struct assay_thread_self *assay_thread_self(void)
{
	if (!assay_thread_me)
		assay_thread_recorder_enter();
	return assay_thread_me;
}

/* The next record of @kind after number @at, whose bytes end at @used; NULL behind the last. */
static struct assay_thread_log_head *next_of(uint64_t *at, enum assay_thread_log_kind kind)
{
	const uint64_t used = __atomic_load_n(&assay_thread_file->used, __ATOMIC_ACQUIRE);

	while (*at < used) {
		struct assay_thread_log_head *h = (void *)((char *)assay_thread_file + *at);

		*at += h->bytes;
		if (h->kind == kind)
			return h;
	}
	return NULL;
}

uint32_t assay_thread_of(uint64_t handle)
{
	uint64_t at = sizeof(*assay_thread_file);
	struct assay_thread_record *r;
	uint32_t found = 0;

	while (assay_thread_recording.on && (r = (void *)next_of(&at, ASSAY_THREAD_LOG_THREAD)))
		found = r->handle == handle ? r->tid : found; /* the last: handles are used again */
	return found;
}

/* ---- the process ---- */

static void before_fork(void)
{
	assay_thread_file_lock();
}

static void in_parent(void)
{
	assay_thread_file_unlock();
}

static void in_child(void)
{
	assay_thread_recording.on = false; /* what follows reads files */
	assay_thread_file_unlock_anew();
	assay_thread_file_forget();
	if (assay_thread_me) {
		close(assay_thread_me->schedstat);
		assay_known_stacks_release(&assay_thread_me->known);
		munmap(assay_thread_me, sizeof(*assay_thread_me));
	}
	assay_thread_me = NULL;
	left = false;
	assay_thread_recording.on = assay_thread_file_open();
	assay_thread_recorder_enter();
}

/*
 * This process was another program before, which ended here: its first thread is this one. Its others ended at the same
 * time, in whatever they did.
 */
static void end_of_program_before(void)
{
	struct assay_thread_log_header *h = assay_thread_file_before();
	uint64_t at = sizeof(*h), ignored, ready;

	for (struct assay_thread_record *r; h && at < h->used; at += r->head.bytes) {
		r = (void *)((char *)h + at);
		if (r->head.bytes < sizeof(r->head))
			break;
		if (r->head.kind != ASSAY_THREAD_LOG_THREAD || r->ended || r->tid != assay_thread_me->record->tid)
			continue;
		read_schedstat(assay_thread_me->schedstat, &ignored, &ready);
		assay_thread_mark(r, h->base_ns, assay_thread_now_ns(CLOCK_MONOTONIC),
				  assay_thread_now_ns(CLOCK_THREAD_CPUTIME_ID), ready, assay_thread_meets(r->call));
		r->ended = 1;
	}
	if (h)
		munmap(h, ASSAY_THREAD_LOG_BYTES);
}

bool assay_thread_recorder_begin(void)
{
	const char *spans = getenv(ASSAY_THREAD_LOG_SPANS);

	if (!getenv(ASSAY_THREAD_LOG_FOLDER) || !assay_thread_file_open())
		return false;
	assay_thread_recording.windows = getenv(ASSAY_THREAD_LOG_WAIT);
	assay_thread_recording.most_spans = spans ? strtoull(spans, NULL, 10) : 0;
	if (pthread_key_create(&at_end, at_thread_end))
		return false;
	assay_thread_recording.on = true;
	pthread_atfork(before_fork, in_parent, in_child);
	assay_thread_recorder_enter();
	if (assay_thread_me)
		end_of_program_before();
	return true;
}

/* A child of vfork(2) is another process with the same memory. */
static bool is_ours(void)
{
	return assay_thread_recording.on && assay_thread_file->pid == getpid();
}

/* Threads that still live end with the process; what the kernel knows of them is at most a tick old. */
void assay_thread_recorder_end(void)
{
	uint64_t at = sizeof(*assay_thread_file);
	struct assay_thread_record *r;

	if (!is_ours())
		return;
	thread_recorder_leave();
	assay_thread_recording.on = false;
	while ((r = (void *)next_of(&at, ASSAY_THREAD_LOG_THREAD))) {
		uint64_t cpu, ready;
		int fd;

		if (r->ended)
			continue;
		fd = open_schedstat(r->tid);
		if (fd < 0)
			continue;
		read_schedstat(fd, &cpu, &ready);
		close(fd);
		assay_thread_mark(r, assay_thread_file->base_ns, assay_thread_now_ns(CLOCK_MONOTONIC), cpu, ready,
				  assay_thread_meets(r->call));
		r->ended = 1;
	}
	assay_thread_file->whole = 1;
}

/* Time before it is not counted, and is closed with the time that the thread had taken until here. */
void assay_thread_watch(bool watched)
{
	struct assay_thread_self *t = assay_thread_recording.on ? assay_thread_self() : NULL;

	if (!t || t->record->watched == watched)
		return;
	mark(t, assay_thread_now_ns(CLOCK_MONOTONIC));
	t->record->watched = watched;
}
