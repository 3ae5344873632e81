/* SPDX-License-Identifier: Apache-2.0 */
/* Do the cases and metrics that a policy names exist? */
#ifndef ASSAY_JUDGE_POLICY_NAMES_H
#define ASSAY_JUDGE_POLICY_NAMES_H

#include "judge/limits.h"
#include "judge/manifest.h"
#include "judge/policy.h"
#include "model/catalog.h"
#include "model/result.h"

/*
 * What may be named: in a comparison what is planned and what its ops declare, before anything is measured; in a run
 * what it has measured.
 */
struct assay_policy_known {
	const struct assay_case *cases; /* of all suites */
	size_t n_cases;
	const struct assay_run *run;           /* NULL: none */
	const struct assay_manifest *manifest; /* NULL: none */
	const struct assay_manifest *const *manifests;
	size_t n_manifests;
	const struct assay_catalog *catalog; /* says which metrics and counters the ops have; NULL: the run does */
	/* Events of groups and metrics derived from them. NULL: unknown, then `where_counted` may name anything. */
	const struct assay_countable *counted;
};

/*
 * 0, or ASSAY_EUSAGE with "file:line: …" and the nearest name that exists. A metric is asked for only where a case that
 * could have it was measured or its op is known. A demand in a unit that its metric does not have is ASSAY_EUSAGE, too.
 */
int assay_policy_check_known(const struct assay_policy *p, const struct assay_policy_known *known,
			     struct assay_err *err);

#endif
