/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of one case, or of a program, from the request to its stacks. */
#ifndef ASSAY_DRIVE_PROFILE_PROFILE_H
#define ASSAY_DRIVE_PROFILE_PROFILE_H

#include "drive/profile/request.h"
#include "drive/watch.h"
#include "model/profile.h"

/* Is there such a kind? ASSAY_EUSAGE with those that exist. */
int assay_profile_kind_check(const char *kind, struct assay_err *err);

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

#endif
