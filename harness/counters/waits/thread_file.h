/* SPDX-License-Identifier: Apache-2.0 */
/* The file of counters/threads/log.h as its process writes it: records, code that is mapped, names. */
#ifndef ASSAY_COUNTERS_WAITS_THREAD_FILE_H
#define ASSAY_COUNTERS_WAITS_THREAD_FILE_H

#include <stddef.h>

#include "counters/preload/heap_stacks.h"
#include "counters/threads/log.h"

/* NULL: there is none. */
extern struct assay_thread_log_header *assay_thread_file;

/* A file for this process; false where there can be none. */
bool assay_thread_file_open(void);
/* The file of the program that this process was before, mapped; NULL: it was none. */
struct assay_thread_log_header *assay_thread_file_before(void);
/* What a child after fork(2) inherited is its parent's. */
void assay_thread_file_forget(void);
/*
 * Room for a record, cleared, which belongs to the file once assay_thread_file_end() was called with it. NULL where
 * there is none. Both with the lock held.
 */
void *assay_thread_file_record(enum assay_thread_log_kind kind, size_t bytes);
void assay_thread_file_end(const void *record);
/* The number of a record, and the record. */
uint32_t assay_thread_file_number(const void *record);
void *assay_thread_file_at(uint32_t number);

/* Tell of the code that @s returns to. With the lock held. */
void assay_thread_file_maps(const struct assay_heap_stack *s);
/* The number of the name @text, which is static; 0 where there is no room. With the lock held. */
uint32_t assay_thread_file_name(const char *text);
void assay_thread_file_lost(void);

void assay_thread_file_lock(void);
void assay_thread_file_unlock(void);
/* In a child after fork(2). */
void assay_thread_file_unlock_anew(void);

#endif
