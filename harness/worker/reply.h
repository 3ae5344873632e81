/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer of a worker on its way through the page. What arrives is untrusted input, because a plugin may have
 * written it and may go on writing. So it is copied once, and the copy is checked before anybody uses it.
 */
#ifndef ASSAY_WORKER_REPLY_H
#define ASSAY_WORKER_REPLY_H

#include "worker/protocol.h"

/* The worker's side: put the answer into the page, and remove it once the controller has it. */
void assay_reply_publish(struct assay_worker_reply *page, const struct assay_worker_reply *own);
void assay_reply_withdraw(struct assay_worker_reply *page, const struct assay_worker_reply *own);

/* The facts about an answer that the controller knows beforehand. */
struct assay_reply_expected {
	const struct assay_order *order;
	uint32_t n_threads;
	uint64_t age_ns;                 /* of the worker: nothing that it did took longer */
	const struct assay_clock *clock; /* of both processes; NULL: a simulator has its own */
	uint64_t given_ticks, now_ticks; /* of that clock: when the order was given, and now */
};

/*
 * Copy the answer in @page to @own. ASSAY_EWORKER if it makes no sense; @own is then all zeros, and @err names the
 * member and its value.
 */
int assay_reply_take(struct assay_worker_reply *own, const struct assay_worker_reply *page,
		     const struct assay_reply_expected *e, struct assay_err *err);

/* ---- reply text ---- */

/* The texts of a worker's answer. Plugins write most of them: reasons, names of tensors, counters and metrics. */

/*
 * Terminate all texts of @r and make them printable, see base/text.h. The numbers of entries need not be valid.
 */
void assay_reply_make_printable(struct assay_worker_reply *r);

#endif
