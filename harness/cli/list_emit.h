/* SPDX-License-Identifier: Apache-2.0 */
/* Text and JSON of `assay list`. */
#ifndef ASSAY_CLI_LIST_EMIT_H
#define ASSAY_CLI_LIST_EMIT_H

#include "counters/counter_groups.h"
#include "model/catalog.h"
#include "plan/plan.h"
#include "reports/emit.h"

struct assay_list_view {
	const struct assay_catalog *catalog;
	const struct assay_counter_groups *groups;
	const struct assay_plan *plan; /* NULL: cases are not asked for */
	struct assay_strings suites;
	const char *what; /* "ops", …; NULL: ops with variants, and suites */
	struct assay_emit_style style;
};

int assay_list_text(const struct assay_list_view *v, struct assay_text *out, struct assay_err *err);
int assay_list_json(const struct assay_list_view *v, struct assay_text *out, struct assay_err *err);

#endif
