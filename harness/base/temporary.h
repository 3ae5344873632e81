/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Temporary folders, each with the name of its owner: assay-WHAT-PID-START-XXXXXX, where START is when the process
 * began, so that a later one of the same number is not taken for it. They lie in $TMPDIR, or in /tmp.
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

/* A new, empty folder. ASSAY_EUSAGE where none can be made, which the user can mend. */
int assay_temporary_make(struct assay_temporary *t, const char *what, struct assay_err *err);
/* Does its disk have @bytes? ASSAY_EUSAGE with what to do where it has not. */
int assay_temporary_room(const struct assay_temporary *t, uint64_t bytes, struct assay_err *err);
/* Remove it with the files in it. */
void assay_temporary_remove(struct assay_temporary *t);
/* Remove those of processes of this user that are gone: they were killed. */
void assay_temporary_sweep(void);

#endif
