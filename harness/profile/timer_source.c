/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples by timers, for where perf_event_open(2) is forbidden: an object that is preloaded into the process writes
 * them (counters/preload/timer_sampler.c), into a file of memory that both map. The process opens it through this
 * one's folder in /proc, so that it has no name that would be left behind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "counters/preloaded.h"
#include "profile/cpu_sampler.h"

#define FILE_BYTES                                                                                                     \
	(ASSAY_TIMER_HEAD_BYTES + (size_t)ASSAY_TIMER_RINGS * (ASSAY_TIMER_HEAD_BYTES + ASSAY_TIMER_RING_BYTES))
#define MOST_HZ 9973 /* a signal costs some microseconds */
#define LIBRARY "lib/assay/assay-timers.so"

struct timer_state {
	struct assay_timer_file *file; /* NULL: none is mapped */
	int fd;
	char preload[8400], rings[64];
};

static int find_library(char *path, size_t size, struct assay_err *err)
{
	char dir[4096];
	int rc;

	if (ASSAY_SANITIZED_HEAP)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "a sanitizer must come first: build without SANITIZE");
	rc = assay_file_exe_dir(dir, sizeof(dir), err);
	if (rc)
		return rc;
	snprintf(path, size, "%.4000s/../" LIBRARY, dir);
	if (strpbrk(path, " :"))
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "'%s' has a space or colon and cannot be preloaded",
				     path);
	if (!assay_file_exists(path))
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "there is no '%s': make builds it", path);
	return 0;
}

static int map_rings(struct assay_cpu_sampler *s, struct assay_err *err)
{
	struct timer_state *k = s->state;
	void *at;

	k->fd = memfd_create("assay-timers", MFD_CLOEXEC);
	if (k->fd < 0 || ftruncate(k->fd, (off_t)FILE_BYTES))
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "not enough memory for their samples");
	at = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, k->fd, 0);
	if (at == MAP_FAILED)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "not enough memory for their samples");
	k->file = at;
	if (s->how.rate_hz > MOST_HZ)
		s->how.rate_hz = MOST_HZ;
	*k->file = (struct assay_timer_file){ .magic = ASSAY_TIMER_MAGIC,
					      .period_ns = 1000000000 / s->how.rate_hz,
					      .cpu_clock = !s->how.own_case,
					      .leaves = s->how.leaves,
					      .stack_bytes = s->stack_bytes };
	s->rings = calloc(ASSAY_TIMER_RINGS, sizeof(*s->rings));
	if (!s->rings)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a profile");
	s->n_rings = ASSAY_TIMER_RINGS;
	for (size_t i = 0; i < s->n_rings; i++) {
		unsigned char *p = (unsigned char *)at + ASSAY_TIMER_HEAD_BYTES +
				   i * (ASSAY_TIMER_HEAD_BYTES + ASSAY_TIMER_RING_BYTES);
		struct assay_timer_ring *r = (void *)p;

		s->rings[i] = (struct assay_sample_ring){ .head = &r->head,
							  .tail = &r->tail,
							  .data = p + ASSAY_TIMER_HEAD_BYTES,
							  .bytes = ASSAY_TIMER_RING_BYTES };
	}
	return 0;
}

static int timer_open(struct assay_cpu_sampler *s, struct assay_err *err)
{
	const char *users = getenv("LD_PRELOAD");
	struct timer_state *k = calloc(1, sizeof(*k));
	char path[4200];
	int rc;

	s->state = k;
	if (!k)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a profile");
	k->fd = -1;
	rc = find_library(path, sizeof(path), err);
	if (!rc)
		rc = map_rings(s, err);
	if (rc)
		return rc;
	snprintf(k->preload, sizeof(k->preload), "LD_PRELOAD=%s%s%.4000s", path, users ? ":" : "", users ? users : "");
	snprintf(k->rings, sizeof(k->rings), ASSAY_TIMER_RING_ENV "=/proc/%d/fd/%d", (int)getpid(), k->fd);
	s->environment[0] = k->preload;
	s->environment[1] = k->rings;
	snprintf(s->name, sizeof(s->name), "%s",
		 s->how.own_case ? "a timer for each thread; perf_event_open is forbidden"
				 : "a timer of each thread's CPU time; perf_event_open is forbidden");
	return 0;
}

static int timer_attach(struct assay_cpu_sampler *s, pid_t pid, struct assay_err *err)
{
	(void)s;
	(void)pid;
	(void)err;
	return 0;
}

static int timer_deepen(struct assay_cpu_sampler *s, const pid_t *pids, size_t n)
{
	struct timer_state *k = s->state;

	(void)pids;
	(void)n;
	__atomic_store_n(&k->file->stack_bytes, s->stack_bytes, __ATOMIC_RELAXED);
	return 0;
}

static void timer_enable(struct assay_cpu_sampler *s, bool on)
{
	struct timer_state *k = s->state;

	__atomic_store_n(&k->file->on, on, __ATOMIC_RELAXED);
}

static void timer_close(struct assay_cpu_sampler *s)
{
	struct timer_state *k = s->state;

	if (!k)
		return;
	if (k->file)
		munmap(k->file, FILE_BYTES);
	if (k->fd >= 0)
		close(k->fd);
}

static uint64_t timer_lost(const struct assay_cpu_sampler *s)
{
	const struct timer_state *k = s->state;

	return __atomic_load_n(&k->file->lost, __ATOMIC_RELAXED);
}

static double timer_rate_hz(const struct assay_cpu_sampler *s)
{
	const struct timer_state *k = s->state;
	const double taken = (double)__atomic_load_n(&k->file->taken, __ATOMIC_RELAXED);
	const double missed = (double)__atomic_load_n(&k->file->missed, __ATOMIC_RELAXED);

	return taken > 0 ? s->how.rate_hz * taken / (taken + missed) : s->how.rate_hz;
}

static const char *timer_absent(const struct assay_cpu_sampler *s)
{
	const struct timer_state *k = s->state;

	return __atomic_load_n(&k->file->threads, __ATOMIC_RELAXED)
		       ? NULL
		       : "no timer could be preloaded into it, as it is linked statically, or changes its user";
}

const struct assay_cpu_source assay_timer_source = { .open = timer_open,
						     .attach = timer_attach,
						     .enable = timer_enable,
						     .deepen = timer_deepen,
						     .close = timer_close,
						     .lost = timer_lost,
						     .rate_hz = timer_rate_hz,
						     .absent = timer_absent };
