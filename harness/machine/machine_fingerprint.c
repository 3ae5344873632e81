/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts that decide speed and stay from one run to the next, and their digest. Nothing that changes by itself may
 * enter.
 */
#include "machine/environment.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/text.h"
#include "machine/cpu_features.h"
#include "machine/host_facts.h"
#include "machine/nvml.h"
#include "model/catalog.h"

#define GIB (UINT64_C(1) << 30)
/* Of so many GPUs settings are facts: there is room for few, and those of a machine are alike. */
#define MOST_GPU_FACTS 8

static void add(struct assay_fingerprint *f, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void add(struct assay_fingerprint *f, const char *name, const char *fmt, ...)
{
	struct assay_fact *fact;
	va_list ap;

	if (f->n_facts == sizeof(f->facts) / sizeof(f->facts[0]))
		return;
	fact = &f->facts[f->n_facts++];
	snprintf(fact->name, sizeof(fact->name), "%s", name);
	va_start(ap, fmt);
	vsnprintf(fact->value, sizeof(fact->value), fmt, ap);
	va_end(ap);
	if (!fact->value[0])
		snprintf(fact->value, sizeof(fact->value), "unknown");
}

/*
 * Physical memory in GiB. The pages that zones have `present` do not change when a hypervisor's balloon takes memory
 * away or gives it back; MemTotal does, and so do the totals of NUMA nodes.
 */
static uint64_t memory_gib(const char *root)
{
	char *zones = assay_host_text(root, "/proc/zoneinfo");
	uint64_t pages = 0, bytes;
	struct assay_memory_state m;

	for (const char *p = zones; p && (p = strstr(p, " present "));) {
		char *end;

		pages += strtoull(p + strlen(" present "), &end, 10);
		p = end;
	}
	free(zones);
	bytes = pages * (root && root[0] ? 4096 : (uint64_t)sysconf(_SC_PAGESIZE));
	if (!bytes && !assay_memory_state_at(root, &m, NULL))
		bytes = m.total_bytes;
	return (bytes + GIB / 2) / GIB;
}

/* The driver's description of the first GPU and of those that differ from it; nothing without NVML. */
static void add_gpus(struct assay_fingerprint *f)
{
	char first[256] = "", text[256], name[32];
	struct assay_device_info info;
	struct assay_nvml *n;

	if (assay_nvml_open(&n, NULL))
		return;
	for (unsigned i = 0; i < assay_nvml_count(n) && i < MOST_GPU_FACTS; i++) {
		if (assay_nvml_info(n, i, &info, NULL))
			continue;
		info.driver[0] = '\0'; /* it has a fact of its own */
		assay_device_text(&info, text, sizeof(text));
		if (!strcmp(first, text))
			continue;
		if (!first[0])
			memcpy(first, text, sizeof(first));
		snprintf(name, sizeof(name), "gpu_%u", i);
		add(f, name, "%s", text);
	}
	assay_nvml_close(n);
}

static int digest(struct assay_fingerprint *f, struct assay_err *err)
{
	struct assay_text text = { 0 };
	struct assay_digest d;

	for (size_t i = 0; i < f->n_facts; i++)
		assay_text_addf(&text, "%s=%s\n", f->facts[i].name, f->facts[i].value);
	if (text.failed) {
		assay_text_release(&text);
		return assay_err_set(err, ASSAY_ENOMEM, "cannot take the machine's fingerprint: out of memory");
	}
	d = assay_hash(text.s, text.len);
	memcpy(f->id, d.hex, sizeof(f->id));
	assay_text_release(&text);
	return 0;
}

static void label(struct assay_fingerprint *f, const struct assay_topology *t, const char *model, uint64_t gib,
		  const char *gpu)
{
	struct assay_machine_size m;

	assay_topology_machine(t, &m);
	snprintf(f->label, sizeof(f->label), "%.60s, %zu core%s, %" PRIu64 " GiB%s%.30s",
		 model[0] ? model : "unknown CPU", m.cores, m.cores == 1 ? "" : "s", gib,
		 strcmp(gpu, "none") ? ", " : "", strcmp(gpu, "none") ? gpu : "");
}

int assay_fingerprint_take_at(const char *root, const struct assay_topology *t, struct assay_fingerprint *out,
			      struct assay_err *err)
{
	struct assay_cpu_features *cpu = calloc(1, sizeof(*cpu));
	const bool elsewhere = root && root[0];
	char *cpuinfo = elsewhere ? assay_host_text(root, "/proc/cpuinfo") : NULL;
	char text[256];
	uint64_t gib;
	int rc;
	char list[256];
	struct assay_machine_size m;

	if (!cpu) {
		free(cpuinfo);
		return assay_err_set(err, ASSAY_ENOMEM, "cannot take the machine's fingerprint: out of memory");
	}
	memset(out, 0, sizeof(*out));
	assay_cpu_features_load(cpu, elsewhere ? (cpuinfo ? cpuinfo : "") : NULL);
	gib = memory_gib(root);

	assay_cpu_features_list(cpu, list, sizeof(list));
	add(out, "cpu_model", "%s", cpu->model);
	add(out, "cpu_stepping", "%s", cpu->stepping);
	add(out, "cpu_microcode", "%s", cpu->microcode);
	add(out, "cpu_features", "%s", list);
	assay_topology_machine(t, &m);
	add(out, "sockets", "%zu", m.sockets);
	add(out, "cores", "%zu", m.cores);
	add(out, "threads", "%zu", m.cpus);
	add(out, "numa_nodes", "%zu", m.nodes);
	add(out, "l1d", "%s", assay_memory_text(m.l1d_bytes).s);
	add(out, "l2", "%s", assay_memory_text(m.l2_bytes).s);
	add(out, "llc", "%zu x %s", m.llcs ? m.llcs : m.sockets, assay_memory_text(m.llc_bytes).s);
	add(out, "memory", "%" PRIu64 " GiB", gib);
	assay_gpu_driver(root, text, sizeof(text));
	add(out, "gpu_driver", "%s", text);
	assay_gpu_models(root, text, sizeof(text));
	add(out, "gpu", "%s", text);
	if (!elsewhere)
		add_gpus(out);
	label(out, t, cpu->model, gib, text);
	assay_host_line(root, "/proc/sys/kernel/osrelease", text, sizeof(text));
	add(out, "kernel", "%s", text);
	assay_fact_hypervisor(root, text, sizeof(text));
	add(out, "hypervisor", "%s", text);
	rc = digest(out, err);
	free(cpuinfo);
	free(cpu);
	return rc;
}

int assay_fingerprint_take(const struct assay_topology *t, struct assay_fingerprint *out, struct assay_err *err)
{
	return assay_fingerprint_take_at("", t, out, err);
}
