/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler's figures for GPU kernels, and verdicts about them: exact evidence that needs no GPU. The build
 * writes the report beside its plugin, and a record of it is committed as baselines/exact/SUITE.kernels.json.
 */
#ifndef ASSAY_JUDGE_STATIC_COSTS_H
#define ASSAY_JUDGE_STATIC_COSTS_H

#include <stdint.h>

#include "base/err.h"
#include "model/gate_report.h"

/* Name in the file and in rows, words for people, and whether more is better. Spills and memory are bytes. */
#define ASSAY_STATIC_COSTS(row)                                                                                        \
	row(REGISTERS, "registers", "registers", false)                                                                \
		row(SPILL_STORES, "spill_stores", "bytes of spill stores", false)                                      \
			row(SPILL_LOADS, "spill_loads", "bytes of spill loads", false)                                 \
				row(STACK, "stack", "bytes of stack", false)                                           \
					row(SHARED, "shared", "bytes of shared memory", false)                         \
						row(OCCUPANCY, "occupancy_percent", "% occupancy", true)

enum assay_static_cost {
#define ROW(cost, name, words, more) ASSAY_STATIC_##cost,
	ASSAY_STATIC_COSTS(ROW)
#undef ROW
		ASSAY_N_STATIC_COSTS,
};

struct assay_static_kernel {
	char name[ASSAY_NAME_MAX]; /* "ternary_gemv/sm_90" */
	int64_t v[ASSAY_N_STATIC_COSTS];
};

/*
 * {"schema": 1, "compiler": "nvcc 13.0.88", "columns": […], "kernels": {"NAME/sm_NN": [costs], …}}, one line a kernel,
 * in the order of "columns".
 */
struct assay_static_costs {
	char compiler[ASSAY_NAME_MAX];
	struct assay_static_kernel *kernels; /* malloc'ed */
	size_t n;
};

/* ASSAY_ENOTFOUND when the file is absent, ASSAY_EUSAGE with "file: …" when it is not what it must be. */
int assay_static_costs_load(struct assay_static_costs *out, const char *path, struct assay_err *err);
void assay_static_costs_release(struct assay_static_costs *c);

/*
 * Add the rows of @head against @base, which sentences call @base_name: one for each kernel that changed or is missing,
 * and one for all others. More of a cost is REGRESSED; less is INCOMPARABLE, since the record is then out of date, and
 * so is everything where another compiler made one of them.
 */
int assay_static_costs_judge(const struct assay_static_costs *base, const struct assay_static_costs *head,
			     const char *base_name, struct assay_gate_report *report, bool strict,
			     struct assay_err *err);

#endif
