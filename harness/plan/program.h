/* SPDX-License-Identifier: Apache-2.0 */
/* Benches that run a command, as ops of the catalog: from then on they are planned, judged and shown like others. */
#ifndef ASSAY_PLAN_PROGRAM_H
#define ASSAY_PLAN_PROGRAM_H

#include "model/catalog.h"

/*
 * Add an op and a variant to @cat for each bench of @bench_dir that has a command, unless they are there. The axes of
 * the op are those that the bench names in `shapes` and `sweep`; their values are those that it or a suite gives them.
 * ASSAY_EUSAGE with "file:line: …": a bad command, a bad metric, an axis that the command does not have.
 */
int assay_plan_programs(const char *bench_dir, struct assay_catalog *cat, struct assay_err *err);

#endif
