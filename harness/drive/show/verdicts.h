/* SPDX-License-Identifier: Apache-2.0 */
/* The verdicts of a stored comparison, of all its cases or of some. */
#ifndef ASSAY_DRIVE_SHOW_VERDICTS_H
#define ASSAY_DRIVE_SHOW_VERDICTS_H

#include "drive/compare/compare.h"

/*
 * Judge the comparison @id (0: the newest) again and keep the cases that @only selects (a glob or a part of a key;
 * NULL: all); the verdict stays that of the whole. ASSAY_EUSAGE with the nearest key where there is none. Warns as
 * assay_compare_replay() does. Release @out in either case.
 */
int assay_stored_verdicts(const char *db, int64_t id, const char *only, const struct assay_watch *w,
			  struct assay_compare_outcome *out, struct assay_err *err);

#endif
