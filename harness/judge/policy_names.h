/* SPDX-License-Identifier: Apache-2.0 */
/* Do the cases and metrics that a policy names exist? */
#ifndef ASSAY_JUDGE_POLICY_NAMES_H
#define ASSAY_JUDGE_POLICY_NAMES_H

#include "judge/gate.h"
#include "model/catalog.h"

/* 0, or ASSAY_EUSAGE with "file:line: …" and the nearest name that exists. */
int assay_policy_check_names(const struct assay_gate_input *in, struct assay_err *err);

/* What may be named before anything is measured. */
struct assay_policy_known {
	const struct assay_case *cases; /* of all suites */
	size_t n_cases;
	const struct assay_manifest *const *manifests;
	size_t n_manifests;
	const struct assay_catalog *catalog; /* says which metrics and counters the ops have; required */
	const struct assay_strings *counted; /* events of groups and metrics derived from them; may be NULL */
};

/* The same for a comparison, which knows its metrics from the catalog. */
int assay_policy_check_known(const struct assay_policy *p, const struct assay_policy_known *known,
			     struct assay_err *err);

#endif
