/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of one case, of stored runs or of both sides of a comparison, as times of an iteration. */
#ifndef ASSAY_DRIVE_SHOW_SAMPLES_H
#define ASSAY_DRIVE_SHOW_SAMPLES_H

#include "model/history.h"

#define ASSAY_SAMPLE_SETS 2

/* All-zero but for `db` and `only` is the newest run. Strings are borrowed. */
struct assay_sample_request {
	const char *db;
	const char *only;               /* the case, or a glob or part that only one has */
	bool comparison;                /* ids[0] is a comparison, of which both sides are taken */
	int64_t ids[ASSAY_SAMPLE_SETS]; /* of runs, 0: the newest */
	size_t n_ids;
};

struct assay_sample_sets {
	char key[ASSAY_KEY_MAX];
	char machine[128];
	struct assay_sample_set sides[ASSAY_SAMPLE_SETS];
	size_t n;
};

/* ASSAY_EUSAGE where a run, comparison or case is not there, or the case has no samples. Release in either case. */
int assay_sample_sets(const struct assay_sample_request *q, struct assay_sample_sets *out, struct assay_err *err);
void assay_sample_sets_release(struct assay_sample_sets *s);

#endif
