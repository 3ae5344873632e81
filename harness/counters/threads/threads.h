/* SPDX-License-Identifier: Apache-2.0 */
/* The preloaded object for threads, from both sides: where it is, and what this process has of it. */
#ifndef ASSAY_COUNTERS_THREADS_THREADS_H
#define ASSAY_COUNTERS_THREADS_THREADS_H

#include "counters/preloaded.h"
#include "counters/threads/log.h"

/* As assay_preloaded_path(). */
int assay_threads_library(char *path, size_t size, struct assay_err *err);
/* What is preloaded into this process and records; NULL: nothing. */
const struct assay_threads *assay_threads_find(void);

#endif
