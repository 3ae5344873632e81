/* SPDX-License-Identifier: Apache-2.0 */
/* What profiling costs a case: process pairs in lock step, whose turns are sampled or plain. */
#ifndef ASSAY_DRIVE_PROFILE_COST_H
#define ASSAY_DRIVE_PROFILE_COST_H

#include "drive/profile/request.h"
#include "drive/watch.h"
#include "stats/distributions.h"

#define ASSAY_COST_CONTROL_HZ 20000 /* must be seen: else nothing is known of the other */
#define ASSAY_COST_LEVEL      0.98  /* each of its ends is passed by chance once in a hundred */

struct assay_profile_cost {
	unsigned rate_hz;
	size_t pairs;
	double ratio; /* processor time of sampled turns over that of plain ones */
	struct assay_interval ci;
};

/*
 * Measure the cost of q->rate_hz and of the control, in turn for q->for_ns in all. ASSAY_EWRONG, ASSAY_EWORKER: as
 * above, ASSAY_EUNAVAILABLE: nothing can be sampled here.
 */
int assay_profile_cost(const struct assay_profile_request *q, const struct assay_watch *w,
		       struct assay_profile_cost out[2], struct assay_err *err);

#endif
