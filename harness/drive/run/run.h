/* SPDX-License-Identifier: Apache-2.0 */
/* A run from the request to the store: the plan, times, exact counts, and what only a whole run can tell. */
#ifndef ASSAY_DRIVE_RUN_RUN_H
#define ASSAY_DRIVE_RUN_RUN_H

#include "drive/request.h"
#include "drive/watch.h"
#include "model/exact.h"
#include "model/result.h"
#include "model/verdict.h"

/*
 * Measure the cases of @q into @run and store each as soon as it is finished. The watch hears of the run before its
 * first case. ASSAY_EINTERRUPTED when it says so, with the finished cases in @run; the message then says what is kept.
 * @run has cases also after other errors. Its id is 0 where it was not begun. Release it in either case.
 */
int assay_run_measure(const struct assay_request *q, const struct assay_watch *w, struct assay_run *run,
		      struct assay_err *err);
/* Check that results are right: each case runs once, nothing is timed or stored. Release @run in either case. */
int assay_run_verify(const struct assay_request *q, const struct assay_watch *w, struct assay_run *run,
		     struct assay_err *err);
/*
 * Take exact counts alone and store them. ASSAY_EINTERRUPTED when the watch says so, with the finished cases in @run.
 * Release it in either case.
 */
int assay_run_count(const struct assay_request *q, const struct assay_watch *w, struct assay_exact_run *run,
		    struct assay_err *err);

/* The exit status that results and counts of a run stand for. Warns where nothing at all could be measured. */
enum assay_exit assay_run_exit(const struct assay_run *run, const struct assay_watch *w);
/* The same of counts that were all that was asked for. */
enum assay_exit assay_run_count_exit(const struct assay_exact_run *run, const struct assay_watch *w);

#endif
