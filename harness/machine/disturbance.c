/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a few files of /proc and /sys and compares them with what they held before. */
#include "machine/disturbance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/cgroup.h"
#include "machine/host_files.h"
#include "machine/memory_state.h"
#include "model/result.h"

/* A governor hunts by a few percent all the time; a step is what changes the speed for good. */
#define FREQUENCY_STEP 0.05

static int64_t frequency_khz(const struct assay_disturbance *d)
{
	char path[96];
	int64_t khz;

	if (!d->n_cpus)
		return 0;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", d->cpus[0]);
	return assay_host_number(d->root, path, &khz) && khz > 0 ? khz : 0;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234" in microseconds; tasks that waited for a CPU. */
static bool pressure_us(const char *root, uint64_t *us)
{
	char line[256];
	const char *at;

	if (!assay_host_line(root, "/proc/pressure/cpu", line, sizeof(line)))
		return false;
	at = strstr(line, "total=");
	if (!at)
		return false;
	*us = strtoull(at + strlen("total="), NULL, 10);
	return true;
}

static bool throttled_ns(const char *root, uint64_t *ns)
{
	struct assay_cpu_quota q;

	assay_cpu_quota_read(root, &q);
	*ns = q.throttled_ns;
	return q.cpus > 0 && q.shows_throttling;
}

void assay_disturbance_begin(struct assay_disturbance *d, const char *root, const int *cpus, size_t n_cpus)
{
	*d = (struct assay_disturbance){ .root = root, .cpus = cpus, .n_cpus = n_cpus };
	d->steal_known = assay_steal_ticks_at(root, cpus, n_cpus, &d->steal_ticks);
	d->quota_known = throttled_ns(root, &d->throttled_ns);
	d->pressure_known = pressure_us(root, &d->pressure_us);
	d->frequency_khz = frequency_khz(d);
}

/* Did the counter move? Keeps the new value. */
static bool moved(uint64_t value, uint64_t *last)
{
	bool changed = value != *last;

	*last = value;
	return changed;
}

uint32_t assay_disturbance_poll(struct assay_disturbance *d, uint32_t *steal_ticks)
{
	uint64_t before = d->steal_ticks, value = 0;
	uint32_t flags = 0;
	int64_t khz;

	*steal_ticks = 0;
	if (d->steal_known && assay_steal_ticks_at(d->root, d->cpus, d->n_cpus, &value) &&
	    moved(value, &d->steal_ticks)) {
		flags |= ASSAY_DISTURB_STEAL;
		*steal_ticks = (uint32_t)(value - before);
	}
	if (d->quota_known && throttled_ns(d->root, &value) && moved(value, &d->throttled_ns))
		flags |= ASSAY_DISTURB_THROTTLE;
	if (d->pressure_known && pressure_us(d->root, &value) && moved(value, &d->pressure_us))
		flags |= ASSAY_DISTURB_PRESSURE;
	khz = d->frequency_khz ? frequency_khz(d) : 0;
	if (khz && llabs(khz - d->frequency_khz) > (int64_t)(FREQUENCY_STEP * (double)d->frequency_khz)) {
		flags |= ASSAY_DISTURB_FREQUENCY;
		d->frequency_khz = khz;
	}
	return flags;
}
