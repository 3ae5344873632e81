/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/lost_time.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS   10000000u
#define COARSE_NS 100000u

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A kernel without the accounting shows three zeros. */
static bool read_waits(uint64_t *waited_ns)
{
	enum { UNOPENED = -2 };
	static _Thread_local int fd = UNOPENED;
	unsigned long long ran, waited;
	char line[96], *end;
	ssize_t n;

	if (fd == UNOPENED)
		fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : pread(fd, line, sizeof(line) - 1, 0);
	if (n <= 0)
		return false;
	line[n] = '\0';
	ran = strtoull(line, &end, 10);
	waited = strtoull(end, NULL, 10);
	if (!ran || *end != ' ')
		return false;
	*waited_ns = waited;
	return true;
}

/* Some sandboxes move the clock of a thread only with the tick of a timer. */
static bool clock_is_fine(void)
{
	static _Thread_local int fine = -1;
	uint64_t first, next = 0;

	if (fine >= 0)
		return fine;
	first = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < 1000 && (next = clock_ns(CLOCK_THREAD_CPUTIME_ID)) == first; i++)
		;
	fine = next > first && next - first < COARSE_NS;
	return fine;
}

void assay_thread_time_read(struct assay_thread_time *out)
{
	*out = (struct assay_thread_time){ 0 };
	out->waits_told = read_waits(&out->waited_ns);
	out->cpu_told = clock_is_fine();
	out->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	out->wall_ns = clock_ns(CLOCK_MONOTONIC_RAW);
}

struct assay_lost_time assay_lost_time_between(const struct assay_thread_time *before,
					       const struct assay_thread_time *after, uint64_t voluntary,
					       uint64_t involuntary)
{
	const bool waits_told = before->waits_told && after->waits_told;
	const uint64_t wall = after->wall_ns - before->wall_ns, cpu = after->cpu_ns - before->cpu_ns;
	const uint64_t off = wall > cpu ? wall - cpu : 0, waited = after->waited_ns - before->waited_ns;
	struct assay_lost_time lost = { .told = true };

	if (voluntary || !before->cpu_told || !after->cpu_told) {
		/* without a switch that was not its own, its waits are those of waking up */
		lost.told = waits_told || !involuntary;
		lost.waited_ns = waits_told && involuntary ? waited : 0;
	} else if (waits_told) {
		lost.waited_ns = waited < off ? waited : off;
		lost.stolen_ns = off - lost.waited_ns;
	} else if (involuntary) {
		lost.waited_ns = off;
	} else {
		lost.stolen_ns = off;
	}
	return lost;
}

bool assay_steal_is_timed(uint64_t stolen_ns, uint64_t ticks)
{
	return stolen_ns >= ticks * (TICK_NS / 4);
}

void assay_thread_time_leave_out(struct assay_thread_time *before, const struct assay_thread_time *stood)
{
	struct assay_thread_time now;

	assay_thread_time_read(&now);
	before->wall_ns += now.wall_ns - stood->wall_ns;
	before->cpu_ns += now.cpu_ns - stood->cpu_ns;
	before->waited_ns += now.waited_ns - stood->waited_ns;
}

void assay_lost_time_most(struct assay_lost_time *most, const struct assay_lost_time *d)
{
	most->told &= d->told;
	most->waited_ns = d->waited_ns > most->waited_ns ? d->waited_ns : most->waited_ns;
	most->stolen_ns = d->stolen_ns > most->stolen_ns ? d->stolen_ns : most->stolen_ns;
}
