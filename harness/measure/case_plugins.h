/* SPDX-License-Identifier: Apache-2.0 */
/* Which plugins a case needs. Must not load any. */
#ifndef ASSAY_MEASURE_CASE_PLUGINS_H
#define ASSAY_MEASURE_CASE_PLUGINS_H

#include "base/text.h"
#include "model/case.h"
#include "model/catalog.h"

struct assay_case_plugins {
	struct assay_strings files;
	char *parts; /* malloc'ed, one an entry of files, see enum assay_plugin_part; NULL: all of each */
};

/*
 * Select from @all, whose catalog is @cat, the plugins that the case on the CPU needs: those of its op and of its
 * variant, in their order. @parts goes with @all or is NULL. If the catalog does not tell, all of them. 0 or
 * ASSAY_ENOMEM.
 */
int assay_case_plugins_find(const struct assay_case *c, const struct assay_catalog *cat,
			    const struct assay_strings *all, const char *parts, struct assay_case_plugins *out,
			    struct assay_err *err);
void assay_case_plugins_release(struct assay_case_plugins *p);

#endif
