/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list that `assay doctor` is made of; findings are added by health.c (state) and health_tools.c (what is
 * installed).
 */
#ifndef ASSAY_MACHINE_HEALTH_H
#define ASSAY_MACHINE_HEALTH_H

#include "machine/environment.h"

/* Advice "" when there is nothing to do. */
void assay_findings_add(struct assay_findings *l, const char *name, enum assay_health health, const char *value,
			const char *advice);

/* Programs and libraries that optional parts need. */
void assay_findings_add_tools(struct assay_findings *l, const char *root);

#endif
