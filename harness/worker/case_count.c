/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counted run of a case. What this program itself spends between the marks is left out by whoever reads the counts.
 */
#include "counters/callgrind.h"
#include "worker/case_services.h"

static struct assay_outcome count_once(struct assay_case_job *j, unsigned warm, bool check)
{
	struct assay_outcome out = assay_outcome_ok();
	uint64_t ns;

	assay_callgrind_start();
	for (unsigned i = 0; i < warm && out.status == ASSAY_STATUS_OK; i++)
		out = assay_case_job_time(j, 1, &ns);
	assay_callgrind_zero();
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_job_time(j, 1, &ns);
	assay_callgrind_dump(check);
	assay_callgrind_stop();
	return out;
}

/*
 * Twice from empty caches: what differs between the two is not exact. Only the first begins with untrained branch
 * predictors.
 */
struct assay_outcome assay_case_job_count(struct assay_case_job *j, unsigned warm)
{
	struct assay_outcome out;

	if (!assay_callgrind_inside())
		return assay_outcome_set(ASSAY_STATUS_FAILED, "the worker does not run under valgrind");
	out = count_once(j, warm, false);
	return out.status == ASSAY_STATUS_OK ? count_once(j, warm, true) : out;
}
