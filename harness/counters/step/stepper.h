/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps through code of a kernel: the processor's trap flag is set, and a handler of SIGTRAP writes down each
 * instruction with the memory that it accesses. Turning that into counts is the job of step/replay.h. x86-64 with
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
#include "counters/step/trace.h"

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

/* What one thread did in a pass: entries as step/trace.h has them, and what it did in all. */
struct assay_step_trace {
	const uint64_t *words;
	size_t n;
	const struct assay_step_table *table;
	struct assay_step_mix mix;
	uint64_t steps;
};
/* Valid until the next pass begins. */
struct assay_step_trace assay_stepper_trace(const struct assay_stepper *s, unsigned thread);

/* What one step costs here in nanoseconds, tried; ASSAY_EUNAVAILABLE says why there is none. */
int assay_stepper_try(double *step_ns, struct assay_err *err);

#endif
