/* SPDX-License-Identifier: Apache-2.0 */
/* Results as a machine measures them, made from a seed: the same seed gives the same results everywhere. */
#ifndef TESTS_SCALE_MADE_RESULTS_H
#define TESTS_SCALE_MADE_RESULTS_H

#include "model/result.h"

#define MADE_MACHINES     3
#define MADE_CASES_MOST   400
#define MADE_RUNS_A_BUILD 5

/* Run number @at of all, from 0; its arrays are static. Runs take turns on the machines. */
void made_run(struct assay_run *run, uint64_t seed, unsigned at);
/* What it measured of case number @i; release it. About one in a hundred did not end well. 0 or ASSAY_ENOMEM. */
int made_result(struct assay_result *r, const struct assay_run *run, uint64_t seed, unsigned at, unsigned i,
		struct assay_err *err);

#endif
