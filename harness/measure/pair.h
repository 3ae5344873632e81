/* SPDX-License-Identifier: Apache-2.0 */
/* One process pair: a base and a head worker on the same cores, taking turns sample by sample. */
#ifndef ASSAY_MEASURE_PAIR_H
#define ASSAY_MEASURE_PAIR_H

#include "measure/options.h"
#include "model/catalog.h"
#include "model/comparison.h"

/*
 * Whatever happens to a kernel is a status of its side, and the return is 0. There are samples only if both sides are
 * OK, and not in a first pair that finds that the calls of the later pairs are to be divided. The two sides map the
 * same tensors, so that the place of these in memory favours neither. If one side is wrong or ends while they do, or
 * exact outputs differ, the pair is taken again with separate memory for each side, which shows which side was wrong
 * and where. A variant that keeps something in scratch memory is thus not called wrong for it, but one that is wrong
 * only now and then is.
 *
 * @difference (ASSAY_DIFFERENCE_MAX bytes) gets the first element in which the outputs of an exact op differ, or "".
 * Negative: see assay_measure_case. The caller releases @out in either case.
 */
int assay_measure_pair(const struct assay_case *c, const struct assay_catalog *cat,
		       const struct assay_case_facts *facts, const struct assay_measure_options *o,
		       const struct assay_pair_options *po, struct assay_pair_calibration *calibration,
		       struct assay_pair *out, char *difference, struct assay_err *err);

#endif
