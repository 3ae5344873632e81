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
	bool already;                      /* the database had it, and stays as it was */
	struct assay_import_run *runs;     /* malloc'ed */
	size_t n_runs;
	size_t n_aggregates; /* means and the like, which are no samples */
};

void assay_import_report_release(struct assay_import_report *r);

#endif
