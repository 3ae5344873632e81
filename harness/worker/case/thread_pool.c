/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fork-join pool. A region starts when `generation` changes and ends when `pending` reaches zero. Threads spin for
 * some tens of microseconds, the distance between two regions of one kernel, then sleep on a futex. The threads of a
 * parked pool stand at its gate, which is the pool's own: it leaves its cores, and the words that it may have borrowed,
 * to whoever has the turn.
 */
#include "worker/case/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/preloaded.h"
#include "worker/case/memory.h"

#define SPINS 4000

struct pool_thread {
	struct assay_pool *pool;
	uint32_t tid;
	int cpu, bound;
	pthread_t handle;
	bool started;
	struct assay_err err;
};

struct assay_pool {
	struct assay_pool_words own;
	/* of thread 0 */
	_Alignas(ASSAY_POOL_LINE) uint32_t generation; /* of the last region, for words that others had meanwhile */
	bool parked;
	/* The function that a region runs. It is the same from call to call, so this line stays where it is read. */
	_Alignas(ASSAY_POOL_LINE) assay_parallel_fn fn;
	void *arg;
	/* that threads read all the time, and which changes while all stand at the gate, or are about to */
	_Alignas(ASSAY_POOL_LINE) _Atomic uint32_t gate; /* the futex: 1 while the pool is parked */
	_Atomic uint32_t at_gate;
	_Atomic bool awake;             /* spin for ever */
	struct assay_pool_words *words; /* its own or borrowed */
	uint32_t n;
	bool stop;
	const struct assay_topology *topology;
	const struct assay_threads *recorder; /* told of all waits; NULL: nobody is */
	struct pool_thread *threads;          /* n - 1; entry i is thread i + 1 */
};

static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/*
 * Wake whoever sleeps on @word, which was just changed. The system call is spared while all spin: a sleeper counts
 * itself before it looks at the word a last time, so either it sees the change or it is seen here (both orders are
 * seq_cst).
 */
static void wake_all(struct assay_pool *p, _Atomic uint32_t *word)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&p->words->sleepers, memory_order_seq_cst))
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static bool gate_is_shut(const struct assay_pool *p)
{
	return atomic_load_explicit(&p->gate, memory_order_acquire);
}

static void stand_at_gate(struct assay_pool *p)
{
	if (p->recorder)
		p->recorder->wait_sleeps();
	atomic_fetch_add_explicit(&p->at_gate, 1, memory_order_release);
	while (gate_is_shut(p))
		syscall(SYS_futex, &p->gate, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
	atomic_fetch_sub_explicit(&p->at_gate, 1, memory_order_relaxed);
}

/* Until *word is not @old, as it was a moment ago. The gate is shut between regions alone, where all wait for one. */
static void outwait(struct assay_pool *p, _Atomic uint32_t *word, uint32_t old)
{
	struct assay_pool_words *w = p->words;
	unsigned spins = 0;

	for (;;) {
		if (gate_is_shut(p)) {
			stand_at_gate(p);
			w = p->words;
			word = &w->generation;
			spins = 0;
		}
		if (atomic_load_explicit(word, memory_order_acquire) != old)
			return;
		if (spins++ < SPINS || atomic_load_explicit(&p->awake, memory_order_relaxed)) {
			relax();
			continue;
		}
		atomic_fetch_add_explicit(&w->sleepers, 1, memory_order_seq_cst);
		if (p->recorder)
			p->recorder->wait_sleeps();
		if (!gate_is_shut(p))
			syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
		atomic_fetch_sub_explicit(&w->sleepers, 1, memory_order_seq_cst);
		spins = 0;
	}
}

/* Until *word is not @old; @call says what that is. */
static void wait_change(struct assay_pool *p, _Atomic uint32_t *word, uint32_t old, enum assay_wait_call call)
{
	if (!p->recorder) {
		outwait(p, word, old);
		return;
	}
	if (atomic_load_explicit(word, memory_order_acquire) != old)
		return;
	p->recorder->wait_begin(call, word);
	outwait(p, word, old);
	p->recorder->wait_end();
}

/* Before this thread changes @word, which others wait for. */
static void post(const struct assay_pool *p, const _Atomic uint32_t *word)
{
	if (p->recorder)
		p->recorder->posted((const void *)word);
}

static void *thread_main(void *arg)
{
	struct pool_thread *t = arg;
	struct assay_pool *p = t->pool;
	uint32_t seen = 0;

	if (!assay_bind_thread(p->topology, t->cpu, &t->err))
		t->bound = assay_bind_current_cpu();
	for (;;) {
		/* the first region that a thread takes part in reports that it is bound */
		post(p, &p->words->pending);
		if (atomic_fetch_sub_explicit(&p->words->pending, 1, memory_order_acq_rel) == 1)
			wake_all(p, &p->words->pending);
		wait_change(p, &p->words->generation, seen, ASSAY_WAIT_POOL_FORK);
		seen++;
		if (p->stop)
			return NULL;
		p->fn(p->arg, t->tid, p->n);
	}
}

static void wait_pending(struct assay_pool *p)
{
	uint32_t left;

	while ((left = atomic_load_explicit(&p->words->pending, memory_order_acquire)) != 0)
		wait_change(p, &p->words->pending, left, ASSAY_WAIT_POOL_JOIN);
}

int assay_pool_new(struct assay_pool **pool, const struct assay_topology *t, const int *cpus, uint32_t n, int *bound,
		   uintptr_t *pages, struct assay_err *err)
{
	struct assay_pool *p;
	int rc;

	rc = assay_bind_thread(t, cpus[0], err);
	if (rc)
		return rc;
	bound[0] = assay_bind_current_cpu();
	p = assay_layout_calloc(pages, 1, sizeof(*p));
	if (!p)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the thread pool");
	p->words = &p->own;
	p->n = n;
	p->topology = t;
	p->recorder = assay_threads_find();
	p->threads = calloc(n, sizeof(*p->threads));
	if (!p->threads) {
		assay_layout_free(p, 1, sizeof(*p));
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the thread pool");
	}
	atomic_store(&p->words->pending, n - 1);
	for (uint32_t i = 1; i < n; i++) {
		struct pool_thread *th = &p->threads[i - 1];

		*th = (struct pool_thread){ .pool = p, .tid = i, .cpu = cpus[i] };
		rc = pthread_create(&th->handle, NULL, thread_main, th);
		if (rc) {
			atomic_fetch_sub(&p->words->pending, n - i);
			rc = assay_err_set(err, ASSAY_EWORKER, "cannot start thread %u of %u: %s", i, n, strerror(rc));
			break;
		}
		th->started = true;
	}
	wait_pending(p);
	for (uint32_t i = 1; i < n && !rc; i++) {
		if (p->threads[i - 1].err.code)
			rc = assay_err_set(err, p->threads[i - 1].err.code, "%s", p->threads[i - 1].err.text);
		bound[i] = p->threads[i - 1].bound;
	}
	if (rc) {
		assay_pool_free(p);
		return rc;
	}
	*pool = p;
	return 0;
}

/* Send all threads into the next region, for which they wait. */
static void begin_region(struct assay_pool *p)
{
	if (p->parked) {
		/* Others may have had the words meanwhile. */
		p->parked = false;
		atomic_store_explicit(&p->words->generation, p->generation, memory_order_relaxed);
		atomic_store_explicit(&p->words->arrived, 0, memory_order_relaxed);
		atomic_store_explicit(&p->words->sleepers, 0, memory_order_relaxed);
		atomic_store_explicit(&p->gate, 0, memory_order_release);
		syscall(SYS_futex, &p->gate, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
	}
	atomic_store_explicit(&p->words->pending, p->n - 1, memory_order_relaxed);
	post(p, &p->words->generation);
	atomic_store_explicit(&p->words->generation, ++p->generation, memory_order_release);
	wake_all(p, &p->words->generation);
}

void assay_pool_free(struct assay_pool *pool)
{
	if (!pool)
		return;
	pool->stop = true;
	begin_region(pool);
	for (uint32_t i = 1; i < pool->n; i++)
		if (pool->threads[i - 1].started)
			pthread_join(pool->threads[i - 1].handle, NULL);
	free(pool->threads);
	assay_layout_free(pool, 1, sizeof(*pool));
}

void assay_pool_draw_pages(struct assay_pool *pool)
{
	if (pool->n == 1)
		assay_pages_remap(pool, sizeof(*pool));
}

void assay_pool_run(struct assay_pool *pool, assay_parallel_fn fn, void *arg)
{
	if (pool->n == 1) {
		fn(arg, 0, 1);
		return;
	}
	if (pool->fn != fn || pool->arg != arg) {
		pool->fn = fn;
		pool->arg = arg;
	}
	begin_region(pool);
	fn(arg, 0, pool->n);
	wait_pending(pool);
}

void assay_pool_park(struct assay_pool *pool)
{
	assay_pool_borrow(pool, &pool->own);
}

void assay_pool_borrow(struct assay_pool *pool, struct assay_pool_words *words)
{
	atomic_store_explicit(&pool->gate, 1, memory_order_seq_cst);
	while (atomic_load_explicit(&pool->at_gate, memory_order_acquire) != pool->n - 1) {
		if (!pool->parked)
			wake_all(pool, &pool->words->generation); /* who sleeps there goes to the gate */
		relax();
	}
	pool->parked = true;
	pool->words = words;
}

void assay_pool_barrier(struct assay_pool *pool)
{
	uint32_t round;

	if (pool->n == 1)
		return;
	round = atomic_load_explicit(&pool->words->barrier_round, memory_order_acquire);
	post(pool, &pool->words->barrier_round);
	if (atomic_fetch_add_explicit(&pool->words->arrived, 1, memory_order_acq_rel) + 1 == pool->n) {
		atomic_store_explicit(&pool->words->arrived, 0, memory_order_relaxed);
		atomic_fetch_add_explicit(&pool->words->barrier_round, 1, memory_order_release);
		wake_all(pool, &pool->words->barrier_round);
		return;
	}
	wait_change(pool, &pool->words->barrier_round, round, ASSAY_WAIT_POOL_BARRIER);
}

static void nothing(void *arg, uint32_t tid, uint32_t n_threads)
{
	(void)arg;
	(void)tid;
	(void)n_threads;
}

void assay_pool_stay_awake(struct assay_pool *pool, bool on)
{
	atomic_store_explicit(&pool->awake, on, memory_order_relaxed);
	if (on)
		assay_pool_run(pool, nothing, NULL); /* which wakes those that sleep */
}
