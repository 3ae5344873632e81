/* SPDX-License-Identifier: Apache-2.0 */
/* Words and numbers of a diff that text, Markdown and CSV share. */
#ifndef ASSAY_REPORTS_DIFF_WORDS_H
#define ASSAY_REPORTS_DIFF_WORDS_H

#include "reports/report.h"

#define ASSAY_DIFF_CELL_MAX 64

/* The cells of one case; "" where there is nothing. */
struct assay_diff_words {
	char result[ASSAY_DIFF_CELL_MAX];  /* "faster", "not measured" */
	char speedup[ASSAY_DIFF_CELL_MAX]; /* "1.93x"; with a metric its change, "+3.1 %" */
	char interval[2 * ASSAY_DIFF_CELL_MAX];
	char value[2][ASSAY_DIFF_CELL_MAX]; /* of base and head: time, or the metric */
	char roof[2 * ASSAY_DIFF_CELL_MAX]; /* "27 % to 53 %" */
	char base_variant[ASSAY_NAME_MAX];
};

void assay_diff_words_of(const struct assay_report_diff *d, const struct assay_diff_case *c, bool utf8,
			 struct assay_diff_words *out);
/* "run 12 (8c1f0aa49d21+), 2026-11-21 14:05" */
void assay_diff_words_side(const struct assay_diff_side *s, char *buf, size_t size);
/* "129 cases: 7 faster, 3 slower, 119 unclear" */
void assay_diff_words_counts(const struct assay_diff *d, struct assay_text *out);
/* A remark about cases of unchanged code that moved; "" where none did. */
void assay_diff_words_controls(const struct assay_diff *d, char *buf, size_t size);
/* The machine of both, or of each. */
void assay_diff_words_machine(const struct assay_diff *d, struct assay_text *out);

#endif
