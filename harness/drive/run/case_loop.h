/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop that run and verify share: one case after the other, in rounds, until the last or an interrupt.
 */
#ifndef ASSAY_DRIVE_RUN_CASE_LOOP_H
#define ASSAY_DRIVE_RUN_CASE_LOOP_H

#include "drive/session.h"
#include "drive/watch.h"
#include "machine/clock.h"
#include "model/result.h"
#include "model/verdict.h"
#include "store/store.h"

struct assay_measuring {
	const struct assay_request *request;
	const struct assay_session *session;
	const struct assay_clock *clock;
	const struct assay_watch *watch;
	bool verify_only;
	struct assay_store
		*store; /* for the limits of the machine that other runs measured; NULL: nothing is looked up */
	/*
	 * A case is finished for the first time, or one more @round of it is; a negative return stops. May free the raw
	 * samples. NULL: nothing to do.
	 */
	int (*finished)(void *arg, struct assay_result *r, unsigned round, struct assay_err *err);
	/*
	 * Load the raw samples of a finished case again, before a round is added to them. NULL: they are still there.
	 */
	int (*reload)(void *arg, struct assay_result *r, struct assay_err *err);
	void *arg;
};

/* Everything of @run that is known before its first case. Release it in either case. */
int assay_measuring_describe(const struct assay_measuring *m, struct assay_run *run, struct assay_err *err);
/*
 * Measure all cases of the plan into run->results, then once more in each further round those that are worth it
 * (measure/rounds.c). ASSAY_EINTERRUPTED when the watch says so, with the finished cases in @run.
 */
int assay_measuring_all(const struct assay_measuring *m, struct assay_run *run, struct assay_err *err);
/*
 * 3 when a result is wrong, else 4 when one crashed, timed out or failed, or (with a warning) all were skipped, else 0.
 */
enum assay_exit assay_measuring_exit(const struct assay_run *run, const struct assay_watch *w);

#endif
