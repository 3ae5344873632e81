/* SPDX-License-Identifier: Apache-2.0 */
/* Alerts: what the policy wants to be told of, and which of it is so now. */
#ifndef ASSAY_MODEL_ALERT_H
#define ASSAY_MODEL_ALERT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/case.h"
#include "model/metric.h"

struct assay_alert {
	char name[ASSAY_NAME_MAX];
	char cases[ASSAY_KEY_MAX]; /* glob over keys */
	char metric[ASSAY_METRIC_TAG_MAX];
	char unit[ASSAY_METRIC_UNIT_MAX]; /* base unit of the limit; "" where neither the file nor the metric says */
	bool below;                       /* it is about values below the limit, else about those above */
	double limit;                     /* in base units */
	char written[64];                 /* the condition, as it stands in the file */
	uint64_t for_ns;                  /* it must have held for so long */
	char severity[ASSAY_NAME_MAX];
};

/* A case of which the condition of an alert holds in its newest run. */
struct assay_alert_case {
	size_t alert; /* index */
	char key[ASSAY_KEY_MAX];
	double value;      /* in that run */
	uint64_t since_ns; /* unix time of the first of the runs in a row of which it holds */
};

/* All-zero is none. */
struct assay_alert_report {
	struct assay_alert *alerts;
	size_t n_alerts;
	struct assay_alert_case *cases;
	size_t n_cases;
	uint64_t now_ns; /* unix time at which it is asked */
};

/* Has it held for long enough? A value stands until the next run. */
static inline bool assay_alert_fires(const struct assay_alert_report *r, const struct assay_alert_case *c)
{
	return r->now_ns >= c->since_ns && r->now_ns - c->since_ns >= r->alerts[c->alert].for_ns;
}

#endif
