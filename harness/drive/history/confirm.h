/* SPDX-License-Identifier: Apache-2.0 */
/* Did the code do it? Changes of a history, asked of comparisons of the commits on both sides. */
#ifndef ASSAY_DRIVE_HISTORY_CONFIRM_H
#define ASSAY_DRIVE_HISTORY_CONFIRM_H

#include "drive/history/case_history.h"
#include "drive/compare/state.h"

/*
 * Ask of each change of @h that no answer is known of. Both commits are built in the cache folder and compared as @q
 * says, with half of the change as the margin unless @q has one. Answers are stored in @q->what->db. What cannot be
 * asked says why and stays a candidate: files that differed from the commit, no repository, a commit that is gone or
 * does not build, another machine. Errors are those of the database, and ASSAY_EINTERRUPTED.
 */
int assay_confirm_changes(const struct assay_compare_request *q, const struct assay_watch *w,
			  struct assay_case_history *h, struct assay_err *err);

#endif
