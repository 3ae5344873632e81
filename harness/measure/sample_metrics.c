/* SPDX-License-Identifier: Apache-2.0 */
/* Time, rates and disturbance of a result, recomputed from its samples whenever these change. */
#include "measure/sample_metrics.h"

#include <stdio.h>
#include <string.h>

#include "machine/disturbance.h"

int assay_metric_put_own(struct assay_result *r, const char *tag, double value, struct assay_err *err)
{
	const struct assay_metric_info *m = assay_metric_find(tag);
	struct assay_err why = { 0 };

	if (!m)
		return assay_err_set(err, ASSAY_EINTERNAL, "no metric '%s'", tag);
	if (assay_metric_check(tag, value, m->lo, m->hi, &why)) {
		r->status = ASSAY_STATUS_FAILED;
		memcpy(r->reason, why.text, sizeof(r->reason));
		return 1;
	}
	if (assay_result_set_metric(r, tag, m->unit, m->better, value))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	return 0;
}

int assay_time_metrics(struct assay_result *r, const struct assay_cost *c, struct assay_err *err)
{
	double bytes = c->bytes_read + c->bytes_written, t = r->median_ns * 1e-9;
	int rc = assay_metric_put_own(r, "time_s", t, err);

	if (!rc && c->ops > 0)
		rc = assay_metric_put_own(r, "ops_per_s", c->ops / t, err);
	if (!rc && bytes > 0)
		rc = assay_metric_put_own(r, "bytes_per_s", bytes / t, err);
	if (!rc && c->items > 0)
		rc = assay_metric_put_own(r, "items_per_s", c->items / t, err);
	if (!rc && c->ops > 0 && bytes > 0)
		rc = assay_metric_put_own(r, "arith_intensity", c->ops / bytes, err);
	return rc;
}

int assay_disturbance_counts(struct assay_result *r, struct assay_err *err)
{
	struct assay_disturbance host;

	assay_disturbance_begin(&host, "", r->cpus, r->n_cpus);

	const struct {
		const char *name, *how;
		uint32_t flag;
		bool shown; /* by this host; without a quota nothing throttles */
	} kinds[] = {
		{ "steal_samples", "/proc/stat", ASSAY_DISTURB_STEAL, host.steal_known },
		{ "migrated_samples", "sched_getcpu", ASSAY_DISTURB_MIGRATION, true },
		{ "throttled_samples", "cgroup", ASSAY_DISTURB_THROTTLE, true },
		{ "frequency_samples", "cpufreq", ASSAY_DISTURB_FREQUENCY, host.frequency_khz > 0 },
		{ "pressure_samples", "/proc/pressure/cpu", ASSAY_DISTURB_PRESSURE, host.pressure_known },
		{ "slow_core_samples", "a loop of known length", ASSAY_DISTURB_SLOW,
		  !assay_counters_find_missing(&r->counters, "slow_core_samples") },
	};
	double disturbed = 0, switches = 0, faults = 0;
	int rc;

	for (size_t i = 0; i < r->n_samples; i++) {
		disturbed += assay_samples_disturbed(&r->samples[i], 1) != 0;
		switches += r->samples[i].switches;
		faults += r->samples[i].faults;
	}
	rc = assay_result_set_count(r, "disturbed_samples", ASSAY_SOURCE_ASSAY, "", disturbed);
	if (!rc)
		rc = assay_result_set_count(r, "involuntary_switches", ASSAY_SOURCE_OS, "getrusage", switches);
	if (!rc)
		rc = assay_result_set_count(r, "page_faults", ASSAY_SOURCE_OS, "getrusage", faults);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]) && !rc; k++) {
		char reason[96];
		double n = 0;

		for (size_t i = 0; i < r->n_samples; i++)
			n += (r->samples[i].flags & kinds[k].flag) != 0;
		snprintf(reason, sizeof(reason), "this host has no %s", kinds[k].how);
		if (kinds[k].shown)
			rc = assay_result_set_count(r, kinds[k].name, ASSAY_SOURCE_OS, kinds[k].how, n);
		else if (!assay_counters_find_missing(&r->counters, kinds[k].name))
			rc = assay_counters_add_missing(&r->counters, kinds[k].name, ASSAY_SOURCE_OS, reason);
	}
	return rc ? assay_err_set(err, rc, "out of memory") : 0;
}
