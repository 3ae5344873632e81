/* SPDX-License-Identifier: Apache-2.0 */
/* The controller's handle on a worker: starting it, giving it commands, and how it ended. */
#ifndef ASSAY_WORKER_WORKER_H
#define ASSAY_WORKER_WORKER_H

#include <sys/types.h>

#include "base/text.h"
#include "worker/time_limits.h"
#include "worker/protocol.h"
#include "worker/start.h"

struct assay_worker;

/* Start the process; nothing of the plugins runs yet. */
int assay_worker_start(struct assay_worker **w, const struct assay_worker_options *o, struct assay_err *err);

/* Memory that large pairs use one after the other, because getting it from the kernel takes longer than filling it. */
struct assay_kept_memory {
	struct assay_pair_shared *shared; /* NULL: there is none yet */
	int fd;
};

/* Can pairs use it here? Not if there is none (NULL), or if files may not be as large as needed. */
bool assay_kept_memory_usable(const struct assay_kept_memory *kept);
/* Once no worker uses it. */
void assay_kept_memory_release(struct assay_kept_memory *m);

/* Start two that can take turns (ASSAY_CMD_PAIR). On error neither runs. @kept: NULL: memory of their own. */
int assay_worker_start_pair(struct assay_worker *w[2], const struct assay_worker_options o[2],
			    struct assay_kept_memory *kept, struct assay_err *err);
/* Kills it if it still runs, and whatever it left behind. */
void assay_worker_free(struct assay_worker *w);
/* How many bytes of a worker's output are kept. */
#define ASSAY_WORKER_WORDS_MAX ((size_t)64 << 10)
/*
 * Kill the worker if it still runs, and return what it wrote to standard output and standard error, as printable lines,
 * malloc'ed. After the first ASSAY_WORKER_WORDS_MAX bytes a line says how many more there were. NULL: nothing. Call
 * this once.
 */
char *assay_worker_words(struct assay_worker *w);

/* Where the status that a command ends with goes, and its reason. */
struct assay_ending {
	enum assay_status *status;
	char *reason;
	size_t size;
};
/* Into the fields of @of, a pointer to a struct that has them. */
#define ASSAY_ENDING_OF(of) ((struct assay_ending){ &(of)->status, (of)->reason, sizeof((of)->reason) })

/*
 * Give @cmd and wait for the answer. 0, with the status and reason for whatever the worker or its end says in @end;
 * unless the status is OK, the worker is gone and only free may follow. An answer that makes no sense is a failure of
 * the worker. ASSAY_EINTERRUPTED if the user asked to stop.
 */
int assay_worker_call(struct assay_worker *w, enum assay_command cmd, const struct assay_worker_args *args,
		      struct assay_ending end, struct assay_err *err);
/*
 * The two halves of assay_worker_call(), to keep two workers busy at once. @partner is the worker that w waits for, or
 * NULL. If the partner has ended, or keeps w waiting for too long, w is ended as well, with status FAILED and without a
 * reason, and the result is 1.
 */
void assay_worker_begin(struct assay_worker *w, enum assay_command cmd, const struct assay_worker_args *args);
int assay_worker_end(struct assay_worker *w, struct assay_worker *partner, struct assay_ending end,
		     struct assay_err *err);
/* Tell it what the oracle accepted elsewhere, on the same inputs: before LOAD, or PREPARE where there is none. */
void assay_worker_accept(struct assay_worker *w, const struct assay_accepted *accepted);
/*
 * Have it continue a prompt by @n_wanted tokens, as assay_worker_call() of RESPOND; both are at most ASSAY_PAGE_TOKENS.
 * While it is waited for and afterwards, assay_worker_tokens() copies the tokens so far, of at most @n_wanted, and
 * returns how many there are.
 */
int assay_worker_respond(struct assay_worker *w, const int32_t *prompt, uint32_t n, uint32_t n_wanted,
			 struct assay_ending end, struct assay_err *err);
uint32_t assay_worker_tokens(const struct assay_worker *w, int32_t *tokens, uint64_t *at_ns);
/* While RESPOND is waited for: no more tokens are wanted. Some may come before the op looks. */
void assay_worker_enough(struct assay_worker *w);
/* The last answer, checked; all zeros after one that made no sense. Stays where it is until the worker is freed. */
const struct assay_worker_reply *assay_worker_reply(const struct assay_worker *w);
/* Call @f(@arg) whenever a command was waited for some more; NULL: no more. */
void assay_worker_while_waiting(struct assay_worker *w, void (*f)(void *arg), void *arg);
/* In @f, or before a command: call it again after @ns at the latest, this once. */
void assay_worker_wait_less(struct assay_worker *w, uint64_t ns);
/* The number of steps that it says it has taken in this command; only to be shown. */
uint64_t assay_worker_steps(const struct assay_worker *w);
/* The processor time that it took so far, 0 once it is gone; and was it killed because that time was used up? */
uint64_t assay_worker_cpu_ns(const struct assay_worker *w);
bool assay_worker_is_spent(const struct assay_worker *w);
/* The signal that ended its process; 0: none did. */
int assay_worker_signal(const struct assay_worker *w);
pid_t assay_worker_pid(const struct assay_worker *w);
/* The number of threads that its process has at present; 0: unknown. */
unsigned assay_worker_threads(const struct assay_worker *w);

#endif
