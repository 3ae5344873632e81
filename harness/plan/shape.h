/* SPDX-License-Identifier: Apache-2.0 */
/* From `shapes` and `sweep` of a bench to the list of its bound shapes. */
#ifndef ASSAY_PLAN_SHAPE_H
#define ASSAY_PLAN_SHAPE_H

#include "model/catalog.h"
#include "plan/benchfile.h"

/* A value for every axis of the op, in its order. */
struct assay_plan_shape {
	int64_t value[ASSAY_MAX_AXES];
};

/*
 * All shapes of @bench, the entries of `shapes` outermost, then the sweeps in their order; @batch_size above 0 replaces
 * the value of an axis named "batch". @out is malloc'ed. ASSAY_EUSAGE with "file:line: …".
 */
int assay_plan_shapes(const struct assay_bench *bench, const struct assay_catalog_op *op, int64_t batch_size,
		      struct assay_plan_shape **out, size_t *n, struct assay_err *err);

/* The value as keys write it. */
void assay_plan_axis_value(const struct assay_catalog_axis *axis, int64_t value, struct assay_axis_value *out);

#endif
