/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of `assay doctor`, whoever found them. */
#ifndef ASSAY_MODEL_FINDING_H
#define ASSAY_MODEL_FINDING_H

#include "model/case.h"

#include <stdbool.h>
#include <stddef.h>

enum assay_health {
	ASSAY_HEALTH_GOOD,
	ASSAY_HEALTH_WARN,    /* measures, but not as well as it could */
	ASSAY_HEALTH_MISSING, /* a capability is absent */
};

struct assay_finding {
	char name[ASSAY_NAME_MAX]; /* "pmu", "governor" */
	enum assay_health health;
	char value[256];  /* what was found */
	char advice[256]; /* how to fix it; empty when good or not fixable */
};

struct assay_findings {
	struct assay_finding *v;
	size_t n, capacity;
	bool failed; /* out of memory: some are missing */
};

/* Advice "" when there is nothing to do. */
void assay_findings_add(struct assay_findings *l, const char *name, enum assay_health health, const char *value,
			const char *advice);
void assay_findings_release(struct assay_findings *l);

#endif
