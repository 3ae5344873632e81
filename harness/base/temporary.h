/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Temporary folders that carry their owner in their name: assay-WHAT-PID-START-XXXXXX, where START is when the process
 * began, so that a later process with the same number is not taken for it. They are in $TMPDIR, or in /tmp.
 */
#ifndef ASSAY_BASE_TEMPORARY_H
#define ASSAY_BASE_TEMPORARY_H

#include <limits.h>
#include <stdint.h>

#include "base/err.h"

/* All-zero is none. */
struct assay_temporary {
	char path[PATH_MAX - 64]; /* absolute; short enough for the names of files in it */
	int fd;                   /* holds a lock on the folder for as long as it is used */
};

/* Make a new, empty folder. ASSAY_EUSAGE if none can be made, which the user can remedy. */
int assay_temporary_make(struct assay_temporary *t, const char *what, struct assay_err *err);
/* Does its disk have room for @bytes? If not, ASSAY_EUSAGE with what to do. */
int assay_temporary_room(const struct assay_temporary *t, uint64_t bytes, struct assay_err *err);
/* Remove it with the files in it. */
void assay_temporary_remove(struct assay_temporary *t);
/* Remove the folders of this user's processes that are gone because they were killed. */
void assay_temporary_sweep(void);

#endif
