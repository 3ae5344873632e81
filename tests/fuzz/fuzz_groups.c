/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of counters, and metrics that are derived from them. */
#include "fuzz.h"
#include "counters/groups.h"

/* As if all that the formulas name had been counted. */
static void count_all(const struct assay_counter_group *g, struct assay_counters *counters)
{
	for (size_t i = 0; i < g->n_metrics; i++)
		for (size_t k = 0; k < g->metrics[i].formula.names.n; k++) {
			struct assay_count c = { .source = ASSAY_SOURCE_PMU, .value = (double)k, .running_frac = 1 };

			snprintf(c.name, sizeof(c.name), "%s", g->metrics[i].formula.names.v[k]);
			FUZZ_CHECK(!assay_counters_add(counters, &c));
		}
}

static void derive(const struct assay_counter_groups *g)
{
	struct assay_counter_choice choice = { 0 };
	struct assay_counters counters = { 0 };
	struct assay_metric *metrics = NULL;
	struct assay_text text = { 0 };
	size_t n = 0;

	FUZZ_CHECK(!assay_counter_choice_add(&choice, g, "input", NULL));
	assay_counter_choice_text(&choice, &text);
	count_all(choice.groups[0], &counters);
	FUZZ_CHECK(!assay_counter_derive(&choice, &counters, &metrics, &n, NULL));
	FUZZ_CHECK(n + counters.n_missing <= choice.groups[0]->n_metrics);
	assay_counters_release(&counters);
	assay_counter_choice_release(&choice);
	assay_text_release(&text);
	free(metrics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct assay_counter_groups g = { 0 };
	struct assay_err err = { 0 };
	int rc;

	fuzz_write("input.group", data, size);
	rc = assay_counter_groups_load(&g, ".", "intel", &err);
	fuzz_check_refusal(rc, &err);
	if (rc)
		return 0;
	derive(&g);
	assay_counter_groups_release(&g);
	return 0;
}
