/* SPDX-License-Identifier: Apache-2.0 */
/* Finds two sides in the store and compares them. */
#ifndef ASSAY_DRIVE_SHOW_DIFF_H
#define ASSAY_DRIVE_SHOW_DIFF_H

#include "model/diff.h"

/* Strings are borrowed; NULL where they were not given. */
struct assay_diff_request {
	const char *db;
	/* The sides: the number of a run, `last`, or the name of a baseline. */
	const char *base, *head;
	bool by_variant;          /* the variants within the run @head; NULL: the newest */
	const char *base_variant; /* then: the one that others are held against */
	const char *only;         /* cases, as a glob or a part of the key */
	const char *metric;       /* this number alone */
	enum assay_diff_order order;
};

/*
 * ASSAY_EUSAGE with the nearest name where there is no such run, baseline, variant, case or metric, or both sides are
 * one run. Release @out in either case.
 */
int assay_diff_make(const struct assay_diff_request *q, struct assay_diff *out, struct assay_err *err);

#endif
