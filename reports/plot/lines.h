/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of a run as lines: equal but for one thing, which goes along the axis. Internal to the plots. */
#ifndef ASSAY_REPORTS_PLOT_LINES_H
#define ASSAY_REPORTS_PLOT_LINES_H

#include "reports/plot/parts.h"

struct assay_line_point {
	double x, y, lo, hi;
	const struct assay_result *r;
};

/* The cases of a line, in the order of the axis. */
struct assay_case_line {
	char name[ASSAY_KEY_MAX]; /* in which it differs from the others: "avx2 m=2560,n=1" */
	const struct assay_case *c;
	struct assay_line_point *v;
	size_t n;
};

/* All-zero is empty. */
struct assay_case_lines {
	struct assay_case_line *v;
	size_t n, n_left_out;       /* left out: more than colours tell apart */
	char common[ASSAY_KEY_MAX]; /* what they share, for a title */
};

/* The quantity along the axis: ASSAY_ALONG_THREADS, or the number of an axis of the op. */
#define ASSAY_ALONG_THREADS (-1)

/*
 * The measured cases of @run of the op of @first as lines along @axis. A line has at least @least points; the longest
 * come first, then those with the most work a second. ASSAY_ENOMEM. Release in either case.
 */
int assay_case_lines_find(const struct assay_run *run, const struct assay_case *first, int axis, size_t least,
			  struct assay_case_lines *out, struct assay_err *err);
void assay_case_lines_release(struct assay_case_lines *l);
/*
 * Set the data of the lines, in units of @factor, and a legend of them behind which @other stands (NULL: nothing).
 * Returns the height of the legend.
 */
unsigned assay_case_lines_set(struct assay_text *t, const struct assay_case_lines *l, double factor, const char *other);

#endif
