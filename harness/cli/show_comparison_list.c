/* SPDX-License-Identifier: Apache-2.0 */
/* The list of stored comparisons. */
#include "cli/show_comparison.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "reports/columns.h"
#include "reports/json_parts.h"

/* What the numbers of a list leave to the names of the sides. */
#define SIDES_ROOM(width) ((width) > 80 ? (width)-80 : 0)

static json_t *info_json(const struct assay_comparison_info *c)
{
	return json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:I}", "id", (json_int_t)c->id,
			 "base", assay_json_text(c->base), "head", assay_json_text(c->head), "suite",
			 assay_json_text(c->suite), "seed", assay_json_u64(c->seed), "started",
			 assay_json_time(c->started_ns), "ended", assay_json_time(c->ended_ns), "machine_id",
			 assay_json_text(c->machine_id), "machine", assay_json_text(c->machine_label), "verdict",
			 assay_json_text(c->verdict), "exit",
			 c->exit_code < 0 ? json_null() : json_integer(c->exit_code), "cases", (json_int_t)c->n_cases,
			 "controls", (json_int_t)c->n_controls, "pairs", (json_int_t)c->n_pairs, "counted",
			 (json_int_t)c->n_counted);
}

static int list_text(const struct assay_comparison_info *list, size_t n, struct assay_text *out)
{
	struct assay_columns t = { .align = "rlllrrrl", .width = assay_cli_style().width };

	if (!n)
		assay_text_add(out, "no comparisons are stored yet: 'assay compare' makes one\n");
	else
		assay_columns_row(&t, (const char *const[]){ "comparison", "started", "suite", "verdict", "cases",
							     "pairs", "counted", "sides" });
	for (size_t i = 0; i < n; i++) {
		const struct assay_comparison_info *c = &list[i];
		const char *verdict = c->verdict[0] ? c->verdict : "unfinished";
		char id[24], when[32], cases[24], pairs[24], counted[24], sides[640];

		snprintf(id, sizeof(id), "%" PRId64, c->id);
		assay_cli_when(c->started_ns, when, sizeof(when));
		snprintf(cases, sizeof(cases), "%zu", c->n_cases);
		snprintf(pairs, sizeof(pairs), "%zu", c->n_pairs);
		snprintf(counted, sizeof(counted), "%zu", c->n_counted);
		snprintf(sides, sizeof(sides), "%s against %s", c->head, c->base);
		if (t.width && strlen(sides) > SIDES_ROOM(t.width)) {
			assay_columns_row(
				&t, (const char *const[]){ id, when, c->suite, verdict, cases, pairs, counted, NULL });
			assay_columns_line(&t, 12, sides);
		} else {
			assay_columns_row(
				&t, (const char *const[]){ id, when, c->suite, verdict, cases, pairs, counted, sides });
		}
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	return 0;
}

int assay_show_comparisons(struct assay_store *store, bool json, struct assay_text *out, struct assay_err *err)
{
	struct assay_comparison_info *list = NULL;
	size_t n = 0;
	int rc = assay_store_comparisons(store, NULL, 0, &list, &n, err);

	if (!rc && json) {
		json_t *a = json_array();

		for (size_t i = 0; i < n; i++)
			json_array_append_new(a, info_json(&list[i]));
		rc = assay_json_print(json_pack("{s:i,s:o}", "schema", 1, "comparisons", a), out, err);
	} else if (!rc) {
		rc = list_text(list, n, out);
	}
	free(list);
	return rc;
}
