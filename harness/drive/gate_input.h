/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what a gate judges and what it judges it against: run, manifest, policy, baseline. */
#ifndef ASSAY_DRIVE_GATE_INPUT_H
#define ASSAY_DRIVE_GATE_INPUT_H

#include "drive/gate_request.h"
#include "judge/gate.h"
#include "store/store.h"

struct assay_gate_files {
	struct assay_run run;
	struct assay_manifest manifest;
	struct assay_manifest_list other; /* of all suites, that of this run among them */
	struct assay_policy policy;
	struct assay_countable countable; /* what the groups of counters here may bring */
	struct assay_run *base;
	const struct assay_run **base_list; /* pointers into base, as the judge takes them */
	size_t n_base;
	char base_name[160];
	char no_base_reason[512];
	bool base_is_itself; /* the baseline holds only the run that is to be judged */
};

/* Release in either case. */
int assay_gate_files_load(struct assay_gate_files *f, struct assay_store *store, const struct assay_gate_request *q,
			  struct assay_err *err);
void assay_gate_files_release(struct assay_gate_files *f);

#endif
