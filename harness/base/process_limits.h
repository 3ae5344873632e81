/* SPDX-License-Identifier: Apache-2.0 */
/* What the system lets this process have: as the shell gave it, and as children may change it (prlimit(2)). */
#ifndef ASSAY_BASE_PROCESS_LIMITS_H
#define ASSAY_BASE_PROCESS_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "base/err.h"

/*
 * Raise what is lower than the program needs, for it and its children, as far as that is allowed. ASSAY_EUSAGE, with
 * the command that raises it, where it is not.
 */
int assay_process_limits_raise(struct assay_err *err);

/* All limits of this process. */
struct assay_process_limits {
	struct rlimit v[RLIM_NLIMITS];
};
void assay_process_limits_take(struct assay_process_limits *l);
/*
 * Make them what they were. True when one was not, and then @what says which: "RLIMIT_NOFILE of this program from 1024
 * to 4", and where it cannot be undone, that.
 */
bool assay_process_limits_restore(const struct assay_process_limits *l, char *what, size_t size);

#endif
