/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a report, and the verdict that they add up to. If a row cannot be allocated, that is ASSAY_ENOMEM,
 * because a report without it would be believed.
 */
#ifndef ASSAY_JUDGE_ROWS_H
#define ASSAY_JUDGE_ROWS_H

#include "base/err.h"
#include "model/gate_report.h"

struct assay_row_name {
	const char *key, *metric;
	enum assay_evidence evidence;
};

/* Append a row that says PASS and nothing else yet. NULL: out of memory, which @err says. Valid until the next one. */
struct assay_gate_case *assay_row_add(struct assay_gate_report *r, struct assay_row_name name, struct assay_err *err);

/* Append a row with its verdict and reason. 0 or ASSAY_ENOMEM. */
int assay_row_say(struct assay_gate_report *r, struct assay_row_name name, enum assay_verdict verdict,
		  struct assay_err *err, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Add to the reason of @c, as far as there is room. */
void assay_row_note(struct assay_gate_case *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Set verdict and exit of @r to the most severe of theirs and those of its rows from @first on; if @first is 0, to
 * those of the rows alone. Without rows both stay.
 */
void assay_rows_sum(struct assay_gate_report *r, size_t first, bool strict);
/* A suspect makes the exit of @r that of INCONCLUSIVE, unless it is graver. */
void assay_rows_fail_suspects(struct assay_gate_report *r);

#endif
