/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which order cases are counted, how many at once, and what is left out when the time for all of them is over.
 * Counts do not depend on what is counted beside them, so that only the time does.
 */
#ifndef ASSAY_DRIVE_EXACT_SCHEDULE_H
#define ASSAY_DRIVE_EXACT_SCHEDULE_H

#include "drive/session.h"
#include "drive/watch.h"
#include "judge/exact_baseline.h"
#include "measure/exact.h"
#include "model/exact.h"

struct assay_exact_schedule {
	const struct assay_session *session;
	const struct assay_request *request;
	const size_t *cases; /* indices into the plan */
	size_t n_cases;
	const struct assay_exact_options *options; /* left_ns and on_steps are the schedule's */
	/* of processor time, so about what all take on a machine that does nothing else; 0: as long as it takes */
	uint64_t budget_ns;
	const struct assay_exact_baseline *recorded; /* whose cases come first; all-zero: none */
	const struct assay_watch *watch;
};

/*
 * Count into @out, in the order of the plan, each case followed by the smaller ones that stand for it because it takes
 * too long. First come those that are recorded, by any compiler, the cheapest ones before the others; then
 * one of each variant; then what is left. Cases for which there was no
 * time are skipped with that reason, and named in a warning. ASSAY_EINTERRUPTED with the finished cases in @out.
 */
int assay_exact_schedule_run(const struct assay_exact_schedule *s, struct assay_exact_run *out, struct assay_err *err);

#endif
