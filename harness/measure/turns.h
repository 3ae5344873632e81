/* SPDX-License-Identifier: Apache-2.0 */
/* Two workers on the same cores that run alternately, sample by sample. Internal to this folder. */
#ifndef ASSAY_MEASURE_TURNS_H
#define ASSAY_MEASURE_TURNS_H

#include "measure/options.h"
#include "model/catalog.h"
#include "model/comparison.h"
#include "stats/stats.h"
#include "worker/worker.h"

struct assay_turns {
	/* Statuses, iterations and samples of the sides. p->iterations has to be set before turns are taken. */
	struct assay_pair *p;
	struct assay_worker *w[2];
	struct assay_accepted
		*accepted;       /* what the oracle accepted so far, on the inputs of both sides; NULL: these differ */
	double stretch_frac;     /* of the head's samples */
	const char *pace_untold; /* why nothing can be said about the pace of the cores; NULL: it is measured */
	struct assay_kept_memory *kept; /* see assay_worker_start_pair() */
	enum assay_common common;       /* none unless the sides run the same op on the same shape */
	bool slices;                    /* turns are slices of calls, see assay_turns_can_slice() */
	bool swap_copies;               /* see struct assay_worker_args */
	uint32_t turn_parts;            /* parts of a call that make a turn; 0: turns are whole calls */
	uint32_t call_turns;            /* and turns that make a call */
	bool counting;                  /* in the samples that follow, which are kept */
	bool followed[2];               /* the side was ended because the other one had ended */
	double sample_ns;               /* expected duration of a sample, to fit turns into a time */
	struct assay_err *err;
};

/*
 * Start the sides as @wo says, which assay_measure_worker() began, both on the CPUs that the base's threads get, with
 * one layout that @p->seed gives them. The two cases need as many threads. Fill t->p and t->err before; close
 * afterwards when it returned 0. Negative: see assay_measure_case.
 */
int assay_turns_open(struct assay_turns *t, struct assay_worker_options wo[2], const struct assay_measure_options *o);

/*
 * Each of these returns 0 to go on; 1 if a side is over and its status is set; a negative number if the harness cannot
 * go on. assay_turns_command() gives one command, to one side or to the base and then the head.
 */
int assay_turns_command(struct assay_turns *t, int side, enum assay_command cmd, const struct assay_worker_args *args);
int assay_turns_both(struct assay_turns *t, enum assay_command cmd, const struct assay_worker_args *args);
/* Let both give everything back and end. */
int assay_turns_finish(struct assay_turns *t);
/* Let them load their plugins, make their inputs and check a first result, beginning with side @first. */
int assay_turns_prepare(struct assay_turns *t, int first);
/* Take turns until both have used all of @copies. */
int assay_turns_rotate(struct assay_turns *t, uint64_t order_seed, uint64_t copies);
/* Take turns until both are steady (p->steady), at most for @cap_ns; @once: a few, and at least one block. */
int assay_turns_warm(struct assay_turns *t, uint64_t order_seed, uint64_t cap_ns, bool once);
/*
 * How a call of @parts parts that takes @call_ns is divided: into the number of parts that make a turn of about a
 * millisecond, and the number of turns that make a call. There are no more turns than a pair may have. Their number is
 * even if turns of less than twice as many parts allow it, because otherwise whole blocks would need two calls. False:
 * the call takes less than 5 ms, or has no parts.
 */
bool assay_turns_divide(uint64_t parts, double call_ns, uint32_t *turn_parts, uint32_t *call_turns);
/*
 * From now on turns are parts of calls. The sides must not write to the same memory. False, with nothing changed, if
 * they cannot be divided, or not into equally many parts on both sides.
 */
bool assay_turns_by_parts(struct assay_turns *t);
/*
 * Are the calls long enough for slices to take turns within them, and can all threads of both sides be stopped? From
 * then on a call of each side is under way at any time, so that the two must not write to the same memory.
 */
bool assay_turns_can_slice(const struct assay_turns *t);
/*
 * Take as many turns as fit into @sampling_ns, at least two blocks and whole calls, and keep the samples. Their
 * duration becomes the expected one of the next samples.
 */
int assay_turns_sample(struct assay_turns *t, uint64_t order_seed, uint64_t sampling_ns);

/*
 * Time of a call of the head over that of a call of the base: median over the blocks and its 95 % interval, or their
 * range where they are too few for one (*reached is false). Which blocks count: model/result.h. ASSAY_ENOMEM.
 */
int assay_turns_ratio(const struct assay_pair *p, double *median, struct assay_interval *ci, bool *reached,
		      struct assay_err *err);

/* Stop both workers. If a side went wrong, the samples of the pair say nothing and are dropped. */
void assay_turns_close(struct assay_turns *t);

#endif
