/* SPDX-License-Identifier: Apache-2.0 */
/* The stored runs that a gate without a named baseline judges by. */
#ifndef ASSAY_DRIVE_GATE_SEGMENTS_H
#define ASSAY_DRIVE_GATE_SEGMENTS_H

#include "base/err.h"
#include "judge/policy.h"
#include "judge/stored.h"
#include "model/result.h"

struct assay_store;

struct assay_segments {
	struct assay_segment *v; /* one for each result of the run, malloc'ed; NULL: there is at most one run before */
	struct assay_gone *gone; /* of an imported run: what the runs that were looked into have beside; malloc'ed */
	size_t n_gone;
	char name[160]; /* of those without a change of their own, to be shown */
};

/* Load the segments of the cases of @run. Release @out in either case. */
int assay_segments_load(struct assay_store *store, const struct assay_run *run, const struct assay_policy *policy,
			struct assay_segments *out, struct assay_err *err);
void assay_segments_release(struct assay_segments *s);

/* The runs that a gate of @run looks into. @ids is malloc'ed; untouched on error. */
int assay_segments_runs(struct assay_store *store, const struct assay_run *run, const struct assay_policy *policy,
			int64_t **ids, size_t *n, struct assay_err *err);

#endif
