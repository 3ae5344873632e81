/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program with an object preloaded, until it ends or the requested time is over. */
#ifndef ASSAY_DRIVE_PROFILE_PRELOADED_H
#define ASSAY_DRIVE_PROFILE_PRELOADED_H

#include "base/file.h"
#include "drive/profile/kinds.h"

struct assay_preloaded_run {
	const char *library;
	const char *const *env; /* "NAME=value" of the object's, NULL-terminated; at most five */
	/* Called from time to time while it runs, and before it is killed. NULL: nothing. */
	int (*before_end)(void *arg, struct assay_err *err);
	void (*look)(void *arg, pid_t pid);
	void *arg;
};

/* A folder for the records of an object, with room for the first of them. ASSAY_EUSAGE where there is none. */
int assay_profile_records_folder(struct assay_temporary *t, const char *what, struct assay_err *err);
/* Run the command of @q and set out->seconds; if it ended badly, @w is told. ASSAY_EUSAGE if it cannot start. */
int assay_profile_run_preloaded(const struct assay_profile_request *q, const struct assay_watch *w,
				const struct assay_preloaded_run *r, struct assay_profile *out, struct assay_err *err);
/* ASSAY_EUNAVAILABLE: nothing of the object was found, which stands before @what. */
int assay_profile_not_preloaded(const struct assay_profile_request *q, const char *what, struct assay_err *err);

#endif
