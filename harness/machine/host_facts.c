/* SPDX-License-Identifier: Apache-2.0 */
/* Reads single facts of the host and puts them into words. */
#include "machine/host_facts.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "machine/cpu_features.h"

#define CPU_DIR "/sys/devices/system/cpu"

static bool not_exposed(char *buf, size_t size)
{
	snprintf(buf, size, "%s", ASSAY_NOT_EXPOSED);
	return false;
}

bool assay_fact_governor(const char *root, char *buf, size_t size)
{
	char first[32] = "", other[32], path[128];

	for (int cpu = 0; cpu < 4096; cpu++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/scaling_governor", cpu);
		if (!assay_host_line(root, path, other, sizeof(other))) {
			snprintf(path, sizeof(path), CPU_DIR "/cpu%d", cpu);
			if (!assay_host_exists(root, path))
				break;
			continue; /* offline */
		}
		if (!first[0])
			snprintf(first, sizeof(first), "%s", other);
		if (strcmp(first, other)) {
			snprintf(buf, size, "mixed (%s, %s)", first, other);
			return true;
		}
	}
	if (!first[0])
		return not_exposed(buf, size);
	snprintf(buf, size, "%s", first);
	return true;
}

bool assay_fact_turbo(const char *root, char *buf, size_t size)
{
	int64_t v;
	bool on;

	if (assay_host_number(root, CPU_DIR "/intel_pstate/no_turbo", &v))
		on = !v;
	else if (assay_host_number(root, CPU_DIR "/cpufreq/boost", &v))
		on = v;
	else
		return not_exposed(buf, size);
	snprintf(buf, size, "%s", on ? "on" : "off");
	return true;
}

bool assay_fact_smt(const char *root, char *buf, size_t size)
{
	char control[32];
	int64_t active;

	if (assay_host_number(root, CPU_DIR "/smt/active", &active) && active) {
		snprintf(buf, size, "active");
		return true;
	}
	if (!assay_host_line(root, CPU_DIR "/smt/control", control, sizeof(control)))
		return not_exposed(buf, size);
	if (!strncmp(control, "not", 3))
		snprintf(buf, size, "not supported");
	else if (!strcmp(control, "forceoff"))
		snprintf(buf, size, "off");
	else
		snprintf(buf, size, "%s", strcmp(control, "on") ? control : "on, no siblings online");
	return true;
}

/* Number in a file, as one of the words. */
static bool word_of(const char *root, const char *path, const char *const *words, int64_t n, char *buf, size_t size)
{
	int64_t v;

	if (!assay_host_number(root, path, &v))
		return not_exposed(buf, size);
	snprintf(buf, size, "%s", v >= 0 && v < n ? words[v] : "unknown");
	return v >= 0 && v < n;
}

bool assay_fact_aslr(const char *root, char *buf, size_t size)
{
	static const char *const words[] = { "off", "partial", "full" };

	return word_of(root, "/proc/sys/kernel/randomize_va_space", words, 3, buf, size);
}

bool assay_fact_numa_balancing(const char *root, char *buf, size_t size)
{
	static const char *const words[] = { "off", "on", "on (memory tiering)", "on (memory tiering)" };

	return word_of(root, "/proc/sys/kernel/numa_balancing", words, 4, buf, size);
}

bool assay_fact_thp(const char *root, char *buf, size_t size)
{
	char line[64], *open, *close;

	if (!assay_host_line(root, "/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof(line)))
		return not_exposed(buf, size);
	open = strchr(line, '[');
	close = open ? strchr(open, ']') : NULL;
	if (!close) {
		snprintf(buf, size, "unknown");
		return false;
	}
	snprintf(buf, size, "%.*s", (int)(close - open - 1), open + 1);
	return true;
}

bool assay_fact_load(const char *root, char *buf, size_t size)
{
	char line[64];

	if (!assay_host_line(root, "/proc/loadavg", line, sizeof(line)))
		return not_exposed(buf, size);
	snprintf(buf, size, "%.*s", (int)strcspn(line, " "), line);
	return true;
}

bool assay_fact_steal(const char *root, char *buf, size_t size)
{
	double frac;

	if (!assay_steal_frac_at(root, &frac))
		return not_exposed(buf, size);
	snprintf(buf, size, "%.3g %% since boot", 100 * frac);
	return true;
}

bool assay_fact_cpu_limit(const char *root, char *buf, size_t size)
{
	struct assay_cpu_quota q;

	assay_cpu_quota_read(root, &q);
	if (q.hidden)
		return not_exposed(buf, size);
	if (q.cpus == 0) {
		snprintf(buf, size, "none");
		return true;
	}
	snprintf(buf, size, "%.4g CPUs", q.cpus);
	return false;
}

bool assay_fact_memory_limit(const char *root, char *buf, size_t size)
{
	uint64_t limit, available;

	assay_memory_limit_read(root, &limit, &available);
	if (!limit) {
		snprintf(buf, size, "none");
		return true;
	}
	snprintf(buf, size, "%s", assay_memory_text(limit).s);
	return false;
}

bool assay_fact_isolated(const char *root, char *buf, size_t size)
{
	char isolated[128], nohz[128];
	bool have_isolated = assay_host_line(root, CPU_DIR "/isolated", isolated, sizeof(isolated));
	bool have_nohz = assay_host_line(root, CPU_DIR "/nohz_full", nohz, sizeof(nohz)) && strncmp(nohz, "(null)", 6);

	if (!assay_host_exists(root, CPU_DIR))
		return not_exposed(buf, size);
	if (!have_isolated && !have_nohz) {
		snprintf(buf, size, "none");
		return false;
	}
	snprintf(buf, size, "%s%s%s%s", have_isolated ? "CPUs " : "", isolated,
		 have_nohz ? (have_isolated ? ", nohz_full " : "nohz_full ") : "", have_nohz ? nohz : "");
	return true;
}

bool assay_fact_hypervisor(const char *root, char *buf, size_t size)
{
	struct assay_cpu_features *f = calloc(1, sizeof(*f));
	char *cpuinfo = root && root[0] ? assay_host_text(root, "/proc/cpuinfo") : NULL;
	bool yes = false;

	if (f) {
		assay_cpu_features_load(f, root && root[0] ? (cpuinfo ? cpuinfo : "") : NULL);
		yes = assay_cpu_features_has(f, "hypervisor");
	}
	/* Arm has no such flag. */
	yes = yes || assay_host_exists(root, "/sys/hypervisor/type") ||
	      assay_host_exists(root, "/proc/device-tree/hypervisor");
	free(cpuinfo);
	free(f);
	snprintf(buf, size, "%s", yes ? "yes" : "no");
	return true;
}

/* ---- NVIDIA boards and driver, as the kernel module shows them: needs no library -------------------------------- */

static void model_of(const char *path, char *buf, size_t size)
{
	char *text = assay_host_text("", path), *p = text ? strstr(text, "Model:") : NULL;

	buf[0] = '\0';
	if (p) {
		p += strlen("Model:");
		p += strspn(p, " \t");
		snprintf(buf, size, "%.*s", (int)strcspn(p, "\n"), p);
	}
	free(text);
}

void assay_gpu_models(const char *root, char *buf, size_t size)
{
	char pattern[PATH_MAX], model[96], same[96] = "";
	size_t n_same = 0, len = 0;
	glob_t g;

	snprintf(buf, size, "none");
	snprintf(pattern, sizeof(pattern), "%s/proc/driver/nvidia/gpus/*/information", root ? root : "");
	if (glob(pattern, 0, NULL, &g))
		return;
	/* Equal neighbours are counted; one turn more writes the last of them. */
	for (size_t i = 0; i <= g.gl_pathc && len < size; i++) {
		model[0] = '\0';
		if (i < g.gl_pathc)
			model_of(g.gl_pathv[i], model, sizeof(model));
		if (n_same && strcmp(model, same)) {
			if (n_same > 1)
				len += (size_t)snprintf(buf + len, size - len, "%s%zu x %s", len ? "; " : "", n_same,
							same);
			else
				len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? "; " : "", same);
			n_same = 0;
		}
		snprintf(same, sizeof(same), "%s", model);
		n_same += model[0] != '\0';
	}
	globfree(&g);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct …": the first word that is a dotted number. */
void assay_gpu_driver(const char *root, char *buf, size_t size)
{
	char line[256], *save = NULL;

	snprintf(buf, size, "none");
	if (!assay_host_line(root, "/proc/driver/nvidia/version", line, sizeof(line)))
		return;
	snprintf(buf, size, "unknown");
	for (char *word = strtok_r(line, " \t", &save); word; word = strtok_r(NULL, " \t", &save))
		if (isdigit((unsigned char)word[0]) && strchr(word, '.')) {
			snprintf(buf, size, "%s", word);
			return;
		}
}

/* ---- host files ---- */

/* Small readers over /proc and /sys, below an optional root. */

/*
 * @path below @root. Only where there is a root is that text of its own, @owned, for the caller to free. No buffer on
 * the stack: samples of a profiler hold the top of it, and workers read such files all the time. NULL: out of memory.
 */
static const char *below(const char *root, const char *path, char **owned)
{
	*owned = NULL;
	if (!root || !*root)
		return path;
	if (asprintf(owned, "%s%s", root, path) < 0)
		*owned = NULL;
	return *owned;
}

bool assay_host_line(const char *root, const char *path, char *buf, size_t size)
{
	char *owned;
	const char *full = below(root, path, &owned);
	bool found;

	buf[0] = '\0';
	found = full && assay_file_line(full, buf, size) && buf[0];
	free(owned);
	return found;
}

bool assay_host_number(const char *root, const char *path, int64_t *out)
{
	char line[64], *end;
	long long v;

	if (!assay_host_line(root, path, line, sizeof(line)))
		return false;
	errno = 0;
	v = strtoll(line, &end, 10);
	if (errno || end == line || (*end && !isspace((unsigned char)*end)))
		return false;
	*out = v;
	return true;
}

char *assay_host_text(const char *root, const char *path)
{
	char *owned, *text = NULL;
	const char *full = below(root, path, &owned);
	size_t len;

	if (!full || assay_file_read(full, &text, &len, NULL))
		text = NULL;
	free(owned);
	return text;
}

bool assay_host_exists(const char *root, const char *path)
{
	char *owned;
	const char *full = below(root, path, &owned);
	bool exists = full && assay_file_exists(full);

	free(owned);
	return exists;
}

bool assay_host_field(const char *text, const char *key, uint64_t *out)
{
	size_t len = strlen(key);

	for (const char *p = text; p && *p; p = strchr(p, '\n')) {
		char *end;

		p += *p == '\n';
		if (strncmp(p, key, len) || !isspace((unsigned char)p[len]))
			continue;
		*out = strtoull(p + len, &end, 10);
		return end != p + len;
	}
	return false;
}
