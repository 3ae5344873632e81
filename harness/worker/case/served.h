/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case that a worker serves, and what its orders are carried out with: checks, samples, and audits between them.
 * Knows nothing of the page; what is answered goes into `reply`.
 */
#ifndef ASSAY_WORKER_CASE_SERVED_H
#define ASSAY_WORKER_CASE_SERVED_H

#include "worker/case/counts.h"
#include "worker/case/job.h"
#include "worker/protocol.h"
#include "worker/case/sampling.h"

struct assay_served {
	struct assay_page *page;
	struct assay_pair_shared *pair; /* NULL: this worker has no partner */
	int pair_fd;
	unsigned index; /* which side of a pair */
	/* what the page said, and what it will say when the command is over */
	struct assay_order order;
	struct assay_worker_spec spec;
	struct assay_worker_reply reply;
	_Alignas(ASSAY_LAYOUT_ALIGN) struct assay_case_job job; /* with pages of its own */
	_Alignas(ASSAY_LAYOUT_ALIGN) bool loaded;               /* its plugins are */
	uint64_t iterations;                                    /* of the last sample */
	double call_ns;                                         /* the shortest since the last audit */
	double sampled_ns;                                      /* of samples since then */
	bool checked;    /* the outputs of the last sample that counts, before the partner could write there */
	bool in_turns;   /* scheduled for them */
	uint64_t checks; /* so far */
	bool offset;     /* the rotation over common copies is half a turn from the partner's */
	char digest[ASSAY_DIGEST_LEN + 1];
	struct assay_case_counts counts;
	struct assay_sampling sampling;
	uint32_t slot, slots; /* of PAIR: the one this side has, and how many there are */
};

/* The first check of the outputs, then of what audits look at. */
struct assay_outcome assay_served_verify(struct assay_served *w);
/*
 * The outputs of the last sample, then, after an audit and a traced run, once more from poison through the timed loop.
 * Only then are guards and inputs looked at, for all that ran: with gigabytes of them that takes long. A pair that
 * leaves out checks does so with the audit and the run from poison.
 */
struct assay_outcome assay_served_recheck(struct assay_served *w);
/* As many samples as the order says. */
struct assay_outcome assay_served_sample(struct assay_served *w);

/* The samples that follow are of this order. */
void assay_served_begin_samples(struct assay_served *w);
/* A sample of the order. */
struct assay_outcome assay_served_take_sample(struct assay_served *w);
/* Check the outputs as the last sample left them. */
struct assay_outcome assay_served_check_last(struct assay_served *w);
/* Audit by what the samples since the last audit told; @last: there are no more of them. */
struct assay_outcome assay_served_audit(struct assay_served *w, bool last);

#endif
