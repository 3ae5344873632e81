/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI in this process, opened at run time, together with the parts of CUDA's driver that are used. It stays loaded,
 * because libraries that start threads must not be closed.
 */
#ifndef ASSAY_COUNTERS_GPU_CUPTI_LIBRARY_H
#define ASSAY_COUNTERS_GPU_CUPTI_LIBRARY_H

#include <stdbool.h>

#include "base/err.h"
#include "counters/gpu/cupti_abi.h"

struct assay_cupti {
	uint32_t version;
	int (*get_version)(uint32_t *v);
	int (*text)(int result, const char **text);
	/* activity */
	int (*callbacks)(cupti_wants_buffer *wants, cupti_gives_buffer *gives);
	int (*enable)(int kind);
	int (*disable)(int kind);
	int (*flush)(uint32_t flag);
	int (*next)(uint8_t *buffer, size_t used, void **record);
	int (*dropped)(void *context, uint32_t stream, size_t *n);
	/* ranges; all NULL in older ones */
	int (*init)(struct cupti_init *p);
	int (*chip)(struct cupti_chip *p);
	int (*availability)(struct cupti_availability *p);
	int (*host)(struct cupti_host *p);
	int (*host_end)(struct cupti_host_end *p);
	int (*host_metrics)(struct cupti_host_metrics *p);
	int (*host_size)(struct cupti_host_size *p);
	int (*host_image)(struct cupti_host_image *p);
	int (*host_passes)(struct cupti_host_passes *p);
	int (*host_values)(struct cupti_host_values *p);
	int (*range_open)(struct cupti_range_open *p);
	int (*range_close)(struct cupti_range *p);
	int (*range_size)(struct cupti_range_size *p);
	int (*range_image)(struct cupti_range_image *p);
	int (*range_config)(struct cupti_range_config *p);
	int (*range_start)(struct cupti_range *p);
	int (*range_push)(struct cupti_range_push *p);
	int (*range_pop)(struct cupti_range *p);
	int (*range_stop)(struct cupti_range_stop *p);
	int (*range_decode)(struct cupti_range_decode *p);
};

/* ASSAY_EUNAVAILABLE with the reason: no library, or one that is too old for kernels. */
int assay_cupti_open(struct assay_cupti *c, struct assay_err *err);
/* 0: it can count in ranges. ASSAY_EUNAVAILABLE with the reason: it is too old. */
int assay_cupti_has_ranges(const struct assay_cupti *c, struct assay_err *err);
/* The CUDA context of this thread and the number of its device. ASSAY_EUNAVAILABLE. */
int assay_cupti_context(void **context, int *device, struct assay_err *err);

/* "CUPTI cannot @what: …" for a function's @result, or what to do where the driver forbids it. ASSAY_EUNAVAILABLE. */
int assay_cupti_refused(const struct assay_cupti *c, const char *what, int result, struct assay_err *err);
/*
 * Does the driver below @root ("" for this machine) show counters to administrators only, and is the caller not one?
 * Then @err says what to do. A driver that does not say so is assumed to show them.
 */
bool assay_cupti_is_forbidden(const char *root, bool administrator, struct assay_err *err);

#endif
