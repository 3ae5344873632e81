/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the files (counters/threads/log.h) that processes leave in a folder if the object for threads was preloaded
 * into them.
 */
#ifndef ASSAY_PROFILE_THREAD_LOGS_H
#define ASSAY_PROFILE_THREAD_LOGS_H

#include "base/err.h"
#include "counters/threads/log.h"
#include "model/profile.h"
#include "profile/code_places.h"

struct assay_thread_log {
	char *text;
	struct assay_thread_log_header *head;
	struct assay_code_places *places;
};

/* A thread whose time was counted. */
struct assay_logged_thread {
	const struct assay_thread_log *log;
	const struct assay_thread_record *record;
	char name[64]; /* "thread 2: its name" */
};

/* All-zero is empty. Threads are in the order in which they were made, process by process. */
struct assay_thread_logs {
	struct assay_thread_log *v;
	size_t n;
	struct assay_logged_thread *threads;
	size_t n_threads;
	uint64_t lost;
	unsigned cut; /* threads that were killed, whose last part is not known */
};

/*
 * All files of the folder @dir. What threads of processes that live do at this moment is closed, as if they ended.
 * ASSAY_ENOTFOUND where there is no file. Close in either case.
 */
int assay_thread_logs_open(struct assay_thread_logs *l, const char *dir, struct assay_err *err);
void assay_thread_logs_close(struct assay_thread_logs *l);

/* The next record of @kind behind *at, which begins with 0; NULL behind the last. */
void *assay_thread_log_next(const struct assay_thread_log *l, enum assay_thread_log_kind kind, uint64_t *at);
/* The record of that number; NULL where there is none of that kind. */
const void *assay_thread_log_at(const struct assay_thread_log *l, uint32_t number, enum assay_thread_log_kind kind);
/* The thread of @l that has this number, among @logs' threads; SIZE_MAX: none. */
size_t assay_thread_logs_find(const struct assay_thread_logs *logs, const struct assay_thread_log *l, uint32_t tid);

/* Of a call that waits. */
const char *assay_wait_call_name(uint32_t call);
bool assay_wait_call_meets(uint32_t call);

/* ---- logged frames ---- */

/* Frames of a stack table from the addresses that a preloaded object wrote down. */

/* Frames of a stack that grows, the outermost first. */
struct assay_logged_list {
	uint32_t *v, n, most;
};

/*
 * Append the function at @address to @list, behind those it was inlined into. *known: the innermost has a name. What
 * there is no room for is left out.
 */
int assay_logged_frames(struct assay_code_places *places, struct assay_stack_table *t, uint64_t address,
			struct assay_logged_list *list, bool *known, struct assay_err *err);
/* Append a label. */
int assay_logged_label(struct assay_stack_table *t, const char *text, struct assay_logged_list *list,
		       struct assay_err *err);

#endif
