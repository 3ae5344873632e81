/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a case: of one machine, or a line for each machine or variant, with what happened beside it. */
#ifndef ASSAY_DRIVE_HISTORY_TREND_LINES_H
#define ASSAY_DRIVE_HISTORY_TREND_LINES_H

#include <signal.h>

#include "model/history.h"

enum assay_trend_per { ASSAY_TREND_ALONE, ASSAY_TREND_PER_MACHINE, ASSAY_TREND_PER_VARIANT };

/* All-zero but for `db` and `key` is the default. Strings are borrowed. */
struct assay_trend_request {
	const char *db;
	const char *key;     /* of the case, or a glob or part that only one has */
	const char *machine; /* a part of its label or the start of its fingerprint; NULL: that measured last */
	const char *metric;  /* tag; NULL: time */
	enum assay_trend_per per;
	const volatile sig_atomic_t *interrupted; /* NULL: never */
};

struct assay_trend_lines {
	struct assay_case c;
	char machine[128]; /* label; "" where lines are of several */
	char unit[ASSAY_METRIC_UNIT_MAX];
	struct assay_trend_line *lines;
	size_t n_lines;
	/* Baselines of these machines, and the tags of the repository around the current folder. */
	struct assay_trend_mark *marks;
	size_t n_marks;
};

/* ASSAY_EUSAGE where there is no such case, machine or metric. Release @out in either case. */
int assay_trend_lines(const struct assay_trend_request *q, struct assay_trend_lines *out, struct assay_err *err);
void assay_trend_lines_release(struct assay_trend_lines *l);

#endif
