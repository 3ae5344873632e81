/* SPDX-License-Identifier: Apache-2.0 */
/* What the judge takes from the pairs of a stored comparison, for people and scripts to see. Judges nothing. */
#ifndef ASSAY_DRIVE_COMPARE_READING_H
#define ASSAY_DRIVE_COMPARE_READING_H

#include "base/err.h"
#include "model/comparison.h"

/* One reading a case of @cmp into *out, for assay_case_readings_release. ASSAY_ENOMEM, ASSAY_EUSAGE (the policy). */
int assay_comparison_read(const struct assay_comparison *cmp, struct assay_case_reading **out, struct assay_err *err);

#endif
