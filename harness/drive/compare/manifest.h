/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases that a comparison of two revisions must have: a benchmark that silently disappears from both is found by the
 * manifests.
 */
#ifndef ASSAY_DRIVE_COMPARE_MANIFEST_H
#define ASSAY_DRIVE_COMPARE_MANIFEST_H

#include "drive/compare/state.h"

/*
 * Call @lost for each key that the suite's manifest, as the program has it or as the base's checkout had it, demands
 * and neither the suite plans nor the base has.
 * - An `optional` key is demanded where any case of its variant takes part.
 * - Only whole suites of revisions are held to it: nothing is called where the base is a plugin or options choose
 *   cases.
 * - A manifest that is not there demands nothing; one that cannot be read is a warning to @w.
 * A non-zero return of @lost stops and is returned. ASSAY_ENOMEM.
 */
int assay_compare_manifest_check(struct assay_compare_plan *p, const struct assay_request *r,
				 const struct assay_watch *w,
				 int (*lost)(struct assay_compare_plan *p, const char *key, struct assay_err *err),
				 struct assay_err *err);

#endif
