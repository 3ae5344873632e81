/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that asks NVML about the state of the GPU of a case. It looks when it is asked to, between samples, and
 * sleeps otherwise: nothing of it runs while a sample is timed.
 */
#ifndef ASSAY_WORKER_CASE_DEVICE_WATCH_H
#define ASSAY_WORKER_CASE_DEVICE_WATCH_H

#include "assay/plugin.h"

#include "machine/nvml.h"

struct assay_device_watch;

/* Takes @n over, on success and on failure. NULL where no thread can be had. */
struct assay_device_watch *assay_device_watch_new(struct assay_nvml *n, unsigned index);
/* Takes NULL. */
void assay_device_watch_free(struct assay_device_watch *w);
/* Have the thread look and wait for it. 0, or ASSAY_EUNAVAILABLE where not even the clock is told. */
int assay_device_watch_look(struct assay_device_watch *w, struct assay_device_state *state, struct assay_nvml_use *use);

#endif
