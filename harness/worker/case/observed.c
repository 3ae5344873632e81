/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each histogram has its buckets twice. Values that do not count go to the second ones, so that to observe a value
 * costs the same whether it counts or not: a kernel cannot tell by it when it is timed.
 */
#include "worker/case/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int assay_case_observed_init(struct assay_case_job *j)
{
	struct assay_case_observed *o = &j->observed;

	for (uint32_t i = 0; i < j->op->n_metrics; i++) {
		const struct assay_metric_def *m = assay_op_metric(j->op, i);

		/* the inventory has refused an op that declares more */
		if (m->kind != ASSAY_METRIC_HISTOGRAM || o->n == ASSAY_MAX_HISTOGRAMS)
			continue;
		o->counted[o->n] = calloc(2 * ASSAY_HISTOGRAM_BUCKETS, sizeof(*o->counted[0]));
		if (!o->counted[o->n])
			return ASSAY_ENOMEM;
		o->def[o->n++] = m;
		o->place[i] = (unsigned char)o->n;
	}
	assay_case_observed_count(j, false);
	return 0;
}

void assay_case_observed_release(struct assay_case_job *j)
{
	for (uint32_t i = 0; i < j->observed.n; i++)
		free(j->observed.counted[i]);
	j->observed.n = 0;
}

void assay_case_observe(struct assay_case_job *j, uint32_t metric, double value)
{
	struct assay_case_observed *o = &j->observed;
	const unsigned place = metric < ASSAY_JOB_METRICS ? o->place[metric] : 0;
	const struct assay_metric_def *m = place ? o->def[place - 1] : NULL;

	/* a comparison with NaN is false */
	if (m && value >= m->lo && value <= m->hi && value < ASSAY_HISTOGRAM_END) {
		__atomic_fetch_add(&o->counted[place - 1][o->from + assay_histogram_bucket(value)], 1,
				   __ATOMIC_RELAXED);
		return;
	}
	if (__atomic_exchange_n(&o->refused, true, __ATOMIC_RELAXED))
		return;
	o->refused_metric = metric;
	o->refused_value = value;
}

void assay_case_observed_count(struct assay_case_job *j, bool counts)
{
	j->observed.from = counts ? 0 : ASSAY_HISTOGRAM_BUCKETS;
}

struct assay_outcome assay_case_observed_check(const struct assay_case_job *j)
{
	const struct assay_case_observed *o = &j->observed;
	const unsigned place = o->refused_metric < ASSAY_JOB_METRICS ? o->place[o->refused_metric] : 0;
	struct assay_err why = { 0 };

	if (!o->refused)
		return assay_outcome_ok();
	if (!place)
		return assay_outcome_set(ASSAY_STATUS_FAILED,
					 "op '%s' observed a value of metric %u, which is not a histogram",
					 j->spec->c.op, o->refused_metric);
	assay_metric_check(o->def[place - 1]->tag, o->refused_value, o->def[place - 1]->lo,
			   fmin(o->def[place - 1]->hi, nextafter(ASSAY_HISTOGRAM_END, 0)), &why);
	return assay_outcome_set(ASSAY_STATUS_FAILED, "a value that op '%s' observed of %s", j->spec->c.op, why.text);
}

uint32_t assay_case_observed_take(const struct assay_case_job *j, struct assay_page_histogram *out)
{
	const struct assay_case_observed *o = &j->observed;
	uint32_t n = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		bool any = false;

		for (unsigned k = 0; k < ASSAY_HISTOGRAM_BUCKETS; k++)
			any |= o->counted[i][k] != 0;
		if (!any)
			continue;
		snprintf(out[n].tag, sizeof(out[n].tag), "%s", o->def[i]->tag);
		memcpy(out[n++].n, o->counted[i], sizeof(out[0].n));
	}
	return n;
}
