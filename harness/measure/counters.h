/* SPDX-License-Identifier: Apache-2.0 */
/* What a case counts. */
#ifndef ASSAY_MEASURE_COUNTERS_H
#define ASSAY_MEASURE_COUNTERS_H

#include "counters/groups.h"
#include "measure/options.h"
#include "model/catalog.h"

/* Counted in every case, if the group exists. */
#define ASSAY_DEFAULT_COUNTER_GROUP "os"

/*
 * Choose the default group, the groups of the case and of @o, what the op publishes, and the events of @o, each once.
 * ASSAY_EUSAGE if there is no such group. Release @out in either case; @text is for the worker.
 */
int assay_measure_choose(const struct assay_measure_options *o, const struct assay_case *c,
			 const struct assay_catalog_op *op, struct assay_counter_choice *out, struct assay_text *text,
			 struct assay_err *err);

#endif
