/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of the threads of a process that has this preloaded: a timer for each sends SIGPROF, whose handler writes
 * registers and the top of the stack as a record into the ring of its thread (counters/sample_record.h). For where
 * perf_event_open(2) is forbidden; nothing happens unless the environment names the file of the rings.
 *
 * The handler calls nothing but clock_gettime(2) and memcpy. By the time of day, a timer fires at the rate that was
 * asked for, also while its thread waits or another has its processor: then it takes no sample, for a sample is due
 * when the thread has used a period of CPU time. By CPU time, timers leave waiting threads alone, and fire at most once
 * a tick of the kernel.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "counters/sample_record.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define FILE_BYTES                                                                                                     \
	(ASSAY_TIMER_HEAD_BYTES + (size_t)ASSAY_TIMER_RINGS * (ASSAY_TIMER_HEAD_BYTES + ASSAY_TIMER_RING_BYTES))
#define LOCAL __attribute__((tls_model("initial-exec")))

static struct assay_timer_file *file;

/* Of a thread. */
static __thread LOCAL struct assay_timer_ring *ring;
static __thread LOCAL timer_t timer;
static __thread LOCAL uintptr_t stack_end;
static __thread LOCAL uint64_t used_ns, due_ns; /* CPU time at the last signal, and that no sample stands for yet */

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

static unsigned char *data_of(struct assay_timer_ring *r)
{
	return (unsigned char *)r + ASSAY_TIMER_HEAD_BYTES;
}

/* A writer of one record: it becomes visible as a whole. */
struct writer {
	uint64_t at;
	struct perf_event_header h;
};

static void put(struct writer *w, const void *bytes, size_t n)
{
	const size_t at = (size_t)(w->at & (ASSAY_TIMER_RING_BYTES - 1)), left = ASSAY_TIMER_RING_BYTES - at;

	memcpy(data_of(ring) + at, bytes, n < left ? n : left);
	if (n > left)
		memcpy(data_of(ring), (const unsigned char *)bytes + left, n - left);
	w->at += n;
}

static void put_u64(struct writer *w, uint64_t v)
{
	put(w, &v, sizeof(v));
}

/* False where there is no room, which is counted. */
static bool begin(struct writer *w, uint32_t type, uint16_t misc, size_t bytes)
{
	w->h = (struct perf_event_header){ .type = type, .misc = misc, .size = (uint16_t)bytes };
	w->at = ring->head;
	if (ring->head + bytes - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) > ASSAY_TIMER_RING_BYTES) {
		__atomic_add_fetch(&file->lost, 1, __ATOMIC_RELAXED);
		return false;
	}
	put(w, &w->h, sizeof(w->h));
	return true;
}

static void end(const struct writer *w)
{
	__atomic_store_n(&ring->head, w->at, __ATOMIC_RELEASE);
}

static uint64_t ids(void)
{
	return (uint64_t)(uint32_t)getpid() | (uint64_t)(uint32_t)syscall(SYS_gettid) << 32;
}

#if defined(__x86_64__)
static void put_registers(struct writer *w, const ucontext_t *u)
{
	static const int in_order[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_RIP,
					REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

	for (size_t i = 0; i < sizeof(in_order) / sizeof(in_order[0]); i++)
		put_u64(w, (uint64_t)u->uc_mcontext.gregs[in_order[i]]);
}
#define CONTEXT_IP(u) ((uintptr_t)(u)->uc_mcontext.gregs[REG_RIP])
#define CONTEXT_SP(u) ((uintptr_t)(u)->uc_mcontext.gregs[REG_RSP])
#elif defined(__aarch64__)
static void put_registers(struct writer *w, const ucontext_t *u)
{
	for (size_t i = 0; i < 31; i++)
		put_u64(w, u->uc_mcontext.regs[i]);
	put_u64(w, u->uc_mcontext.sp);
	put_u64(w, u->uc_mcontext.pc);
}
#define CONTEXT_IP(u) ((uintptr_t)(u)->uc_mcontext.pc)
#define CONTEXT_SP(u) ((uintptr_t)(u)->uc_mcontext.sp)
#else
static void put_registers(struct writer *w, const ucontext_t *u)
{
	(void)w;
	(void)u;
}
#define CONTEXT_IP(u) ((uintptr_t)(u))
#define CONTEXT_SP(u) ((uintptr_t)(u))
#endif

/* struct { header; u64 ip; u32 pid, tid; u64 time; u64 abi; u64 regs[]; u64 size; char data[size]; u64 dyn_size; } */
static void write_sample(const ucontext_t *u)
{
	const uintptr_t sp = CONTEXT_SP(u);
	const size_t most = __atomic_load_n(&file->stack_bytes, __ATOMIC_RELAXED);
	size_t stack = sp < stack_end ? stack_end - sp : 0; /* on a stack that is not the thread's: none */
	struct writer w;

	if (stack > most)
		stack = most;
	stack = file->leaves ? 0 : stack & ~(size_t)7;
	if (!begin(&w, PERF_RECORD_SAMPLE, 0,
		   sizeof(struct perf_event_header) + 8 * (6 + ASSAY_RECORD_REGISTERS) + stack))
		return;
	put_u64(&w, CONTEXT_IP(u));
	put_u64(&w, ids());
	put_u64(&w, now_ns(CLOCK_MONOTONIC));
	put_u64(&w, PERF_SAMPLE_REGS_ABI_64);
	put_registers(&w, u);
	put_u64(&w, stack);
	put(&w, (const void *)sp, stack);
	put_u64(&w, stack);
	end(&w);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	const int kept = errno;
	uint64_t used;

	(void)number;
	if (!ring || !file || info->si_code != SI_TIMER)
		return;
	used = now_ns(CLOCK_THREAD_CPUTIME_ID);
	due_ns += used - used_ns;
	used_ns = used;
	if (!__atomic_load_n(&file->on, __ATOMIC_RELAXED)) {
		due_ns = 0;
	} else if (file->cpu_clock || due_ns >= file->period_ns) {
		/* one sample at a time: the rest is lost to whoever had the processor */
		due_ns = file->cpu_clock || due_ns > 2 * file->period_ns ? 0 : due_ns - file->period_ns;
		__atomic_add_fetch(&file->taken, 1, __ATOMIC_RELAXED);
		if (file->cpu_clock && info->si_overrun > 0)
			__atomic_add_fetch(&file->missed, (uint64_t)info->si_overrun, __ATOMIC_RELAXED);
		write_sample(context);
	}
	errno = kept;
}

/* ---- what is told of the process -------------------------------------------------------------------------------- */

/* struct { header; u32 pid, tid; char comm[8]; u32 pid, tid; u64 time; } */
static void write_exec(void)
{
	struct writer w;

	if (!begin(&w, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof(struct perf_event_header) + 32))
		return;
	put_u64(&w, ids());
	put_u64(&w, 0);
	put_u64(&w, ids());
	put_u64(&w, now_ns(CLOCK_MONOTONIC));
	end(&w);
}

/* struct { header; u32 pid, ppid; u32 tid, ptid; u64 time; u32 pid, tid; u64 time; } */
static void write_fork(pid_t parent)
{
	const uint64_t both = (uint64_t)(uint32_t)getpid() | (uint64_t)(uint32_t)parent << 32;
	struct writer w;

	if (!begin(&w, PERF_RECORD_FORK, 0, sizeof(struct perf_event_header) + 40))
		return;
	put_u64(&w, both);
	put_u64(&w, both);
	put_u64(&w, now_ns(CLOCK_MONOTONIC));
	put_u64(&w, ids());
	put_u64(&w, now_ns(CLOCK_MONOTONIC));
	end(&w);
}

/* struct { header; u32 pid, tid; u64 addr, len, pgoff, device, inode, gen; u32 prot, flags; char name[]; … } */
static void write_mapped(const char *path, uint64_t start, uint64_t bytes, uint64_t offset)
{
	char name[1024] = { 0 };
	size_t length;
	struct writer w;

	snprintf(name, sizeof(name), "%s", path);
	length = (strlen(name) + 8) & ~(size_t)7;
	if (!begin(&w, PERF_RECORD_MMAP2, 0, sizeof(struct perf_event_header) + 8 * 8 + length + 16))
		return;
	put_u64(&w, ids());
	put_u64(&w, start);
	put_u64(&w, bytes);
	put_u64(&w, offset);
	for (int i = 0; i < 4; i++)
		put_u64(&w, 0);
	put(&w, name, length);
	put_u64(&w, ids());
	put_u64(&w, now_ns(CLOCK_MONOTONIC));
	end(&w);
}

/* Of the program and each library the parts that are executed. */
static int write_object(struct dl_phdr_info *o, size_t size, void *unused)
{
	char path[1024] = "";
	ssize_t n;

	(void)size;
	(void)unused;
	snprintf(path, sizeof(path), "%s", o->dlpi_name);
	if (!path[0]) {
		n = readlink("/proc/self/exe", path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = '\0';
	}
	for (size_t i = 0; path[0] == '/' && i < o->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &o->dlpi_phdr[i];
		const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), before = h->p_vaddr & (page - 1);

		if (h->p_type == PT_LOAD && h->p_flags & PF_X)
			write_mapped(path, o->dlpi_addr + h->p_vaddr - before, h->p_memsz + before,
				     h->p_offset - before);
	}
	return 0;
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

/* A ring that is free, or that this thread had before it began another program. */
static struct assay_timer_ring *take_ring(void)
{
	const uint32_t self = (uint32_t)syscall(SYS_gettid);

	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < ASSAY_TIMER_RINGS; i++) {
			struct assay_timer_ring *r = (void *)((unsigned char *)file + ASSAY_TIMER_HEAD_BYTES +
							      i * (ASSAY_TIMER_HEAD_BYTES + ASSAY_TIMER_RING_BYTES));
			uint32_t none = pass ? 0 : self;

			if (__atomic_compare_exchange_n(&r->owner, &none, self, false, __ATOMIC_ACQ_REL,
							__ATOMIC_RELAXED))
				return r;
		}
	__atomic_add_fetch(&file->lost, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void find_stack(void)
{
	pthread_attr_t a;
	void *low;
	size_t bytes;

	stack_end = 0;
	if (pthread_getattr_np(pthread_self(), &a))
		return;
	if (!pthread_attr_getstack(&a, &low, &bytes))
		stack_end = (uintptr_t)low + bytes;
	pthread_attr_destroy(&a);
}

static void start_timer(void)
{
	struct sigevent e = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };
	const long period = (long)file->period_ns;
	const struct itimerspec every = { { period / 1000000000, period % 1000000000 },
					  { period / 1000000000, period % 1000000000 } };

	e.sigev_notify_thread_id = (int)syscall(SYS_gettid);
	find_stack();
	used_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	due_ns = 0;
	if (timer_create(file->cpu_clock ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &e, &timer)) {
		__atomic_store_n(&ring->owner, 0, __ATOMIC_RELEASE);
		ring = NULL;
		return;
	}
	__atomic_add_fetch(&file->threads, 1, __ATOMIC_RELAXED);
	timer_settime(timer, 0, &every, NULL);
}

static void thread_ends(void *unused)
{
	struct assay_timer_ring *r = ring;

	(void)unused;
	if (!r)
		return;
	timer_delete(timer);
	ring = NULL;
	__atomic_store_n(&r->owner, 0, __ATOMIC_RELEASE);
}

struct start {
	void *(*run)(void *arg);
	void *arg;
};

static void *run_thread(void *given)
{
	const struct start s = *(struct start *)given;
	void *result;

	free(given);
	ring = take_ring();
	if (ring)
		start_timer();
	pthread_cleanup_push(thread_ends, NULL);
	result = s.run(s.arg);
	pthread_cleanup_pop(1);
	return result;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
							  void *(*run)(void *), void *arg)
{
	static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct start *s;
	int rc;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	if (!file)
		return next(thread, attr, run, arg);
	s = malloc(sizeof(*s));
	if (!s)
		return EAGAIN;
	*s = (struct start){ run, arg };
	rc = next(thread, attr, run_thread, s);
	if (rc)
		free(s);
	return rc;
}

/* Timers stay with the parent. */
static pid_t parent;

static void before_fork(void)
{
	parent = getpid();
}

static void in_child(void)
{
	ring = NULL;
	if (!file)
		return;
	ring = take_ring();
	if (!ring)
		return;
	write_fork(parent);
	start_timer();
}

__attribute__((constructor)) static void begin_process(void)
{
	const char *path = getenv(ASSAY_TIMER_RING_ENV);
	struct sigaction how = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct stat st;
	void *at;
	int fd;

	if (!path || !ASSAY_RECORD_REGISTERS)
		return;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &st) || st.st_size != (off_t)FILE_BYTES) {
		close(fd);
		return;
	}
	at = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return;
	file = at;
	if (file->magic != ASSAY_TIMER_MAGIC) {
		munmap(at, FILE_BYTES);
		file = NULL;
		return;
	}
	sigemptyset(&how.sa_mask);
	sigaction(SIGPROF, &how, NULL);
	pthread_atfork(before_fork, NULL, in_child);
	ring = take_ring();
	if (ring) {
		write_exec();
		dl_iterate_phdr(write_object, NULL);
		start_timer();
	}
}
