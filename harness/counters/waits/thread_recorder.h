/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of this process do, for the functions that stand before those that wait. */
#ifndef ASSAY_COUNTERS_WAITS_THREAD_RECORDER_H
#define ASSAY_COUNTERS_WAITS_THREAD_RECORDER_H

#include "counters/waits/thread_file.h"

/* Is anything recorded? Asked before everything else, and once: false where ASSAY_THREADS names no folder. */
bool assay_thread_recorder_begin(void);
/*
 * The process ends by itself: close the accounts of all its threads. No-op in a child of vfork(2), which has its
 * parent's memory.
 */
void assay_thread_recorder_end(void);

/* The calling thread begins or ends; the first call of one that is not known begins it, too. */
void assay_thread_recorder_enter(void);
void assay_thread_recorder_leave(void);

/*
 * The calling thread is about to wait in @call on @object, asleep at once or spinning first; true where that is
 * recorded, and assay_thread_wait_end() is to follow. @holder: the thread (gettid) that keeps it, 0: not known.
 */
bool assay_thread_wait_begin(enum assay_wait_call call, const void *object, bool asleep, uint32_t holder,
			     struct assay_heap_caller from);
void assay_thread_wait_sleeps(void);
void assay_thread_wait_end(void);
/* The calling thread lets go whoever waits on @object; nothing is kept where spans are not. */
void assay_thread_posted(const void *object);
/* The number in gettid(2)'s sense of the thread of that handle, 0: not known. */
uint32_t assay_thread_of(uint64_t handle);

void assay_thread_watch(bool on);
void assay_thread_span_begin(const char *name);
void assay_thread_span_end(void);
void assay_thread_count(const char *name, double value);
bool assay_thread_spans(void);

#endif
