/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/doctor.h"

#include "counters/counter_health.h"
#include "machine/core_survey.h"
#include "machine/health.h"
#include "measure/sample_overhead.h"
#include "profile/code_places.h"

/* What stepping needs besides. */
static void add_code_places(struct assay_findings *l)
{
	struct assay_err why = { 0 };

	if (assay_code_places_probe(&why))
		assay_findings_add(l, "code_places", ASSAY_HEALTH_MISSING, why.text,
				   "without it nothing is counted by stepping");
}

int assay_health_check(struct assay_health_check *out, struct assay_err *err)
{
	struct assay_topology *topology = NULL;
	struct assay_findings *all = &out->findings;
	int rc = assay_topology_open(&topology, NULL, err);

	*out = (struct assay_health_check){ 0 };
	if (!rc)
		rc = assay_clock_init(&out->clock, err);
	if (!rc)
		rc = assay_doctor(topology, &out->clock, all, err);
	if (!rc) {
		out->clock_name = assay_clock_source_name(out->clock.source);
		assay_topology_summary(topology, out->topology, sizeof(out->topology));
		assay_core_survey(topology, &out->clock, all);
		out->sample_overhead_ns = assay_sample_overhead_ns(&out->clock);
		assay_sample_overhead_add(all, out->sample_overhead_ns);
		assay_counter_health_add(all);
		add_code_places(all);
		if (all->failed)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for what was found");
	}
	assay_topology_close(topology);
	return rc;
}

void assay_health_check_release(struct assay_health_check *c)
{
	assay_findings_release(&c->findings);
}
