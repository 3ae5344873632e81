/* SPDX-License-Identifier: Apache-2.0 */
/* Where a bisection builds its commits: worktrees in a temporary folder, of which nothing is left at the end. */
#ifndef ASSAY_DRIVE_HISTORY_BISECT_PLACE_H
#define ASSAY_DRIVE_HISTORY_BISECT_PLACE_H

#include "base/temporary.h"
#include "drive/repository.h"
#include "drive/watch.h"

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
