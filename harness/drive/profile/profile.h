/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of one case, or of a program, from the request to its stacks. */
#ifndef ASSAY_DRIVE_PROFILE_PROFILE_H
#define ASSAY_DRIVE_PROFILE_PROFILE_H

#include "drive/profile/request.h"
#include "drive/watch.h"
#include "model/profile.h"
#include "model/profile_diff.h"
#include "stats/distributions.h"

struct assay_store;

/* Is there such a kind? ASSAY_EUSAGE with those that exist. */
int assay_profile_kind_check(const char *kind, struct assay_err *err);

/* The same of each of several, with commas between them: "cpu,heap". */
int assay_profile_kinds_check(const char *list, struct assay_err *err);
/* Is @kind one of @list? "all" has each. */
bool assay_profile_kinds_have(const char *list, const char *kind);

/* Kind number @i of all; NULL after the last. */
const char *assay_profile_kind(size_t i);

/*
 * Take a profile into @out, which is released in either case, and store it if it has a name. Problems that spoil only a
 * part of it are warnings. If it cannot be stored, it is complete nevertheless, and @unkept says why. ASSAY_EUSAGE if
 * there is no such case or program, ASSAY_EUNAVAILABLE if this machine forbids it or the program cannot be watched,
 * ASSAY_EWRONG if the output of the case is wrong, ASSAY_EWORKER if it cannot be run.
 */
int assay_profile_take(const struct assay_profile_request *q, const struct assay_watch *w, struct assay_profile *out,
		       struct assay_err *unkept, struct assay_err *err);

/*
 * Remove profiles of any name: of each, the newest @keep stay, and what is younger than @days. Never the newest of a
 * name and kind, nor what a named baseline needs. Nothing is written where nothing is to go, or there is no database.
 */
int assay_profiles_prune(const char *db, size_t keep, unsigned days, size_t *removed, struct assay_err *err);

/* ---- cost ---- */

/* Measure the cost of profiling to a case: process pairs in lock step, whose turns are sampled or plain. */

#define ASSAY_COST_CONTROL_HZ 20000 /* must be seen: else nothing is known of the other */
#define ASSAY_COST_LEVEL      0.98  /* each of its ends is passed by chance once in a hundred */

struct assay_profile_cost {
	unsigned rate_hz;
	size_t pairs;
	double ratio; /* processor time of sampled turns over that of plain ones */
	struct assay_interval ci;
};

/*
 * Measure the cost of q->rate_hz and of the control, in turn for q->for_ns in all. ASSAY_EWRONG, ASSAY_EWORKER: as
 * above, ASSAY_EUNAVAILABLE: nothing can be sampled here.
 */
int assay_profile_cost(const struct assay_profile_request *q, const struct assay_watch *w,
		       struct assay_profile_cost out[2], struct assay_err *err);

/* ---- nvidia tools ---- */

/* NVIDIA's profilers, which run instead of assay's own: Nsight Systems and Nsight Compute. */

/* ASSAY_EUSAGE with the tools that exist. */
int assay_profile_tool_check(const char *tool, struct assay_err *err);
/* Can @tool write @path, judging by its ending? ASSAY_EUSAGE says which ending it must have. */
int assay_profile_tool_output(const char *tool, const char *path, struct assay_err *err);
/*
 * Run @tool on the case or the program of @q; its report becomes @path.
 * ASSAY_EUNAVAILABLE where it is not installed, ASSAY_EWORKER where it fails.
 */
int assay_profile_tool_run(const char *tool, const struct assay_profile_request *q, const struct assay_watch *w,
			   const char *path, struct assay_err *err);

/* ---- store ---- */

/* Profiles by their names: kept, and found again. */

/* ASSAY_EUSAGE for what cannot be told from another name, such as p3 or `last`, or is too long. */
int assay_profile_name_check(const char *name, struct assay_err *err);

/* The database of @q, before anything is profiled. Close in either case. */
int assay_profile_store_open(struct assay_store **store, const struct assay_profile_request *q, struct assay_err *err);
void assay_profile_store_close(struct assay_store *store);
/* Store @p of this machine under q->name, and remove older ones where @q says so. */
int assay_profile_store_keep(struct assay_store *store, const struct assay_profile_request *q, struct assay_profile *p,
			     struct assay_err *err);

/*
 * The newest profile of @db that is called @name, the one that p3 names, or with `last` the newest of all; @kind: of
 * that alone, NULL: of any. ASSAY_EUSAGE with the nearest names. Release @out in either case.
 */
int assay_profile_find(const char *db, const char *name, const char *kind, struct assay_profile *out,
		       struct assay_err *err);
/* All stored profiles, newest first. The caller frees *out. */
int assay_profiles_stored(const char *db, struct assay_profile_info **out, size_t *n, struct assay_err *err);
/* Is a profile called so, by p3 or by its label, and no baseline? False, too, where nothing can be read. */
bool assay_profile_is_name(const char *db, const char *name);
/*
 * Two of them held against each other, of @kind or, with NULL, of the newest kind that both names have. ASSAY_EUSAGE
 * where they are one, too. @sanitize: both sides, as drive/profile/kinds.h says. Release all in either case.
 */
int assay_profile_diff_find(const char *db, const char *const names[2], const char *kind, bool sanitize,
			    struct assay_profile side[2], struct assay_profile_diff *out, struct assay_err *err);

#endif
