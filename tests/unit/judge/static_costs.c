/* SPDX-License-Identifier: Apache-2.0 */
/* Static costs of kernels: files that are read or refused, and what is said of a change. */
#include "folder_fixture.h"

#include <stdlib.h>

#include "base/file.h"
#include "judge/static_costs.h"

#define COLUMNS                                                                                                        \
	"\"columns\": [\"registers\", \"spill_stores\", \"spill_loads\", \"stack\", \"shared\", "                      \
	"\"occupancy_percent\"]"
#define COSTS(compiler, kernels)                                                                                       \
	"{\"schema\": 1, \"compiler\": \"" compiler "\", " COLUMNS ", \"kernels\": {" kernels "}}"
#define GEMV "\"ternary_gemv/sm_90\": [40, 0, 0, 0, 0, 100]"
#define COPY "\"stream_copy/sm_90\": [32, 0, 0, 0, 0, 100]"

static int try_load(struct assay_static_costs *c, const char *text, struct assay_err *err)
{
	const char *path = in_folder("costs.json");

	assert_int_equal(assay_file_write(path, text, strlen(text), NULL), 0);
	return assay_static_costs_load(c, path, err);
}

/* The verdicts on @head against one kernel, in a report of its own. */
static struct assay_gate_report judge(const char *head)
{
	struct assay_static_costs costs[2];
	struct assay_gate_report r = { .n_cases = 0 };
	struct assay_err err = { 0 };

	assert_int_equal(try_load(&costs[0], COSTS("nvcc 13.0.88", GEMV ", " COPY), &err), 0);
	assert_int_equal(try_load(&costs[1], head, &err), 0);
	assert_int_equal(assay_static_costs_judge(&costs[0], &costs[1], "quick.kernels.json", &r, false, &err), 0);
	assay_static_costs_release(&costs[0]);
	assay_static_costs_release(&costs[1]);
	return r;
}

static const struct {
	const char *head;
	enum assay_exit exit;
	const char *key, *metric, *reason; /* of the first row */
} changes[] = {
	{ COSTS("nvcc 13.0.88", GEMV ", " COPY), ASSAY_EXIT_OK, "kernels", "exact",
	  "2 kernels cost what quick.kernels.json says, and 0 are not in it" },
	{ COSTS("nvcc 13.0.88", COPY ", " GEMV ", \"new/sm_80\": [1, 2, 3, 4, 5, 6]"), ASSAY_EXIT_OK, "kernels",
	  "exact", "2 kernels cost what quick.kernels.json says, and 1 are not in it" },
	{ COSTS("nvcc 13.0.88", COPY ", \"ternary_gemv/sm_90\": [72, 0, 0, 0, 0, 37]"), ASSAY_EXIT_REGRESSED,
	  "ternary_gemv/sm_90", "registers", "40 → 72 registers, 100 → 37 % occupancy" },
	{ COSTS("nvcc 13.0.88", COPY ", \"ternary_gemv/sm_90\": [41, 0, 0, 0, 0, 100]"), ASSAY_EXIT_REGRESSED,
	  "ternary_gemv/sm_90", "registers", "40 → 41 registers" },
	/* fewer registers, but spilled ones */
	{ COSTS("nvcc 13.0.88", COPY ", \"ternary_gemv/sm_90\": [32, 16, 8, 0, 0, 100]"), ASSAY_EXIT_REGRESSED,
	  "ternary_gemv/sm_90", "spill_stores",
	  "40 → 32 registers, 0 → 16 bytes of spill stores, 0 → 8 bytes of spill loads" },
	{ COSTS("nvcc 13.0.88", COPY ", \"ternary_gemv/sm_90\": [32, 0, 0, 0, 0, 100]"), ASSAY_EXIT_INCOMPARABLE,
	  "ternary_gemv/sm_90", "registers",
	  "less than in quick.kernels.json, which is out of date: record it again; 40 → 32 registers" },
	{ COSTS("nvcc 13.0.88", GEMV), ASSAY_EXIT_NOT_MEASURED, "stream_copy/sm_90", "exact",
	  "in quick.kernels.json, but not compiled" },
	{ COSTS("nvcc 12.4.1", GEMV), ASSAY_EXIT_INCOMPARABLE, "kernels", "exact",
	  "compiled by nvcc 12.4.1, quick.kernels.json is of nvcc 13.0.88" },
};

TEST(test_changes)
{
	for (size_t i = 0; i < N_OF(changes); i++) {
		struct assay_gate_report r = judge(changes[i].head);

		assert_int_equal(r.exit, changes[i].exit);
		assert_int_equal(r.n_cases, 1);
		assert_string_equal(r.cases[0].key, changes[i].key);
		assert_string_equal(r.cases[0].metric, changes[i].metric);
		assert_string_equal(r.cases[0].reason, changes[i].reason);
		assert_int_equal(r.cases[0].evidence, ASSAY_EVIDENCE_EXACT);
		free(r.cases);
	}
}

static const struct {
	const char *text, *message;
} refused[] = {
	{ "", "costs.json:" },
	{ "[]", "not the static costs that this assay knows: record them again" },
	{ "{\"schema\": 2, \"compiler\": \"x\", " COLUMNS ", \"kernels\": {}}", "record them again" },
	{ "{\"schema\": 1, \"compiler\": \"x\", \"columns\": [\"registers\"], \"kernels\": {}}", "record them again" },
	{ COSTS("x", "\"a/sm_80\": [1, 2]"), "expected as many costs as columns for 'a/sm_80'" },
	{ COSTS("x", "\"a/sm_80\": [1, 2, 3, 4, 5, -6]"), "expected as many costs as columns for 'a/sm_80'" },
	{ COSTS("x", "\"a/sm_80\": [1, 2, 3, 4, 5, \"6\"]"), "expected as many costs as columns for 'a/sm_80'" },
};

TEST(test_refused)
{
	struct assay_static_costs c = { .n = 0 };

	for (size_t i = 0; i < N_OF(refused); i++) {
		struct assay_err err = { 0 };

		assert_int_equal(try_load(&c, refused[i].text, &err), ASSAY_EUSAGE);
		if (!strstr(err.text, refused[i].message))
			fail_msg("'%s', want '%s'", err.text, refused[i].message);
		assert_null(c.kernels);
	}
	assert_int_equal(assay_static_costs_load(&c, in_folder("none.json"), NULL), ASSAY_ENOTFOUND);
}

UNIT_GROUP(folder_make, folder_remove)
