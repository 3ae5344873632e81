/* SPDX-License-Identifier: Apache-2.0 */
/* The trials of a certification: comparisons of which the outcome is known, by the hundred, in random order. */
#ifndef ASSAY_DRIVE_CERTIFYING_H
#define ASSAY_DRIVE_CERTIFYING_H

#include "drive/compare_plan.h"

#define ASSAY_CERTIFY_SLOWDOWNS 4
extern const double assay_certify_slowdowns[ASSAY_CERTIFY_SLOWDOWNS]; /* 0.005, 0.01, 0.02, 0.05 */

struct assay_certify_power {
	double slowdown_frac;
	unsigned detected, passed, of; /* REGRESSED; PASS or IMPROVED */
};

struct assay_certify_outcome {
	unsigned gates, false_alarms, passed, inconclusive; /* of unchanged code */
	struct assay_certify_power power[ASSAY_CERTIFY_SLOWDOWNS];
	double sd; /* of a pair's log ratio, pooled over all cases and gates */
	double seconds_per_case;
	double pairs_per_case;           /* mean, until decided */
	double smallest_detectable_frac; /* with all the pairs that the budget allows */
	double seconds;
};

struct assay_certifying {
	struct assay_compare_plan *plan; /* its cases become the cases of every gate */
	const struct assay_clock *clock;
	const struct assay_settings *settings;
	unsigned gates, trials; /* trials a slowdown */
	const volatile sig_atomic_t *interrupted;
	void (*progress)(void *arg, double done_frac, const char *what);
	void *arg;
};

/* ASSAY_EINTERRUPTED after Ctrl-C, with @out over the trials that were done. */
int assay_certifying_run(struct assay_certifying *c, struct assay_certify_outcome *out, struct assay_err *err);

#endif
