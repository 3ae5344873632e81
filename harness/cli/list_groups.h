/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of counters in `assay list`: what --counters takes, and which metrics a policy may then name. */
#ifndef ASSAY_CLI_LIST_GROUPS_H
#define ASSAY_CLI_LIST_GROUPS_H

#include "counters/counter_groups.h"
#include "reports/emit.h"
#include "reports/json_parts.h"

void assay_list_groups_text(const struct assay_counter_groups *g, const struct assay_emit_style *style,
			    struct assay_text *out);
json_t *assay_list_groups_json(const struct assay_counter_groups *g);

#endif
