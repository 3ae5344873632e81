/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the host at the time of a run: what may differ between two runs on the same machine. */
#include "machine/environment.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/host_facts.h"
#include "model/result.h"

static bool one_line(const char *root, const char *path, char *buf, size_t size)
{
	if (assay_host_line(root, path, buf, size))
		return true;
	snprintf(buf, size, "%s", ASSAY_NOT_EXPOSED);
	return false;
}

static bool frequency_driver(const char *root, char *buf, size_t size)
{
	return one_line(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", buf, size);
}

static bool clock_source(const char *root, char *buf, size_t size)
{
	return one_line(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", buf, size);
}

static bool memory_available(const char *root, char *buf, size_t size)
{
	struct assay_memory_state m;

	if (assay_memory_state_at(root, &m, NULL)) {
		snprintf(buf, size, "unknown");
		return false;
	}
	snprintf(buf, size, "%s", assay_memory_text(m.available_bytes).s);
	return true;
}

static bool cpus_allowed(const char *root, char *buf, size_t size)
{
	char *text = assay_host_text(root, "/proc/self/status"), *p = text ? strstr(text, "Cpus_allowed_list:") : NULL;

	if (p) {
		p += strlen("Cpus_allowed_list:");
		p += strspn(p, " \t");
		snprintf(buf, size, "%.*s", (int)strcspn(p, "\n"), p);
	} else {
		snprintf(buf, size, "unknown");
	}
	free(text);
	return p != NULL;
}

static const struct {
	const char *name;
	assay_fact_fn take;
} facts[] = {
	{ "governor", assay_fact_governor },
	{ "frequency_driver", frequency_driver },
	{ "turbo", assay_fact_turbo },
	{ "smt", assay_fact_smt },
	{ "aslr", assay_fact_aslr },
	{ "transparent_huge_pages", assay_fact_thp },
	{ "numa_balancing", assay_fact_numa_balancing },
	{ "load_1min", assay_fact_load },
	{ "steal", assay_fact_steal },
	{ "isolation", assay_fact_isolated },
	{ "cpus_allowed", cpus_allowed },
	{ "container_cpu_limit", assay_fact_cpu_limit },
	{ "container_memory_limit", assay_fact_memory_limit },
	{ "memory_available", memory_available },
	{ "kernel_clocksource", clock_source },
};

#define N_FACTS       (sizeof(facts) / sizeof(facts[0]))
#define N_CLOCK_FACTS 4

static void add(struct assay_fact *f, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void add(struct assay_fact *f, const char *name, const char *fmt, ...)
{
	va_list ap;

	snprintf(f->name, sizeof(f->name), "%s", name);
	va_start(ap, fmt);
	vsnprintf(f->value, sizeof(f->value), fmt, ap);
	va_end(ap);
}

int assay_environment_take_at(const char *root, const struct assay_clock *clock, struct assay_fact **out, size_t *n,
			      struct assay_err *err)
{
	struct assay_fact *f = calloc(N_FACTS + N_CLOCK_FACTS, sizeof(*f));
	size_t used = 0;

	if (!f)
		return assay_err_set(err, ASSAY_ENOMEM, "cannot describe the environment: out of memory");
	for (size_t i = 0; i < N_FACTS; i++, used++) {
		snprintf(f[used].name, sizeof(f[used].name), "%s", facts[i].name);
		facts[i].take(root, f[used].value, sizeof(f[used].value));
	}
	if (clock) {
		add(&f[used++], "clock", "%s", assay_clock_source_name(clock->source));
		add(&f[used++], "clock_resolution_ns", "%.3g", clock->resolution_ns);
		add(&f[used++], "clock_overhead_ns", "%.3g", clock->overhead_ns);
		add(&f[used++], "clock_why", "%s", clock->why);
	}
	*out = f;
	*n = used;
	return 0;
}

int assay_environment_take(const struct assay_clock *clock, struct assay_fact **out, size_t *n, struct assay_err *err)
{
	return assay_environment_take_at("", clock, out, n, err);
}

/* ---- disturbance ---- */

/* Reads a few files of /proc and /sys and compares them with what they held before. */

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
