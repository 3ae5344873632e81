/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single facts of /proc and /sys as words, shared by the environment of a run and `assay doctor`. @root as in
 * host_facts.h.
 */
#ifndef ASSAY_MACHINE_HOST_FACTS_H
#define ASSAY_MACHINE_HOST_FACTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* The text of a fact for which the host has no file. */
#define ASSAY_NOT_EXPOSED "not exposed by this host"

/* Each fills @buf, with ASSAY_NOT_EXPOSED or "unknown" when it returns false. */
typedef bool (*assay_fact_fn)(const char *root, char *buf, size_t size);

bool assay_fact_governor(const char *root, char *buf, size_t size);       /* "performance", "mixed (…)" */
bool assay_fact_turbo(const char *root, char *buf, size_t size);          /* "on", "off" */
bool assay_fact_smt(const char *root, char *buf, size_t size);            /* "active", "off", "not supported" */
bool assay_fact_aslr(const char *root, char *buf, size_t size);           /* "off", "partial", "full" */
bool assay_fact_thp(const char *root, char *buf, size_t size);            /* "always", "madvise", "never" */
bool assay_fact_numa_balancing(const char *root, char *buf, size_t size); /* "on", "off" */
bool assay_fact_load(const char *root, char *buf, size_t size);           /* "0.42", over one minute */
bool assay_fact_steal(const char *root, char *buf, size_t size);          /* "0.03 % since boot" */
bool assay_fact_isolated(const char *root, char *buf, size_t size);       /* "CPUs 2-3, nohz_full 2-3" */
bool assay_fact_hypervisor(const char *root, char *buf, size_t size);     /* "yes", "no" */

/* Limits of the container: "none" and true, or "1.5 CPUs", "2 GiB" and false. */
bool assay_fact_cpu_limit(const char *root, char *buf, size_t size);
bool assay_fact_memory_limit(const char *root, char *buf, size_t size);

/* "NVIDIA H200", "8 x NVIDIA H200", "none"; and "535.129.03" or "none". */
void assay_gpu_models(const char *root, char *buf, size_t size);
void assay_gpu_driver(const char *root, char *buf, size_t size);

/* ---- host files ---- */

/* /proc and /sys of this machine, or of a recorded one below a folder: @root "" is this machine. */

/* First line of root/path, false when it cannot be read or is empty. */
bool assay_host_line(const char *root, const char *path, char *buf, size_t size);
/* Whole number at the start of root/path. */
bool assay_host_number(const char *root, const char *path, int64_t *out);
/* All of root/path, malloc'ed and NUL-terminated; NULL when it cannot be read. */
char *assay_host_text(const char *root, const char *path);
bool assay_host_exists(const char *root, const char *path);
/* The number after "key" at the start of a line of @text ("MemTotal:", "nr_throttled"). */
bool assay_host_field(const char *text, const char *key, uint64_t *out);

/* ---- machine text ---- */

/* Byte counts as people write them. */

struct assay_memory_text {
	char s[32];
};

/* "48 KiB", "1.25 MiB", "24 GiB"; "unknown" for 0. */
static inline struct assay_memory_text assay_memory_text(uint64_t bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	struct assay_memory_text t = { "unknown" };
	double v = (double)bytes;
	int u = 0;

	if (!bytes)
		return t;
	while (v >= 1024.0 && u < 4) {
		v /= 1024.0;
		u++;
	}
	snprintf(t.s, sizeof(t.s), "%.4g %s", v, unit[u]);
	return t;
}

/* ---- memory state ---- */

/*
 * How much memory the machine has, how much of it may be used, and what the hypervisor took of the CPUs. @root as in
 * host_facts.h.
 */

struct assay_memory_state {
	uint64_t total_bytes;     /* of the machine */
	uint64_t available_bytes; /* without swapping; not above what the container still allows */
	uint64_t limit_bytes;     /* of the container (cgroup v1 or v2); 0: none */
	uint64_t usable_bytes;    /* of the container where it has less than the machine, else of the machine */
	uint64_t used_bytes;      /* of these */
};
int assay_memory_state(struct assay_memory_state *out, struct assay_err *err);
int assay_memory_state_at(const char *root, struct assay_memory_state *out, struct assay_err *err);

/*
 * Steal ticks (USER_HZ) summed over @cpus, and whether the host shows them at all. Reads /proc/stat, which takes tens
 * of microseconds, and more on big machines, so this is not for timed regions.
 */
bool assay_steal_ticks_at(const char *root, const int *cpus, size_t n, uint64_t *ticks);
/* Share of all CPU time since boot. */
bool assay_steal_frac_at(const char *root, double *frac);

/* ---- cgroup ---- */

/* Limits of the container this process runs in: control groups v1, v2 and both at once. @root as in host_facts.h. */

/* CPU time the container may use, in CPUs; the tightest limit on the way up. */
struct assay_cpu_quota {
	double cpus;          /* 0: no limit */
	char where[PATH_MAX]; /* file that sets it, "" without limit */
	bool hidden; /* the process is in a group, whose limits cannot be read: no such file system is mounted */
	bool shows_throttling;
	uint64_t throttled_ns; /* since the group was made */
};
void assay_cpu_quota_read(const char *root, struct assay_cpu_quota *out);

/* ASSAY_EUNAVAILABLE, naming the quota, if @n_threads busy threads would be throttled. */
int assay_cpu_quota_check(size_t n_threads, struct assay_err *err);
int assay_cpu_quota_check_at(const char *root, size_t n_threads, struct assay_err *err);

/* Memory of the container; limit_bytes 0: no limit. @available_bytes is what the tightest level still allows. */
void assay_memory_limit_read(const char *root, uint64_t *limit_bytes, uint64_t *available_bytes);

#endif
