/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of the commands that compare: margins, rates and budgets, and where their verdicts go: the terminal or JSON
 * on standard output, and files for a CI job.
 */
#ifndef ASSAY_CLI_COMPARE_OPTIONS_H
#define ASSAY_CLI_COMPARE_OPTIONS_H

#include "cli/command.h"
#include "drive/compare/plan.h"
#include "model/gate_report.h"

/* Filled by the options of compare and certify; the arguments of both begin with it. */
struct assay_compare_args {
	struct assay_settings s;
	struct assay_compare_request q; /* its `what` is to be set to the request of s */
};

/* Tables of struct assay_compare_args. */
extern const struct assay_option assay_options_rates[];  /* --policy --alpha */
extern const struct assay_option assay_options_budget[]; /* --margin --budget */

/* Where the verdicts of compare and gate go, and which of them fail. */
struct assay_compare_output {
	const char *markdown, *junit, *json_file; /* NULL: not wanted */
	bool strict;                              /* INCONCLUSIVE fails too */
	bool suspects_fail;                       /* of those, what is likely slower than its margin does */
};

/* The table of struct assay_compare_output: --markdown --junit --json-file --strict. */
extern const struct assay_option assay_options_verdicts[];
/* Likewise, of pairs: --suspects. */
extern const struct assay_option assay_options_suspects[];

/* Can the files be written, as far as that can be told beforehand? Measuring takes minutes, so ask first. ASSAY_EUSAGE.
 */
int assay_compare_output_check(const struct assay_compare_output *o, struct assay_err *err);

/* Print @r as @s says and write the files. ASSAY_EIO when one cannot be written. */
int assay_compare_output_put(const struct assay_gate_report *r, const struct assay_compare_output *o,
			     const struct assay_settings *s, struct assay_err *err);

#endif
