/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps through code of a kernel: the processor's trap flag is set, and a handler of SIGTRAP writes down each
 * instruction with the memory that it accesses. Turning that into counts is the job of step/replay.c. x86-64 with
 * Zydis; elsewhere assay_step_probe() says why not. Must not count anything inside this program's own code.
 *
 * One thread opens and closes; threads enter and leave for themselves. There is one stepper in a process at a time.
 */
#ifndef ASSAY_COUNTERS_STEP_STEPPER_H
#define ASSAY_COUNTERS_STEP_STEPPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "counters/step/decode.h"
#include "model/exact.h"

/* ---- traces ---- */

/*
 * The trace of a thread is a growing array of words: one word for each step, followed by what belongs to the step. All
 * but open and close are async-signal-safe.
 */

/* Fields belong to this module, but for words and n. */
struct assay_step_words {
	uint64_t *words;
	size_t n, room;
};

/*
 * An empty row, that of thread number @thread; ASSAY_ENOMEM. It lies far from where the kernel puts what programs map,
 * and stays there while it grows: code that is stepped finds its own memory where it would be without.
 */
int assay_step_words_open(struct assay_step_words *w, unsigned thread, struct assay_err *err);
void assay_step_words_close(struct assay_step_words *w);
/* Forget all; the memory stays. */
void assay_step_words_empty(struct assay_step_words *w);
/* Make room for any entry and the end of the one before. False: there is no more memory. */
bool assay_step_words_need(struct assay_step_words *w);

/* Write down a step, for which there is room, and return where it stands. Its end is open. */
size_t assay_step_words_add(struct assay_step_words *w, size_t instruction, const struct assay_step_accesses *acc);
/* Write down the outcome of the last step, which stands @at. */
void assay_step_words_end(struct assay_step_words *w, size_t at, const struct assay_step_outcome *o);
/* Where it went; at most once, and before the next step. */
void assay_step_words_target(struct assay_step_words *w, size_t at, uint64_t target);
void assay_step_words_mark(struct assay_step_words *w, unsigned mark);

/*
 * The first word of an entry. A step has two words an access, see assay_step_entry_access(), and one more with where it
 * went if has_target.
 */
struct assay_step_entry {
	uint32_t instruction; /* of the table; of a mark what it is */
	bool is_mark, has_target;
	unsigned accesses, instructions, branches, taken;
};
struct assay_step_entry assay_step_entry_of(uint64_t word);
/* Words of the entry, the first included. */
size_t assay_step_entry_words(const struct assay_step_entry *e);
struct assay_step_access assay_step_entry_access(const uint64_t *words, unsigned i);

/* ---- rules ---- */

/*
 * Which instructions and system calls may be stepped, whether one instruction can have followed another, and the
 * messages for why not. All but the texts are async-signal-safe.
 */

enum assay_step_rule {
	ASSAY_STEP_RULE_NONE,
	ASSAY_STEP_RULE_INSTRUCTION, /* struct assay_step_refusal says more */
	ASSAY_STEP_RULE_FLAGS,
	ASSAY_STEP_RULE_TRAP,
	ASSAY_STEP_RULE_OLD_CALL,
	ASSAY_STEP_RULE_SIGNAL,
	ASSAY_STEP_RULE_THREAD,
	ASSAY_STEP_RULE_LOST,
	ASSAY_STEP_RULE_SPACE,
};

/* Why @i, before which the registers are @r, must not be stepped. */
enum assay_step_rule assay_step_refused(const struct assay_step_insn *i, const struct assay_step_regs *r);

/*
 * Can @now be the instruction after @i, before which the registers were @before? If not, other code ran between the
 * two: the handler of a signal, which changed where its thread goes on, or instructions for which the processor did not
 * trap.
 */
bool assay_step_follows(const struct assay_step_insn *i, const struct assay_step_regs *before,
			const struct assay_step_regs *now);

/* "changes or sends signals", "changed while it ran: 90 c3", …: what is said of the code at an address. */
void assay_step_rule_text(enum assay_step_rule rule, const struct assay_step_refusal *more, char *buf, size_t size);

/* ---- stepper ---- */

struct assay_stepper;

/* Can this build and this processor step? ASSAY_EUNAVAILABLE says why not. */
int assay_stepper_probe(struct assay_err *err);

struct assay_stepper_options {
	unsigned threads;
	uint64_t max_steps;         /* of a pass, of all threads together */
	_Atomic uint64_t *progress; /* gets the steps of all passes so far; NULL: nobody looks */
};

int assay_stepper_open(struct assay_stepper **out, const struct assay_stepper_options *o, struct assay_err *err);
void assay_stepper_close(struct assay_stepper *s);

/* Why a pass ended before the code did. */
enum assay_stepper_end {
	ASSAY_STEPPER_WHOLE,   /* it did not */
	ASSAY_STEPPER_LIMIT,   /* max_steps were done */
	ASSAY_STEPPER_REFUSED, /* at an instruction that cannot be stepped, or a system call that must not be */
};

/*
 * Begin a pass with nothing written down; the handler of SIGTRAP is the stepper's until the end. At most @max_steps
 * (0: those of the options) are done: then threads go on without steps. The code runs to its end in any case.
 */
void assay_stepper_begin(struct assay_stepper *s, uint64_t max_steps);
/*
 * Return why the pass ended. What was refused is described in @why (@size bytes, "" otherwise), and its address is in
 * *at.
 */
enum assay_stepper_end assay_stepper_end(struct assay_stepper *s, uint64_t *at, char *why, size_t size);

/* Memory that a pass is to reach. */
struct assay_step_range {
	uint64_t begin, bytes;
};

/* Let the pass that has begun end @steps behind the first write into one of @ranges, which stay until its end. */
void assay_stepper_watch(struct assay_stepper *s, const struct assay_step_range *ranges, size_t n, uint64_t steps);

/*
 * From here on the calling thread, number @thread of them, is stepped, until it leaves. Code of this program in between
 * is run step by step, too, and not written down: leave where it may wait.
 */
void assay_stepper_enter(struct assay_stepper *s, unsigned thread);
/* The number of the calling thread. */
unsigned assay_stepper_leave(struct assay_stepper *s);

/* Points at which threads meet; written down for the thread. */
enum assay_stepper_mark {
	ASSAY_STEPPER_FORK, /* all threads begin a region; each writes it */
	ASSAY_STEPPER_BARRIER,
	ASSAY_STEPPER_JOIN,
};
void assay_stepper_mark(struct assay_stepper *s, unsigned thread, enum assay_stepper_mark mark);

/* The record of one thread in a pass: entries as described above, and what it did in all. */
struct assay_step_trace {
	const uint64_t *words;
	size_t n;
	const struct assay_step_table *table;
	struct assay_step_mix mix;
	uint64_t steps;
};
/* Valid until the next pass begins. */
struct assay_step_trace assay_stepper_trace(const struct assay_stepper *s, unsigned thread);

/* The cost of one step here in nanoseconds, by trying it; ASSAY_EUNAVAILABLE says why there is none. */
int assay_stepper_try(double *step_ns, struct assay_err *err);

/* ---- replay ---- */

/*
 * From traces to counts: what threads wrote down while they were stepped goes through the models of caches and
 * branches, each thread with a D1, an I1 and predictors of its own, all with one last level. Within a region the
 * threads take turns, an instruction each, in the order of their numbers, whatever the order was in which they ran:
 * equal traces give equal counts.
 *
 * One thread has the two levels that callgrind simulates. Each of several has an L2 of its own between them, for code
 * and data, and a line that one of them writes leaves the D1 and the L2 of all others.
 */

struct assay_step_replay;

/* ASSAY_EUSAGE for caches that cannot be simulated. */
int assay_step_replay_new(struct assay_step_replay **out, const struct assay_cache_model *model, unsigned threads,
			  struct assay_err *err);
void assay_step_replay_free(struct assay_step_replay *r);

/* Empty caches, untrained predictors. */
void assay_step_replay_empty(struct assay_step_replay *r);

/*
 * Run the traces of @s, one pass, and count it from 0. ASSAY_EIO where the threads did not meet at the same points.
 */
int assay_step_replay_run(struct assay_step_replay *r, const struct assay_stepper *s, struct assay_err *err);

/* The counts of one instruction of a thread. */
struct assay_step_counts {
	uint64_t address;
	struct assay_exact_counts counts;
	uint64_t taken;
	uint64_t l2_misses; /* of code and data; 0 where there is no L2 */
};
/* All of a thread, in the order of their first step. Valid until the next run. */
const struct assay_step_counts *assay_step_replay_counts(const struct assay_step_replay *r, unsigned thread, size_t *n);

#endif
