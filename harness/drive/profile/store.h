/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles by their names: kept, and found again. */
#ifndef ASSAY_DRIVE_PROFILE_STORE_H
#define ASSAY_DRIVE_PROFILE_STORE_H

#include "drive/profile/request.h"
#include "model/profile_diff.h"

struct assay_store;

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
/* Is a profile called so, by p3 or by its label, and no baseline? False, too, where nothing can be read. */
bool assay_profile_is_name(const char *db, const char *name);
/*
 * Two of them held against each other, of @kind or, with NULL, of the newest kind that both names have. ASSAY_EUSAGE
 * where they are one, too. @sanitize: both sides, as profile/sanitize.h says. Release all in either case.
 */
int assay_profile_diff_find(const char *db, const char *const names[2], const char *kind, bool sanitize,
			    struct assay_profile side[2], struct assay_profile_diff *out, struct assay_err *err);

#endif
