/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a case, the lines of its trend, and the search for the commit that changed its time. */
#ifndef ASSAY_DRIVE_HISTORY_HISTORY_H
#define ASSAY_DRIVE_HISTORY_HISTORY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file.h"
#include "drive/compare/one_case.h"
#include "drive/compare/plan.h"
#include "drive/watch.h"
#include "model/case.h"
#include "model/history.h"
#include "model/reports.h"

struct assay_history;
struct assay_store;

/* ---- case history ---- */

/* The history of one case on one machine, with the changes of its level. */

/* All-zero but for `db` and `key` has the defaults of stats/change_points.h. Strings are borrowed. */
struct assay_history_request {
	const char *db;
	const char *key;     /* of the case, or a glob or part that only one has */
	const char *machine; /* a part of its label or the start of its fingerprint; NULL: that measured last */
	uint64_t since_ns;   /* unix time; runs before are left out */
	double alpha, least_frac;
};

/* ASSAY_EUSAGE where there is no such case or machine, or no run of it. Release @out in either case. */
int assay_case_history(const struct assay_history_request *q, struct assay_case_history *out, struct assay_err *err);
/* The same of case @c of @h, which is open: `db`, `key` and `machine` of @q are not read. */
int assay_case_history_of(const struct assay_history *h, const struct assay_case *c,
			  const struct assay_history_request *q, struct assay_case_history *out, struct assay_err *err);
void assay_case_history_release(struct assay_case_history *h);

/* ---- change answers ---- */

/* The questions about changes of a history, and the answers to them. */

/*
 * Put the question about @c, a change in @points, into @a. False if nothing is to be measured, with the answer in @c or
 * the reason why there is none.
 */
bool assay_change_question(const struct assay_trend_point *points, struct assay_trend_change *c,
			   struct assay_change_answer *a);
void assay_change_tell(struct assay_trend_change *c, const struct assay_change_answer *a);

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

/* ---- trend lines ---- */

/* The history of a case: of one machine, or a line for each machine or variant, with what happened beside it. */

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

/* ---- bisect ---- */

/* Which commit changed the time of a case: lock-step comparisons with the good side. */

struct assay_bisect_request {
	const struct assay_compare_request *compare; /* options of all comparisons; its sides do not count */
	const char *good, *bad;                      /* revisions; bad NULL: HEAD */
	const char *key;                             /* of the case, or a glob or part that only one has */
};

/*
 * Search the commits after the good one up to the bad one. Each is built in a worktree in a temporary folder, which is
 * removed at the end, also after an interrupt or an error. The steps are reported as lines (ASSAY_EVENT_HEAD) as they
 * are done. ASSAY_EUSAGE: unknown revisions, a good one that is not an ancestor, a side that does not build, a case
 * that one side lacks. ASSAY_EINTERRUPTED. Release @out in either case.
 */
int assay_bisect(const struct assay_bisect_request *q, const struct assay_watch *w, struct assay_bisect_report *out,
		 struct assay_err *err);

/* One commit for `git bisect run`: HEAD against the good one, by the margin of @q. q->bad does not count. */
enum assay_bisect_sign {
	ASSAY_BISECT_GOOD = 0,
	ASSAY_BISECT_BAD = 1,
	ASSAY_BISECT_SKIP = 125, /* git should try another one */
};
/* Errors as above, but that what HEAD is to blame for is ASSAY_BISECT_SKIP, with @reason. */
int assay_bisect_step(const struct assay_bisect_request *q, const struct assay_watch *w, enum assay_bisect_sign *sign,
		      char *reason, size_t size, struct assay_err *err);

#endif
