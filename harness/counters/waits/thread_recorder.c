/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread writes to its own record, sites and spans without a lock. What the kernel knows of it is read at marks, at
 * most one in MARK_NS: between two, the wall time divides into what the processor, the queue for it and the known waits
 * took (counters/thread_log.h). A wait costs two looks at the clock and a look at its stack.
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

#define MARK_NS    5000000u
#define FIRST_BIN  1000000u
#define KNOWN_BITS 5
#define SITE_BITS  9
#define MOST_DEPTH 64
#define POSTS      1024
#define NO_SITE    UINT32_MAX

/* What is private to a thread; from the kernel, because malloc's memory may be watched, too. */
struct thread {
	struct assay_thread_record *record;
	struct assay_thread_chunk *chunk;
	struct assay_known_stacks known;
	uint32_t sites[1 << SITE_BITS]; /* by the hash of frames and call */
	uint32_t n_sites;
	const void *object;
	uint64_t asleep_cpu_ns; /* that it had taken when it went to sleep */
	uint32_t holder;
	uint32_t depth;
	struct {
		uint64_t begin_ns;
		uint32_t name;
	} open[MOST_DEPTH];
	bool inside; /* unwinding may wait */
	int schedstat;
};

static __thread struct thread *me __attribute__((tls_model("initial-exec")));
static __thread bool entering __attribute__((tls_model("initial-exec"))),
	left __attribute__((tls_model("initial-exec")));
static bool on, windows;
static uint64_t most_spans;
static pthread_key_t at_end;
static struct {
	const void *object;
	uint32_t tid;
} posts[POSTS];
static const bool meets[] = {
#define MEETS(id, name, all) all,
	ASSAY_WAIT_CALLS(MEETS)
#undef MEETS
};

static uint64_t now_ns(clockid_t clock)
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
static void mark(struct thread *t, uint64_t now)
{
	uint64_t cpu, ready, ignored;

	read_schedstat(t->schedstat, &ignored, &ready);
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	assay_thread_mark(t->record, assay_thread_file->base_ns, now, cpu, ready, meets[t->record->call]);
}

static void mark_if_due(struct thread *t, uint64_t now)
{
	if (t->record->watched && now > t->record->mark_ns + MARK_NS)
		mark(t, now);
}

/* ---- threads ---- */

static int open_schedstat(uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%u/schedstat", tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static struct thread *new_thread(void)
{
	struct thread *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

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
		r->watched = !windows;
		prctl(PR_GET_NAME, r->name, 0, 0, 0);
		r->mark_ns = r->begun_ns = now_ns(CLOCK_MONOTONIC);
		assay_thread_file_end(r);
	}
	assay_thread_file_unlock();
	return r;
}

void assay_thread_recorder_enter(void)
{
	uint64_t ignored;

	if (!on || me || entering || left)
		return;
	entering = true;
	me = new_thread();
	if (me) {
		me->record = new_record();
		if (me->record) {
			me->schedstat = open_schedstat(me->record->tid);
			me->record->mark_cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
			read_schedstat(me->schedstat, &ignored, &me->record->mark_ready_ns);
			pthread_setspecific(at_end, me);
		} else {
			assay_known_stacks_release(&me->known);
			munmap(me, sizeof(*me));
			me = NULL;
		}
	}
	if (!me) {
		assay_thread_file_lost();
		left = true; /* one try a thread */
	}
	entering = false;
}

void assay_thread_recorder_leave(void)
{
	struct thread *t = me;

	if (!t || t->record->ended)
		return;
	prctl(PR_GET_NAME, t->record->name, 0, 0, 0);
	while (t->depth)
		assay_thread_span_end();
	mark(t, now_ns(CLOCK_MONOTONIC));
	t->record->ended = 1;
	close(t->schedstat);
	me = NULL;
	left = true;
	assay_known_stacks_release(&t->known);
	munmap(t, sizeof(*t));
}

static void at_thread_end(void *t)
{
	if (t == me)
		assay_thread_recorder_leave();
}

static struct thread *self(void)
{
	if (!me)
		assay_thread_recorder_enter();
	return me;
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

	while (on && (r = (void *)next_of(&at, ASSAY_THREAD_LOG_THREAD)))
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
	on = false; /* what follows reads files */
	assay_thread_file_unlock_anew();
	assay_thread_file_forget();
	if (me) {
		close(me->schedstat);
		assay_known_stacks_release(&me->known);
		munmap(me, sizeof(*me));
	}
	me = NULL;
	left = false;
	on = assay_thread_file_open();
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
		if (r->head.kind != ASSAY_THREAD_LOG_THREAD || r->ended || r->tid != me->record->tid)
			continue;
		read_schedstat(me->schedstat, &ignored, &ready);
		assay_thread_mark(r, h->base_ns, now_ns(CLOCK_MONOTONIC), now_ns(CLOCK_THREAD_CPUTIME_ID), ready,
				  meets[r->call < ASSAY_N_WAIT_CALLS ? r->call : 0]);
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
	windows = getenv(ASSAY_THREAD_LOG_WAIT);
	most_spans = spans ? strtoull(spans, NULL, 10) : 0;
	if (pthread_key_create(&at_end, at_thread_end))
		return false;
	on = true;
	pthread_atfork(before_fork, in_parent, in_child);
	assay_thread_recorder_enter();
	if (me)
		end_of_program_before();
	return true;
}

/* A child of vfork(2) is another process with the same memory. */
static bool is_ours(void)
{
	return on && assay_thread_file->pid == getpid();
}

/* Threads that still live end with the process; what the kernel knows of them is at most a tick old. */
void assay_thread_recorder_end(void)
{
	uint64_t at = sizeof(*assay_thread_file);
	struct assay_thread_record *r;

	if (!is_ours())
		return;
	assay_thread_recorder_leave();
	on = false;
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
		assay_thread_mark(r, assay_thread_file->base_ns, now_ns(CLOCK_MONOTONIC), cpu, ready, meets[r->call]);
		r->ended = 1;
	}
	assay_thread_file->whole = 1;
}

/* ---- sites ---- */

static bool is_site(uint32_t number, const struct assay_heap_stack *s, uint32_t call)
{
	const struct assay_thread_site *x = assay_thread_file_at(number);

	return x->call == call && x->n_frames == s->n && !memcmp(x->frames, s->frames, s->n * sizeof(s->frames[0]));
}

static uint32_t find_site(struct thread *t, const struct assay_heap_stack *s, uint32_t call)
{
	uint64_t h = call;
	struct assay_thread_site *x = NULL;
	size_t i;

	for (uint32_t k = 0; k < s->n; k++)
		h = (h ^ s->frames[k]) * UINT64_C(0x9E3779B97F4A7C15);
	for (i = h >> (64 - SITE_BITS); t->sites[i]; i = (i + 1) % (1 << SITE_BITS))
		if (is_site(t->sites[i], s, call))
			return t->sites[i];
	if (t->n_sites == 3u << (SITE_BITS - 2))
		return NO_SITE;
	assay_thread_file_lock();
	assay_thread_file_maps(s);
	x = assay_thread_file_record(ASSAY_THREAD_LOG_SITE, sizeof(*x) + s->n * sizeof(x->frames[0]));
	if (x) {
		x->thread = t->record->tid;
		x->call = call;
		x->n_frames = s->n;
		x->whole = s->whole;
		for (uint32_t k = 0; k < s->n; k++)
			x->frames[k] = s->frames[k];
		t->sites[i] = assay_thread_file_number(x);
		t->n_sites++;
		assay_thread_file_end(x);
	}
	assay_thread_file_unlock();
	return x ? t->sites[i] : NO_SITE;
}

/* Stacks are known by their caller alone, hence with the call mixed in: a function may make two. */
static uint32_t site_of(struct thread *t, uint32_t call, struct assay_heap_caller from)
{
	struct assay_heap_caller key = from;
	struct assay_heap_stack stack;
	uint32_t at;

	key.frame ^= call;
	at = assay_known_stacks_find(&t->known, key);
	if (at != NO_SITE)
		return at;
	assay_heap_stack_unwind(from, &stack);
	at = find_site(t, &stack, call);
	if (at != NO_SITE)
		assay_known_stacks_add(&t->known, key, &stack, at);
	else
		assay_thread_file_lost();
	return at;
}

/* ---- spans ---- */

static void keep_span(struct thread *t, const struct assay_thread_span *s)
{
	if (!most_spans)
		return;
	if (__atomic_fetch_add(&assay_thread_file->spans, 1, __ATOMIC_RELAXED) >= most_spans) {
		assay_thread_file_lost();
		return;
	}
	if (!t->chunk || t->chunk->n == ASSAY_THREAD_CHUNK) {
		assay_thread_file_lock();
		t->chunk = assay_thread_file_record(ASSAY_THREAD_LOG_CHUNK, sizeof(*t->chunk));
		if (t->chunk) {
			t->chunk->thread = t->record->tid;
			assay_thread_file_end(t->chunk);
		}
		assay_thread_file_unlock();
	}
	if (!t->chunk) {
		assay_thread_file_lost();
		return;
	}
	t->chunk->spans[t->chunk->n] = *s;
	__atomic_store_n(&t->chunk->n, t->chunk->n + 1, __ATOMIC_RELEASE);
}

void assay_thread_span_begin(const char *name)
{
	struct thread *t = most_spans ? self() : NULL;

	if (!t || !t->record->watched)
		return;
	if (t->depth < MOST_DEPTH) {
		assay_thread_file_lock();
		t->open[t->depth].name = assay_thread_file_name(name);
		assay_thread_file_unlock();
		t->open[t->depth].begin_ns = now_ns(CLOCK_MONOTONIC);
	}
	t->depth++;
}

void assay_thread_span_end(void)
{
	struct thread *t = me;

	if (!t || !t->depth)
		return;
	if (--t->depth < MOST_DEPTH && t->open[t->depth].name)
		keep_span(t, &(struct assay_thread_span){ .begin_ns = t->open[t->depth].begin_ns,
							  .end_ns = now_ns(CLOCK_MONOTONIC),
							  .name = t->open[t->depth].name,
							  .depth = t->depth });
	else
		assay_thread_file_lost();
}

bool assay_thread_spans(void)
{
	return on && most_spans;
}

void assay_thread_count(const char *name, double value)
{
	struct assay_thread_count *c;

	if (!on || !most_spans)
		return;
	assay_thread_file_lock();
	{
		const uint32_t number = assay_thread_file_name(name);

		c = number ? assay_thread_file_record(ASSAY_THREAD_LOG_COUNT, sizeof(*c)) : NULL;
		if (c) {
			c->name = number;
			c->at_ns = now_ns(CLOCK_MONOTONIC);
			c->value = value;
			assay_thread_file_end(c);
		}
	}
	assay_thread_file_unlock();
}

/* ---- waits ---- */

static size_t post_of(const void *object)
{
	return ((uintptr_t)object * UINT64_C(0x9E3779B97F4A7C15)) >> 54; /* POSTS is 1 << 10 */
}

void assay_thread_posted(const void *object)
{
	struct thread *t = on && most_spans ? self() : NULL;
	const size_t i = post_of(object);

	if (!t)
		return;
	__atomic_store_n(&posts[i].tid, t->record->tid, __ATOMIC_RELAXED);
	__atomic_store_n(&posts[i].object, object, __ATOMIC_RELEASE);
}

/* What the kernel does to let a thread sleep in a lock is waiting; in other calls it works for the thread. */
static uint64_t sleeping_cpu_ns(uint32_t call)
{
	return call < ASSAY_WAIT_SLEEP ? now_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
}

bool assay_thread_wait_begin(enum assay_wait_call call, const void *object, bool asleep, uint32_t holder,
			     struct assay_heap_caller from)
{
	struct thread *t = on ? self() : NULL;
	struct assay_thread_record *r;
	uint32_t site;

	if (!t || t->inside || t->record->call)
		return false;
	r = t->record;
	if (windows && !r->watched && call > ASSAY_WAIT_POOL_BARRIER)
		return false;
	t->inside = true;
	site = site_of(t, call, from);
	t->inside = false;
	r->site = site == NO_SITE ? 0 : site;
	t->object = object;
	t->holder = holder;
	r->since_ns = now_ns(CLOCK_MONOTONIC);
	mark_if_due(t, r->since_ns);
	r->asleep_ns = asleep ? r->since_ns : 0;
	t->asleep_cpu_ns = asleep ? sleeping_cpu_ns(call) : 0;
	__atomic_store_n(&r->call, (uint32_t)call, __ATOMIC_RELEASE);
	return true;
}

void assay_thread_wait_sleeps(void)
{
	struct thread *t = me;

	if (!t || !t->record->call || t->record->asleep_ns)
		return;
	t->asleep_cpu_ns = sleeping_cpu_ns(t->record->call);
	t->record->asleep_ns = now_ns(CLOCK_MONOTONIC);
}

static uint32_t waker_of(const struct thread *t)
{
	const size_t i = post_of(t->object);

	if (t->holder)
		return t->holder;
	return __atomic_load_n(&posts[i].object, __ATOMIC_ACQUIRE) == t->object ? posts[i].tid : 0;
}

void assay_thread_wait_end(void)
{
	struct thread *t = me;
	struct assay_thread_record *r = t ? t->record : NULL;
	uint64_t now, since, asleep;
	struct assay_thread_waits *w;

	if (!t || !r->call)
		return;
	now = now_ns(CLOCK_MONOTONIC);
	since = r->since_ns > r->mark_ns ? r->since_ns : r->mark_ns;
	w = meets[r->call] ? &r->meets : &r->others;
	asleep = !r->asleep_ns ? now : r->asleep_ns > since ? r->asleep_ns : since;
	w->spun_ns += assay_thread_spun_ns(asleep > since ? asleep - since : 0);
	w->slept_ns += now > asleep ? now - asleep : 0;
	w->cpu_ns += r->asleep_ns ? sleeping_cpu_ns(r->call) - t->asleep_cpu_ns : 0;
	if (r->site && r->watched) {
		struct assay_thread_site *s = assay_thread_file_at(r->site);

		s->waits++;
		s->ns += now - r->since_ns;
		s->longest_ns = now - r->since_ns > s->longest_ns ? now - r->since_ns : s->longest_ns;
	}
	if (most_spans && r->watched)
		keep_span(t, &(struct assay_thread_span){ .begin_ns = r->since_ns,
							  .end_ns = now,
							  .call = r->call,
							  .site = r->site,
							  .waker = waker_of(t),
							  .depth = t->depth });
	__atomic_store_n(&r->call, ASSAY_WAIT_NONE, __ATOMIC_RELEASE);
	mark_if_due(t, now);
}

/* What lies before it is not counted, and is closed with what the thread had taken until here. */
void assay_thread_watch(bool watched)
{
	struct thread *t = on ? self() : NULL;

	if (!t || t->record->watched == watched)
		return;
	mark(t, now_ns(CLOCK_MONOTONIC));
	t->record->watched = watched;
}
