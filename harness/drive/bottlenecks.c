/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/bottlenecks.h"

#include <stdlib.h>
#include <string.h>

#include "drive/stored_results.h"
#include "judge/advice.h"
#include "judge/policy.h"

/* Is it a case of an op that measures the machine, and not a kernel? */
static bool is_limit(const struct assay_case *c)
{
	static const char *const families[] = { "stream.", "peak.", "overhead." };

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (!strncmp(c->op, families[i], strlen(families[i])))
			return true;
	return false;
}

int assay_bottlenecks_find(const char *db, int64_t *id, const char *only, struct assay_bottleneck **out, size_t *n,
			   struct assay_err *err)
{
	struct assay_run run = { 0 }, selected = { 0 };
	int rc = 0;

	*out = NULL;
	*n = 0;
	if (only) /* says what else there is where it selects nothing */
		rc = assay_stored_run(db, *id, only, &selected, err);
	assay_run_release(&selected);
	if (!rc)
		rc = assay_stored_run(db, *id, NULL, &run, err);
	if (!rc) {
		*id = run.id;
		*out = calloc(run.n_results + 1, sizeof(**out));
		if (!*out)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < run.n_results && !rc; i++) {
		const struct assay_result *r = &run.results[i];
		struct assay_case_evidence e;

		if (is_limit(&r->c) || (only && !assay_policy_selects(only, &r->c)) || !assay_result_is_right(r) ||
		    !r->n_samples || !(r->median_ns > 0))
			continue;
		assay_case_evidence_read(&run, i, true, &e);
		assay_bottleneck_find(&e, &(*out)[(*n)++]);
	}
	assay_run_release(&run);
	return rc;
}
