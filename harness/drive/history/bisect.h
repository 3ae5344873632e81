/* SPDX-License-Identifier: Apache-2.0 */
/* Which commit changed the time of a case: lock-step comparisons with the good side. */
#ifndef ASSAY_DRIVE_HISTORY_BISECT_H
#define ASSAY_DRIVE_HISTORY_BISECT_H

#include "base/file.h"
#include "drive/compare/one_case.h"
#include "drive/repository.h"
#include "drive/watch.h"
#include "model/reports.h"

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

/* ---- bisect place ---- */

/* Where a bisection builds its commits: worktrees in a temporary folder, of which nothing is left at the end. */

/* All-zero is closed. */
struct assay_bisect_place {
	struct assay_repository repo; /* around the current folder */
	struct assay_temporary folder;
};

/* ASSAY_EUSAGE where there is no repository here. Close in either case. */
int assay_bisect_place_open(struct assay_bisect_place *p, const volatile sig_atomic_t *interrupted,
			    struct assay_err *err);
/* Remove the worktrees; an interrupt does not prevent it. */
void assay_bisect_place_close(struct assay_bisect_place *p);
/* Check out and build @commit unless that is done. ASSAY_EUSAGE: it does not build. */
int assay_bisect_place_build(const struct assay_bisect_place *p, const char *commit, const struct assay_watch *w,
			     struct assay_err *err);

#endif
