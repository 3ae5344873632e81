/* SPDX-License-Identifier: Apache-2.0 */
/* What this host can promise within a time, from how far process pairs of each case lie apart. */
#ifndef ASSAY_DRIVE_PROMISE_H
#define ASSAY_DRIVE_PROMISE_H

#include "drive/compare/plan.h"
#include "model/certify_report.h"

struct assay_promise_request {
	struct assay_compare_request compare; /* base NULL: the installed plugins; head is the base */
	double detect_frac;                   /* slowdown to be found in 95 of 100 comparisons */
	uint64_t within_ns;                   /* for the whole suite; 0: say what it takes */
};

/*
 * Take the spread of each case from stored comparisons of this machine, measure a few pairs of unchanged code where
 * there are none, and calculate. ASSAY_EINTERRUPTED when the watch says so. Release @out in either case.
 */
int assay_promise(const struct assay_promise_request *q, const struct assay_watch *w, struct assay_promise_report *out,
		  struct assay_err *err);

#endif
