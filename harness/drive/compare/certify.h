/* SPDX-License-Identifier: Apache-2.0 */
/* Certification: comparisons of which the outcome is known, by the hundred, in random order. */
#ifndef ASSAY_DRIVE_COMPARE_CERTIFY_H
#define ASSAY_DRIVE_COMPARE_CERTIFY_H

#include "drive/compare/plan.h"
#include "model/comparison.h"
#include "model/reports.h"

/* The slowdowns of a request that names none. */
#define ASSAY_CERTIFY_DEFAULT_SLOWDOWNS 4
extern const double assay_certify_slowdowns[ASSAY_CERTIFY_DEFAULT_SLOWDOWNS]; /* 0.005, 0.01, 0.02, 0.05 */

/* Shares of time above 0. All-zero: the default. */
struct assay_certify_slowdowns {
	double frac[ASSAY_CERTIFY_SLOWDOWNS];
	unsigned n;
};

/* All-zero but for what `compare` needs measures nothing. */
struct assay_certify_request {
	struct assay_compare_request compare; /* base NULL: the installed plugins; head is the base */
	unsigned gates, trials;               /* trials of each slowdown */
	struct assay_certify_slowdowns slowdowns;
};

/*
 * A request that names neither suite nor cases gets one small case on one thread, so that its gates are quick. @what is
 * the request that q->compare points to.
 */
int assay_certify_choose(struct assay_request *what, struct assay_err *err);

/*
 * Run the gates and trials of @q; nothing is stored. ASSAY_EINTERRUPTED when the watch says so, with @out over what was
 * done until then. ASSAY_EUNAVAILABLE where a case gets no verdict. Release @out in either case.
 */
int assay_certify(const struct assay_certify_request *q, const struct assay_watch *w, struct assay_certify_report *out,
		  struct assay_err *err);

/* Is the rate of false alarms above what is promised, beyond doubt? */
bool assay_certify_failed(const struct assay_certify_report *r);

#endif
