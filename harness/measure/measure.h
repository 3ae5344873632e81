/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measuring one case in a worker: warm up until steady, calibrate, sample until known well enough, check before and
 * after.
 */
#ifndef ASSAY_MEASURE_MEASURE_H
#define ASSAY_MEASURE_MEASURE_H

#include "measure/options.h"
#include "model/catalog.h"
#include "model/result.h"

/*
 * Measure @c. Whatever happens to the kernel is a status of @out, and the return is 0. Negative only when the harness
 * itself cannot go on (ASSAY_EINTERRUPTED, ASSAY_ENOMEM, ASSAY_EINTERNAL). The caller releases @out in either case.
 */
int assay_measure_case(const struct assay_case *c, const struct assay_catalog *cat,
		       const struct assay_case_facts *facts, const struct assay_measure_options *o,
		       struct assay_result *out, struct assay_err *err);

/*
 * When all cases of a run are done: compare the digests of exact ops across variants and thread counts. Then add
 * roof_frac to the others: the share of what ops that measure the machine reached in this run. Marks results it changed
 * in @changed (n_results bools).
 */
int assay_measure_finish(struct assay_run *run, const struct assay_case_facts *facts,
			 const struct assay_host_info *host, const struct assay_catalog *cat, bool *changed,
			 struct assay_err *err);

#endif
