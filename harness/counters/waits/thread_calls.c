/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands before the functions of the C library in which threads wait. A lock that is free is taken by a try, and costs
 * nothing else; only what has to wait is recorded. Waits by futex(2) itself, as OpenMP's runtime does, are not seen.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counters/waits/thread_recorder.h"

#define EXPORT __attribute__((visibility("default")))

/* name, result, parameters with and without their types */
#define FUNCTIONS(F)                                                                                                   \
	F(pthread_create, int, (pthread_t * t, const pthread_attr_t *a, void *(*f)(void *), void *arg))                \
	F(pthread_join, int, (pthread_t t, void **result))                                                             \
	F(pthread_mutex_lock, int, (pthread_mutex_t * m))                                                              \
	F(pthread_mutex_trylock, int, (pthread_mutex_t * m))                                                           \
	F(pthread_mutex_timedlock, int, (pthread_mutex_t * m, const struct timespec *until))                           \
	F(pthread_rwlock_rdlock, int, (pthread_rwlock_t * l))                                                          \
	F(pthread_rwlock_tryrdlock, int, (pthread_rwlock_t * l))                                                       \
	F(pthread_rwlock_wrlock, int, (pthread_rwlock_t * l))                                                          \
	F(pthread_rwlock_trywrlock, int, (pthread_rwlock_t * l))                                                       \
	F(pthread_barrier_wait, int, (pthread_barrier_t * b))                                                          \
	F(pthread_cond_wait, int, (pthread_cond_t * c, pthread_mutex_t * m))                                           \
	F(pthread_cond_timedwait, int, (pthread_cond_t * c, pthread_mutex_t * m, const struct timespec *until))        \
	F(pthread_cond_signal, int, (pthread_cond_t * c))                                                              \
	F(pthread_cond_broadcast, int, (pthread_cond_t * c))                                                           \
	F(sem_wait, int, (sem_t * s))                                                                                  \
	F(sem_trywait, int, (sem_t * s))                                                                               \
	F(sem_timedwait, int, (sem_t * s, const struct timespec *until))                                               \
	F(sem_post, int, (sem_t * s))                                                                                  \
	F(sleep, unsigned, (unsigned seconds))                                                                         \
	F(usleep, int, (useconds_t us))                                                                                \
	F(nanosleep, int, (const struct timespec *t, struct timespec *left))                                           \
	F(clock_nanosleep, int, (clockid_t c, int flags, const struct timespec *t, struct timespec *left))             \
	F(poll, int, (struct pollfd * v, nfds_t n, int ms))                                                            \
	F(select, int, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t))                                    \
	F(epoll_wait, int, (int fd, struct epoll_event *v, int n, int ms))                                             \
	F(read, ssize_t, (int fd, void *to, size_t n))                                                                 \
	F(recv, ssize_t, (int fd, void *to, size_t n, int flags))                                                      \
	F(accept, int, (int fd, struct sockaddr *a, socklen_t *n))                                                     \
	F(waitpid, pid_t, (pid_t pid, int *status, int flags))                                                         \
	F(fsync, int, (int fd))

/* The functions that would be called without this object. */
static struct {
#define MEMBER(name, result, parameters) result(*name) parameters;
	FUNCTIONS(MEMBER)
#undef MEMBER
} behind;
static bool recording;

/* A condition variable's functions have two versions, of which the older one is another type's. */
static void *find(const char *name)
{
	void *f = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");

	if (!f)
		f = dlsym(RTLD_NEXT, name);
	if (!f)
		_exit(127); /* without them the program cannot even say what is wrong */
	return f;
}

static __attribute__((noinline, cold)) void find_all(void)
{
#define FIND(name, result, parameters) *(void **)&behind.name = find(#name);
	FUNCTIONS(FIND)
#undef FIND
}

/* The last of the functions: where it is known, all are. */
#define READY()                                                                                                        \
	do {                                                                                                           \
		if (__builtin_expect(!behind.fsync, 0))                                                                \
			find_all();                                                                                    \
	} while (0)

/* Record a wait in @call on @object around @expression, a call of a function behind; its result is the function's. */
#define WAIT(call, object, holder, type, expression)                                                                   \
	do {                                                                                                           \
		const bool begun =                                                                                     \
			assay_thread_wait_begin(ASSAY_WAIT_##call, object, true, holder, ASSAY_HEAP_CALLER());         \
		const type result_ = (expression);                                                                     \
		const int error_ = errno;                                                                              \
                                                                                                                       \
		if (begun)                                                                                             \
			assay_thread_wait_end();                                                                       \
		errno = error_;                                                                                        \
		return result_;                                                                                        \
	} while (0)

/* ---- threads ---- */

struct start {
	void *(*f)(void *);
	void *arg;
};

static void *begin_thread(void *arg)
{
	const struct start s = *(struct start *)arg;

	free(arg);
	assay_thread_recorder_enter();
	return s.f(s.arg);
}

EXPORT int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg)
{
	struct start *s;
	int rc;

	READY();
	s = recording ? malloc(sizeof(*s)) : NULL;
	if (!s)
		return behind.pthread_create(t, a, f, arg);
	*s = (struct start){ f, arg };
	rc = behind.pthread_create(t, a, begin_thread, s);
	if (rc)
		free(s);
	return rc;
}

EXPORT int pthread_join(pthread_t t, void **result)
{
	READY();
	if (!recording)
		return behind.pthread_join(t, result);
	WAIT(JOIN, NULL, assay_thread_of((uint64_t)t), int, behind.pthread_join(t, result));
}

/* ---- locks ---- */

/* The C library keeps who has a mutex. */
static uint32_t owner_of(const pthread_mutex_t *m)
{
#if defined(__GLIBC__)
	return (uint32_t)__atomic_load_n(&m->__data.__owner, __ATOMIC_RELAXED);
#else
	(void)m;
	return 0;
#endif
}

static uint32_t writer_of(const pthread_rwlock_t *l)
{
#if defined(__GLIBC__)
	return (uint32_t)__atomic_load_n(&l->__data.__cur_writer, __ATOMIC_RELAXED);
#else
	(void)l;
	return 0;
#endif
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	int rc;

	READY();
	if (!recording)
		return behind.pthread_mutex_lock(m);
	rc = behind.pthread_mutex_trylock(m);
	if (rc != EBUSY)
		return rc;
	WAIT(MUTEX, m, owner_of(m), int, behind.pthread_mutex_lock(m));
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
	int rc;

	READY();
	if (!recording)
		return behind.pthread_mutex_timedlock(m, until);
	rc = behind.pthread_mutex_trylock(m);
	if (rc != EBUSY)
		return rc;
	WAIT(MUTEX_TIMED, m, owner_of(m), int, behind.pthread_mutex_timedlock(m, until));
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	int rc;

	READY();
	if (!recording)
		return behind.pthread_rwlock_rdlock(l);
	rc = behind.pthread_rwlock_tryrdlock(l);
	if (rc != EBUSY)
		return rc;
	WAIT(RWLOCK_READ, l, writer_of(l), int, behind.pthread_rwlock_rdlock(l));
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	int rc;

	READY();
	if (!recording)
		return behind.pthread_rwlock_wrlock(l);
	rc = behind.pthread_rwlock_trywrlock(l);
	if (rc != EBUSY)
		return rc;
	WAIT(RWLOCK_WRITE, l, writer_of(l), int, behind.pthread_rwlock_wrlock(l));
}

/* The last to come lets all others go. */
EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
	READY();
	if (!recording)
		return behind.pthread_barrier_wait(b);
	assay_thread_posted(b);
	WAIT(BARRIER, b, 0, int, behind.pthread_barrier_wait(b));
}

EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	READY();
	if (!recording)
		return behind.pthread_cond_wait(c, m);
	WAIT(COND, c, 0, int, behind.pthread_cond_wait(c, m));
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
	READY();
	if (!recording)
		return behind.pthread_cond_timedwait(c, m, until);
	WAIT(COND_TIMED, c, 0, int, behind.pthread_cond_timedwait(c, m, until));
}

EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
	READY();
	if (recording)
		assay_thread_posted(c);
	return behind.pthread_cond_signal(c);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
	READY();
	if (recording)
		assay_thread_posted(c);
	return behind.pthread_cond_broadcast(c);
}

EXPORT int sem_wait(sem_t *s)
{
	READY();
	if (!recording)
		return behind.sem_wait(s);
	if (!behind.sem_trywait(s))
		return 0;
	WAIT(SEM, s, 0, int, behind.sem_wait(s));
}

EXPORT int sem_timedwait(sem_t *s, const struct timespec *until)
{
	READY();
	if (!recording)
		return behind.sem_timedwait(s, until);
	if (!behind.sem_trywait(s))
		return 0;
	WAIT(SEM_TIMED, s, 0, int, behind.sem_timedwait(s, until));
}

EXPORT int sem_post(sem_t *s)
{
	READY();
	if (recording)
		assay_thread_posted(s);
	return behind.sem_post(s);
}

/* ---- the kernel ---- */

EXPORT unsigned sleep(unsigned seconds)
{
	READY();
	WAIT(SLEEP, NULL, 0, unsigned, behind.sleep(seconds));
}

EXPORT int usleep(useconds_t us)
{
	READY();
	WAIT(SLEEP, NULL, 0, int, behind.usleep(us));
}

EXPORT int nanosleep(const struct timespec *t, struct timespec *left)
{
	READY();
	WAIT(NANOSLEEP, NULL, 0, int, behind.nanosleep(t, left));
}

EXPORT int clock_nanosleep(clockid_t c, int flags, const struct timespec *t, struct timespec *left)
{
	READY();
	WAIT(NANOSLEEP, NULL, 0, int, behind.clock_nanosleep(c, flags, t, left));
}

EXPORT int poll(struct pollfd *v, nfds_t n, int ms)
{
	READY();
	if (!ms)
		return behind.poll(v, n, ms);
	WAIT(POLL, NULL, 0, int, behind.poll(v, n, ms));
}

EXPORT int select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t)
{
	READY();
	WAIT(SELECT, NULL, 0, int, behind.select(n, r, w, e, t));
}

EXPORT int epoll_wait(int fd, struct epoll_event *v, int n, int ms)
{
	READY();
	if (!ms)
		return behind.epoll_wait(fd, v, n, ms);
	WAIT(EPOLL, NULL, 0, int, behind.epoll_wait(fd, v, n, ms));
}

EXPORT ssize_t read(int fd, void *to, size_t n)
{
	READY();
	WAIT(READ, NULL, 0, ssize_t, behind.read(fd, to, n));
}

EXPORT ssize_t recv(int fd, void *to, size_t n, int flags)
{
	READY();
	WAIT(RECV, NULL, 0, ssize_t, behind.recv(fd, to, n, flags));
}

EXPORT int accept(int fd, struct sockaddr *a, socklen_t *n)
{
	READY();
	WAIT(ACCEPT, NULL, 0, int, behind.accept(fd, a, n));
}

EXPORT pid_t waitpid(pid_t pid, int *status, int flags)
{
	READY();
	if (flags & WNOHANG)
		return behind.waitpid(pid, status, flags);
	WAIT(WAITPID, NULL, 0, pid_t, behind.waitpid(pid, status, flags));
}

EXPORT int fsync(int fd)
{
	READY();
	WAIT(FSYNC, NULL, 0, int, behind.fsync(fd));
}

/* ---- the end of a program, where its destructors do not run ---- */

EXPORT void _exit(int status)
{
	assay_thread_recorder_end();
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT void _Exit(int status)
{
	_exit(status);
}

/* ---- for the worker ---- */

static void wait_begin(uint32_t call, const void *object)
{
	assay_thread_wait_begin(call, object, false, 0, ASSAY_HEAP_CALLER());
}

extern struct assay_threads assay_threads_v1;
EXPORT struct assay_threads assay_threads_v1 = {
	.wait_begin = wait_begin,
	.wait_sleeps = assay_thread_wait_sleeps,
	.wait_end = assay_thread_wait_end,
	.posted = assay_thread_posted,
	.watch = assay_thread_watch,
	.span_begin = assay_thread_span_begin,
	.span_end = assay_thread_span_end,
	.count = assay_thread_count,
};

/* The size says that it records. */
static __attribute__((constructor)) void begin(void)
{
	READY();
	recording = assay_thread_recorder_begin();
	assay_threads_v1.size = recording ? sizeof(assay_threads_v1) : 0;
	assay_threads_v1.spans = assay_thread_spans();
}

static __attribute__((destructor)) void end(void)
{
	assay_thread_recorder_end();
	recording = false;
}
