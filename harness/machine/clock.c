/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the clock: the TSC where it proves to be a clock, CLOCK_MONOTONIC_RAW elsewhere. */
#include "machine/clock.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define PROOF_READS    4000
#define MAX_SPINS      2000000 /* reads of a clock that has not ticked yet; CLOCK_MONOTONIC_RAW ticks every few */
#define WINDOW_NS      10000000
#define ANCHOR_TRIES   32
#define RATE_TRIES     4
#define RATE_TOLERANCE 100e-6
#define BATCH          64
#define BATCHES        65
#define MAX_HOPS       256

const char *assay_clock_source_name(enum assay_clock_source s)
{
	switch (s) {
	case ASSAY_CLOCK_MONOTONIC_RAW:
		return "CLOCK_MONOTONIC_RAW";
	case ASSAY_CLOCK_TSC:
		return "TSC";
	}
	return "unknown";
}

uint64_t assay_clock_unix_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int assay_clock_prove(assay_clock_read_fn read, void *arg, uint64_t *step, struct assay_err *err)
{
	uint64_t before = read(arg), smallest = UINT64_MAX;
	unsigned steps = 0;

	for (unsigned spins = 0; steps < PROOF_READS && spins < MAX_SPINS; spins++) {
		uint64_t t = read(arg);

		if (t < before)
			return assay_err_set(err, ASSAY_EUNAVAILABLE, "clock went back by %llu ticks",
					     (unsigned long long)(before - t));
		if (t > before) {
			steps++;
			if (t - before < smallest)
				smallest = t - before;
		}
		before = t;
	}
	if (!steps)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "the clock does not advance");
	*step = smallest;
	return 0;
}

bool assay_clock_rate(const struct assay_clock_anchor a[3], double tolerance_frac, double *ns_per_tick,
		      double *drift_ppm)
{
	double first, second, off;

	if (a[1].ticks <= a[0].ticks || a[2].ticks <= a[1].ticks || a[1].raw_ns <= a[0].raw_ns ||
	    a[2].raw_ns <= a[1].raw_ns)
		return false;
	first = (double)(a[1].raw_ns - a[0].raw_ns) / (double)(a[1].ticks - a[0].ticks);
	second = (double)(a[2].raw_ns - a[1].raw_ns) / (double)(a[2].ticks - a[1].ticks);
	off = second / first - 1.0;
	*drift_ppm = off * 1e6;
	*ns_per_tick = (double)(a[2].raw_ns - a[0].raw_ns) / (double)(a[2].ticks - a[0].ticks);
	return off < tolerance_frac && off > -tolerance_frac;
}

static uint64_t read_clock(void *arg)
{
	return assay_clock_ticks(arg);
}

static int compare_u64(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* Median over batches of back-to-back reads: what one read costs the timed region. */
static double measure_overhead_ns(const struct assay_clock *c)
{
	uint64_t batch[BATCHES];

	for (int i = 0; i < BATCHES; i++) {
		uint64_t start = assay_clock_ticks(c), end = start;

		for (int j = 0; j < BATCH; j++)
			end = assay_clock_ticks(c);
		batch[i] = end - start;
	}
	qsort(batch, BATCHES, sizeof(batch[0]), compare_u64);
	return (double)batch[BATCHES / 2] * c->ns_per_tick / BATCH;
}

static int prove(struct assay_clock *c, struct assay_err *err)
{
	uint64_t step = 0;
	int rc = assay_clock_prove(read_clock, c, &step, err);

	if (rc)
		return rc;
	c->resolution_ns = (double)step * c->ns_per_tick;
	c->overhead_ns = measure_overhead_ns(c);
	return 0;
}

#if defined(__x86_64__)

static const struct assay_clock raw_clock = { .source = ASSAY_CLOCK_MONOTONIC_RAW, .ns_per_tick = 1.0 };

/* NULL when the CPU and the kernel promise a steady counter; else why not. */
static const char *tsc_refused(void)
{
	unsigned a, b, c, d;
	char sources[128];

	if (!__get_cpuid(0x80000001u, &a, &b, &c, &d) || !(d & 1u << 27))
		return "the CPU has no RDTSCP";
	if (!__get_cpuid(0x80000007u, &a, &b, &c, &d) || !(d & 1u << 8))
		return "the TSC is not invariant";
	/* The kernel compares the TSCs of all CPUs and watches them; it drops one that it found wanting. */
	if (assay_file_line("/sys/devices/system/clocksource/clocksource0/available_clocksource", sources,
			    sizeof(sources)) &&
	    !strstr(sources, "tsc"))
		return "the kernel marked the TSC unstable";
	return NULL;
}

/* The narrowest of several brackets, so that an interruption between the reads does not count. */
static struct assay_clock_anchor take_anchor(const struct assay_clock *tsc)
{
	struct assay_clock_anchor best = { 0 };
	uint64_t narrowest = UINT64_MAX;

	for (int i = 0; i < ANCHOR_TRIES; i++) {
		uint64_t before = assay_clock_ticks(tsc);
		uint64_t raw = assay_clock_ticks(&raw_clock);
		uint64_t after = assay_clock_ticks(tsc);

		if (after - before < narrowest) {
			narrowest = after - before;
			best.raw_ns = raw;
			best.ticks = before + (after - before) / 2;
		}
	}
	return best;
}

/* Asleep, so that a counter that stops with the core is caught. */
static void wait_window(void)
{
	const struct timespec window = { .tv_nsec = WINDOW_NS };

	nanosleep(&window, NULL);
}

static bool calibrate(struct assay_clock *c, double *drift_ppm)
{
	struct assay_clock_anchor a[3];

	a[0] = take_anchor(c);
	wait_window();
	a[1] = take_anchor(c);
	for (int i = 0; i < RATE_TRIES; i++) {
		wait_window();
		a[2] = take_anchor(c);
		if (assay_clock_rate(a, RATE_TOLERANCE, &c->ns_per_tick, drift_ppm))
			return true;
		a[0] = a[1];
		a[1] = a[2];
	}
	return false;
}

/* Visit every allowed CPU: time must go on from one to the next. false when it goes back; *n is how many were seen. */
static bool hop(const struct assay_clock *c, int *n)
{
	cpu_set_t home, one;
	uint64_t before = assay_clock_ticks(c);
	bool forward = true;

	*n = 0;
	if (sched_getaffinity(0, sizeof(home), &home))
		return true;
	for (int cpu = 0; cpu < CPU_SETSIZE && *n < MAX_HOPS && forward; cpu++) {
		if (!CPU_ISSET(cpu, &home))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			break;
		forward = assay_clock_ticks(c) > before;
		before = assay_clock_ticks(c);
		++*n;
	}
	sched_setaffinity(0, sizeof(home), &home);
	return forward && assay_clock_ticks(c) > before;
}

/* Fill @c with a proven TSC, or leave why not in c->why. */
static bool try_tsc(struct assay_clock *c)
{
	struct assay_clock tsc = { .source = ASSAY_CLOCK_TSC, .ns_per_tick = 1.0 };
	const char *refused = tsc_refused();
	struct assay_err err = { 0 };
	double drift_ppm = 0;
	char cpus[64] = "";
	int n;

	if (refused) {
		snprintf(c->why, sizeof(c->why), "%s", refused);
		return false;
	}
	if (prove(&tsc, &err)) {
		snprintf(c->why, sizeof(c->why), "the TSC is refused: %.120s", err.text);
		return false;
	}
	if (!calibrate(&tsc, &drift_ppm)) {
		snprintf(c->why, sizeof(c->why), "the TSC is refused: two calibrations differ by %.0f ppm", drift_ppm);
		return false;
	}
	if (!hop(&tsc, &n)) {
		snprintf(c->why, sizeof(c->why), "the TSC is refused: it goes back between CPUs");
		return false;
	}
	prove(&tsc, NULL); /* once more, with the rate known */
	if (n > 1)
		snprintf(cpus, sizeof(cpus), ", never went back when moved between %d CPUs", n);
	*c = tsc;
	snprintf(c->why, sizeof(c->why), "invariant TSC, %.3f MHz, drift %.1f ppm%s", 1e3 / c->ns_per_tick,
		 drift_ppm < 0 ? -drift_ppm : drift_ppm, cpus);
	return true;
}

#else

static bool try_tsc(struct assay_clock *c)
{
	snprintf(c->why, sizeof(c->why), "this architecture has no TSC");
	return false;
}

#endif

int assay_clock_init(struct assay_clock *c, struct assay_err *err)
{
	memset(c, 0, sizeof(*c));
	if (try_tsc(c))
		return 0;
	c->source = ASSAY_CLOCK_MONOTONIC_RAW;
	c->ns_per_tick = 1.0;
	if (prove(c, err))
		return err ? assay_err_prefix(err, "cannot time anything with CLOCK_MONOTONIC_RAW")
			   : ASSAY_EUNAVAILABLE;
	return 0;
}
