/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is what was stored what a reader finds? A plugin runs with the rights of the user and may have written over the
 * database's file, which the connection that wrote does not notice.
 */
#ifndef ASSAY_DRIVE_READ_BACK_H
#define ASSAY_DRIVE_READ_BACK_H

#include "base/err.h"
#include "model/comparison.h"
#include "model/exact.h"
#include "model/result.h"

/*
 * Each is called once the connection that wrote is closed, with the result @rc of storing; @last is the case that was
 * measured last. Where a reader finds something else, or nothing, that is ASSAY_EINTERNAL, and @err names that case.
 * Otherwise @rc, and @err is untouched. An interrupt is not looked at: a reader would heed it, too.
 */
int assay_read_back_run(int rc, const char *db, const struct assay_run *run, const char *last, struct assay_err *err);
int assay_read_back_counts(int rc, const char *db, const struct assay_exact_run *run, struct assay_err *err);
int assay_read_back_comparison(int rc, const char *db, const struct assay_comparison *cmp, const char *last,
			       struct assay_err *err);
/* Of anything else: whether it reads at all. */
int assay_read_back(int rc, const char *db, const char *last, struct assay_err *err);

#endif
