/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single facts of /proc and /sys as words, shared by the environment of a run and `assay doctor`. @root as in
 * host_files.h.
 */
#ifndef ASSAY_MACHINE_HOST_FACTS_H
#define ASSAY_MACHINE_HOST_FACTS_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
