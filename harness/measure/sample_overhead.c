/* SPDX-License-Identifier: Apache-2.0 */
/* Times a variant that does nothing, in the loop that times all others. */
#include "measure/sample_overhead.h"

#include <stdio.h>

#include "stats/stats.h"
#include "worker/case/job.h"

#define GOAL_NS 60.0
#define SAMPLES 4001

static int run_nothing(struct assay_job *job)
{
	(void)job;
	return 0;
}

double assay_sample_overhead_ns(const struct assay_clock *clock)
{
	static const struct assay_variant nothing = { .name = "nothing", .run = run_nothing };
	struct assay_worker_spec spec = { .clock = *clock };
	struct assay_job job = { .size = sizeof(job) };
	_Atomic uint32_t phase = ASSAY_PHASE_IDLE;
	struct assay_case_job j = { .spec = &spec, .phase = &phase, .variant = &nothing, .jobs = &job, .n_jobs = 1 };
	double x[SAMPLES];

	for (size_t i = 0; i < SAMPLES; i++) {
		uint64_t ns;

		assay_case_job_time(&j, 1, &ns);
		x[i] = (double)ns;
	}
	assay_stats_sort(x, SAMPLES);
	return assay_stats_median(x, SAMPLES);
}

void assay_sample_overhead_add(struct assay_findings *l, double ns)
{
	char value[128];

	snprintf(value, sizeof(value), "a sample has %.0f ns of overhead; the goal is under %.0f ns", ns, GOAL_NS);
	if (ns < GOAL_NS)
		assay_findings_add(l, "sample_overhead", ASSAY_HEALTH_GOOD, value, "");
	else
		assay_findings_add(l, "sample_overhead", ASSAY_HEALTH_WARN, value,
				   "samples are made longer to make up for it; an invariant TSC would cost less");
}
