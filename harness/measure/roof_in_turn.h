/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring a case and the limits that bound it in turn. */
#ifndef ASSAY_MEASURE_ROOF_IN_TURN_H
#define ASSAY_MEASURE_ROOF_IN_TURN_H

#include "measure/options.h"
#include "model/catalog.h"
#include "model/result.h"

/* May a case of these facts take turns with what bounds it? Not where it is itself such a limit. */
bool assay_measure_roof_wanted(const struct assay_case_facts *f);

/*
 * Add roof_frac and roof_ns to @r, a finished case with the facts @f, from process pairs in which it takes turns with
 * the best that @run has measured of each limit; @facts are of the cases of the run. A limit
 * that is far from binding is taken as the run measured it. Each pair takes the budget of the case. Where there is
 * nothing yet to hold it against nothing is added, and assay_measure_finish() does it; where a limit ends badly, the
 * reason. A case that ends badly in turn gets that status and loses its numbers. Negative: see assay_measure_case.
 */
int assay_measure_roof(const struct assay_run *run, const struct assay_case_facts *facts,
		       const struct assay_case_facts *f, const struct assay_measure_options *o, struct assay_result *r,
		       struct assay_err *err);

#endif
