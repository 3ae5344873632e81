/* SPDX-License-Identifier: Apache-2.0 */
/* The source of a variant: what its op takes and gives, spelled out, around an empty body or a simple one. */
#ifndef ASSAY_DRIVE_AUTHOR_VARIANT_H
#define ASSAY_DRIVE_AUTHOR_VARIANT_H

#include "drive/author/op_shape.h"
#include "model/catalog.h"

struct assay_new_variant {
	const struct assay_catalog *catalog;
	const struct assay_catalog_op *op;
	const struct assay_op_shape *shape;
	const char *name;
	const struct assay_strings *headers; /* "assay/op_matmul.h": those that speak of the op */
	const char *compile, *verify, *run;  /* the commands to come */
	bool example;                        /* with a body where there is one for the op; else that is left open */
};

/* Is there a body for the op, simple and right? */
bool assay_new_variant_has_example(const char *op);
/* Append the source to @out. ASSAY_EUSAGE for an op without outputs, of which no variant could be right or wrong. */
int assay_new_variant_source(const struct assay_new_variant *v, struct assay_text *out, struct assay_err *err);

#endif
