/* SPDX-License-Identifier: Apache-2.0 */
/* Makes samples of whole calls from samples of parts of calls. Pure. */
#ifndef ASSAY_MEASURE_WHOLE_CALLS_H
#define ASSAY_MEASURE_WHOLE_CALLS_H

#include "base/err.h"
#include "model/result.h"

/*
 * Put the parts of each call of @s together; a sample that is not a part stays as it is. *out is malloc'ed;
 * ASSAY_ENOMEM: there is none. Steal ticks are those of all polls of the host that fell into the call. Each poll counts
 * once, although it is recorded with every part that it covers.
 */
int assay_whole_calls(const struct assay_sample *s, size_t n, struct assay_sample **out, size_t *n_calls,
		      struct assay_err *err);

#endif
