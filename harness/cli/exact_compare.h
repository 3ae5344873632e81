/* SPDX-License-Identifier: Apache-2.0 */
/* assay compare --evidence exact: the counts of two builds against each other. No clock, so no pairs and no controls. */
#ifndef ASSAY_CLI_EXACT_COMPARE_H
#define ASSAY_CLI_EXACT_COMPARE_H

#include "cli/compare_plan.h"

/*
 * Count the cases of @p that assay_exact_counting_all() says, each in a worker of either side, and judge the head's counts by
 * the base's and the policy's tolerances, with its limits on metrics that begin with "exact_". Nothing is stored. Where nothing at all
 * can be counted, every case is NOT_MEASURED with the reason. ASSAY_EINTERRUPTED after Ctrl-C: @report has the cases that were
 * counted by then, and the others as NOT_MEASURED. It is to be released in either case.
 */
int assay_exact_compare(const struct assay_compare_plan *p, const struct assay_settings *s, bool strict,
			struct assay_gate_report *report, struct assay_err *err);

#endif
