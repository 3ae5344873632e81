/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file in which a process with the object for threads preloaded (waits/thread_recorder.c) keeps what each thread
 * does: a header, then records. It is mapped by both sides and right up to each thread's last mark, whichever way the
 * process ends. And what a worker calls of that object, whose pool waits by a futex of its own.
 */
#ifndef ASSAY_COUNTERS_THREADS_LOG_H
#define ASSAY_COUNTERS_THREADS_LOG_H

#include <stdbool.h>
#include <stdint.h>

#define ASSAY_THREAD_LOG_FOLDER "ASSAY_THREADS"       /* variable: where the files go; absolute */
#define ASSAY_THREAD_LOG_SPANS  "ASSAY_THREADS_SPANS" /* variable: spans that a process may keep; 0: none */
#define ASSAY_THREAD_LOG_WAIT   "ASSAY_THREADS_WAIT"  /* variable: count nothing outside of windows */
#define ASSAY_THREAD_LOG_ENDING ".threads"
#define ASSAY_THREAD_LOG_MAGIC  UINT64_C(0x3164616572687461)
#define ASSAY_THREAD_LOG_BYTES  (UINT64_C(256) << 20) /* the most of a file */
#define ASSAY_THREAD_BINS       512
#define ASSAY_THREAD_CHUNK      1024 /* spans of a record */

/* Calls that wait: their name, and whether all threads meet there. */
#define ASSAY_WAIT_CALLS(CALL)                                                                                         \
	CALL(NONE, "", false)                                                                                          \
	CALL(POOL_JOIN, "the end of a parallel region", true)                                                          \
	CALL(POOL_FORK, "the next parallel region", true)                                                              \
	CALL(POOL_BARRIER, "host->barrier", true)                                                                      \
	CALL(BARRIER, "pthread_barrier_wait", true)                                                                    \
	CALL(MUTEX, "pthread_mutex_lock", false)                                                                       \
	CALL(MUTEX_TIMED, "pthread_mutex_timedlock", false)                                                            \
	CALL(RWLOCK_READ, "pthread_rwlock_rdlock", false)                                                              \
	CALL(RWLOCK_WRITE, "pthread_rwlock_wrlock", false)                                                             \
	CALL(COND, "pthread_cond_wait", false)                                                                         \
	CALL(COND_TIMED, "pthread_cond_timedwait", false)                                                              \
	CALL(JOIN, "pthread_join", false)                                                                              \
	CALL(SEM, "sem_wait", false)                                                                                   \
	CALL(SEM_TIMED, "sem_timedwait", false)                                                                        \
	CALL(SLEEP, "sleep", false)                                                                                    \
	CALL(NANOSLEEP, "nanosleep", false)                                                                            \
	CALL(POLL, "poll", false)                                                                                      \
	CALL(SELECT, "select", false)                                                                                  \
	CALL(EPOLL, "epoll_wait", false)                                                                               \
	CALL(READ, "read", false)                                                                                      \
	CALL(RECV, "recv", false)                                                                                      \
	CALL(ACCEPT, "accept", false)                                                                                  \
	CALL(WAITPID, "waitpid", false)                                                                                \
	CALL(FSYNC, "fsync", false)

enum assay_wait_call {
#define ASSAY_WAIT_ENUM(id, name, meets) ASSAY_WAIT_##id,
	ASSAY_WAIT_CALLS(ASSAY_WAIT_ENUM)
#undef ASSAY_WAIT_ENUM
		ASSAY_N_WAIT_CALLS
};

/* Where the time of a thread went; they add up to `wall_ns`. */
struct assay_thread_split {
	uint64_t wall_ns;
	uint64_t running_ns;
	uint64_t waiting_ns; /* where all threads meet, spinning or asleep */
	uint64_t blocked_ns; /* in another call that is known */
	uint64_t other_ns;   /* asleep in calls that are not known */
	uint64_t ready_ns;   /* it could run, but had no processor */
};

/*
 * Of known waits since the last mark: for how long they spun, what passed between going to sleep and return, and what
 * of that was time of a processor.
 */
struct assay_thread_waits {
	uint64_t spun_ns, slept_ns, cpu_ns;
};
#define ASSAY_THREAD_SPIN_NS 250000u /* one that spins for longer had lost its processor meanwhile */

struct assay_thread_log_header {
	uint64_t magic;
	uint64_t used;    /* bytes of the file that hold something */
	uint64_t base_ns; /* CLOCK_MONOTONIC when it began */
	uint64_t lost;    /* waits, spans and threads that there was no room for */
	uint64_t spans;
	int64_t pid;
	char name[32];  /* of the program */
	uint32_t whole; /* it ended by itself, and so all accounts are closed */
	uint32_t reserved;
};

enum assay_thread_log_kind {
	ASSAY_THREAD_LOG_THREAD = 1,
	ASSAY_THREAD_LOG_SITE,
	ASSAY_THREAD_LOG_MAP,
	ASSAY_THREAD_LOG_NAME,
	ASSAY_THREAD_LOG_CHUNK,
	ASSAY_THREAD_LOG_COUNT,
};

/* Records begin at multiples of 8; their numbers are offsets by 8. */
struct assay_thread_log_head {
	uint32_t kind, bytes; /* with this head */
};

struct assay_thread_record {
	struct assay_thread_log_head head;
	uint32_t tid;
	uint32_t watched; /* its time is counted at this moment */
	uint32_t ended;
	uint32_t call; /* enum assay_wait_call in which it is; NONE: it is in none */
	char name[32];
	uint64_t handle;         /* pthread_t */
	uint64_t since_ns;       /* of `call`, or the last mark */
	uint64_t asleep_ns;      /* when the wait went to sleep; 0: it spins */
	uint32_t site, reserved; /* of that wait; 0: none */
	uint64_t begun_ns;
	uint64_t mark_ns, mark_cpu_ns, mark_ready_ns;
	struct assay_thread_waits meets, others; /* waits since the mark */
	struct assay_thread_split total;
	uint64_t bin_ns; /* each of the bins is so long; the first begins with the file */
	struct assay_thread_split bins[ASSAY_THREAD_BINS];
};

/* Where a thread waited. */
struct assay_thread_site {
	struct assay_thread_log_head head;
	uint32_t thread, call;
	uint64_t waits, ns, longest_ns;
	uint32_t n_frames, whole;
	uint64_t frames[];
};

struct assay_thread_map {
	struct assay_thread_log_head head;
	uint64_t start, end, file_offset;
	char path[];
};

struct assay_thread_name {
	struct assay_thread_log_head head;
	char text[];
};

/* Something a thread did from then to then: a span that was named, or a wait. */
struct assay_thread_span {
	uint64_t begin_ns, end_ns;
	uint32_t name; /* 0: a wait */
	uint32_t call, site;
	uint32_t waker; /* thread that ended the wait; 0: not known */
	uint32_t depth; /* spans that it lies in */
	uint32_t reserved;
};

struct assay_thread_chunk {
	struct assay_thread_log_head head;
	uint32_t thread, n;
	struct assay_thread_span spans[ASSAY_THREAD_CHUNK];
};

/* A number at a moment, such as bytes that are allocated. */
struct assay_thread_count {
	struct assay_thread_log_head head;
	uint32_t name, reserved;
	uint64_t at_ns;
	double value;
};

/* Add the parts of @t to those of @to. */
static inline void assay_thread_split_add(struct assay_thread_split *to, const struct assay_thread_split *t)
{
	to->wall_ns += t->wall_ns;
	to->running_ns += t->running_ns;
	to->waiting_ns += t->waiting_ns;
	to->blocked_ns += t->blocked_ns;
	to->other_ns += t->other_ns;
	to->ready_ns += t->ready_ns;
}

/*
 * Divide @wall_ns, in which a thread took @cpu_ns of a processor and waited @ready_ns for one, by what it waited for
 * meanwhile. It slept for the rest; known calls get of that at most what they took. The parts add up by construction.
 */
static inline struct assay_thread_split assay_thread_split_make(uint64_t wall_ns, uint64_t cpu_ns, uint64_t ready_ns,
								const struct assay_thread_waits *meets,
								const struct assay_thread_waits *others)
{
	struct assay_thread_split t = { .wall_ns = wall_ns };
	const uint64_t known = meets->slept_ns + others->slept_ns;
	uint64_t slept, spun, locked;

	t.ready_ns = ready_ns < wall_ns ? ready_ns : wall_ns;
	cpu_ns = cpu_ns < wall_ns - t.ready_ns ? cpu_ns : wall_ns - t.ready_ns;
	slept = wall_ns - t.ready_ns - cpu_ns;
	spun = meets->spun_ns + meets->cpu_ns;
	spun = spun < cpu_ns ? spun : cpu_ns;
	locked = others->cpu_ns < cpu_ns - spun ? others->cpu_ns : cpu_ns - spun;
	t.running_ns = cpu_ns - spun - locked;
	t.waiting_ns = spun;
	t.blocked_ns = locked;
	if (known) {
		const double part = known > slept ? (double)slept / (double)known : 1;

		t.waiting_ns += (uint64_t)(part * (double)meets->slept_ns);
		t.blocked_ns += (uint64_t)(part * (double)others->slept_ns);
	}
	t.other_ns = wall_ns - t.ready_ns - t.running_ns - t.waiting_ns - t.blocked_ns;
	return t;
}

/* Join neighbours among the bins of @t until they reach @until_ns after the beginning of the file. */
static inline void assay_thread_bins_reach(struct assay_thread_record *t, uint64_t until_ns)
{
	while (until_ns >= t->bin_ns * ASSAY_THREAD_BINS) {
		for (unsigned i = 0; i < ASSAY_THREAD_BINS; i++) {
			struct assay_thread_split sum = { 0 };

			for (unsigned k = 2 * i; k < 2 * i + 2 && k < ASSAY_THREAD_BINS; k++)
				assay_thread_split_add(&sum, &t->bins[k]);
			t->bins[i] = sum;
		}
		t->bin_ns *= 2;
	}
}

/* Spread @d evenly over the bins from @from_ns to @to_ns, which count from the beginning of the file. */
static inline void assay_thread_bins_add(struct assay_thread_record *t, uint64_t from_ns, uint64_t to_ns,
					 const struct assay_thread_split *d)
{
	struct assay_thread_split left = *d;

	assay_thread_bins_reach(t, to_ns);
	for (uint64_t at = from_ns, end; at < to_ns; at = end) {
		const uint64_t bin = at / t->bin_ns;
		double part;
		struct assay_thread_split some;

		end = (bin + 1) * t->bin_ns < to_ns ? (bin + 1) * t->bin_ns : to_ns;
		part = (double)(end - at) / (double)(to_ns - at);
		some = (struct assay_thread_split){
			(uint64_t)((double)left.wall_ns * part),    (uint64_t)((double)left.running_ns * part),
			(uint64_t)((double)left.waiting_ns * part), (uint64_t)((double)left.blocked_ns * part),
			(uint64_t)((double)left.other_ns * part),   (uint64_t)((double)left.ready_ns * part)
		};
		assay_thread_split_add(&t->bins[bin], &some);
		left.wall_ns -= some.wall_ns;
		left.running_ns -= some.running_ns;
		left.waiting_ns -= some.waiting_ns;
		left.blocked_ns -= some.blocked_ns;
		left.other_ns -= some.other_ns;
		left.ready_ns -= some.ready_ns;
	}
}

static inline uint64_t assay_thread_spun_ns(uint64_t ns)
{
	return ns < ASSAY_THREAD_SPIN_NS ? ns : ASSAY_THREAD_SPIN_NS;
}

/*
 * Close what lies between the last mark of @t and @now_ns, when it had taken @cpu_ns and @ready_ns altogether, and mark
 * it anew. A wait that goes on is divided there.
 */
static inline void assay_thread_mark(struct assay_thread_record *t, uint64_t base_ns, uint64_t now_ns, uint64_t cpu_ns,
				     uint64_t ready_ns, bool meets)
{
	struct assay_thread_waits *w = meets ? &t->meets : &t->others;

	if (now_ns > t->mark_ns && t->call) {
		const uint64_t since = t->since_ns > t->mark_ns ? t->since_ns : t->mark_ns;
		const uint64_t asleep = t->asleep_ns > since ? t->asleep_ns : since;

		w->spun_ns += assay_thread_spun_ns(t->asleep_ns ? asleep - since : now_ns - since);
		w->slept_ns += t->asleep_ns && now_ns > asleep ? now_ns - asleep : 0;
	}
	if (t->watched && now_ns > t->mark_ns) {
		const struct assay_thread_split d = assay_thread_split_make(
			now_ns - t->mark_ns, cpu_ns > t->mark_cpu_ns ? cpu_ns - t->mark_cpu_ns : 0,
			ready_ns > t->mark_ready_ns ? ready_ns - t->mark_ready_ns : 0, &t->meets, &t->others);

		assay_thread_split_add(&t->total, &d);
		assay_thread_bins_add(t, t->mark_ns - base_ns, now_ns - base_ns, &d);
	}
	t->meets = t->others = (struct assay_thread_waits){ 0, 0, 0 };
	t->mark_ns = now_ns;
	t->mark_cpu_ns = cpu_ns;
	t->mark_ready_ns = ready_ns;
}

/* The one symbol of the preloaded object. No function allocates; each is for the thread that calls it. */
#define ASSAY_THREADS_SYMBOL "assay_threads_v1"
struct assay_threads {
	uint32_t size;
	uint32_t spans; /* are they kept? */
	/* A wait of @call on @object begins, spinning; it goes to sleep; it is over. */
	void (*wait_begin)(uint32_t call, const void *object);
	void (*wait_sleeps)(void);
	void (*wait_end)(void);
	/* This thread ends all waits on @object. */
	void (*posted)(const void *object);
	/* Count this thread's time from here on, or no more. */
	void (*watch)(bool on);
	/* Spans nest. @name is static. */
	void (*span_begin)(const char *name);
	void (*span_end)(void);
	void (*count)(const char *name, double value);
};

#endif
