/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's management library, opened at run time: which GPUs the machine has, their settings, and their present
 * clocks, power, temperature and throttle reasons. Nothing here starts a CUDA context.
 */
#ifndef ASSAY_MACHINE_NVML_H
#define ASSAY_MACHINE_NVML_H

#include <stdbool.h>

#include "assay/plugin.h"

#include "base/err.h"

#define ASSAY_NVML_LIBRARY "libnvidia-ml.so.1"

struct assay_nvml;

/* ASSAY_ENOTFOUND: no library. ASSAY_EUNAVAILABLE with the reason: an old one, no driver. *@n is NULL then. */
int assay_nvml_open(struct assay_nvml **n, struct assay_err *err);
/* Takes NULL. */
void assay_nvml_close(struct assay_nvml *n);

unsigned assay_nvml_count(const struct assay_nvml *n);
/* The settings of GPU @index; what the library does not report stays unknown. ASSAY_EUNAVAILABLE. */
int assay_nvml_info(const struct assay_nvml *n, unsigned index, struct assay_device_info *out, struct assay_err *err);
/* The GPU at this address of the PCI bus, "0000:3b:00.0"; false: there is none. */
bool assay_nvml_find(const struct assay_nvml *n, const char *pci, unsigned *index);
/* The present state of GPU @index. ASSAY_EUNAVAILABLE if not even its clock is reported. */
int assay_nvml_state(const struct assay_nvml *n, unsigned index, struct assay_device_state *out, struct assay_err *err);

/* The recent activity of GPU @index, and its present use. Members that its driver does not report are NaN or 0. */
struct assay_nvml_use {
	double busy_frac, memory_busy_frac; /* of the driver's last sampling period, up to a second */
	double joules;                      /* since the driver was loaded */
	double watts, celsius;
	uint64_t memory_bytes, used_bytes; /* that there are; in use by all */
};
/* ASSAY_EUNAVAILABLE where there is no such GPU. */
int assay_nvml_use(const struct assay_nvml *n, unsigned index, struct assay_nvml_use *out, struct assay_err *err);

#endif
