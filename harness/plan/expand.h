/* SPDX-License-Identifier: Apache-2.0 */
/* From one bench to its cases: shapes × threads × cache × variants, with limits and reasons to skip. */
#ifndef ASSAY_PLAN_EXPAND_H
#define ASSAY_PLAN_EXPAND_H

#include "base/hash.h"
#include "model/case.h"
#include "model/catalog.h"
#include "plan/benchfile.h"
#include "plan/options.h"

/* A case and the bench that asked for it. */
struct assay_planned {
	struct assay_case c;
	const struct assay_bench *bench;
	bool other_arch; /* its variant is built for another architecture */
};

/* Keys are unique. All-zero is empty. */
struct assay_planned_list {
	struct assay_planned *v;
	size_t n, cap;
	struct assay_name_index keys;
};

/*
 * Append the case unless it is there. A key that is there already stays as it is if its limits are the same; otherwise
 * it is an error that names both benches.
 */
int assay_planned_add(struct assay_planned_list *l, const struct assay_planned *p, struct assay_err *err);
void assay_planned_release(struct assay_planned_list *l);

/* All cases of @bench in the order: shapes, threads, cache, variants. @l is appended to, also on error. */
int assay_plan_expand(const struct assay_bench *bench, const struct assay_plan_options *o,
		      const struct assay_catalog *cat, struct assay_planned_list *l, struct assay_err *err);

/* From `shapes` and `sweep` of a bench to its bound shapes: a value for every axis of the op, in its order. */
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
