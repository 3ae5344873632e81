/* SPDX-License-Identifier: Apache-2.0 */
/* Reads control registers, affinity, scheduling, signal masks and limits, and says in words what differs. */
#include "worker/case/thread_state.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define FLOAT_CONTROL "MXCSR"
/* The lowest six bits say what happened in calculations. */
#define FLAGS       0x3fu
#define DENORMALS   (1u << 6)
#define FLUSH       (1u << 15)
#define ROUNDING_AT 13
#define DIRECTIONS  "to the nearest", "down", "up", "towards zero"
#elif defined(__aarch64__)
#define FLOAT_CONTROL "FPCR"
#define FLAGS         0u
#define DENORMALS     0u
#define FLUSH         (1u << 24 | 1u << 19)
#define ROUNDING_AT   22
#define DIRECTIONS    "to the nearest", "up", "down", "towards zero"
#else
#define FLOAT_CONTROL "floating-point control"
#define FLAGS         0u
#define DENORMALS     0u
#define FLUSH         0u
#define ROUNDING_AT   0
#define DIRECTIONS    ""
#endif
#define ROUNDING (3u << ROUNDING_AT)

static uint32_t float_control(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_stmxcsr() & ~FLAGS;
#elif defined(__aarch64__)
	uint64_t fpcr;

	__asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
	return (uint32_t)fpcr;
#else
	return 0;
#endif
}

static uint32_t x87_control(void)
{
	uint16_t cw = 0;

#if defined(__x86_64__)
	__asm__ volatile("fnstcw %0" : "=m"(cw));
#endif
	return cw;
}

static int tsc_mode(void)
{
	int mode = 0;

	return prctl(PR_GET_TSC, &mode, 0, 0, 0) ? 0 : mode;
}

static void read_cpus(struct assay_thread_state *t)
{
	cpu_set_t set;

	t->cpu = -1;
	t->n_cpus = 0;
	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	t->n_cpus = CPU_COUNT(&set);
	for (int i = 0; i < CPU_SETSIZE && t->cpu < 0; i++)
		if (CPU_ISSET(i, &set))
			t->cpu = i;
}

static void read_thread(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct assay_thread_state *t = (struct assay_thread_state *)arg + tid;

	(void)n_threads;
	*t = (struct assay_thread_state){ .float_control = float_control(), .x87_control = x87_control() };
	t->tsc = tsc_mode();
	t->policy = sched_getscheduler(0);
	t->nice = getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid));
	sigemptyset(&t->blocked);
	pthread_sigmask(SIG_BLOCK, NULL, &t->blocked);
	read_cpus(t);
}

static void read_limits(struct rlimit *limits)
{
	for (int i = 0; i < RLIMIT_NLIMITS; i++)
		if (getrlimit((__rlimit_resource_t)i, &limits[i]))
			limits[i] = (struct rlimit){ 0 };
}

/* A thread's registers and mask are its own, so each reads them by itself. */
static void read_threads(struct assay_pool *pool, struct assay_thread_state *threads)
{
	if (pool)
		assay_pool_run(pool, read_thread, threads);
	else
		read_thread(threads, 0, 1);
}

int assay_worker_state_note(struct assay_worker_state *s, struct assay_pool *pool, uint32_t n_threads,
			    struct assay_err *err)
{
	assay_worker_state_release(s);
	s->noted = calloc(n_threads, sizeof(*s->noted));
	s->seen = calloc(n_threads, sizeof(*s->seen));
	if (!s->noted || !s->seen)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the state of %u threads", n_threads);
	s->n_threads = n_threads;
	read_threads(pool, s->noted);
	read_limits(s->limits);
	return 0;
}

void assay_worker_state_rescheduled(struct assay_worker_state *s)
{
	struct assay_thread_state t;

	if (!s->n_threads)
		return;
	read_thread(&t, 0, 1);
	s->noted[0].policy = t.policy;
	s->noted[0].nice = t.nice;
}

void assay_worker_state_release(struct assay_worker_state *s)
{
	free(s->noted);
	free(s->seen);
	s->noted = s->seen = NULL;
	s->n_threads = 0;
}

/* ---- in words ---- */

struct change {
	const char *who;
	uint32_t tid, n_threads;
	struct assay_err *err;
};

/* " of thread 3", where there are several. */
static const char *whose(const struct change *c, char *buf, size_t size)
{
	buf[0] = '\0';
	if (c->n_threads > 1)
		snprintf(buf, size, " of thread %u", c->tid);
	return buf;
}

static __attribute__((format(printf, 3, 4))) int alters(const struct change *c, const char *what, const char *fmt, ...)
{
	char how[200], thread[32];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(how, sizeof(how), fmt, ap);
	va_end(ap);
	return assay_err_set(c->err, ASSAY_EWORKER, "%s changed %s%s: %s", c->who, what,
			     whose(c, thread, sizeof(thread)), how);
}

static int float_changed(const struct change *c, uint32_t was, uint32_t is)
{
	static const char *const rounding[] = { DIRECTIONS };
	const uint32_t changed = was ^ is;

	if (changed & FLUSH)
		return alters(c, FLOAT_CONTROL, "flush-to-zero is %s", is & FLUSH ? "on" : "off");
	if (changed & DENORMALS)
		return alters(c, FLOAT_CONTROL, "denormals-are-zero is %s", is & DENORMALS ? "on" : "off");
	if (ROUNDING_AT && changed & ROUNDING)
		return alters(c, FLOAT_CONTROL, "it rounds %s", rounding[(is & ROUNDING) >> ROUNDING_AT]);
	return alters(c, FLOAT_CONTROL, "0x%x, was 0x%x", is, was);
}

static int results_altered(const struct change *c, const struct assay_thread_state *was,
			   const struct assay_thread_state *is)
{
	if (is->float_control != was->float_control)
		return float_changed(c, was->float_control, is->float_control);
	if (is->x87_control != was->x87_control)
		return alters(c, "the x87 control word", "0x%x, was 0x%x", is->x87_control, was->x87_control);
	if (is->tsc != was->tsc)
		return alters(c, "the clock", "reading it %s", is->tsc == PR_TSC_SIGSEGV ? "traps" : "no longer traps");
	if (is->n_cpus != was->n_cpus)
		return alters(c, "the affinity", "%d CPUs, were %d", is->n_cpus, was->n_cpus);
	if (is->cpu != was->cpu)
		return alters(c, "the affinity", "CPU %d, was %d", is->cpu, was->cpu);
	return 0;
}

/* The first signal that one of the two holds and the other does not; 0: there is none. */
static int differing_signal(const sigset_t *a, const sigset_t *b)
{
	for (int i = 1; i < NSIG; i++)
		if (sigismember(a, i) != sigismember(b, i))
			return i;
	return 0;
}

static void note_thread(char *note, const struct change *c, const struct assay_thread_state *was,
			const struct assay_thread_state *is)
{
	const int sig = differing_signal(&was->blocked, &is->blocked);
	char thread[32];

	whose(c, thread, sizeof(thread));
	if (is->policy != was->policy)
		snprintf(note, ASSAY_STATE_NOTE_MAX, "%s changed the scheduling policy%s: %d, was %d", c->who, thread,
			 is->policy, was->policy);
	else if (is->nice != was->nice)
		snprintf(note, ASSAY_STATE_NOTE_MAX, "%s changed the nice value%s: %d, was %d", c->who, thread,
			 is->nice, was->nice);
	else if (sig)
		snprintf(note, ASSAY_STATE_NOTE_MAX, "%s changed the signal mask%s: signal %d is %s", c->who, thread,
			 sig, sigismember(&is->blocked, sig) ? "blocked" : "no longer blocked");
}

static const char *limit_text(rlim_t limit, char *buf, size_t size)
{
	if (limit == RLIM_INFINITY)
		return "unlimited";
	snprintf(buf, size, "%llu", (unsigned long long)limit);
	return buf;
}

static void note_limits(char *note, const char *who, const struct rlimit *was)
{
	static const char *const names[RLIMIT_NLIMITS] = {
		[RLIMIT_CPU] = "RLIMIT_CPU",           [RLIMIT_FSIZE] = "RLIMIT_FSIZE",
		[RLIMIT_DATA] = "RLIMIT_DATA",         [RLIMIT_STACK] = "RLIMIT_STACK",
		[RLIMIT_CORE] = "RLIMIT_CORE",         [RLIMIT_RSS] = "RLIMIT_RSS",
		[RLIMIT_NPROC] = "RLIMIT_NPROC",       [RLIMIT_NOFILE] = "RLIMIT_NOFILE",
		[RLIMIT_MEMLOCK] = "RLIMIT_MEMLOCK",   [RLIMIT_AS] = "RLIMIT_AS",
		[RLIMIT_LOCKS] = "RLIMIT_LOCKS",       [RLIMIT_SIGPENDING] = "RLIMIT_SIGPENDING",
		[RLIMIT_MSGQUEUE] = "RLIMIT_MSGQUEUE", [RLIMIT_NICE] = "RLIMIT_NICE",
		[RLIMIT_RTPRIO] = "RLIMIT_RTPRIO",     [RLIMIT_RTTIME] = "RLIMIT_RTTIME",
	};
	struct rlimit is[RLIMIT_NLIMITS];
	char a[32], b[32];

	read_limits(is);
	for (int i = 0; i < RLIMIT_NLIMITS && !note[0]; i++) {
		const bool hard = is[i].rlim_cur == was[i].rlim_cur;

		if (is[i].rlim_cur != was[i].rlim_cur || is[i].rlim_max != was[i].rlim_max)
			snprintf(note, ASSAY_STATE_NOTE_MAX, "%s changed %s%s: %s, was %s", who,
				 hard ? "the hard " : "", names[i],
				 limit_text(hard ? is[i].rlim_max : is[i].rlim_cur, a, sizeof(a)),
				 limit_text(hard ? was[i].rlim_max : was[i].rlim_cur, b, sizeof(b)));
	}
}

int assay_worker_state_check(struct assay_worker_state *s, struct assay_pool *pool, const char *who,
			     struct assay_err *err)
{
	int rc = 0;

	if (!s->n_threads)
		return 0;
	read_threads(pool, s->seen);
	for (uint32_t i = 0; i < s->n_threads && !rc; i++) {
		const struct change c = { .who = who, .tid = i, .n_threads = s->n_threads, .err = err };

		rc = results_altered(&c, &s->noted[i], &s->seen[i]);
		if (!s->note[0])
			note_thread(s->note, &c, &s->noted[i], &s->seen[i]);
	}
	if (!s->note[0])
		note_limits(s->note, who, s->limits);
	return rc;
}
