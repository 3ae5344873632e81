/* SPDX-License-Identifier: Apache-2.0 */
/* From the worker's page and the samples to metrics and counts. */
#include "measure/case_metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/environment.h"
#include "machine/host_facts.h"

/* A metric of the harness. */
static int put_own(struct assay_result *r, const char *tag, double value, struct assay_err *err)
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

/*
 * Tokens are the items of an op that reports them. Their rate follows from the time of the case, as every other rate
 * does: the op knows only the calls of a single process.
 */
static int set_token_rate(struct assay_result *r, struct assay_err *err)
{
	const struct assay_metric *items = assay_result_metric(r, "items_per_s");

	for (size_t i = 0; i < r->n_metrics && items; i++)
		if (!strcmp(r->metrics[i].tag, "tokens_per_s")) {
			r->metrics[i].value = items->value;
			return put_own(r, "tokens_per_ms", items->value / 1000, err);
		}
	return 0;
}

int assay_time_metrics(struct assay_result *r, const struct assay_cost *c, struct assay_err *err)
{
	double bytes = c->bytes_read + c->bytes_written, t = r->median_ns * 1e-9;
	int rc = put_own(r, "time_s", t, err);

	if (!rc && c->ops > 0)
		rc = put_own(r, "ops_per_s", c->ops / t, err);
	if (!rc && bytes > 0)
		rc = put_own(r, "bytes_per_s", bytes / t, err);
	if (!rc && c->items > 0)
		rc = put_own(r, "items_per_s", c->items / t, err);
	if (!rc && c->ops > 0 && bytes > 0)
		rc = put_own(r, "arith_intensity", c->ops / bytes, err);
	return rc ? rc : set_token_rate(r, err);
}

int assay_disturbance_counts(struct assay_result *r, struct assay_err *err)
{
	struct assay_disturbance host;

	assay_disturbance_begin(&host, "", r->cpus, r->n_cpus);

	const struct {
		const char *how;
		enum assay_disturb kind;
		bool shown; /* by this host; without a quota nothing throttles */
	} kinds[] = {
		{ "/proc/stat", ASSAY_DISTURB_STEAL, host.steal_known },
		{ "sched_getcpu", ASSAY_DISTURB_MIGRATION, true },
		{ "cgroup", ASSAY_DISTURB_THROTTLE, true },
		{ "cpufreq", ASSAY_DISTURB_FREQUENCY, host.frequency_khz > 0 },
		{ "/proc/pressure/cpu", ASSAY_DISTURB_PRESSURE, host.pressure_known },
		{ "a loop of known length", ASSAY_DISTURB_SLOW,
		  !assay_counters_find_missing(&r->counters, assay_disturb_count_name(ASSAY_DISTURB_SLOW)) },
		{ "clock of the device", ASSAY_DISTURB_DEVICE, assay_result_metric(r, "device_clock_hz") },
	};
	/* of cases on a device alone */
	const size_t n_kinds = sizeof(kinds) / sizeof(kinds[0]) - !assay_result_metric(r, "device_out_bytes");
	double disturbed = 0, switches = 0, faults = 0;
	int rc;

	for (size_t i = 0; i < r->n_samples; i++) {
		disturbed += assay_samples_disturbed(&r->samples[i], 1) != 0;
		switches += r->samples[i].switches;
		faults += r->samples[i].faults;
	}
	rc = assay_result_set_count(r, ASSAY_COUNT_DISTURBED, ASSAY_SOURCE_ASSAY, "", disturbed);
	if (!rc)
		rc = assay_result_set_count(r, ASSAY_COUNT_SWITCHES, ASSAY_SOURCE_OS, "getrusage", switches);
	if (!rc)
		rc = assay_result_set_count(r, ASSAY_COUNT_FAULTS, ASSAY_SOURCE_OS, "getrusage", faults);
	for (size_t k = 0; k < n_kinds && !rc; k++) {
		const char *name = assay_disturb_count_name(kinds[k].kind);
		char reason[96];
		double n = 0;

		for (size_t i = 0; i < r->n_samples; i++)
			n += (r->samples[i].flags & kinds[k].kind) != 0;
		snprintf(reason, sizeof(reason), "this host has no %s", kinds[k].how);
		if (kinds[k].shown)
			rc = assay_result_set_count(r, name, ASSAY_SOURCE_OS, kinds[k].how, n);
		else if (!assay_counters_find_missing(&r->counters, name))
			rc = assay_counters_add_missing(&r->counters, name, ASSAY_SOURCE_OS, reason);
	}
	return rc ? assay_err_set(err, rc, "out of memory") : 0;
}

int assay_case_cpus(const struct assay_worker_reply *reply, struct assay_result *r, struct assay_err *err)
{
	r->cpus = malloc(r->c.threads * sizeof(*r->cpus));
	if (!r->cpus)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (r->n_cpus = 0; r->n_cpus < r->c.threads; r->n_cpus++)
		r->cpus[r->n_cpus] = reply->cpus[r->n_cpus];
	return 0;
}

static int memory_metrics(const struct assay_case_report *from, struct assay_result *r, struct assay_err *err)
{
	const struct assay_worker_reply *reply = from->reply;
	const double peak = (double)reply->rss_peak_bytes,
		     further = (double)reply->op_bytes / 2 + (double)reply->prepare_bytes - (double)reply->first_bytes,
		     twice = from->twice ? further : 0;
	struct assay_memory_state mem;
	int rc;

	if (reply->rss_peak_bytes) /* not all of a copy need have been touched */
		rc = put_own(r, "rss_peak_bytes", fmax(peak / 2, peak - twice), err);
	else if (assay_counters_add_missing(&r->counters, "rss_peak_bytes", ASSAY_SOURCE_OS,
					    "this machine shows no VmHWM in '/proc/self/status'"))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	else
		rc = 0;
	if (rc || assay_memory_state(&mem, NULL))
		return rc;
	rc = put_own(r, "machine_total_bytes", (double)mem.usable_bytes, err);
	if (!rc)
		rc = put_own(r, "machine_used_bytes", (double)mem.used_bytes, err);
	return rc;
}

static int op_metrics(const struct assay_case_report *from, struct assay_result *r, struct assay_err *err)
{
	const struct assay_worker_reply *reply = from->reply;

	for (uint32_t i = 0; i < reply->n_metrics; i++)
		for (size_t k = 0; k < from->op->n_metrics; k++) {
			const struct assay_catalog_metric *m = &from->op->metrics[k];
			struct assay_err why = { 0 };

			if (strcmp(m->tag, reply->metrics[i].tag))
				continue;
			if (assay_metric_check(m->tag, reply->metrics[i].value, m->lo, m->hi, &why)) {
				r->status = ASSAY_STATUS_FAILED;
				memcpy(r->reason, why.text, sizeof(r->reason));
				return 1;
			}
			if (assay_result_add_metric(r, m->tag, m->unit, m->better, reply->metrics[i].value))
				return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		}
	return 0;
}

/*
 * The histogram of @m. The worker has refused values outside of its range, and its buckets are no more to be believed
 * than its metrics are.
 */
static int take_histogram(const struct assay_page_histogram *from, const struct assay_catalog_metric *m,
			  struct assay_result *r, struct assay_err *err)
{
	struct assay_histogram h = { .better = m->better };
	struct assay_err why = { 0 };
	int rc = 0;

	snprintf(h.tag, sizeof(h.tag), "%s", m->tag);
	snprintf(h.unit, sizeof(h.unit), "%s", m->unit);
	for (unsigned i = 0; i < ASSAY_HISTOGRAM_BUCKETS && !rc; i++) {
		const double least = assay_histogram_bound(i), end = assay_histogram_bound(i + 1);

		if (!from->n[i])
			continue;
		if (end <= m->lo || least > m->hi)
			rc = assay_metric_check(m->tag, least, m->lo, m->hi, &why);
		else
			rc = assay_histogram_add(&h, i, from->n[i]);
	}
	if (rc == ASSAY_ELIMIT) {
		r->status = ASSAY_STATUS_FAILED;
		memcpy(r->reason, why.text, sizeof(r->reason));
	} else if (rc || assay_result_add_histogram(r, &h)) {
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	assay_histogram_release(&h);
	return rc == ASSAY_ELIMIT ? 1 : rc;
}

static int histograms(const struct assay_case_report *from, struct assay_result *r, struct assay_err *err)
{
	const struct assay_worker_reply *reply = from->reply;
	int rc = 0;

	for (uint32_t i = 0; i < reply->n_histograms && !rc; i++)
		for (size_t k = 0; k < from->op->n_metrics && !rc; k++) {
			const struct assay_catalog_metric *m = &from->op->metrics[k];

			if (m->kind == ASSAY_METRIC_HISTOGRAM && !strcmp(m->tag, reply->histograms[i].tag))
				rc = take_histogram(&reply->histograms[i], m, r, err);
		}
	return rc;
}

#define DEVICE_PREFIX "device_"

/* The worker's facts about the device; ops cannot declare such names, since they are the harness's own. */
static int device_metrics(const struct assay_case_report *from, struct assay_result *r, struct assay_err *err)
{
	const struct assay_worker_reply *reply = from->reply;
	double copies_s = 0;
	int rc = 0;

	for (uint32_t i = 0; i < reply->n_metrics && !rc; i++) {
		const struct assay_page_metric *m = &reply->metrics[i];

		if (!strncmp(m->tag, DEVICE_PREFIX, strlen(DEVICE_PREFIX)) && assay_metric_find(m->tag))
			rc = put_own(r, m->tag, m->value, err);
		if (!strcmp(m->tag, "device_end_to_end_s"))
			copies_s = m->value;
	}
	if (!rc && copies_s > 0 && r->n_samples)
		rc = put_own(r, "device_end_to_end_s", copies_s + r->median_ns * 1e-9, err);
	return rc;
}

/* The worker's counts, and the metrics that follow from them. */
static int counts(const struct assay_case_report *from, struct assay_result *r, struct assay_err *err)
{
	const struct assay_worker_reply *reply = from->reply;
	int rc = 0;

	for (uint32_t i = 0; i < reply->n_counts && !rc; i++)
		rc = assay_counters_add(&r->counters, &reply->counts[i]);
	for (uint32_t i = 0; i < reply->n_missing && !rc; i++)
		rc = assay_counters_add_missing(&r->counters, reply->missing[i].name, reply->missing[i].source,
						reply->missing[i].reason);
	if (!rc && from->pace_untold)
		rc = assay_counters_add_missing(&r->counters, assay_disturb_count_name(ASSAY_DISTURB_SLOW),
						ASSAY_SOURCE_OS, from->pace_untold);
	if (rc)
		return assay_err_set(err, rc, "out of memory");
	rc = assay_counter_derive(from->choice, &r->counters, &r->metrics, &r->n_metrics, err);
	return rc ? rc : assay_disturbance_counts(r, err);
}

int assay_case_metrics(const struct assay_case_report *from, struct assay_result *r, struct assay_err *err)
{
	const struct assay_worker_reply *reply = from->reply;
	const uint64_t prepare_ns = from->twice ? reply->first_ns : reply->prepare_ns,
		       prepare_bytes = from->twice ? reply->first_bytes : reply->prepare_bytes;
	int rc = put_own(r, "op_bytes", (double)reply->op_bytes / (from->twice ? 2 : 1), err);

	if (!rc && from->rotated_bytes > 0)
		rc = put_own(r, "rotated_bytes", from->rotated_bytes, err);
	if (!rc)
		rc = put_own(r, "prepare_s", (double)prepare_ns * 1e-9, err);
	if (!rc)
		rc = put_own(r, "prepare_bytes", (double)prepare_bytes, err);
	if (!rc && r->n_samples)
		rc = assay_time_metrics(r, from->cost, err);
	if (!rc)
		rc = memory_metrics(from, r, err);
	if (!rc && from->busy_frac > 0)
		rc = put_own(r, "machine_busy_frac", from->busy_frac, err);
	if (!rc)
		rc = device_metrics(from, r, err);
	if (!rc && r->n_samples)
		rc = op_metrics(from, r, err);
	if (!rc && r->n_samples)
		rc = histograms(from, r, err);
	if (!rc)
		rc = set_token_rate(r, err);
	if (!rc && r->n_samples)
		rc = counts(from, r, err);
	return rc;
}
