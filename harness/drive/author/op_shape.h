/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the tensors of an op follow from its axes. Ops say only how large the tensors of one shape are; here they are
 * asked for many shapes, and every dimension is written as a formula that all the answers agree with.
 */
#ifndef ASSAY_DRIVE_AUTHOR_OP_SHAPE_H
#define ASSAY_DRIVE_AUTHOR_OP_SHAPE_H

#include "model/catalog.h"

#define ASSAY_FORMULA_MAX 256

/* Describes one shape. 0, ASSAY_EUSAGE where the op refuses it, or another error. */
typedef int (*assay_op_ask_fn)(void *arg, const struct assay_catalog_op *op, const int64_t *axes, unsigned n_threads,
			       struct assay_shape_facts *out, struct assay_err *err);

struct assay_op_shape {
	int64_t axes[ASSAY_MAX_AXES];   /* a shape that the op accepts */
	struct assay_shape_facts facts; /* what the op says of it, with one thread */
	/*
	 * The dimensions of its tensors: "34", "k/4", "2*rows*dim", "threads*8"; "" where they follow from the axes in
	 * another way.
	 */
	char formula[ASSAY_MAX_TENSORS][ASSAY_MAX_RANK][ASSAY_FORMULA_MAX];
};

/* Fill @out, starting from the shape @from; NULL finds one. ASSAY_EUSAGE where the op refuses all that were tried. */
int assay_op_shape_find(struct assay_op_shape *out, const struct assay_catalog_op *op, const int64_t *from,
			assay_op_ask_fn ask, void *arg, struct assay_err *err);

/* "m=2560,k=2560,n=1", as bench files and keys write a shape; "" of an op without axes. */
void assay_op_shape_text(const struct assay_catalog_op *op, const int64_t *axes, struct assay_text *out);

#endif
