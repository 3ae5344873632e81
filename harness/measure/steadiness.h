/* SPDX-License-Identifier: Apache-2.0 */
/* Times of samples in the order they were taken, to tell when they got steady. Internal to this folder. */
#ifndef ASSAY_MEASURE_STEADINESS_H
#define ASSAY_MEASURE_STEADINESS_H

#include <stddef.h>

#include "base/err.h"
#include "model/result.h"

/* All zero: none yet. */
struct assay_steadiness {
	double *ns; /* malloc'ed */
	size_t n;
};

/* ASSAY_ENOMEM; then @s is as it was. */
int assay_steadiness_add(struct assay_steadiness *s, const struct assay_sample *samples, size_t n,
			 struct assay_err *err);
void assay_steadiness_release(struct assay_steadiness *s);

#endif
