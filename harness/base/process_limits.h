/* SPDX-License-Identifier: Apache-2.0 */
/* What the shell lets this process have of stack and open files. */
#ifndef ASSAY_BASE_PROCESS_LIMITS_H
#define ASSAY_BASE_PROCESS_LIMITS_H

#include "base/err.h"

/*
 * Raise what is lower than the program needs, for it and its children, as far as that is allowed. ASSAY_EUSAGE, with
 * the command that raises it, where it is not.
 */
int assay_process_limits_raise(struct assay_err *err);

#endif
