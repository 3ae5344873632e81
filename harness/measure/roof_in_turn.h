/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a case interleaved with the limits that bound it. */
#ifndef ASSAY_MEASURE_ROOF_IN_TURN_H
#define ASSAY_MEASURE_ROOF_IN_TURN_H

#include "measure/options.h"
#include "model/catalog.h"
#include "model/result.h"

/* May a case with these facts be interleaved with its limits? Not if it is itself such a limit. */
bool assay_measure_roof_wanted(const struct assay_case_facts *f);

/*
 * Add roof_frac and roof_ns to @r, a finished case with the facts @f, from process pairs in which it takes turns with
 * the best variant that @run measured of each limit; @facts are those of the cases of the run. For a limit that is far
 * from binding, the measurement of the run is used. Each pair takes the budget of the case. If there is nothing yet to
 * hold it against, nothing is added, and assay_measure_finish() does it later; if a limit ends badly, the reason is
 * added. If the case ends badly, it gets that status and loses its numbers. Negative: see assay_measure_case.
 */
int assay_measure_roof(const struct assay_run *run, const struct assay_case_facts *facts,
		       const struct assay_case_facts *f, const struct assay_measure_options *o, struct assay_result *r,
		       struct assay_err *err);

#endif
