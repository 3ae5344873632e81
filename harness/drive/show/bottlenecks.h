/* SPDX-License-Identifier: Apache-2.0 */
/* What bounds the cases of a stored run, and advice. */
#ifndef ASSAY_DRIVE_SHOW_BOTTLENECKS_H
#define ASSAY_DRIVE_SHOW_BOTTLENECKS_H

#include <stdint.h>

#include "base/err.h"
#include "model/bottleneck.h"

/*
 * Those of the run @id (0: the newest, which *id becomes) that @only selects (a glob or a part of a key; NULL: all) and
 * that were measured; ops that measure the machine itself are left out. The caller frees *out. ASSAY_EUSAGE where @only
 * selects no case.
 */
int assay_bottlenecks_find(const char *db, int64_t *id, const char *only, struct assay_bottleneck **out, size_t *n,
			   struct assay_err *err);

struct assay_profile;

/*
 * What bounds the case of @p, by its newest run of the same build on the same machine, or else by its newest run there,
 * whose number is *run; the profile is evidence, too. ASSAY_EUSAGE where it is of a program, or the case was never run.
 */
int assay_bottleneck_of_profile(const char *db, const struct assay_profile *p, int64_t *run,
				struct assay_bottleneck *out, struct assay_err *err);

#endif
