/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of `assay doctor`, whoever found them. */
#ifndef ASSAY_MACHINE_FINDINGS_H
#define ASSAY_MACHINE_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/finding.h"

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
