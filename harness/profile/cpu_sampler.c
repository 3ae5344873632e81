/* SPDX-License-Identifier: Apache-2.0 */
/* See perf_event_open(2) for the layout of records and rings. */
#include "profile/cpu_sampler.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES      8192 /* kernels keep tiles on the stack: 1 KiB does not reach their callers */
#define RING_PAGES       1024 /* as many as may be locked; fewer for whoever may not lock these */
#define LEAST_RING_PAGES 16
#define RECORD_BYTES     (STACK_BYTES + 512)

/* The registers of the kernel (asm/perf_regs.h) in the order of DWARF's numbers; the last is the program counter. */
#if defined(__x86_64__)
enum { N_REGISTERS = 17, SP_NUMBER = 7 };
#define REGISTER_MASK 0xff01ffull
/* The kernel: ax bx cx dx si di bp sp ip, and r8 to r15 from bit 16 on. DWARF: ax dx cx bx si di bp sp r8 … r15 ip. */
static const unsigned char dwarf_order[N_REGISTERS] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8 };
#elif defined(__aarch64__)
enum { N_REGISTERS = 33, SP_NUMBER = 31 };
#define REGISTER_MASK 0x1ffffffffull
static const unsigned char dwarf_order[N_REGISTERS] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
							11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
							22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };
#else
enum { N_REGISTERS = 0, SP_NUMBER = 0 };
#define REGISTER_MASK 0ull
static const unsigned char dwarf_order[1];
#endif

struct ring {
	int fd; /* the event that owns it */
	struct perf_event_mmap_page *page;
	size_t bytes;        /* of the data, a power of two */
	uint64_t head;       /* to where this drain goes */
	uint64_t next;       /* of its first pass: the next record of a process, */
	uint64_t next_ns;    /* and when that happened; UINT64_MAX: there is none */
	unsigned char *copy; /* of a record that goes round the end */
};

struct assay_cpu_sampler {
	struct ring *rings; /* one a CPU */
	size_t n_rings;
	int *fds; /* further events, one a thread and CPU, that write to the ring of their CPU */
	size_t n_fds;
	unsigned rate_hz;
	uint64_t lost;
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int open_event(pid_t tid, int cpu, unsigned rate_hz)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000 / rate_hz,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.disabled = 1,
		.inherit = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1, /* every record ends with pid, tid and time */
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.exclude_callchain_kernel = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.sample_regs_user = REGISTER_MASK,
		.sample_stack_user = STACK_BYTES,
		.watermark = 1,
		.wakeup_watermark = 1u << 30, /* nobody waits for it */
	};

	return (int)syscall(SYS_perf_event_open, &a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int forbidden(struct assay_err *err)
{
	const int e = errno;

	if (e == EACCES || e == EPERM)
		return assay_err_set(
			err, ASSAY_EUNAVAILABLE,
			"the kernel forbids to sample programs: 'sysctl kernel.perf_event_paranoid=2', or a container "
			"that allows perf_event_open(2), permits it");
	if (e == ESRCH)
		return assay_err_set(err, ASSAY_ENOTFOUND, "the process that was to be sampled has ended");
	return assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot sample programs here: %s", strerror(e));
}

static int map_ring(struct ring *r, int fd, struct assay_err *err)
{
	const size_t page = page_bytes();

	for (size_t pages = RING_PAGES; pages >= LEAST_RING_PAGES; pages /= 2) {
		void *at = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (at == MAP_FAILED)
			continue;
		r->page = at;
		r->bytes = pages * page;
		return 0;
	}
	return assay_err_set(err, ASSAY_EUNAVAILABLE,
			     "cannot sample programs here: no memory may be locked for the samples (ulimit -l)");
}

/* The first event of a CPU brings its ring, the others write to that. */
static int add_event(struct assay_cpu_sampler *s, pid_t tid, int cpu, struct assay_err *err)
{
	struct ring *r = &s->rings[cpu];
	int fd = open_event(tid, cpu, s->rate_hz), rc;
	int *grown;

	if (fd < 0) {
		/* a thread that has ended, a CPU that is off */
		if (errno == ESRCH || errno == ENODEV || errno == EINVAL)
			return r->page || errno != ESRCH ? 0 : forbidden(err);
		return forbidden(err);
	}
	if (!r->page) {
		rc = map_ring(r, fd, err);
		if (rc) {
			close(fd);
			return rc;
		}
		r->fd = fd;
		return 0;
	}
	grown = realloc(s->fds, (s->n_fds + 1) * sizeof(*grown));
	if (!grown || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd)) {
		close(fd);
		s->fds = grown ? grown : s->fds;
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot sample a thread: %s", strerror(errno));
	}
	s->fds = grown;
	s->fds[s->n_fds++] = fd;
	return 0;
}

static int attach(struct assay_cpu_sampler *s, pid_t pid, struct assay_err *err)
{
	char path[64];
	struct dirent *e;
	int rc = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d)
		return assay_err_set(err, ASSAY_ENOTFOUND, "the process that was to be sampled has ended");
	while (!rc && (e = readdir(d))) {
		const long tid = strtol(e->d_name, NULL, 10);

		for (size_t cpu = 0; !rc && tid > 0 && cpu < s->n_rings; cpu++)
			rc = add_event(s, (pid_t)tid, (int)cpu, err);
	}
	closedir(d);
	return rc;
}

int assay_cpu_sampler_open(struct assay_cpu_sampler **out, pid_t pid, unsigned rate_hz, struct assay_err *err)
{
	struct assay_cpu_sampler *s;
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int rc;

	if (!N_REGISTERS)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "programs of this architecture cannot be sampled");
	s = calloc(1, sizeof(*s));
	if (!s || cpus < 1)
		goto no_memory;
	s->rate_hz = rate_hz;
	s->rings = calloc((size_t)cpus, sizeof(*s->rings));
	if (!s->rings)
		goto no_memory;
	s->n_rings = (size_t)cpus;
	for (size_t i = 0; i < s->n_rings; i++)
		s->rings[i] = (struct ring){ .fd = -1 };
	rc = attach(s, pid, err);
	if (rc) {
		assay_cpu_sampler_close(s);
		return rc;
	}
	*out = s;
	return 0;
no_memory:
	assay_cpu_sampler_close(s);
	return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a profile");
}

void assay_cpu_sampler_close(struct assay_cpu_sampler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_fds; i++)
		close(s->fds[i]);
	for (size_t i = 0; i < s->n_rings; i++) {
		if (s->rings[i].page)
			munmap(s->rings[i].page, s->rings[i].bytes + page_bytes());
		if (s->rings[i].fd >= 0)
			close(s->rings[i].fd);
		free(s->rings[i].copy);
	}
	free(s->fds);
	free(s->rings);
	free(s);
}

static void all(const struct assay_cpu_sampler *s, unsigned long what)
{
	for (size_t i = 0; i < s->n_rings; i++)
		if (s->rings[i].fd >= 0)
			ioctl(s->rings[i].fd, what, 0);
	for (size_t i = 0; i < s->n_fds; i++)
		ioctl(s->fds[i], what, 0);
}

void assay_cpu_sampler_go(struct assay_cpu_sampler *s)
{
	all(s, PERF_EVENT_IOC_ENABLE);
}

void assay_cpu_sampler_pause(struct assay_cpu_sampler *s)
{
	all(s, PERF_EVENT_IOC_DISABLE);
}

/* A reader of one record; past its end it reads zeros. */
struct cursor {
	const unsigned char *at, *end;
};

static uint64_t read_u64(struct cursor *c)
{
	uint64_t v = 0;

	if ((size_t)(c->end - c->at) < sizeof(v)) {
		c->at = c->end;
		return 0;
	}
	memcpy(&v, c->at, sizeof(v));
	c->at += sizeof(v);
	return v;
}

/* struct { header; u64 ip; u32 pid, tid; u64 time; u64 abi; u64 regs[]; u64 size; char data[size]; u64 dyn_size; } */
static bool read_sample(struct cursor c, struct assay_cpu_sample *out)
{
	uint64_t ids, given[64] = { 0 }, bytes;

	out->ip = read_u64(&c);
	ids = read_u64(&c);
	out->pid = (pid_t)(uint32_t)ids;
	out->tid = (pid_t)(uint32_t)(ids >> 32);
	out->time_ns = read_u64(&c);
	out->stack = NULL;
	out->stack_bytes = 0;
	if (read_u64(&c) != PERF_SAMPLE_REGS_ABI_64)
		return false;
	for (unsigned bit = 0; bit < 64; bit++)
		if (REGISTER_MASK >> bit & 1)
			given[bit] = read_u64(&c);
	for (unsigned i = 0; i < N_REGISTERS; i++)
		out->registers[i] = given[dwarf_order[i]];
	out->sp = out->registers[SP_NUMBER];
	bytes = read_u64(&c);
	if (bytes && bytes + sizeof(uint64_t) <= (size_t)(c.end - c.at)) {
		out->stack = c.at;
		c.at += bytes;
		out->stack_bytes = (size_t)read_u64(&c);
		if (out->stack_bytes > bytes)
			out->stack_bytes = 0;
	}
	return true;
}

static const unsigned char *record_at(struct ring *r, uint64_t tail, struct perf_event_header *h)
{
	const unsigned char *data = (const unsigned char *)r->page + page_bytes();
	const size_t at = (size_t)(tail & (r->bytes - 1)), left = r->bytes - at;

	memcpy(h, data + at, sizeof(*h)); /* records are aligned to 8 bytes: a header never goes round */
	if (h->size <= left)
		return data + at;
	if (!r->copy)
		r->copy = malloc(UINT16_MAX + 1);
	if (!r->copy)
		return NULL;
	memcpy(r->copy, data + at, left);
	memcpy(r->copy + left, data, h->size - left);
	return r->copy;
}

/* struct { header; u32 pid, tid; u64 addr, len, pgoff; u32 maj, min; u64 ino, gen; u32 prot, flags; char name[] } */
static void tell_mapped(struct cursor c, const struct assay_cpu_listener *l)
{
	const pid_t pid = (pid_t)(uint32_t)read_u64(&c);
	const uint64_t start = read_u64(&c), bytes = read_u64(&c), offset = read_u64(&c);

	for (int i = 0; i < 4; i++)
		read_u64(&c);
	if (c.at < c.end && memchr(c.at, '\0', (size_t)(c.end - c.at)))
		l->mapped(l->arg, pid, (const char *)c.at, start, bytes, offset);
}

/* struct { header; u32 pid, ppid; u32 tid, ptid; u64 time; }: threads are no new processes. */
static void tell_forked(struct cursor c, const struct assay_cpu_listener *l)
{
	const uint64_t ids = read_u64(&c);
	const pid_t pid = (pid_t)(uint32_t)ids, parent = (pid_t)(uint32_t)(ids >> 32);

	if (pid != parent)
		l->forked(l->arg, parent, pid);
}

static void tell_process(const struct perf_event_header *h, struct cursor c, const struct assay_cpu_listener *l)
{
	if (h->type == PERF_RECORD_MMAP2)
		tell_mapped(c, l);
	else if (h->type == PERF_RECORD_FORK)
		tell_forked(c, l);
	else if (h->type == PERF_RECORD_COMM && h->misc & PERF_RECORD_MISC_COMM_EXEC)
		l->executed(l->arg, (pid_t)(uint32_t)read_u64(&c));
}

static void tell_sample(struct assay_cpu_sampler *s, const struct perf_event_header *h, struct cursor c,
			const struct assay_cpu_listener *l)
{
	struct assay_cpu_sample sample;

	if (h->type == PERF_RECORD_LOST) {
		read_u64(&c); /* id */
		s->lost += read_u64(&c);
	} else if (h->type == PERF_RECORD_SAMPLE && read_sample(c, &sample)) {
		l->sampled(l->arg, &sample);
	}
}

/* The record at @at of the ring, with a cursor past its header; false for nonsense, or where there is no memory. */
static bool read_record(struct ring *r, uint64_t at, struct perf_event_header *h, struct cursor *c)
{
	const unsigned char *p = record_at(r, at, h);

	if (!p || h->size < sizeof(*h))
		return false;
	*c = (struct cursor){ p + sizeof(*h), p + h->size };
	return true;
}

/* From r->next on. */
static void find_process(struct ring *r)
{
	struct perf_event_header h;
	struct cursor c;

	for (; r->next < r->head && read_record(r, r->next, &h, &c); r->next += h.size)
		if (h.type == PERF_RECORD_MMAP2 || h.type == PERF_RECORD_FORK || h.type == PERF_RECORD_COMM) {
			c.at = c.end - sizeof(uint64_t);
			r->next_ns = read_u64(&c);
			return;
		}
	r->next_ns = UINT64_MAX;
}

/* A program may begin another on another CPU: what happened to processes is told in order of time. */
static void drain_processes(struct assay_cpu_sampler *s, const struct assay_cpu_listener *l)
{
	struct perf_event_header h;
	struct cursor c;

	for (;;) {
		struct ring *first = NULL;

		for (size_t i = 0; i < s->n_rings; i++)
			if (s->rings[i].page && s->rings[i].next_ns != UINT64_MAX &&
			    (!first || s->rings[i].next_ns < first->next_ns))
				first = &s->rings[i];
		if (!first || !read_record(first, first->next, &h, &c))
			return;
		tell_process(&h, c, l);
		first->next += h.size;
		find_process(first);
	}
}

/* What was read is given back. */
static void drain_samples(struct assay_cpu_sampler *s, struct ring *r, const struct assay_cpu_listener *l)
{
	uint64_t tail = r->page->data_tail;
	struct perf_event_header h;
	struct cursor c;

	for (; tail < r->head && read_record(r, tail, &h, &c); tail += h.size)
		tell_sample(s, &h, c, l);
	s->lost += tail < r->head;
	__atomic_store_n(&r->page->data_tail, r->head, __ATOMIC_RELEASE);
}

void assay_cpu_sampler_drain(struct assay_cpu_sampler *s, const struct assay_cpu_listener *l)
{
	for (size_t i = 0; i < s->n_rings; i++) {
		struct ring *r = &s->rings[i];

		if (!r->page)
			continue;
		r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
		r->next = r->page->data_tail;
		find_process(r);
	}
	drain_processes(s, l);
	for (size_t i = 0; i < s->n_rings; i++)
		if (s->rings[i].page)
			drain_samples(s, &s->rings[i], l);
}

uint64_t assay_cpu_sampler_patience_ns(const struct assay_cpu_sampler *s)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < s->n_rings; i++) {
		const uint64_t ns = s->rings[i].bytes / RECORD_BYTES / 2 * 1000000000 / s->rate_hz;

		if (s->rings[i].page && ns < least)
			least = ns;
	}
	return least;
}

uint64_t assay_cpu_sampler_lost(const struct assay_cpu_sampler *s)
{
	return s->lost;
}
