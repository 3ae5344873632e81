/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that are preloaded into programs: where make puts them, beside the program. */
#ifndef ASSAY_COUNTERS_PRELOADED_H
#define ASSAY_COUNTERS_PRELOADED_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "counters/threads/log.h"

#define ASSAY_PRELOADED_PATH_MAX 4200
/* The room for the records of a process: its first size, and the size by which it grows. */
#define ASSAY_PRELOADED_ROOM_BYTES (UINT64_C(1) << 20)

/*
 * The path of the object @name, which stands before @what. ASSAY_EUNAVAILABLE with the reason: it is not there, its
 * path cannot stand in LD_PRELOAD, or a sanitizer stands before the same.
 */
int assay_preloaded_path(const char *name, const char *what, char *path, size_t size, struct assay_err *err);
/* "LD_PRELOAD=" with it before what the user preloads. */
void assay_preloaded_variable(const char *path, char *buf, size_t size);

/* The object that CUDA's driver is to load, beside the running program. ASSAY_EUNAVAILABLE where it is not there. */
int assay_gpu_library(char *path, size_t size, struct assay_err *err);
/* The object for threads, as assay_preloaded_path(). */
int assay_threads_library(char *path, size_t size, struct assay_err *err);
/* The recorder of threads in this process; NULL: there is none. */
const struct assay_threads *assay_threads_find(void);

/* ---- sanitized ---- */

/* Was this program built with a sanitizer that keeps its own heap? Then nothing else may be placed before malloc. */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASSAY_SANITIZED_HEAP 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ASSAY_SANITIZED_HEAP 1
#endif
#endif
#ifndef ASSAY_SANITIZED_HEAP
#define ASSAY_SANITIZED_HEAP 0
#endif

#endif
