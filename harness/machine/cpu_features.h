/* SPDX-License-Identifier: Apache-2.0 */
/* CPU features by their /proc/cpuinfo names, as variants ask for them. */
#ifndef ASSAY_MACHINE_CPU_FEATURES_H
#define ASSAY_MACHINE_CPU_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Read once and passed on to code that asks more than a few times; plain data. */
struct assay_cpu_features {
	char flags[6144];   /* blank separated, with a blank at both ends; "" when nothing is known */
	char model[128];    /* "AMD EPYC"; empty strings where unknown */
	char stepping[64];  /* "family 26 model 2 stepping 1" */
	char microcode[32]; /* "0x1000065" */
};

/*
 * Read from @cpuinfo, a text of /proc/cpuinfo. NULL: read those of this machine from /proc/cpuinfo, or else from CPUID,
 * leaving out vector features whose registers the operating system does not save.
 */
void assay_cpu_features_load(struct assay_cpu_features *f, const char *cpuinfo);
bool assay_cpu_features_has(const struct assay_cpu_features *f, const char *name);
/*
 * Do the CPU, and the operating system for its registers, have all of the comma separated @needs ("avx2,fma",
 * "asimddp")? NULL needs nothing. The first that is missing is copied into @missing (may be NULL).
 */
bool assay_cpu_features_has_all(const struct assay_cpu_features *f, const char *needs, char *missing, size_t size);
/* Forget @name, as if the CPU lacked it. */
void assay_cpu_features_drop(struct assay_cpu_features *f, const char *name);
/* The flags that kernels care about, separated by commas. */
void assay_cpu_features_list(const struct assay_cpu_features *f, char *buf, size_t size);

/* "AMD EPYC", family/model/stepping and microcode for the fingerprint; empty strings where unknown. */
struct assay_cpu_identity {
	char model[128];
	char stepping[64];
	char microcode[32];
	char features[512]; /* those that kernels care about, comma separated */
};
void assay_cpu_identity(struct assay_cpu_identity *out);

/* ---- isa ---- */

/* Instruction sets by name, as a cap on what variants may use. */

/* 0, or ASSAY_EUSAGE with the names that exist. */
int assay_isa_check(const char *isa, const char *what, struct assay_err *err);

/*
 * Are all CPU features of the comma separated @needs part of @isa, which must be a known one? The first that is not is
 * copied into @beyond. NULL needs nothing.
 */
bool assay_isa_holds(const char *isa, const char *needs, char *beyond, size_t size);

/* The architecture whose feature is the first of the comma separated @needs; NULL if that is not known here. */
const char *assay_isa_arch(const char *needs);

/* The width of the widest vectors of @isa, which must be a known one. */
unsigned assay_isa_vector_bits(const char *isa);

#endif
