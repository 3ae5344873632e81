/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which order cases are counted, how many at once, and what is left out when the time for all of them is over.
 * Counts do not depend on what is counted beside them, so that only the time does.
 */
#ifndef ASSAY_DRIVE_EXACT_SCHEDULE_H
#define ASSAY_DRIVE_EXACT_SCHEDULE_H

#include "base/text.h"
#include "drive/session.h"
#include "drive/watch.h"
#include "judge/exact_baseline.h"
#include "measure/exact.h"
#include "model/exact.h"

struct assay_exact_schedule {
	const struct assay_session *session;
	const struct assay_request *request;
	const size_t *cases; /* indices into the plan */
	size_t n_cases;
	const struct assay_exact_options *options; /* left_ns and on_steps are the schedule's */
	/* of processor time, so about what all take on a machine that does nothing else; 0: as long as it takes */
	uint64_t budget_ns;
	const struct assay_exact_baseline *recorded; /* whose cases come first; all-zero: none */
	const struct assay_watch *watch;
};

/*
 * Count into @out, in the order of the plan, each case followed by the smaller ones that stand for it because it takes
 * too long. First come those that are recorded, by any compiler, the cheapest ones before the others; then
 * one of each variant; then what is left. Cases for which there was no
 * time are skipped with that reason, and named in a warning. ASSAY_EINTERRUPTED with the finished cases in @out.
 */
int assay_exact_schedule_run(const struct assay_exact_schedule *s, struct assay_exact_run *out, struct assay_err *err);

/* ---- price ---- */

/* How long it takes to count a case, estimated from its recorded counts. */

/* The record of the case @key, of whichever build in @b has it first; NULL: it is not recorded. */
const struct assay_exact_case *assay_exact_price_case(const struct assay_exact_baseline *b, const char *key);
/*
 * About how long it takes to count the case in the way that its record was counted: good enough to tell which of two
 * cases is cheaper. INFINITY: it is not recorded.
 */
double assay_exact_price_ns(const struct assay_exact_baseline *b, const char *key);
/* About the steps of a call: its instructions, though one that repeats takes more. 0: not recorded, or not stepped. */
double assay_exact_price_steps(const struct assay_exact_baseline *b, const char *key);

/* ---- packet ---- */

/* A counted case as bytes, from one process of this program to another. */

/* Append @c, and how it ended, to @out; what there is no memory for is out->failed. */
void assay_exact_pack(const struct assay_exact_case *c, enum assay_exact_end end, struct assay_text *out);
/* ASSAY_EINTERNAL where @n bytes are no whole packet. Release @c in either case. */
int assay_exact_unpack(const char *bytes, size_t n, struct assay_exact_case *c, enum assay_exact_end *end,
		       struct assay_err *err);

#endif
