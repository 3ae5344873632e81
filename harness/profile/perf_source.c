/* SPDX-License-Identifier: Apache-2.0 */
/* Samples by perf_event_open(2): one ring for each CPU, an event for each thread and CPU. */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "profile/cpu_sampler.h"

/* ---- perf event ---- */

/*
 * A virtual machine may offer a counter of cycles that never counts, so an event has to tick before it is chosen. The
 * software clock needs no such test: nothing counts it but the kernel itself.
 */

#define WORK_ROUNDS 200000

static const struct assay_perf_event events[] = {
	{ "perf_event_open's cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true },
	{ "perf_event_open's cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false },
};
#define N_EVENTS (sizeof(events) / sizeof(events[0]))

const struct assay_perf_event *assay_perf_event_choose(const struct assay_perf_opener *opener)
{
	for (size_t i = 0; i < N_EVENTS; i++) {
		struct perf_event_attr a = { .type = events[i].type,
					     .size = sizeof(a),
					     .config = events[i].config,
					     .exclude_kernel = 1,
					     .exclude_hv = 1 };
		const int fd = opener->open(opener->arg, &a);
		const uint64_t count = fd < 0 ? 0 : opener->close(opener->arg, fd);

		if (fd >= 0 && (count || events[i].type == PERF_TYPE_SOFTWARE))
			return &events[i];
	}
	return NULL;
}

static int open_own(void *arg, const struct perf_event_attr *a)
{
	(void)arg;
	return (int)syscall(SYS_perf_event_open, a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t close_own(void *arg, int fd)
{
	volatile uint64_t work = 0;
	uint64_t count = 0;

	(void)arg;
	for (int i = 0; i < WORK_ROUNDS; i++)
		work += (uint64_t)i;
	(void)work;
	if (read(fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
		count = 0;
	close(fd);
	return count;
}

static const struct assay_perf_opener running_kernel = { open_own, close_own, NULL };

#define RING_PAGES       1024 /* at the least, where so many may be locked; fewer for whoever may not lock these */
#define MOST_RING_PAGES  8192
#define RING_SECONDS     0.05 /* in which all samples of a CPU fit, however deep: its reader gets no processor sooner */
#define ALL_RINGS_BYTES  (256u << 20)
#define LEAF_RING_PAGES  64
#define LEAST_RING_PAGES 16

/* The event that owns the ring of a CPU. */
struct owned_ring {
	int fd;
	struct perf_event_mmap_page *page;
	size_t mapped_bytes;
};

struct perf_state {
	const struct assay_perf_event *event;
	struct owned_ring *owned; /* one a CPU */
	bool owners_rest;         /* the events that own rings take no samples any more */
	int *fds;                 /* further events, one a thread and CPU, that write to the ring of their CPU */
	size_t n_fds;
	pid_t *tids; /* threads that have events */
	size_t n_tids;
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int open_event(const struct assay_cpu_sampler *s, pid_t tid, int cpu)
{
	const struct perf_state *k = s->state;
	struct perf_event_attr a = {
		.type = k->event->type,
		.size = sizeof(a),
		.config = k->event->config,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       (s->how.leaves ? 0 : PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER),
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
		.watermark = 1,
		.wakeup_watermark = 1u << 30, /* nobody waits for it */
	};

	if (k->event->by_frequency) {
		a.freq = 1;
		a.sample_freq = s->how.rate_hz;
	} else {
		a.sample_period = 1000000000 / s->how.rate_hz;
	}
	if (!s->how.leaves) {
		a.sample_regs_user = ASSAY_RECORD_REGISTER_MASK;
		a.sample_stack_user = s->stack_bytes;
	}
	return (int)syscall(SYS_perf_event_open, &a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int forbidden(struct assay_err *err)
{
	const int e = errno;

	if (e == EACCES || e == EPERM)
		return assay_err_set(
			err, ASSAY_EUNAVAILABLE,
			"the kernel forbids sampling programs: 'sysctl kernel.perf_event_paranoid=2', or a container "
			"that allows perf_event_open(2), permits it");
	if (e == ESRCH)
		return assay_err_set(err, ASSAY_ENOTFOUND, "the process that was to be sampled has ended");
	return assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot sample programs here: %s", strerror(e));
}

/* May as many rings of so many bytes as there are CPUs be locked? */
static bool may_lock(const struct assay_cpu_sampler *s, size_t bytes)
{
	struct rlimit limit;

	return !geteuid() || (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur / s->n_rings >= bytes);
}

/* A power of two: so many that a ring keeps what is sampled until its reader gets a processor. */
static size_t wanted_pages(const struct assay_cpu_sampler *s)
{
	const double bytes = RING_SECONDS * s->how.rate_hz * ASSAY_SAMPLE_STACK_MOST_BYTES;
	size_t pages = RING_PAGES, page = page_bytes();

	if (s->how.leaves)
		return LEAF_RING_PAGES;
	while (pages < MOST_RING_PAGES && (double)(pages * page) < bytes &&
	       2 * pages * page <= ALL_RINGS_BYTES / s->n_rings && may_lock(s, (2 * pages + 1) * page))
		pages *= 2;
	return pages;
}

static int map_ring(struct assay_cpu_sampler *s, int cpu, int fd, struct assay_err *err)
{
	struct perf_state *k = s->state;
	struct assay_sample_ring *r = &s->rings[cpu];
	const size_t page = page_bytes();

	for (size_t pages = wanted_pages(s); pages >= LEAST_RING_PAGES; pages /= 2) {
		const size_t bytes = (pages + 1) * page;
		void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		struct perf_event_mmap_page *p = at;

		if (at == MAP_FAILED)
			continue;
		k->owned[cpu] = (struct owned_ring){ fd, p, bytes };
		*r = (struct assay_sample_ring){ .head = (uint64_t *)&p->data_head,
						 .tail = (uint64_t *)&p->data_tail,
						 .data = (const unsigned char *)at + page,
						 .bytes = pages * page,
						 .leaves = s->how.leaves };
		return 0;
	}
	return assay_err_set(err, ASSAY_EUNAVAILABLE,
			     "cannot sample programs here: no memory may be locked for the samples (ulimit -l)");
}

/* The first event of a CPU brings its ring, the others write to that. */
static int add_event(struct assay_cpu_sampler *s, pid_t tid, int cpu, struct assay_err *err)
{
	struct perf_state *k = s->state;
	const bool has_ring = s->rings[cpu].head != NULL;
	int fd = open_event(s, tid, cpu), rc;
	int *grown;

	if (fd < 0) {
		/* a thread that has ended, a CPU that is off */
		if (errno == ESRCH || errno == ENODEV || errno == EINVAL)
			return has_ring || errno != ESRCH ? 0 : forbidden(err);
		return forbidden(err);
	}
	if (!has_ring) {
		rc = map_ring(s, cpu, fd, err);
		if (rc)
			close(fd);
		return rc;
	}
	grown = realloc(k->fds, (k->n_fds + 1) * sizeof(*grown));
	if (!grown || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, k->owned[cpu].fd)) {
		close(fd);
		k->fds = grown ? grown : k->fds;
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot sample a thread: %s", strerror(errno));
	}
	k->fds = grown;
	k->fds[k->n_fds++] = fd;
	return 0;
}

static int add_thread(struct assay_cpu_sampler *s, pid_t tid, struct assay_err *err)
{
	struct perf_state *k = s->state;
	int rc = 0;

	for (size_t i = 0; i < k->n_tids; i++)
		if (k->tids[i] == tid)
			return 0;
	if (assay_grow(&k->tids, k->n_tids, sizeof(*k->tids)))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a profile");
	k->tids[k->n_tids++] = tid;
	for (size_t cpu = 0; !rc && cpu < s->n_rings; cpu++)
		rc = add_event(s, tid, (int)cpu, err);
	return rc;
}

static int add_threads(struct assay_cpu_sampler *s, pid_t pid, struct assay_err *err)
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

		if (tid > 0)
			rc = add_thread(s, (pid_t)tid, err);
	}
	closedir(d);
	return rc;
}

/* A thread that one without events starts meanwhile has none, either: look until there is none. */
static int perf_attach(struct assay_cpu_sampler *s, pid_t pid, struct assay_err *err)
{
	const struct perf_state *k = s->state;
	size_t before;
	int rc;

	do {
		before = k->n_tids;
		rc = add_threads(s, pid, err);
	} while (!rc && k->n_tids > before);
	return rc == ASSAY_ENOTFOUND && before ? 0 : rc;
}

static void close_fds(struct perf_state *k, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		close(k->fds[i]);
	memmove(k->fds + from, k->fds + to, (k->n_fds - to) * sizeof(*k->fds));
	k->n_fds -= to - from;
}

static int perf_open(struct assay_cpu_sampler *s, struct assay_err *err)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct perf_state *k = calloc(1, sizeof(*k));

	s->state = k;
	if (!k || cpus < 1)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a profile");
	k->event = assay_perf_event_choose(&running_kernel);
	if (!k->event)
		return forbidden(err);
	snprintf(s->name, sizeof(s->name), "%s", k->event->name);
	s->rings = calloc((size_t)cpus, sizeof(*s->rings));
	k->owned = calloc((size_t)cpus, sizeof(*k->owned));
	if (!s->rings || !k->owned)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a profile");
	s->n_rings = (size_t)cpus;
	return 0;
}

static void perf_close(struct assay_cpu_sampler *s)
{
	struct perf_state *k = s->state;

	if (k && k->fds)
		close_fds(k, 0, k->n_fds);
	for (size_t i = 0; k && k->owned && i < s->n_rings; i++)
		if (k->owned[i].page) {
			munmap(k->owned[i].page, k->owned[i].mapped_bytes);
			close(k->owned[i].fd);
		}
	if (k) {
		free(k->fds);
		free(k->tids);
		free(k->owned);
	}
}

static void perf_enable(struct assay_cpu_sampler *s, bool on)
{
	const struct perf_state *k = s->state;
	const unsigned long what = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t i = 0; i < s->n_rings && !k->owners_rest; i++)
		if (k->owned[i].page)
			ioctl(k->owned[i].fd, what, 0);
	for (size_t i = 0; i < k->n_fds; i++)
		ioctl(k->fds[i], what, 0);
}

/* The number of bytes that an event copies cannot be changed, so another event takes its place, and its ring. */
static int perf_deepen(struct assay_cpu_sampler *s, const pid_t *pids, size_t n)
{
	struct perf_state *k = s->state;
	const size_t before = k->n_fds;
	int rc = 0;

	k->n_tids = 0;
	for (size_t i = 0; i < n && (!rc || rc == ASSAY_ENOTFOUND); i++)
		rc = perf_attach(s, pids[i], NULL);
	if ((rc && rc != ASSAY_ENOTFOUND) || k->n_fds == before) {
		close_fds(k, before, k->n_fds);
		return rc ? rc : ASSAY_ENOTFOUND;
	}
	perf_enable(s, false);
	k->owners_rest = true;
	close_fds(k, 0, before);
	if (s->on)
		perf_enable(s, true);
	return 0;
}

const struct assay_cpu_source assay_perf_source = { .open = perf_open,
						    .attach = perf_attach,
						    .enable = perf_enable,
						    .deepen = perf_deepen,
						    .close = perf_close,
						    .pauses_free = true };
