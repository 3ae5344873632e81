/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the state of the host: what it can measure, what makes it measure worse, and what would help. */
#include "machine/environment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/cpu_features.h"
#include "machine/topology.h"
#include "machine/host_facts.h"
#include "machine/nvml.h"
#include "machine/pmu_probe.h"
#include "model/catalog.h"

#define LOW_MEMORY_BYTES  (UINT64_C(2) << 30)
#define STEAL_NOTICE_FRAC 0.001

/* Name the mounts and devices that a chroot lacks. Recorded hosts have no devices. */
static void add_mounts(struct assay_findings *l, const char *root)
{
	static const struct {
		const char *name, *file, *missing, *advice;
	} mounts[] = {
		{ "proc", "/proc/meminfo", "not mounted", "mount -t proc proc /proc" },
		{ "sys", "/sys/devices/system/cpu", "not mounted: frequency, SMT, isolation and quotas are unknown",
		  "mount -t sysfs sys /sys" },
		{ "dev", "/dev/null", "there is no /dev/null",
		  "mount --rbind /dev DIR/dev from outside, DIR being the root of this chroot" },
	};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++)
		if (!assay_host_exists(root, mounts[i].file) && (!root[0] || strncmp(mounts[i].file, "/dev", 4)))
			assay_findings_add(l, mounts[i].name, ASSAY_HEALTH_MISSING, mounts[i].missing,
					   mounts[i].advice);
}

static void add_cpu(struct assay_findings *l, const char *root)
{
	struct assay_cpu_features *f = calloc(1, sizeof(*f));
	const bool elsewhere = root && root[0];
	char *cpuinfo = elsewhere ? assay_host_text(root, "/proc/cpuinfo") : NULL;
	char value[512];

	if (!f)
		goto out;
	assay_cpu_features_load(f, elsewhere ? (cpuinfo ? cpuinfo : "") : NULL);
	snprintf(value, sizeof(value), "%s%s%s", f->model[0] ? f->model : "unknown",
		 f->microcode[0] ? ", microcode " : "", f->microcode);
	assay_findings_add(l, "cpu", ASSAY_HEALTH_GOOD, value, "");
	assay_cpu_features_list(f, value, sizeof(value));
	if (assay_cpu_features_has(f, "avx2") || assay_cpu_features_has(f, "asimd"))
		assay_findings_add(l, "isa", ASSAY_HEALTH_GOOD, value, "");
	else
		assay_findings_add(l, "isa", ASSAY_HEALTH_WARN,
				   value[0] ? value : "no vector extension that variants use",
				   "on x86 a virtual machine may hide AVX2: give it the host's CPU model (-cpu host)");
out:
	free(cpuinfo);
	free(f);
}

static void add_clock(struct assay_findings *l, const struct assay_clock *c)
{
	char value[256];

	if (!c)
		return;
	snprintf(value, sizeof(value), "%s: resolution %.0f ns, a read takes %.0f ns (%s)",
		 assay_clock_source_name(c->source), c->resolution_ns, c->overhead_ns, c->why);
	assay_findings_add(l, "clock", ASSAY_HEALTH_GOOD, value, "");
}

static void add_placement(struct assay_findings *l, const struct assay_topology *t)
{
	char value[256];
	bool restricted;
	const char *allowed = assay_topology_allowed(t, &restricted);

	if (!restricted) {
		assay_findings_add(l, "cpuset", ASSAY_HEALTH_GOOD, "all CPUs may be used", "");
		return;
	}
	snprintf(value, sizeof(value), "only CPU%s %s may be used", strpbrk(allowed, "-,") ? "s" : "", allowed);
	assay_findings_add(
		l, "cpuset", ASSAY_HEALTH_WARN, value,
		"if that is not on purpose, widen the container's cpuset or the affinity of the shell (taskset)");
}

static void add_counters(struct assay_findings *l)
{
	struct assay_pmu_probe p;

	assay_pmu_probe_hardware(&p);
	assay_findings_add(l, "pmu", p.works ? ASSAY_HEALTH_GOOD : ASSAY_HEALTH_MISSING, p.value, p.advice);
	assay_pmu_probe_software(&p);
	assay_findings_add(l, "software_events", p.works ? ASSAY_HEALTH_GOOD : ASSAY_HEALTH_MISSING, p.value, p.advice);
}

/* A fact that is one of two kinds of words. */
struct judged_fact {
	const char *name;
	assay_fact_fn take;
	const char *word; /* good, or bad where `bad_value` stands for it */
	const char *bad_value, *advice;
};

static void add_fact(struct assay_findings *l, const char *root, const struct judged_fact *f)
{
	char value[256];

	if (!f->take(root, value, sizeof(value)))
		assay_findings_add(l, f->name, ASSAY_HEALTH_MISSING, value, "");
	else if (!strcmp(value, f->word) == !f->bad_value)
		assay_findings_add(l, f->name, ASSAY_HEALTH_GOOD, value, "");
	else
		assay_findings_add(l, f->name, ASSAY_HEALTH_WARN, f->bad_value ? f->bad_value : value, f->advice);
}

static void add_frequency(struct assay_findings *l, const char *root)
{
	static const struct judged_fact governor = { "governor", assay_fact_governor, "performance", NULL,
						     "sudo cpupower frequency-set -g performance" };
	char value[256], advice[200];

	add_fact(l, root, &governor);
	if (!assay_fact_turbo(root, value, sizeof(value))) {
		assay_findings_add(l, "turbo", ASSAY_HEALTH_MISSING, value, "");
		return;
	}
	if (!strcmp(value, "off")) {
		assay_findings_add(l, "turbo", ASSAY_HEALTH_GOOD, value, "");
		return;
	}
	snprintf(advice, sizeof(advice), "speed follows temperature and load: echo %s",
		 assay_host_exists(root, "/sys/devices/system/cpu/intel_pstate/no_turbo")
			 ? "1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
			 : "0 | sudo tee /sys/devices/system/cpu/cpufreq/boost");
	assay_findings_add(l, "turbo", ASSAY_HEALTH_WARN, value, advice);
}

static void add_sharing(struct assay_findings *l, const char *root)
{
	static const struct judged_fact smt = {
		"smt", assay_fact_smt, "active",
		"active; one thread per core is used, but other programs may use the siblings",
		"echo off | sudo tee /sys/devices/system/cpu/smt/control"
	};
	char value[256];
	double steal;

	add_fact(l, root, &smt);
	if (!assay_fact_steal(root, value, sizeof(value)))
		assay_findings_add(l, "steal", ASSAY_HEALTH_MISSING, value, "");
	else if (assay_steal_frac_at(root, &steal) && steal > STEAL_NOTICE_FRAC)
		assay_findings_add(
			l, "steal", ASSAY_HEALTH_WARN, value,
			"other guests take CPU time; disturbed samples are discarded, and a dedicated host has none");
	else
		assay_findings_add(l, "steal", ASSAY_HEALTH_GOOD, value, "");

	if (assay_fact_isolated(root, value, sizeof(value)))
		assay_findings_add(l, "isolation", ASSAY_HEALTH_GOOD, value, "run with --cpus and these CPUs");
	else if (!strcmp(value, ASSAY_NOT_EXPOSED))
		assay_findings_add(l, "isolation", ASSAY_HEALTH_MISSING, value, "");
	else
		assay_findings_add(
			l, "isolation", ASSAY_HEALTH_WARN, value,
			"for the quietest cores boot with isolcpus=LIST nohz_full=LIST and run with --cpus LIST");
}

static void add_load(struct assay_findings *l, const char *root, const struct assay_topology *t)
{
	struct assay_host_info host;
	char value[64];

	assay_topology_host_info(t, &host);
	if (!assay_fact_load(root, value, sizeof(value)))
		return;
	if (atof(value) > 0.25 * host.n_cores)
		assay_findings_add(l, "load", ASSAY_HEALTH_WARN, value,
				   "other programs are running: wait, or stop them");
	else
		assay_findings_add(l, "load", ASSAY_HEALTH_GOOD, value, "");
}

static void add_memory_layout(struct assay_findings *l, const char *root, const struct assay_topology *t)
{
	static const struct judged_fact aslr = {
		"aslr", assay_fact_aslr, "off", "off: every process gets the same layout, good or bad",
		"comparisons average over layouts: sudo sysctl kernel.randomize_va_space=2"
	};
	static const struct judged_fact huge_pages = {
		"huge_pages", assay_fact_thp, "never", "never: large tensors lie on small pages",
		"echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
	};
	static const struct judged_fact numa = {
		"numa_balancing", assay_fact_numa_balancing, "off", NULL,
		"the kernel unmaps pages to watch where they are used: sudo sysctl kernel.numa_balancing=0"
	};
	struct assay_machine_size m;
	char value[256];

	add_fact(l, root, &aslr);
	add_fact(l, root, &huge_pages);
	assay_topology_machine(t, &m);
	if (m.nodes > 1 && assay_fact_numa_balancing(root, value, sizeof(value)))
		add_fact(l, root, &numa);
}

static void add_limits(struct assay_findings *l, const char *root, const struct assay_topology *t)
{
	struct assay_host_info host;
	struct assay_memory_state m;
	char value[256], advice[256];
	struct assay_cpu_quota *q = malloc(sizeof(*q));

	assay_topology_host_info(t, &host);
	if (q) {
		assay_cpu_quota_read(root, q);
		snprintf(value, sizeof(value), "quota of %.4g CPUs", q->cpus);
		snprintf(advice, sizeof(advice), "`all` means fewer threads, and more are refused: raise '%.180s'",
			 q->where);
		if (q->hidden)
			assay_findings_add(l, "cpu_quota", ASSAY_HEALTH_MISSING,
					   "unknown: no cgroup file system is mounted", "mount /sys/fs/cgroup");
		else if (q->cpus == 0)
			assay_findings_add(l, "cpu_quota", ASSAY_HEALTH_GOOD, "none", "");
		else if (q->cpus + 0.001 >= host.n_cores)
			assay_findings_add(l, "cpu_quota", ASSAY_HEALTH_GOOD, value, "");
		else
			assay_findings_add(l, "cpu_quota", ASSAY_HEALTH_WARN, value, advice);
		free(q);
	}
	if (assay_memory_state_at(root, &m, NULL)) {
		assay_findings_add(l, "memory", ASSAY_HEALTH_MISSING, "unknown: no /proc/meminfo", "");
		return;
	}
	snprintf(value, sizeof(value), "%s available of %s%s%s", assay_memory_text(m.available_bytes).s,
		 assay_memory_text(m.total_bytes).s, m.limit_bytes ? ", container limit " : "",
		 m.limit_bytes ? assay_memory_text(m.limit_bytes).s : "");
	if (m.available_bytes < LOW_MEMORY_BYTES)
		assay_findings_add(l, "memory", ASSAY_HEALTH_WARN, value,
				   m.limit_bytes
					   ? "large cases will not fit: raise the container's memory limit"
					   : "large cases will not fit: stop other programs, or use a bigger machine");
	else
		assay_findings_add(l, "memory", ASSAY_HEALTH_GOOD, value, "");
}

/* ---- what is installed, by its files: none of it is loaded or run ----------------------------------------------- */

static bool find_program(const char *name, const char *extra_dir, char *out, size_t size)
{
	const char *path = getenv("PATH");

	for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
		size_t len = strcspn(p, ":");

		snprintf(out, size, "%.*s/%s", (int)len, p, name);
		if (len && !access(out, X_OK))
			return true;
		p += len + (p[len] == ':');
	}
	snprintf(out, size, "%s/%s", extra_dir ? extra_dir : "", name);
	return extra_dir && !access(out, X_OK);
}

/* Where the loaders of the usual distributions look, LD_LIBRARY_PATH first. */
static bool find_library(const char *root, const char *name, char *out, size_t size)
{
	static const char *const dirs[] = {
#if defined(__x86_64__)
		"/usr/lib/x86_64-linux-gnu",
		"/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
		"/usr/lib/aarch64-linux-gnu",
		"/lib/aarch64-linux-gnu",
#endif
		"/usr/lib64",
		"/usr/lib",
		"/lib64",
		"/lib",
		"/usr/local/lib",
		"/usr/local/lib64",
		"/usr/lib/wsl/lib",
	};
	const char *env = getenv("LD_LIBRARY_PATH");

	while (env && *env) {
		size_t len = strcspn(env, ":");

		snprintf(out, size, "%.*s/%s", (int)len, env, name);
		if (len && assay_host_exists(root, out))
			return true;
		env += len + (env[len] == ':');
	}
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(out, size, "%s/%s", dirs[i], name);
		if (assay_host_exists(root, out))
			return true;
	}
	return false;
}

static const struct {
	const char *name, *file, *extra_dir;
	bool library;
	const char *without; /* what is lost */
	const char *advice;
} tools[] = {
	{ "gnuplot", "gnuplot", NULL, false, "no plots", "install gnuplot-nox" },
	{ "openblas", "libopenblas.so.0", NULL, true, "no `openblas` variants",
	  "install libopenblas-dev (to build them) or libopenblas0-pthread (to run them)" },
#if ASSAY_HTTP
	{ "server", "libmicrohttpd.so.12", NULL, true, "no `assay serve`", "install libmicrohttpd12" },
#endif
	{ "nvcc", "nvcc", "/usr/local/cuda/bin", false, "CUDA variants are not built",
	  "install NVIDIA's CUDA Toolkit (cuda-toolkit) and put nvcc into PATH" },
};

/* Is there any? */
static bool add_gpu(struct assay_findings *l, const char *root)
{
	char models[160], driver[64], path[PATH_MAX], value[256];

	assay_gpu_models(root, models, sizeof(models));
	assay_gpu_driver(root, driver, sizeof(driver));
	if (!strcmp(models, "none") && !strcmp(driver, "none")) {
		assay_findings_add(l, "gpu", ASSAY_HEALTH_MISSING,
				   "no NVIDIA GPU or no driver: CUDA variants cannot run", "");
		return false;
	}
	snprintf(value, sizeof(value), "%s, driver %s", models, driver);
	if (find_library(root, "libcuda.so.1", path, sizeof(path)))
		assay_findings_add(l, "gpu", ASSAY_HEALTH_GOOD, value, "");
	else
		assay_findings_add(
			l, "gpu", ASSAY_HEALTH_WARN, value,
			"libcuda.so.1 is missing: install libcuda1, or start the container with its GPUs (--gpus all)");
	return true;
}

/* Each GPU with its settings, or why nothing is known of them; where there is none, that has been said. */
static void add_nvml(struct assay_findings *l, bool any)
{
	struct assay_err why = { 0 };
	struct assay_device_info info;
	struct assay_nvml *n;
	char text[256];
	const int rc = assay_nvml_open(&n, &why);

	if (rc == ASSAY_ENOTFOUND && !any)
		return;
	if (rc) {
		snprintf(text, sizeof(text), "%.150s: clocks and throttle reasons of GPUs are unknown", why.text);
		assay_findings_add(l, "nvml", ASSAY_HEALTH_MISSING, text, "");
		return;
	}
	for (unsigned i = 0; i < assay_nvml_count(n); i++) {
		if (assay_nvml_info(n, i, &info, &why))
			snprintf(text, sizeof(text), "%.250s", why.text);
		else
			assay_device_text(&info, text, sizeof(text));
		assay_findings_add(l, "nvml", ASSAY_HEALTH_GOOD, text, "");
	}
	assay_nvml_close(n);
}

/* "0 at 0000:3b:00.0, H100, cuda0: CPUs 0-15, NUMA node 0, link of 63 GB/s; by a PCI switch to 1" */
static void add_place(struct assay_findings *l, const struct assay_gpu_topology *t, size_t at)
{
	const struct assay_gpu_place *p = &t->v[at];
	char value[512];
	size_t n =
		(size_t)snprintf(value, sizeof(value), "%zu at %s%s%s%s%s: CPUs %s", at, p->pci, p->name[0] ? ", " : "",
				 p->name, p->known_as[0] ? ", " : "", p->known_as, p->cpus[0] ? p->cpus : "unknown");

	if (p->node >= 0 && n < sizeof(value))
		n += (size_t)snprintf(value + n, sizeof(value) - n, ", NUMA node %d", p->node);
	if (p->link_bytes_per_s > 0 && n < sizeof(value))
		n += (size_t)snprintf(value + n, sizeof(value) - n, ", link of %.0f GB/s", p->link_bytes_per_s * 1e-9);
	for (unsigned path = 0; path < ASSAY_N_GPU_PATHS; path++) {
		const char *between = "; ";

		for (size_t k = 0; k < t->n && n < sizeof(value); k++) {
			if (k == at || t->path[at * t->n + k] != (enum assay_gpu_path)path)
				continue;
			n += (size_t)snprintf(value + n, sizeof(value) - n, "%s%s%zu", between,
					      *between == ';' ? assay_gpu_path_text((enum assay_gpu_path)path) : "", k);
			between = ", ";
		}
	}
	assay_findings_add(l, "gpu_place", ASSAY_HEALTH_GOOD, value, "");
}

void assay_doctor_gpu_places(struct assay_findings *l, const char *xml_path)
{
	struct assay_gpu_topology t;

	if (assay_gpu_topology_read(&t, xml_path, NULL))
		t.n = 0;
	for (size_t i = 0; i < t.n; i++)
		add_place(l, &t, i);
	assay_gpu_topology_release(&t);
}

static void add_tools(struct assay_findings *l, const char *root)
{
	char path[PATH_MAX], value[256];
	bool any;

	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		bool found = tools[i].library ? find_library(root, tools[i].file, path, sizeof(path))
					      : find_program(tools[i].file, tools[i].extra_dir, path, sizeof(path));

		if (found) {
			snprintf(value, sizeof(value), "%.250s", path);
			assay_findings_add(l, tools[i].name, ASSAY_HEALTH_GOOD, value, "");
			continue;
		}
		snprintf(value, sizeof(value), "not found: %s", tools[i].without);
		assay_findings_add(l, tools[i].name, ASSAY_HEALTH_MISSING, value, tools[i].advice);
	}
	if (!ASSAY_HTTP)
		assay_findings_add(l, "server", ASSAY_HEALTH_MISSING, "built without libmicrohttpd: no `assay serve`",
				   "install libmicrohttpd-dev and build again");
	any = add_gpu(l, root);
	if (!root || !root[0]) {
		add_nvml(l, any);
		assay_doctor_gpu_places(l, NULL);
	}
}

int assay_doctor_at(const char *root, const struct assay_topology *t, const struct assay_clock *clock,
		    struct assay_findings *l, struct assay_err *err)
{
	add_mounts(l, root);
	add_cpu(l, root);
	add_clock(l, clock);
	add_counters(l);
	add_placement(l, t);
	add_limits(l, root, t);
	add_frequency(l, root);
	add_sharing(l, root);
	add_load(l, root, t);
	add_memory_layout(l, root, t);
	add_tools(l, root);
	return l->failed ? assay_err_set(err, ASSAY_ENOMEM, "cannot examine this machine: out of memory") : 0;
}

int assay_doctor(const struct assay_topology *t, const struct assay_clock *clock, struct assay_findings *out,
		 struct assay_err *err)
{
	return assay_doctor_at("", t, clock, out, err);
}
