/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the host at the time of a run: what may differ between two runs on the same machine. */
#include "machine/environment.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/host_facts.h"
#include "machine/host_files.h"
#include "machine/machine_text.h"
#include "machine/memory_state.h"

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
