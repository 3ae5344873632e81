/* SPDX-License-Identifier: Apache-2.0 */
/* Did the code do it? Confirms changes of a history by comparing the commits on both sides. */
#ifndef ASSAY_DRIVE_HISTORY_CONFIRM_H
#define ASSAY_DRIVE_HISTORY_CONFIRM_H

#include "drive/history/case_history.h"
#include "drive/compare/state.h"

/*
 * Ask about each change of @h that has no known answer. Both commits are built in the cache folder and compared as @q
 * says, with half of the change as the margin unless @q has one. Answers are stored in @q->what->db. A change that
 * cannot be asked about says why and stays a candidate: files differed from the commit, there is no repository, a
 * commit is gone or does not build, or it is another machine. Errors are those of the database, and ASSAY_EINTERRUPTED.
 */
int assay_confirm_changes(const struct assay_compare_request *q, const struct assay_watch *w,
			  struct assay_case_history *h, struct assay_err *err);

#endif
