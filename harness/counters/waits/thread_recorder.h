/* SPDX-License-Identifier: Apache-2.0 */
/* Records what the threads of this process do, for the functions that replace those that wait. */
#ifndef ASSAY_COUNTERS_WAITS_THREAD_RECORDER_H
#define ASSAY_COUNTERS_WAITS_THREAD_RECORDER_H

#include <stddef.h>
#include <time.h>

#include "counters/preload/recording.h"
#include "counters/threads/log.h"

/* ---- thread file ---- */

/* The file of counters/threads/log.h as its process writes it: records, code that is mapped, names. */

/* NULL: there is none. */
extern struct assay_thread_log_header *assay_thread_file;

/* A file for this process; false where there can be none. */
bool assay_thread_file_open(void);
/* The file of the program that this process was before, mapped; NULL: it was none. */
struct assay_thread_log_header *assay_thread_file_before(void);
/* Forget, in a child after fork(2), the records that it inherited: they are its parent's. */
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
void assay_thread_file_lost(void);

void assay_thread_file_lock(void);
void assay_thread_file_unlock(void);
/* In a child after fork(2). */
void assay_thread_file_unlock_anew(void);

/* Is anything recorded? Asked before everything else, and once: false where ASSAY_THREADS names no folder. */
bool assay_thread_recorder_begin(void);
/*
 * The process ends by itself: close the accounts of all its threads. No-op in a child of vfork(2), which has its
 * parent's memory.
 */
void assay_thread_recorder_end(void);

/* The calling thread begins or ends; the first call of one that is not known begins it, too. */
void assay_thread_recorder_enter(void);

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

/* ---- thread self ---- */

/* Shared by the parts of the recorder: its state of the calling thread, and which calls are recorded. */

#define ASSAY_THREAD_SITE_BITS  9
#define ASSAY_THREAD_MOST_DEPTH 64
#define ASSAY_THREAD_TLS        __attribute__((tls_model("initial-exec")))

/* The private data of a thread. Its memory comes from mmap(), because malloc() may be watched, too. */
struct assay_thread_self {
	struct assay_thread_record *record;
	struct assay_thread_chunk *chunk;
	struct assay_known_stacks known;
	uint32_t sites[1 << ASSAY_THREAD_SITE_BITS]; /* by the hash of frames and call */
	uint32_t n_sites;
	const void *object;     /* that it waits for */
	uint64_t asleep_cpu_ns; /* processor time that it had taken when it went to sleep, where that is measured */
	uint64_t sleep_cpu_ns[ASSAY_N_WAIT_CALLS]; /* what a sleep in each call takes of a processor: a moving mean */
	uint32_t measured;                         /* calls whose sleep was measured since the last mark, as bits */
	bool measuring;                            /* that of the wait that goes on is */
	uint32_t holder;                           /* thread that holds the object; 0: not known */
	uint32_t depth;                            /* of open spans */
	struct {
		uint64_t begin_ns;
		uint32_t name;
	} open[ASSAY_THREAD_MOST_DEPTH];
	bool inside; /* its stack is unwound: a wait within that is not recorded */
	int schedstat;
};

struct assay_thread_recording {
	bool on, windows;    /* windows: only what assay_thread_watch() begins and ends is counted */
	uint64_t most_spans; /* 0: none are kept */
};
extern struct assay_thread_recording assay_thread_recording;

/* The calling thread; NULL where it is not known, or ends. */
extern __thread struct assay_thread_self *assay_thread_me ASSAY_THREAD_TLS;
/* The same; recording of a thread that is not known begins. NULL where it cannot. */
struct assay_thread_self *assay_thread_self(void);

uint64_t assay_thread_now_ns(clockid_t clock);
/* Do all threads meet in this kind of wait? */
bool assay_thread_meets(uint32_t call);
/* Read what the kernel knows of @t, the calling thread, unless that was done a short while before @now_ns. */
void assay_thread_mark_if_due(struct assay_thread_self *t, uint64_t now_ns);
/* Keep a span of @t, the calling thread, where spans are kept. */
void assay_thread_keep_span(struct assay_thread_self *t, const struct assay_thread_span *s);

#endif
