/* SPDX-License-Identifier: Apache-2.0 */
/* A line of `assay doctor`. */
#ifndef ASSAY_MODEL_FINDING_H
#define ASSAY_MODEL_FINDING_H

#include "model/case.h"

enum assay_health {
	ASSAY_HEALTH_GOOD,
	ASSAY_HEALTH_WARN,    /* measures, but worse than it could */
	ASSAY_HEALTH_MISSING, /* a capability is absent */
};

struct assay_finding {
	char name[ASSAY_NAME_MAX]; /* "pmu", "governor" */
	enum assay_health health;
	char value[256];  /* what was found */
	char advice[256]; /* how to fix it; empty when good or not fixable */
};

#endif
