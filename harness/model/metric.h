/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics as data: tag, unit, direction, allowed range. A value outside its range is an error, never a number. */
#ifndef ASSAY_MODEL_METRIC_H
#define ASSAY_MODEL_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "model/counter.h"

#define ASSAY_METRIC_TAG_MAX  48
#define ASSAY_METRIC_UNIT_MAX 16

struct assay_metric {
	char tag[ASSAY_METRIC_TAG_MAX];
	char unit[ASSAY_METRIC_UNIT_MAX]; /* SI base: "s", "B", "B/s", "1/s", "op/s", "1" */
	int better;                       /* +1 higher, -1 lower, 0 neither */
	double value;
	/* Lowest rung of the counts it is derived from, see model/counter.h; "": of none. */
	char source[ASSAY_SOURCE_MAX];
	bool estimated;       /* one of those counted for a share of the time only */
	unsigned more_rounds; /* beside its first, that the value is the mean of; not stored */
};

/* Definition of a metric of the harness itself (ops declare theirs in struct assay_metric_def, same meaning). */
struct assay_metric_info {
	const char *tag, *unit, *help;
	int better;
	double lo, hi;
};

/* The harness's own metrics: time_s, ops_per_s, bytes_per_s, items_per_s, roof_frac, rss_peak_bytes, op_bytes, … */
extern const struct assay_metric_info assay_metrics[];
extern const size_t assay_n_metrics;
const struct assay_metric_info *assay_metric_find(const char *tag);

/* ASSAY_ELIMIT with "metric 'x' is 1.2, allowed 0 to 1" when NaN, infinite or out of range. */
int assay_metric_check(const char *tag, double value, double lo, double hi, struct assay_err *err);

/*
 * Is @share, a roof_frac, so far above 1 that the limit or the case was mismeasured? Not for NaN. The limit is a
 * measurement as well, so a good kernel may end a little above it.
 */
bool assay_limit_exceeded(double share);
/* The mark behind such a share in a table: " wrong", else "". */
const char *assay_limit_mark(double share);
#define ASSAY_LIMIT_EXCEEDED_TEXT "above 105 %: the limit or the case was not measured correctly"

#endif
