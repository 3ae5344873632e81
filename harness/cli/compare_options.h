/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the commands that compare: compare and certify. */
#ifndef ASSAY_CLI_COMPARE_OPTIONS_H
#define ASSAY_CLI_COMPARE_OPTIONS_H

#include "cli/cli_options.h"
#include "drive/compare/plan.h"

/* What the options of compare and certify fill; their own arguments begin with it. */
struct assay_compare_args {
	struct assay_settings s;
	struct assay_compare_request q; /* its `what` is to be set to the request of s */
};

/* Tables of struct assay_compare_args. */
extern const struct assay_option assay_options_rates[];  /* --policy --alpha */
extern const struct assay_option assay_options_budget[]; /* --margin --budget */

#endif
