/* SPDX-License-Identifier: Apache-2.0 */
/* The history of one case on one machine, with the changes of its level. */
#ifndef ASSAY_DRIVE_HISTORY_CASE_HISTORY_H
#define ASSAY_DRIVE_HISTORY_CASE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "drive/compare/plan.h"
#include "model/case.h"
#include "model/history.h"

struct assay_history;

/* All-zero but for `db` and `key` has the defaults of stats/change_points.h. Strings are borrowed. */
struct assay_history_request {
	const char *db;
	const char *key;     /* of the case, or a glob or part that only one has */
	const char *machine; /* a part of its label or the start of its fingerprint; NULL: that measured last */
	uint64_t since_ns;   /* unix time; runs before are left out */
	double alpha, least_frac;
	size_t least_run;
};

/* ASSAY_EUSAGE where there is no such case or machine, or no run of it. Release @out in either case. */
int assay_case_history(const struct assay_history_request *q, struct assay_case_history *out, struct assay_err *err);
/* The same of case @c of @h, which is open: `db`, `key` and `machine` of @q are not read. */
int assay_case_history_of(const struct assay_history *h, const struct assay_case *c,
			  const struct assay_history_request *q, struct assay_case_history *out, struct assay_err *err);
void assay_case_history_release(struct assay_case_history *h);

/* ---- change answers ---- */

/* The questions about changes of a history, and the answers to them. */

struct assay_store;

/*
 * Put the question about @c, a change in @points, into @a. False if nothing is to be measured, with the answer in @c or
 * the reason why there is none.
 */
bool assay_change_question(const struct assay_trend_point *points, struct assay_trend_change *c,
			   struct assay_change_answer *a);
void assay_change_tell(struct assay_trend_change *c, const struct assay_change_answer *a);

/* Fill in the earlier answers about the @n changes in @points. */
int assay_change_answers_known(struct assay_store *store, const char *key, const char *machine_id,
			       const struct assay_trend_point *points, struct assay_trend_change *changes, size_t n,
			       struct assay_err *err);

/* ---- confirm ---- */

/* Did the code do it? Confirms changes of a history by comparing the commits on both sides. */

/*
 * Ask about each change of @h that has no known answer. Both commits are built in the cache folder and compared as @q
 * says, with half of the change as the margin unless @q has one. Answers are stored in @q->what->db. A change that
 * cannot be asked about says why and stays a candidate: files differed from the commit, there is no repository, a
 * commit is gone or does not build, or it is another machine. Errors are those of the database, and ASSAY_EINTERRUPTED.
 */
int assay_confirm_changes(const struct assay_compare_request *q, const struct assay_watch *w,
			  struct assay_case_history *h, struct assay_err *err);

#endif
