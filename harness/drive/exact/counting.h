/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts of the cases of a session: which are counted, how, with which caches. */
#ifndef ASSAY_DRIVE_EXACT_COUNTING_H
#define ASSAY_DRIVE_EXACT_COUNTING_H

#include "drive/session.h"
#include "drive/watch.h"
#include "machine/clock.h"
#include "measure/exact.h"
#include "model/exact.h"
#include "model/verdict.h"

#define ASSAY_EXACT_REASON_MAX 512

/* The model that counts of this session are taken with: the request's, the suite's, or "canon". */
const char *assay_exact_counting_model(const struct assay_session *session, const struct assay_request *q);
/* How many steps a call may take: as the request says, the suite, or 0. */
uint64_t assay_exact_counting_steps(const struct assay_session *session, const struct assay_request *q);
/*
 * Wall time for all counts: as the request says, or the suite, unless cases were chosen with `only`; 0: as long as it
 * takes.
 */
uint64_t assay_exact_counting_budget(const struct assay_session *session, const struct assay_request *q);
/*
 * Are all cases counted, because `only` chose them or the suite names none for it? Otherwise those that the suite
 * names.
 */
bool assay_exact_counting_all(const struct assay_session *session, const struct assay_request *q);

/*
 * Count into @out as exact/schedule.h says: with ASSAY_TAKE_COUNTS those of assay_exact_counting_all(), and the others
 * are skipped; otherwise those that the suite names.
 * Where there is no simulator and @why is not NULL, say so once, put the reason there and leave @out without cases;
 * @why is "" otherwise. ASSAY_EINTERRUPTED when the watch says so, with the finished cases in @out. Release @out in
 * either case.
 */
int assay_exact_counting(const struct assay_session *session, const struct assay_request *q,
			 const struct assay_clock *clock, const struct assay_watch *w, char why[ASSAY_EXACT_REASON_MAX],
			 struct assay_exact_run *out, struct assay_err *err);
/*
 * Add to @r what @counts (may be NULL) has of its case: metrics, or the reason why there are none; @why where the suite
 * names the case and none could be counted. *changed: there was something to add. A case that took less time than so
 * many instructions can take becomes WRONG_RESULT.
 */
int assay_exact_counting_join(struct assay_result *r, const struct assay_exact_run *counts,
			      const struct assay_plan *plan, const char *why, bool *changed, struct assay_err *err);
/*
 * 3 when a result is wrong, else 4 when a case crashed, timed out or failed, else 0. Warns when all were skipped, which
 * is 4, too, when counts are @all that was asked for.
 */
enum assay_exit assay_exact_counting_exit(const struct assay_exact_run *run, bool all, const struct assay_watch *w);

#endif
