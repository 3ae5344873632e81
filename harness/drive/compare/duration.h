/* SPDX-License-Identifier: Apache-2.0 */
/* How long a comparison will take, announced before it begins; and what stored comparisons know about its cases. */
#ifndef ASSAY_DRIVE_COMPARE_DURATION_H
#define ASSAY_DRIVE_COMPARE_DURATION_H

#include "drive/compare/plan.h"

struct assay_duration {
	size_t n_cases, n_controls; /* that are measured */
	double about_s;             /* if each takes what it took before; 0 if one was not compared before */
	double most_s;              /* if none decides */
	bool shared;                /* other work runs on the cores: how long it then takes, nobody knows */
};

/* From what the cases took in earlier comparisons of this machine. ASSAY_ENOMEM. */
int assay_compare_duration(const struct assay_compare_plan *p, struct assay_store *store, struct assay_duration *out,
			   struct assay_err *err);
/*
 * "1 case and 2 self-checks: about 6 s, at most 3 min 20 s"; where nothing is known of the cases, "1 case and 2
 * self-checks: at most 3 min 20 s"; where cores are shared, "…; about 6 s if the cores were idle"
 */
void assay_compare_duration_text(const struct assay_duration *d, char *buf, size_t size);
/*
 * Does it take so much longer than announced that the user must be told? Then @buf says so; never if nothing was
 * announced. @undecided: cases and controls after @spent_s.
 */
bool assay_compare_duration_exceeded(const struct assay_duration *d, double spent_s, size_t undecided, char *buf,
				     size_t size);

#endif
