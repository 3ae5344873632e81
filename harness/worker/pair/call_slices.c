/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that calls the variant, the first of the pool, has the timer. When it rings, that thread stops the others
 * by the same signal, hands over, and lets them go when it has the turn again. The handlers make system calls and touch
 * what is said here; the code that they interrupt may hold any lock.
 */
#include "worker/pair/call_slices.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "worker/case/state.h"

/* By default it does nothing, so that a late one does no harm. */
#define SLICE_SIGNAL SIGURG
/* A thread that has not stopped by then does not get to run: the call goes on, and those that follow stay whole. */
#define STOP_NS 20000000u
#define RINGS   15
#define RING_NS 20000u

/* A process has one timer, and cuts the calls of one case. */
static struct {
	const struct assay_call_slices *c; /* NULL: calls are not cut */
	uint32_t call;
	timer_t timer;
	bool open;
	pid_t threads[ASSAY_PAGE_CPUS];
	uint32_t n;
	bool broken;                      /* threads cannot be stopped: calls stay whole */
	bool counted;                     /* the threads, in this call */
	_Atomic uint32_t inside;          /* the first thread is in the timed part of a call */
	_Atomic uint32_t stop;            /* odd: the others are to stand still; the futex */
	_Atomic uint32_t standing;        /* how many do */
	const struct assay_clock *trying; /* what a ring of the timer takes; NULL: not now */
	_Atomic uint32_t rang;
	uint64_t handled; /* ticks that the handler takes out of the call, the last time */
	/*
	 * Ticks that the timer takes from a call besides: the interrupt, and the way back. The lesser of what the two
	 * sides found, so that an error is the same for both.
	 */
	uint64_t ring;
} s;

static _Thread_local uint32_t own_tid;

static void disarm(void)
{
	timer_settime(s.timer, 0, &(struct itimerspec){ 0 }, NULL);
}

static void arm(uint64_t at_ns)
{
	const struct itimerspec at = { .it_value = { .tv_sec = (time_t)(at_ns / 1000000000u),
						     .tv_nsec = (long)(at_ns % 1000000000u) } };

	timer_settime(s.timer, TIMER_ABSTIME, &at, NULL);
}

/* Until the partner's next slice begins. */
static void arm_slice(void)
{
	const struct assay_call_slices *c = s.c;

	arm(assay_pair_slice_ns(c->order_seed, !c->side, assay_monotonic_ns(), c->slice_ns));
}

/* Any thread but the first. */
static void stand_still(void)
{
	const struct assay_call_slices *c = s.c;
	const uint32_t stop = atomic_load(&s.stop);

	if (stop % 2 == 0 || !c)
		return;
	c->stand(c->arg, own_tid);
	atomic_fetch_add(&s.standing, 1);
	while (atomic_load(&s.stop) == stop)
		syscall(SYS_futex, &s.stop, FUTEX_WAIT_PRIVATE, stop, NULL, NULL, 0);
	c->go_on(c->arg, own_tid);
	atomic_fetch_sub(&s.standing, 1);
}

static void let_go(void)
{
	atomic_fetch_add(&s.stop, 1);
	syscall(SYS_futex, &s.stop, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
	while (atomic_load(&s.standing))
		;
}

/* False: one of them does not stop, and all go on. */
static bool stop_others(void)
{
	const uint64_t start = assay_monotonic_ns();

	if (s.n == 1)
		return true;
	atomic_fetch_add(&s.stop, 1);
	for (uint32_t i = 1; i < s.n; i++)
		syscall(SYS_tgkill, getpid(), s.threads[i], SLICE_SIGNAL);
	while (atomic_load(&s.standing) != s.n - 1)
		if (assay_monotonic_ns() - start > STOP_NS) {
			let_go();
			return false;
		}
	return true;
}

/* Has the call threads besides those of the pool? They cannot be stopped. */
static bool more_threads(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) || st.st_nlink != s.n + 2;
}

/* The slice is over. */
static void hand_over(void)
{
	const struct assay_call_slices *c = s.c;
	const struct assay_clock *clock = &c->job->spec->clock;
	uint64_t stood;

	if (assay_pair_finished(c->turn, c->order_seed, !c->side, s.call)) {
		c->job->begun += s.ring; /* the partner has no slice to run beside this one */
		return;
	}
	s.broken |= (!s.counted && more_threads()) || !stop_others();
	s.counted = true;
	if (s.broken)
		return;
	/* the call goes on until the last of its threads stands */
	stood = assay_clock_ticks(clock);
	c->stand(c->arg, 0);
	assay_case_job_phase(c->job, ASSAY_PHASE_TURN);
	assay_pair_pass(c->turn, !c->side);
	assay_pair_await(c->turn, c->side);
	assay_case_job_phase(c->job, ASSAY_PHASE_RUN);
	/* while all stand: what plugins are shown goes back for none of them, and what is counted for all is whole */
	c->go_on(c->arg, 0);
	assay_case_services_leave_out(assay_clock_ticks(clock) - stood);
	if (s.n > 1)
		let_go();
	arm_slice();
	c->job->begun += assay_clock_ticks(clock) - stood + s.ring;
}

static void ring(void)
{
	const uint64_t paused = assay_clock_ticks(s.trying);

	disarm();
	atomic_store(&s.rang, 1);
	s.handled = assay_clock_ticks(s.trying) - paused;
}

static void on_signal(int sig)
{
	const int saved = errno;

	(void)sig;
	if (own_tid)
		stand_still();
	else if (s.trying)
		ring();
	else if (atomic_load_explicit(&s.inside, memory_order_relaxed))
		hand_over();
	errno = saved;
}

static void introduce(void *arg, uint32_t tid, uint32_t n_threads)
{
	sigset_t slice;

	(void)arg;
	(void)n_threads;
	sigemptyset(&slice);
	sigaddset(&slice, SLICE_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &slice, NULL);
	own_tid = tid;
	s.threads[tid] = (pid_t)syscall(SYS_gettid);
}

/*
 * The least time that a ring takes, less what the handler measures itself: from the reading of the clock before it to
 * the one behind it, which may be the second, as the ring may come when the first was taken and was not looked for yet.
 */
static bool try_rings(const struct assay_call_slices *c)
{
	const struct assay_clock *clock = &c->job->spec->clock;
	const uint64_t most = (uint64_t)(STOP_NS / clock->ns_per_tick);
	uint64_t least = UINT64_MAX;

	s.trying = clock;
	for (size_t i = 0; i < RINGS; i++) {
		const uint64_t start = assay_clock_ticks(clock);
		uint64_t before, now = start;

		atomic_store(&s.rang, 0);
		arm(assay_monotonic_ns() + RING_NS);
		do {
			before = now;
			now = assay_clock_ticks(clock);
		} while (!atomic_load_explicit(&s.rang, memory_order_relaxed) && now - start < most);
		if (!atomic_load(&s.rang))
			return false;
		now = assay_clock_ticks(clock);
		if (now - before - s.handled < least)
			least = now - before - s.handled;
	}
	s.trying = NULL;
	atomic_store(&c->turn->ring[c->side], least);
	return true;
}

bool assay_call_slices_possible(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SLICE_SIGNAL };
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	return !timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_delete(timer);
}

struct assay_outcome assay_call_slices_open(const struct assay_call_slices *c)
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SLICE_SIGNAL };

	if (s.open)
		return assay_outcome_ok();
	s.n = c->job->spec->c.threads;
	assay_pool_run(c->job->pool, introduce, NULL);
	event._sigev_un._tid = s.threads[0];
	if (sigaction(SLICE_SIGNAL, &act, NULL) || timer_create(CLOCK_MONOTONIC, &event, &s.timer))
		return assay_outcome_set(ASSAY_STATUS_FAILED, "no timer to cut calls with: %s", strerror(errno));
	if (!try_rings(c)) {
		s.trying = NULL;
		timer_delete(s.timer);
		return assay_outcome_set(ASSAY_STATUS_FAILED, "no timer to cut calls with: signal %d does not arrive",
					 SLICE_SIGNAL);
	}
	s.open = true;
	return assay_outcome_ok();
}

void assay_call_slices_on(const struct assay_call_slices *c, uint32_t call)
{
	const uint64_t base = atomic_load(&c->turn->ring[0]), head = atomic_load(&c->turn->ring[1]);

	s.ring = base < head ? base : head;
	s.call = call;
	s.counted = false;
	s.c = c;
}

void assay_call_slices_off(void)
{
	disarm();
	s.c = NULL;
}

void assay_call_slices_enter(void)
{
	if (!s.c || s.broken)
		return;
	atomic_store_explicit(&s.inside, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	arm_slice();
}

void assay_call_slices_leave(void)
{
	atomic_store_explicit(&s.inside, 0, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}
