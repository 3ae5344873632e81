/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a worker may take for a command before it counts as hanging: a multiple of what the case took before. The
 * timeout of the case is the outer limit. This module only calculates; the caller has the clock.
 */
#ifndef ASSAY_WORKER_TIME_LIMITS_H
#define ASSAY_WORKER_TIME_LIMITS_H

#include "model/catalog.h"
#include "worker/protocol.h"

/* Times of a case as its workers have shown them so far; all-zero: none. One for each side of a comparison. */
struct assay_timeout_history {
	uint64_t floor_ns; /* the least limit; 0: what fits every machine */
	uint64_t first_ns; /* for what was never done; 0: a share of the timeout */
	uint64_t took_ns[ASSAY_N_COMMANDS];
	double call_ns, calls; /* a call, in the command that had most of them */
	uint64_t iterations;   /* of the last sample */
	uint64_t call_parts;   /* see struct assay_worker_reply */
	/*
	 * The other side of a comparison: the two take turns in making the inputs, and the oracle is asked once for
	 * both. NULL: there is none.
	 */
	const struct assay_timeout_history *other;
};

/* The limit for a command to a case with @timeout_ns, in ns. */
struct assay_timeout_limit {
	uint64_t expected_ns; /* 0: nothing is known that could tell */
	uint64_t most_ns;
};

/* @facts: what the case costs; NULL: unknown. */
struct assay_timeout_limit assay_timeout_limit(const struct assay_timeout_history *p, enum assay_command cmd,
					       const struct assay_worker_args *args,
					       const struct assay_case_facts *facts, uint64_t timeout_ns);
/* The limit for two sides that take turns, since each waits for the other. */
struct assay_timeout_limit assay_timeout_history_sum(const struct assay_timeout_history *p,
						     struct assay_timeout_limit a, struct assay_timeout_limit b);
/* The command was done after @took_ns. */
void assay_timeout_history_learn(struct assay_timeout_history *p, enum assay_command cmd,
				 const struct assay_worker_args *args, uint64_t took_ns);

/*
 * How much of the time @passed_ns since the last look counts, if looks are meant to be @slice_ns apart. If the
 * controller had no processor, or the machine stood still, the worker had to wait as well.
 */
uint64_t assay_timeout_history_counted(uint64_t passed_ns, uint64_t slice_ns);

#endif
