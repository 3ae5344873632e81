/* SPDX-License-Identifier: Apache-2.0 */
/* What became of a file of another tool. */
#ifndef ASSAY_MODEL_IMPORT_REPORT_H
#define ASSAY_MODEL_IMPORT_REPORT_H

#include "model/result.h"

/* One run of it. */
struct assay_import_run {
	int64_t id;
	size_t n_cases, n_ok;
	uint64_t n_samples;
	char suite[ASSAY_NAME_MAX];
	char machine[128]; /* label; "" where nobody said it */
	char commit[65];   /* likewise */
	bool dated;        /* it is known when it was measured */
};

struct assay_import_report {
	char format[ASSAY_NAME_MAX];
	char digest[ASSAY_DIGEST_LEN + 1]; /* of all bytes of the file */
	struct assay_import_run *runs;     /* malloc'ed; those that were added */
	size_t n_runs;
	/* Earlier runs of the same bytes, malloc'ed: with the same options, so that they were not added again, and with
	 * others. */
	int64_t *same, *other;
	size_t n_same, n_other;
	int64_t replaced;    /* of those, the one that was removed; 0: none */
	size_t n_aggregates; /* means and the like, which are no samples */
};

void assay_import_report_release(struct assay_import_report *r);

#endif
