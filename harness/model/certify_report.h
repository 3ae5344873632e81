/* SPDX-License-Identifier: Apache-2.0 */
/* How often a host's judge was wrong in comparisons of known outcome, and the smallest change that it finds. */
#ifndef ASSAY_MODEL_CERTIFY_REPORT_H
#define ASSAY_MODEL_CERTIFY_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "model/result.h"

/* So many slowdowns may be tried at most. */
#define ASSAY_CERTIFY_SLOWDOWNS 8

/* @k of @of, with the 95 % interval of the share (Clopper and Pearson). */
struct assay_rate {
	unsigned k, of;
	double lo, hi;
};

/* All-zero is empty; release it. */
struct assay_certify_report {
	struct assay_fingerprint machine;
	struct assay_strings keys; /* of the cases of every gate */
	uint64_t seed;
	double alpha, margin_frac;
	uint64_t budget_ns;                     /* a case */
	unsigned gates, inconclusive;           /* of unchanged code */
	struct assay_rate false_alarms, passed; /* REGRESSED; PASS or IMPROVED */
	unsigned n_slowdowns;
	struct {
		double slowdown_frac;
		struct assay_rate detected, passed;
	} power[ASSAY_CERTIFY_SLOWDOWNS];
	unsigned resumed; /* how many stored certifications are counted in */
	double sd;        /* of a pair's log ratio, pooled over all cases and gates; NaN: no two pairs of one case */
	double df;        /* degrees of freedom of sd */
	double n_judged;  /* cases of all gates and trials */
	double seconds_per_case;
	double pairs_per_case;           /* mean, until decided */
	double smallest_detectable_frac; /* with all the pairs that the budget allows; NaN as sd */
	double seconds;
	char *json; /* what the store keeps and --json prints; malloc'ed */
};
void assay_certify_report_release(struct assay_certify_report *r);

#endif
